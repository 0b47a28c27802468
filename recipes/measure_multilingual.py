"""Compare the taggers of single languages with ``auto`` and ``multi``, for a table of docs/text.md.

    python recipes/measure_multilingual.py DATA [LANG ...]

DATA is a folder with <set>/<lang>.<part>.conll.xz. Every sentence is a document of its own, so that
its language is decided without neighbours. Prints Markdown: F1 of entities by the tagger alone,
recall and precision of private words by the whole detector at τ = 0.95, and for ``auto`` the share
of sentences whose language is decided rightly, and of those that were searched as their language.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from measure_entities import print_row
from tagger_sets import SPOKEN_SETS, WRITTEN_SETS, TestSet

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.evaluate import Evaluation, evaluate
from sottovoce.anonymise.text.lexicon import LANGUAGES, MULTILINGUAL
from sottovoce.anonymise.text.multilingual_detector import AUTOMATIC, make_detector
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.anonymise.text.taggers import SPOKEN, WRITTEN, shipped_tagger
from sottovoce.anonymise.text.text_languages import DecidedLanguages


def measure(test: TestSet, sentences: list[Sentence], lang: str) -> Evaluation:
    """Evaluate the detector of a choice of language, and the tagger of the register."""
    detector = make_detector(lang, types=test.types, propagate=False)
    tagger_lang = MULTILINGUAL if lang == MULTILINGUAL else test.lang
    tagger = shipped_tagger(tagger_lang, SPOKEN if test.is_spoken else WRITTEN)
    return evaluate(sentences, detector, tagger)


def decided_rightly(lang: str, sentences: list[Sentence]) -> tuple[float, float]:
    """Return how often the language is the most probable one, and one that is searched."""
    sources = [SourceText(" ".join(s.words), str(i)) for i, s in enumerate(sentences)]
    candidates = [spans[0].candidates for spans in DecidedLanguages(sources)]
    first = sum(langs[0] == lang for langs in candidates) / len(candidates)
    return first, sum(lang in langs for langs in candidates) / len(candidates)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("langs", nargs="*", default=LANGUAGES)
    options = parser.parse_args()
    taggers = ("F1 single", "F1 multi")
    detectors = [f"{lang}: {name}" for lang in ("single", "auto", "multi") for name in ("R", "P")]
    print_row("", "set", "view", *taggers, *detectors, "language", "searched")
    print_row(*["---"] * 13)
    for test in (t for t in (*SPOKEN_SETS, *WRITTEN_SETS) if t.lang in options.langs):
        for view in test.views:
            sentences = test.read(options.data, view)
            single, auto, multi = (
                measure(test, sentences, lang) for lang in (test.lang, AUTOMATIC, MULTILINGUAL)
            )
            words = [
                share
                for result in (single, auto, multi)
                for share in (result.tokens.recall, result.tokens.precision)
            ]
            scores = (single.entities.f1, multi.entities.f1, *words)
            set_name = test.part.partition("/")[0]
            languages = decided_rightly(test.lang, sentences)
            print_row(test.lang.upper(), set_name, view, *scores, *languages)


if __name__ == "__main__":
    main()
