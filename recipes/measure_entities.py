"""Measure every shipped tagger on test data, for the tables of docs/text.md.

    python recipes/measure_entities.py DATA --unseen UNSEEN --leaks leaks.json [LANG ...]

DATA is a folder with <set>/<lang>.<part>.conll.xz, UNSEEN one with <lang>.conll of
``unseen_names.py``. Prints Markdown; ``leaks.json`` is what ``--report`` takes the leak from.
Means are those of the languages that are measured; by default all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tagger_sets import (
    NAMES,
    SPOKEN_SETS,
    TAUS,
    WRITTEN_SETS,
    TestSet,
    known_leak,
    measure,
    update_leaks,
)

from sottovoce.anonymise.text.conll import Sentence, read_conll
from sottovoce.anonymise.text.evaluate import Evaluation
from sottovoce.anonymise.text.known_leaks import CASED, LOWER_CASE, KnownLeak
from sottovoce.anonymise.text.lexicon import LANGUAGES
from sottovoce.anonymise.text.taggers import DEFAULT_TAU, SPOKEN, WRITTEN, shipped_tagger


def names_f1(evaluation: Evaluation) -> float:
    """Return the F1 of persons, places and organisations alone."""
    counts = [c for kind, c in evaluation.entities_by_type.items() if kind in NAMES]
    return 2 * sum(c.correct for c in counts) / sum(c.predicted + c.tagged for c in counts)


def print_row(*cells: object) -> None:
    """Print a row of a table."""
    columns = [f"{100 * c:.1f}" if isinstance(c, float) else str(c) for c in cells]
    print("| " + " | ".join(columns) + " |", flush=True)


def by_tau(test: TestSet, sentences: list[Sentence]) -> dict[float, Evaluation]:
    """Evaluate the shipped taggers at every τ."""
    tagger = shipped_tagger(test.lang, SPOKEN if test.is_spoken else WRITTEN)
    return {tau: measure(test, sentences, tagger, tau) for tau in TAUS}


def measure_spoken(data: Path, unseen: Path | None, langs: Sequence[str]) -> list[KnownLeak]:
    """Print the table of spoken text; return the counts of missed words."""
    leaks, table, curve = [], [], []
    columns = ("F1", "recall of words", "precision", "δ", "unseen: F1", "unseen: recall of words")
    print_row("", *columns)
    print_row(*["---"] * 7)
    for test in (test for test in SPOKEN_SETS if test.lang in langs):
        evaluations = by_tau(test, test.read(data, LOWER_CASE))
        leaks.append(known_leak(test, LOWER_CASE, evaluations))
        base = evaluations[DEFAULT_TAU]
        row = [base.entities.f1, base.tokens.recall, base.tokens.precision, base.delta]
        if unseen is not None:
            new = by_tau(test, read_conll(unseen / f"{test.lang}.conll"))[DEFAULT_TAU]
            row += [new.entities.f1, new.tokens.recall]
        table.append(row)
        print_row(test.lang.upper(), *row)
        curve.append([(e.tokens.recall, e.tokens.precision) for e in evaluations.values()])
    print_row("mean", *(sum(column) / len(table) for column in zip(*table, strict=True)))
    for i, tau in enumerate(TAUS):
        first, every = curve[0][i], [sum(c[i][k] for c in curve) / len(curve) for k in (0, 1)]
        print_row(f"τ = {tau}", *first, *every)
    return leaks


def measure_written(data: Path, langs: Sequence[str]) -> list[KnownLeak]:
    """Print the table of written text; return the counts of missed words."""
    leaks = []
    columns = ("F1 cased", "ASR view", "names: F1 cased", "ASR view")
    words = ("recall of words cased", "ASR view", "precision cased", "ASR view")
    print_row("", "set", *columns, *words)
    print_row(*["---"] * 10)
    for test in (test for test in WRITTEN_SETS if test.lang in langs):
        views = {view: by_tau(test, test.read(data, view)) for view in test.views}
        leaks += [known_leak(test, view, evaluations) for view, evaluations in views.items()]
        cased, lower = views[CASED][DEFAULT_TAU], views[LOWER_CASE][DEFAULT_TAU]
        scores = (cased.entities.f1, lower.entities.f1, names_f1(cased), names_f1(lower))
        recalls = (cased.tokens.recall, lower.tokens.recall)
        precisions = (cased.tokens.precision, lower.tokens.precision)
        print_row(test.lang.upper(), test.part.partition("/")[0], *scores, *recalls, *precisions)
    return leaks


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("langs", nargs="*", default=LANGUAGES)
    parser.add_argument("--unseen", type=Path)
    parser.add_argument("--leaks", type=Path, required=True)
    parser.add_argument("--only", choices=("spoken", "written"))
    options = parser.parse_args()
    if options.only != "written":
        update_leaks(options.leaks, measure_spoken(options.data, options.unseen, options.langs))
    if options.only != "spoken":
        update_leaks(options.leaks, measure_written(options.data, options.langs))


if __name__ == "__main__":
    main()
