"""Measure every shipped tagger on test data, for the tables of docs/text.md.

    python recipes/measure_entities.py DATA --unseen UNSEEN --recall recall.json

DATA is a folder with <set>/<lang>.test.conll.xz, UNSEEN one with <lang>.conll of
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

TAUS = (0.5, 0.9, 0.95)
WRITTEN = {
    "en": ("btc", "wnut17", "wikigold", "ewt"),
    "de": ("germeval14", "europeana"),
    "fr": ("europeana",),
    "nl": ("europeana",),
    "lv": ("fullstack",),
    "pt": ("bosque",),
}


def measured(sentences: list[Sentence], lang: str, register: str, tau: float = TAU) -> Evaluation:
    """What the tagger of a register, and the detector, find."""
    detector = Detector(lang, tau=tau, propagate=False)
    if register == "written":
        detector = replace(detector, types=("PER", "LOC", "ORG"))
    return evaluate(sentences, detector, shipped_tagger(lang, register))


def row(*cells: object) -> None:
    """A row of a table."""
    shown = [f"{100 * c:.1f}" if isinstance(c, float) else str(c) for c in cells]
    print("| " + " | ".join(shown) + " |", flush=True)


def spoken(data: Path, unseen: Path) -> dict[str, dict[str, dict[str, int]]]:
    """Spoken text: F1, words found at τ, names never seen; returns what is missed by τ."""
    recall: dict[str, dict[str, dict[str, int]]] = {}
    row("", "F1", "recall of words", "precision", "δ", "unseen: F1", "unseen: recall of words")
    row(*["---"] * 7)
    for lang in LANGUAGES:
        if "spoken" not in shipped(lang):
            continue
        test = read_conll(data / "massive" / f"{lang}.test.conll.xz")
        found = {tau: measured(test, lang, "spoken", tau) for tau in TAUS}
        new = measured(read_conll(unseen / f"{lang}.conll"), lang, "spoken")
        one = found[TAU]
        rates = (one.spans.f1, one.tokens.recall, one.tokens.precision, one.delta)
        row(lang.upper(), *rates, new.spans.f1, new.tokens.recall)
        recall[lang] = {
            str(tau): {"missed": e.tokens.there - e.tokens.hits, "total": e.tokens.there}
            for tau, e in found.items()
        }
        if lang == "en":
            curve = [(t, e.tokens.recall, e.tokens.precision) for t, e in found.items()]
            print("τ of English: " + ", ".join(f"{t} {r:.3f}/{p:.3f}" for t, r, p in curve))
    return recall


def written(data: Path) -> None:
    """Written text, as it is and as a recogniser would write it."""
    row("", "set", "F1 cased", "F1 ASR view", "recall of words cased", "ASR view")
    row(*["---"] * 6)
    for lang, sets in WRITTEN.items():
        for name in sets if "written" in shipped(lang) else ():
            test = read_conll(data / name / f"{lang}.test.conll.xz")
            plain = [asr_view(one) for one in test]
            both = [measured([s for s in t if s.words], lang, "written") for t in (test, plain)]
            f1 = [one.spans.f1 for one in both]
            row(lang.upper(), name, *f1, *(one.tokens.recall for one in both))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--unseen", type=Path, required=True)
    parser.add_argument("--recall", type=Path, required=True)
    parser.add_argument("--only", choices=("spoken", "written"))
    asked = parser.parse_args()
    if asked.only != "written":
        told = {"set": "MASSIVE 1.0 test", "languages": spoken(asked.data, asked.unseen)}
        asked.recall.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if asked.only != "spoken":
        written(asked.data)


if __name__ == "__main__":
    main()
