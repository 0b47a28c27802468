"""Measure every shipped tagger on test data, for the tables of docs/text.md.

    python recipes/measure_entities.py DATA --unseen UNSEEN --recall recall.json

DATA is a folder with <set>/<lang>.<part>.conll.xz, UNSEEN one with <lang>.conll of
``unseen_names.py``. Prints Markdown; ``recall.json`` is what ``--report`` takes the leak from.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from sottovoce.anonymise.text.conll import Sentence, asr_view, read_conll
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.entities import TAU, shipped, shipped_tagger
from sottovoce.anonymise.text.evaluate import Evaluation, evaluate
from sottovoce.anonymise.text.lexicon import LANGUAGES

NAMES = ("PER", "LOC", "ORG")
TAUS = (0.5, 0.9, 0.95)
WRITTEN = {
    "en": ("btc/en.test", "wnut17/en.test", "ewt/en.test"),
    "de": ("germeval14/de.dev", "europeana/de.test"),
    "fr": ("europeana/fr.test",),
    "nl": ("europeana/nl.test",),
    "lv": ("fullstack/lv.test",),
    "pt": ("bosque/pt.test",),
}


def measured(sentences: list[Sentence], lang: str, register: str, tau: float = TAU) -> Evaluation:
    """What the tagger of a register, and the detector, find."""
    detector = Detector(lang, tau=tau, propagate=False)
    if register == "written":
        detector = replace(detector, types=NAMES)
    return evaluate(sentences, detector, shipped_tagger(lang, register))


def names(found: Evaluation) -> float:
    """F1 of persons, places and organisations alone."""
    some = [one for kind, one in found.by_type.items() if kind in NAMES]
    hits = sum(one.hits for one in some)
    return 2 * hits / sum(one.found + one.there for one in some)


def row(*cells: object) -> None:
    """A row of a table."""
    shown = [f"{100 * c:.1f}" if isinstance(c, float) else str(c) for c in cells]
    print("| " + " | ".join(shown) + " |", flush=True)


def missed(found: dict[float, list[Evaluation]]) -> dict[str, dict[str, int]]:
    """Private words missed by τ, over all sets."""
    return {
        str(tau): {
            "missed": sum(e.tokens.there - e.tokens.hits for e in all_sets),
            "total": sum(e.tokens.there for e in all_sets),
        }
        for tau, all_sets in found.items()
    }


def spoken(data: Path, unseen: Path) -> dict[str, dict[str, object]]:
    """Spoken text: F1, words found at τ, names never seen; returns what is missed by τ."""
    recall: dict[str, dict[str, object]] = {}
    table = []
    row("", "F1", "recall of words", "precision", "δ", "unseen: F1", "unseen: recall of words")
    row(*["---"] * 7)
    curve = []
    for lang in LANGUAGES:
        test = read_conll(data / "massive" / f"{lang}.test.conll.xz")
        found = {tau: [measured(test, lang, "spoken", tau)] for tau in TAUS}
        new = measured(read_conll(unseen / f"{lang}.conll"), lang, "spoken")
        one = found[TAU][0]
        rates = (one.spans.f1, one.tokens.recall, one.tokens.precision, one.delta)
        table.append((*rates, new.spans.f1, new.tokens.recall))
        row(lang.upper(), *table[-1])
        set_name = "MASSIVE 1.0 test (spoken commands)"
        recall[lang] = {"set": set_name, "by_tau": missed(found)}
        curve.append([(e[0].tokens.recall, e[0].tokens.precision) for e in found.values()])
    row("mean", *(sum(column) / len(table) for column in zip(*table, strict=True)))
    for i, tau in enumerate(TAUS):
        en, every = curve[0][i], [sum(c[i][k] for c in curve) / len(curve) for k in (0, 1)]
        row(f"τ = {tau}", *en, *every)
    return recall


def written(data: Path) -> dict[str, dict[str, object]]:
    """Written text, as it is and as a recogniser would write it; returns what is missed by τ."""
    recall: dict[str, dict[str, object]] = {}
    columns = ("F1 cased", "ASR view", "names: F1 cased", "ASR view")
    row("", "set", *columns, "recall of words cased", "ASR view", "precision cased")
    row(*["---"] * 9)
    for lang, sets in WRITTEN.items():
        if "written" not in shipped(lang):
            continue
        found: dict[float, list[Evaluation]] = {tau: [] for tau in TAUS}
        for name in sets:
            test = [s for s in read_conll(data / f"{name}.conll.xz") if s.words]
            for tau in TAUS:
                found[tau].append(measured(test, lang, "written", tau))
            cased = found[TAU][-1]
            lower = measured([s for s in map(asr_view, test) if s.words], lang, "written")
            scores = (cased.spans.f1, lower.spans.f1, names(cased), names(lower))
            recalls = (cased.tokens.recall, lower.tokens.recall, cased.tokens.precision)
            row(lang.upper(), name.partition("/")[0], *scores, *recalls)
        told = f"{', '.join(sets)} (written text; persons, places, organisations)"
        recall[lang] = {"set": told, "by_tau": missed(found)}
    return recall


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--unseen", type=Path, required=True)
    parser.add_argument("--recall", type=Path, required=True)
    parser.add_argument("--only", choices=("spoken", "written"))
    asked = parser.parse_args()
    told = json.loads(asked.recall.read_text(encoding="utf-8")) if asked.recall.exists() else {}
    if asked.only != "written":
        told["spoken"] = spoken(asked.data, asked.unseen)
    if asked.only != "spoken":
        told["written"] = written(asked.data)
    asked.recall.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
