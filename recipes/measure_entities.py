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
from sottovoce.anonymise.text.evaluate import Evaluation, evaluate
from sottovoce.anonymise.text.lexicon import LANGUAGES
from sottovoce.anonymise.text.taggers import DEFAULT_TAU, shipped_tagger, shipped_weights

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


def measure(
    sentences: list[Sentence], lang: str, register: str, tau: float = DEFAULT_TAU
) -> Evaluation:
    """Evaluate the tagger of a register and the whole detector."""
    detector = Detector(lang, tau=tau, propagate=False)
    if register == "written":
        detector = replace(detector, types=NAMES)
    return evaluate(sentences, detector, shipped_tagger(lang, register))


def names_f1(evaluation: Evaluation) -> float:
    """Return the F1 of persons, places and organisations alone."""
    counts = [c for kind, c in evaluation.entities_by_type.items() if kind in NAMES]
    return 2 * sum(c.correct for c in counts) / sum(c.predicted + c.tagged for c in counts)


def print_row(*cells: object) -> None:
    """Print a row of a table."""
    columns = [f"{100 * c:.1f}" if isinstance(c, float) else str(c) for c in cells]
    print("| " + " | ".join(columns) + " |", flush=True)


def count_missed(by_tau: dict[float, list[Evaluation]]) -> dict[str, dict[str, int]]:
    """Count the private words that are missed at each τ, over all test sets."""
    return {
        str(tau): {
            "missed": sum(evaluation.tokens.missed for evaluation in evaluations),
            "total": sum(evaluation.tokens.tagged for evaluation in evaluations),
        }
        for tau, evaluations in by_tau.items()
    }


def measure_spoken(data: Path, unseen: Path) -> dict[str, dict[str, object]]:
    """Print the table of spoken text; return the counts of missed words by language."""
    recall: dict[str, dict[str, object]] = {}
    table = []
    print_row(
        "", "F1", "recall of words", "precision", "δ", "unseen: F1", "unseen: recall of words"
    )
    print_row(*["---"] * 7)
    curve = []
    for lang in LANGUAGES:
        test = read_conll(data / "massive" / f"{lang}.test.conll.xz")
        by_tau = {tau: [measure(test, lang, "spoken", tau)] for tau in TAUS}
        new = measure(read_conll(unseen / f"{lang}.conll"), lang, "spoken")
        base = by_tau[DEFAULT_TAU][0]
        rates = (base.entities.f1, base.tokens.recall, base.tokens.precision, base.delta)
        table.append((*rates, new.entities.f1, new.tokens.recall))
        print_row(lang.upper(), *table[-1])
        set_name = "MASSIVE 1.0 test (spoken commands)"
        recall[lang] = {"set": set_name, "by_tau": count_missed(by_tau)}
        curve.append([(e[0].tokens.recall, e[0].tokens.precision) for e in by_tau.values()])
    print_row("mean", *(sum(column) / len(table) for column in zip(*table, strict=True)))
    for i, tau in enumerate(TAUS):
        en, every = curve[0][i], [sum(c[i][k] for c in curve) / len(curve) for k in (0, 1)]
        print_row(f"τ = {tau}", *en, *every)
    return recall


def measure_written(data: Path) -> dict[str, dict[str, object]]:
    """Print the table of written text; return the counts of missed words by language."""
    recall: dict[str, dict[str, object]] = {}
    columns = ("F1 cased", "ASR view", "names: F1 cased", "ASR view")
    print_row("", "set", *columns, "recall of words cased", "ASR view", "precision cased")
    print_row(*["---"] * 9)
    for lang, sets in WRITTEN.items():
        if "written" not in shipped_weights(lang):
            continue
        by_tau: dict[float, list[Evaluation]] = {tau: [] for tau in TAUS}
        for name in sets:
            test = [s for s in read_conll(data / f"{name}.conll.xz") if s.words]
            for tau in TAUS:
                by_tau[tau].append(measure(test, lang, "written", tau))
            cased = by_tau[DEFAULT_TAU][-1]
            lower = measure([s for s in map(asr_view, test) if s.words], lang, "written")
            scores = (cased.entities.f1, lower.entities.f1, names_f1(cased), names_f1(lower))
            recalls = (cased.tokens.recall, lower.tokens.recall, cased.tokens.precision)
            print_row(lang.upper(), name.partition("/")[0], *scores, *recalls)
        set_name = f"{', '.join(sets)} (written text; persons, places, organisations)"
        recall[lang] = {"set": set_name, "by_tau": count_missed(by_tau)}
    return recall


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--unseen", type=Path, required=True)
    parser.add_argument("--recall", type=Path, required=True)
    parser.add_argument("--only", choices=("spoken", "written"))
    options = parser.parse_args()
    path = options.recall
    recall = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if options.only != "written":
        recall["spoken"] = measure_spoken(options.data, options.unseen)
    if options.only != "spoken":
        recall["written"] = measure_written(options.data)
    path.write_text(json.dumps(recall, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
