"""Tables 2, 3, 4 and 7: slices of text, replacement strategies, taggers, ambiguous names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.conll import read_conll
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.evaluate import evaluate
from sottovoce.anonymise.text.lexicon import MULTILINGUAL
from sottovoce.anonymise.text.taggers import (
    SPOKEN,
    WRITTEN,
    CrfTagger,
    shipped_tagger,
    shipped_weights,
)
from sottovoce.asr.normalise import normalise
from sottovoce.attack.text.reassembly import (
    SLICE_SCORES,
    WORDS_PER_SECOND,
    make_slices,
    slice_scores,
)
from sottovoce.attack.text.trigrams import train_trigrams
from sottovoce.core.errors import InputError
from sottovoce.corpus.splits import partition_speakers
from sottovoce.corpus.utterance import Corpus
from sottovoce.measure import linkability
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Cell, Compared, ItemOutput, paper_table

SECONDS = {1.0: 0.20, 1.5: 0.20, 3.0: 0.20, 4.0: 0.18}
"""Table 2: length of a slice and published D_sys of the joint score."""

SENTENCE = (
    "Hi Mister Miller, the Lufthansa flight from Frankfurt Airport to Rome is leaving by six pm"
)
STRATEGIES = {
    "redact": "Hi Mister ▮, the ▮ flight from ▮ to ▮ is leaving by ▮",
    "typed": "Hi Mister PER, the ORG flight from LOC to LOC is leaving by TIME",
    "named": "Hi Mister Smith, the SAP flight from London to London is leaving by afternoon",
    "word": "Hi Mister John, the BOSCH flight from New Boston to Berlin is leaving by eleven "
    "morning",
    "full": "Hi Mister John, the BOSCH flight from New York to Berlin is leaving by twelve pm",
}
"""Table 3: strategy by its name here, and the published example."""

F1 = {
    "de": (84.0, 84.82),
    "en": (92.35, 92.82),
    "es": (87.65, 87.87),
    "fr": (75.64, 74.79),
    "it": (83.37, 84.17),
    "lv": (86.20, 85.65),
    "nl": (91.65, 91.62),
    "pt": (74.33, 75.72),
}
"""Table 4: published F1 of a tagger for each language and of one for all."""

SPOKEN_SET = "massive"
"""The set of voice commands, for taggers of spoken text."""

NAMES = {"Williams": (7, 8, 0), "Chelsea": (5, 6, 0), "Melbourne": (0, 4, 5)}
"""Table 7: how often a word is a person, an organisation and a place in CoNLL-2003."""


def _documents(corpus: Corpus) -> list[list[str]]:
    return [
        normalise(utterance.transcript, utterance.language or "en").split()
        for utterance in corpus
        if utterance.transcript.strip()
    ]


def _table_2(data: PaperData) -> ItemOutput:
    attacked, training = data.attacked, data.training
    if training is None:
        training, attacked = partition_speakers(attacked, share=0.5, seed=data.seed)
    documents, other = _documents(attacked), _documents(training)
    if not documents or not other:  # of the two halves one may have none
        raise InputError(
            f"{training.name if documents else attacked.name}: no transcripts, which slices of "
            "text need on both sides; name another corpus",
            code="missing-transcript",
        )
    model = train_trigrams(other)
    rows, compared = [], []
    for seconds, published in SECONDS.items():
        words = max(2, round(WORDS_PER_SECOND * seconds))
        slices = make_slices(documents, model, words=words)
        values = {
            name: linkability(slice_scores(slices, model, name, seed=data.seed)).d_sys
            for name in SLICE_SCORES
        }
        rows.append((f"{seconds:g}", words, published, values["joint"], values["mutual"]))
        compared.append(
            Compared(
                f"text linkability D_sys, {seconds:g} s, joint score",
                published,
                values["joint"],
                f"a language model of {sum(map(len, other)):,} words, where the document's has "
                "that of LibriSpeech; a larger one links more",
            )
        )
    headings = ("seconds", "words", "published", "joint score", "mutual score")
    return ItemOutput(
        f"transcripts of {attacked.name}, language model of {training.name}",
        tables=[paper_table("Successive text verification, D_sys", headings, rows)],
        compared=compared,
        remarks=[
            "The document calls slicing hardly reversible by the joint score. The mutual score, "
            "which takes off how frequent the words are, is the one to rest on "
            "(docs/reassembly.md)."
        ],
    )


def _table_3(data: PaperData) -> ItemOutput:
    secret = Secret.reproducible(data.seed)
    rows: list[tuple[Cell, ...]] = [("no replacement", SENTENCE, SENTENCE)]
    for strategy, published in STRATEGIES.items():
        anonymiser = TextAnonymiser("en", strategy=strategy, secret=secret)
        rows.append((strategy, published, anonymiser.transform(SENTENCE).text))
    found = [span.kind for span in TextAnonymiser("en", secret=secret).transform(SENTENCE).spans]
    kinds = ", ".join(sorted(found))
    return ItemOutput(
        "the sentence of the document",
        tables=[paper_table("Replacement strategies", ("strategy", "published", "here"), rows)],
        compared=[
            Compared(
                "private values found",
                "LOC, LOC, ORG, PER, TIME",
                kinds,
                ""
                if kinds == "LOC, LOC, ORG, PER, TIME"
                else "another tagger; words that it takes together or for another type",
            )
        ],
    )


def _test_files(folder: Path) -> dict[str, list[Path]]:
    """Test files by language, named LANG.test.conll (or .xz) or LANG/test.conll."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        name = path.name.removesuffix(".xz").removesuffix(".conll")
        lang, _, part = name.partition(".")
        if part == "" and lang == "test":
            lang, part = path.parent.name, "test"
        if path.is_file() and part == "test" and lang in F1:
            found.setdefault(lang, []).append(path)
    return found


def _table_4(data: PaperData) -> ItemOutput:
    files = _test_files(data.ner or Path())
    if not files:
        raise InputError(
            f"{data.ner}: no test files; name them LANG.test.conll or LANG/test.conll",
            code="empty",
        )
    most = 600 if data.quick else None
    tested = [test for lang in F1 for test in _tested_files(lang, files.get(lang, ()), most)]
    return ItemOutput(
        f"test files of {(data.ner or Path()).name}",
        tables=[
            paper_table(
                "F1 of taggers in %",
                (
                    "language",
                    "set",
                    "published, one each",
                    "published, one for all",
                    "here, one each",
                    "here, one for all",
                    "sentences",
                ),
                [test.row for test in tested],
                decimals=1,
            )
        ],
        compared=[*_written_means(tested), *_command_means(tested)],
        remarks=[
            "A file that a tagger was trained on is not tested; the development file stands in.",
            f"The document has no voice commands ({SPOKEN_SET}), which are easier than news: their "
            "mean stands apart. Means are over languages, of the mean of each language's sets.",
        ],
    )


TAGGERS = ("one each", "one for all")


@dataclass(frozen=True, slots=True)
class TestedFile:
    """A file of tagged text, and F1 of both taggers on it."""

    lang: str
    name: str
    commands: bool
    """Whether it holds voice commands; else it is written text."""
    f1: tuple[float, float] | None = None
    """In %, in the order of :data:`TAGGERS`; None where it was not tested."""
    sentences: int | None = None

    @property
    def row(self) -> tuple[Cell, ...]:
        """Published and our F1, as the table has them."""
        ours = (None, None) if self.f1 is None else self.f1
        return (self.lang, self.name, *F1[self.lang], *ours, self.sentences)


def _written_means(tested: Sequence[TestedFile]) -> Iterator[Compared]:
    """Published and our means over the same languages, on written text."""
    for place, tagger in enumerate(TAGGERS):
        means = _means_by_language([test for test in tested if not test.commands], place)
        published = [F1[lang][place] for lang in means or F1]
        yield Compared(
            f"mean F1 on written text in {', '.join(means) or 'no language'}, {tagger}, %",
            sum(published) / len(published),
            sum(means.values()) / len(means) if means else None,
            "small taggers (CRF) instead of BERT of 110 million parameters, and other test sets: "
            "CoNLL's may not be redistributed",
        )


def _command_means(tested: Sequence[TestedFile]) -> Iterator[Compared]:
    """Our means on voice commands, which the document does not have."""
    for place, tagger in enumerate(TAGGERS):
        means = _means_by_language([test for test in tested if test.commands], place)
        if means:
            yield Compared(
                f"mean F1 on voice commands in {', '.join(means)}, {tagger}, %",
                "not tried",
                sum(means.values()) / len(means),
            )


def _means_by_language(tested: Sequence[TestedFile], place: int) -> dict[str, float]:
    """The mean F1 of a tagger over the tested files of each language."""
    values: dict[str, list[float]] = {}
    for test in tested:
        if test.f1 is not None:
            values.setdefault(test.lang, []).append(test.f1[place])
    return {lang: sum(of_files) / len(of_files) for lang, of_files in values.items()}


def _tested_files(lang: str, files: Sequence[Path], most: int | None) -> Iterator[TestedFile]:
    """Test the tagger of a language and that for all languages on each file."""
    if not files:
        yield TestedFile(lang, "no test file", commands=False)
    for path in files:
        commands = path.parent.name == SPOKEN_SET
        register = SPOKEN if commands or WRITTEN not in shipped_weights(lang) else WRITTEN
        taggers = (shipped_tagger(lang, register), shipped_tagger(MULTILINGUAL, register))
        unseen = _unseen(path, taggers)
        if unseen is None:
            yield TestedFile(lang, f"{path.parent.name}: trained on", commands)
            continue
        name = f"{unseen.parent.name}/{unseen.name.partition('.conll')[0]}"
        sentences = read_conll(unseen)[:most]
        types = tuple(sorted({kind for s in sentences for _, _, kind in s.spans} & _TYPES))
        if not types:
            yield TestedFile(lang, f"{name}: tags nothing private", commands)
            continue
        detector = Detector(lang, types=types)
        each, for_all = (100 * evaluate(sentences, detector, t).entities.f1 for t in taggers)
        yield TestedFile(lang, name, commands, (each, for_all), len(sentences))


def _unseen(path: Path, taggers: Sequence[CrfTagger]) -> Path | None:
    """The test file, or the development file beside it, whichever no tagger was trained on."""
    seen = {
        Path(name).parts[-2:] for tagger in taggers for name in tagger.info.card.get("data", ())
    }
    for name in (path.name, path.name.replace("test", "dev", 1)):
        candidate = path.with_name(name)
        if candidate.is_file() and candidate.parts[-2:] not in seen:
            return candidate
    return None


_TYPES = {"PER", "LOC", "ORG", "TIME", "DATE", "EMAIL"}


def _table_7(data: PaperData) -> ItemOutput:
    folder = data.ner or Path()
    files = sorted(path for path in folder.rglob("en*train.conll*") if path.is_file())
    if not files:
        raise InputError(
            f"{folder}: no English training file; name it en.train.conll", code="empty"
        )
    counts = {word: Counter[str]() for word in NAMES}
    for path in files:
        for sentence in read_conll(path):
            for start, end, kind in sentence.spans:
                word = " ".join(sentence.words[start:end])
                if word in counts:
                    counts[word][kind] += 1
    rows: list[tuple[Cell, ...]] = [
        (word, *published, *(counts[word][kind] for kind in ("PER", "ORG", "LOC")))
        for word, published in NAMES.items()
    ]
    headings = ("word", "PER publ.", "ORG publ.", "LOC publ.", "PER", "ORG", "LOC")
    return ItemOutput(
        "entities of one word in " + ", ".join(f"{p.parent.name}/{p.name}" for p in files),
        tables=[paper_table("How often the words are tagged", headings, rows)],
        compared=[
            Compared(
                f"{word} as PER, ORG, LOC",
                ", ".join(map(str, published)),
                ", ".join(str(counts[word][kind]) for kind in ("PER", "ORG", "LOC")),
                "CoNLL-2003 may not be redistributed; its file under --ner gives its counts",
            )
            for word, published in NAMES.items()
        ],
    )


ITEMS = (
    PaperItem(
        "004-table-2", "Successive text verification", _table_2, ("transcripts",), whole=True
    ),
    PaperItem("004-table-3", "Examples of the replacement strategies", _table_3, whole=True),
    PaperItem("004-table-4", "F1 of taggers by language", _table_4, ("words",)),
    PaperItem("004-table-7", "Occurrences of ambiguous names", _table_7, ("words",), whole=True),
)
