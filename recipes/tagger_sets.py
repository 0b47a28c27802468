"""Sets of tagged text by language and kind: what taggers are trained and tested on.

DATA is a folder with <set>/<lang>.<part>.conll.xz; sets and licences are listed in NOTICE.md beside
the weights.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sottovoce.anonymise.text.conll import Sentence, asr_view, read_conll
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.entities import PRIVATE_TYPES
from sottovoce.anonymise.text.evaluate import Evaluation, evaluate
from sottovoce.anonymise.text.known_leaks import CASED, LOWER_CASE, KnownLeak
from sottovoce.anonymise.text.lexicon import LANGUAGES
from sottovoce.anonymise.text.taggers import Tagger
from sottovoce.core.records import from_json, write_json

NAMES = ("PER", "LOC", "ORG")
TAUS = (0.5, 0.9, 0.95)


@dataclass(frozen=True)
class TestSet:
    """Tagged text of one language and kind that no tagger was trained on."""

    lang: str
    kind: str
    """Kind of text in one word."""
    part: str
    """File in DATA without its ending, such as ``btc/en.test``."""
    title: str
    """Name of the set in words, for reports."""

    @property
    def is_spoken(self) -> bool:
        """Whether all six types are tagged, and the text is in lower case already."""
        return self.kind == "commands"

    @property
    def types(self) -> tuple[str, ...]:
        """Types that are counted as private."""
        return PRIVATE_TYPES if self.is_spoken else NAMES

    @property
    def views(self) -> tuple[str, ...]:
        """Views of the text that are measured."""
        return (LOWER_CASE,) if self.is_spoken else (CASED, LOWER_CASE)

    def read(self, data: Path, view: str) -> list[Sentence]:
        """Read the sentences in a view; those that become empty are left out."""
        sentences = read_conll(data / f"{self.part}.conll.xz")
        if view == LOWER_CASE:
            sentences = [asr_view(sentence) for sentence in sentences]
        return [sentence for sentence in sentences if sentence.words]


SPOKEN_SETS = tuple(
    TestSet(lang, "commands", f"massive/{lang}.test", "MASSIVE 1.0 test (commands to a machine)")
    for lang in LANGUAGES
)
_PRINT = "Europeana test (newspapers of 1800 to 1940, read by machine)"
WRITTEN_SETS = (
    TestSet("en", "tweets", "btc/en.test", "Broad Twitter Corpus test (tweets)"),
    TestSet("en", "posts", "wnut17/en.test", "WNUT-17 test (posts and comments)"),
    TestSet("en", "web", "ewt/en.test", "EWT test (web text)"),
    TestSet("de", "news", "germeval14/de.dev", "GermEval 2014 dev (news, Wikipedia)"),
    TestSet("de", "old print", "europeana/de.test", _PRINT),
    TestSet("fr", "old print", "europeana/fr.test", _PRINT),
    TestSet("nl", "old print", "europeana/nl.test", _PRINT),
    TestSet("lv", "mixed", "fullstack/lv.test", "FullStack test (balanced corpus)"),
    TestSet("pt", "news", "bosque/pt.test", "Bosque test (news)"),
)


def measure(test: TestSet, sentences: list[Sentence], tagger: Tagger, tau: float) -> Evaluation:
    """Evaluate a tagger, and the whole detector at τ, each sentence being a document."""
    detector = Detector(test.lang, tau=tau, types=test.types, propagate=False)
    return evaluate(sentences, detector, tagger)


def known_leak(
    test: TestSet, view: str, by_tau: dict[float, Evaluation], *, held_out: bool = False
) -> KnownLeak:
    """Return the counts of missed words."""
    return KnownLeak(
        lang=test.lang,
        kind=test.kind,
        test_set=test.title,
        view=view,
        types=test.types,
        held_out=held_out,
        by_tau={str(tau): evaluation.missed_words for tau, evaluation in by_tau.items()},
    )


def update_leaks(path: Path, leaks: list[KnownLeak]) -> None:
    """Write leaks to a JSON file; entries of the same set, view and training are replaced."""
    old = from_json(tuple[KnownLeak, ...], json.loads(path.read_text())) if path.exists() else ()
    entries = {_identity(entry): entry for entry in (*old, *leaks)}
    write_json(path, [entries[key] for key in sorted(entries)])


def _identity(entry: KnownLeak) -> tuple[str, str, str, str, bool]:
    return entry.lang, entry.kind, entry.test_set, entry.view, entry.held_out
