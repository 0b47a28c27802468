"""The data that items of papers are computed from, as the user names them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from sottovoce.core.engine import Engine
from sottovoce.core.records import Record
from sottovoce.core.types import StageProgress
from sottovoce.corpus.audio import load_length
from sottovoce.corpus.formats import BUILTIN, open_corpus
from sottovoce.corpus.kaldi import FILES as KALDI_FILES
from sottovoce.corpus.trees import AUDIO_ENDINGS
from sottovoce.corpus.utterance import Corpus, Utterance

NEEDS = {
    "words": "tagged text as CoNLL files: --ner DIR (a folder per language with test files)",
    "torch": "PyTorch: pip install 'sottovoce[learn]'",
    "training": "PyTorch and ONNX: pip install 'sottovoce[train]'",
    "accounting": "private training: pip install 'sottovoce[learn]'",
    "digits": "images of digits: --digits DIR with mnist.npz and kmnist_public.npz",
    "features": "features of CIFAR-10 by a pre-trained network: --features DIR with train.npz, "
    "test.npz and public.npz (vectors, label)",
    "news": "AG News: --news DIR with train.csv and test.csv (columns text, label)",
    "transcripts": "a corpus with transcripts: --corpus DIR",
}
"""What an item may need besides speech, for which the built-in corpus is the default."""
OPTIONAL = ("vectors",)
"""What an item may use without needing it."""

LISTS = tuple(dict.fromkeys(("manifest.csv", "wav.scp", "segments", "utt2spk", *KALDI_FILES)))
"""Files of a corpus that say what is in it."""
DIGEST_DIGITS = 16


@dataclass(frozen=True, slots=True)
class NamedInput(Record):
    """A corpus, folder or file that the user gave: its name without folders, and its content."""

    name: str
    digest: str
    """The same for the same content; empty if there is no such file, as for the built-in corpus."""


@dataclass(frozen=True, slots=True)
class PartSize:
    """How much of a corpus a quick run takes."""

    speakers: int
    """Half of them of each gender where that is known."""
    enrol: int
    """Enrolment utterances of each speaker."""
    trial: int
    """Trial utterances of each speaker."""
    seconds: float | None = 3.5
    """Utterances that are not longer are preferred, of others only the beginning is taken; None for
    any length."""


@dataclass(frozen=True)
class PaperData:
    """Names of the data, and where the work is kept."""

    folder: Path
    """Results lie in it by item, and what they are made of in ``work``."""
    quick: bool = False
    corpus: str = BUILTIN
    """Speech to anonymise and attack, with enrolment and trial utterances."""
    train: str | None = None
    """Speech of other speakers to train attackers on; None for half of the attacked corpus."""
    crowd: str | None = None
    """Speech of many speakers; None for the corpus."""
    ner: Path | None = None
    """A folder of tagged text."""
    digits: Path | None = None
    """A folder of images of digits."""
    features: Path | None = None
    """A folder of features of images, made by a pre-trained network."""
    news: Path | None = None
    """A folder of news with their topics."""
    vectors: tuple[Path, ...] = ()
    """Files of word vectors."""
    skip: tuple[str, ...] = ()
    """Attacks that are left out by their names in a figure, because they would take too long."""
    seed: int = 0
    jobs: int = 1
    engine: Engine | None = field(default=None, compare=False)
    """What processes recordings; None for threads of this process, ``jobs`` of them."""
    progress: StageProgress | None = None
    digests: dict[Path, str] = field(default_factory=dict, compare=False, repr=False)
    """Of inputs, so that copies of this object compute each once."""

    def missing(self, needs: Sequence[str]) -> str | None:
        """Return what an item still needs, or None if it can run.

        Parameters
        ----------
        needs : sequence of str
            Names in :data:`NEEDS` or :data:`OPTIONAL`.

        Raises
        ------
        InputError
            If transcripts are needed and the corpus cannot be read.
        """
        given = {
            "words": self.ner is not None,
            "digits": self.digits is not None,
            "features": self.features is not None,
            "news": self.news is not None,
            "torch": find_spec("torch") is not None,
            "training": find_spec("torch") is not None and find_spec("onnx") is not None,
            "accounting": find_spec("dp_accounting") is not None,
            "transcripts": "transcripts" in needs and self._has_transcripts(),
        }
        needed = [name for name in needs if name not in OPTIONAL]
        absent = [NEEDS[name] for name in needed if not given.get(name, False)]
        return "; ".join(absent) or None

    def _has_transcripts(self) -> bool:
        return self.synthetic or has_transcripts(self.attacked)

    @property
    def work(self) -> Path:
        """The folder of anonymised speech, embeddings and finished steps."""
        return self.folder / "work"

    @cached_property
    def attacked(self) -> Corpus:
        """The corpus that is attacked."""
        return open_corpus(self.corpus)

    @cached_property
    def training(self) -> Corpus | None:
        """Speech of other speakers, if the user names any."""
        return None if self.train is None else open_corpus(self.train)

    @cached_property
    def many(self) -> Corpus:
        """The corpus of many speakers."""
        return self.attacked if self.crowd is None else open_corpus(self.crowd)

    @property
    def synthetic(self) -> bool:
        """Whether the attacked corpus is the built-in one, whose voices nobody has."""
        return self.corpus == BUILTIN

    @property
    def inputs(self) -> dict[str, tuple[Path, ...]]:
        """The corpora, folders and files that the user gave, by option."""
        paths = {
            "corpus": self.corpus,
            "train": self.train,
            "crowd": self.crowd,
            "ner": self.ner,
            "digits": self.digits,
            "features": self.features,
            "news": self.news,
        }
        given = {name: (Path(path),) for name, path in paths.items() if path is not None}
        return {**given, **({"vectors": self.vectors} if self.vectors else {})}

    def named(self, options: Collection[str]) -> dict[str, tuple[NamedInput, ...]]:
        """Return some inputs by name and content, without folders, as results store them.

        Parameters
        ----------
        options : collection of str
            The options of the inputs; those that the user did not give are left out.
        """
        return {
            option: tuple(NamedInput(path.name, self._digest(path)) for path in paths)
            for option, paths in self.inputs.items()
            if option in options
        }

    def _digest(self, path: Path) -> str:
        if path not in self.digests:
            self.digests[path] = input_digest(path)
        return self.digests[path]


def input_digest(path: Path) -> str:
    """Return a short digest of a file or folder, wherever it lies.

    Parameters
    ----------
    path : Path
        A file, whose content counts; a corpus with lists, or one of them, whose lists count; or
        another folder, of whose files the names count, the sizes of recordings and the content of
        others.

    Returns
    -------
    str
        Hexadecimal digits, or nothing if there is no such file.
    """
    folder = path.parent if path.name in LISTS else path
    lists = [folder / name for name in LISTS if (folder / name).is_file()]
    if lists:
        return _digest_of(map(_content, lists))
    if path.is_file():
        return _digest_of([_content(path)])
    if not path.is_dir():
        return ""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return _digest_of(
        file.relative_to(path).as_posix().encode() + b" " + _size_or_content(file) for file in files
    )


def _size_or_content(file: Path) -> bytes:
    is_recording = file.suffix.lower() in AUDIO_ENDINGS
    return str(file.stat().st_size).encode() if is_recording else _content(file)


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _digest_of(parts: Iterable[bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()[:DIGEST_DIGITS]


def has_transcripts(corpus: Corpus) -> bool:
    """Whether any utterance of a corpus has a transcript.

    Parameters
    ----------
    corpus : Corpus
        Any speech.
    """
    return any(utterance.transcript.strip() for utterance in corpus)


def corpus_remarks(corpus: Corpus) -> list[str]:
    """Return what has to be known about attacks on a corpus, which is recognised by its name.

    Parameters
    ----------
    corpus : Corpus
        The attacked speech.
    """
    known = corpus.name.lower().replace("_", "").replace(" ", "").replace("-", "")
    return [_SPEECH_COMMANDS] if "speechcommands" in known else []


_SPEECH_COMMANDS = (
    "In Speech Commands each speaker has one session and device, so a link may be one to a "
    "microphone; words of one second are short."
)


def part_of(corpus: Corpus, size: PartSize | None) -> Corpus:
    """Take the part of a corpus that a quick run uses.

    Utterances are spread evenly over the list of each speaker, speakers over those of each gender.

    Parameters
    ----------
    corpus : Corpus
        The whole corpus; without the splits ``enrol`` and ``trial`` the first half of a speaker's
        utterances counts as enrolment.
    size : PartSize or None
        How much; None for the whole corpus.
    """
    if size is None:
        return corpus
    by_speaker = corpus.by_speaker()
    kept: list[Utterance] = []
    for speaker in _spread_by_gender(corpus, size.speakers):
        enrol, trial = _sides(by_speaker[speaker])
        kept += _short(enrol, size.enrol, size.seconds)
        kept += _short(trial, size.trial, size.seconds)
    return Corpus(corpus.name, corpus.root, tuple(kept), notes=corpus.notes)


def training_part(corpus: Corpus, speakers: int, each: int, seconds: float) -> Corpus:
    """Take some utterances of some speakers to train attackers on.

    Parameters
    ----------
    corpus : Corpus
        Speech of training speakers.
    speakers, each : int
        How many speakers, and utterances of each.
    seconds : float
        Only the beginning of each recording.
    """
    by_speaker = corpus.by_speaker()
    kept = [
        beginning(utterance, seconds)
        for speaker in _spread_by_gender(corpus, speakers)
        for utterance in spread(by_speaker[speaker], each)
    ]
    return Corpus(corpus.name, corpus.root, tuple(kept), notes=corpus.notes)


def spread(utterances: Sequence[Utterance], count: int) -> list[Utterance]:
    """Choose utterances at equal distances in a list, the first among them.

    Parameters
    ----------
    utterances : sequence of Utterance
        The list.
    count : int
        How many; all if there are fewer.
    """
    if len(utterances) <= count or count < 1:
        return list(utterances[: max(0, count)])
    return [utterances[turn * len(utterances) // count] for turn in range(count)]


def beginning(utterance: Utterance, seconds: float) -> Utterance:
    """Return the first seconds of an utterance; what is cut loses its transcript.

    Parameters
    ----------
    utterance : Utterance
        A recording, or a part of one.
    seconds : float
        How much is kept.
    """
    if load_length(utterance).seconds <= seconds:
        return utterance
    start = utterance.start or 0.0
    return replace(utterance, start=start, end=start + seconds, transcript="", extra={})


def _short(utterances: Sequence[Utterance], count: int, seconds: float | None) -> list[Utterance]:
    """Utterances that are not longer than this; if too few, the beginnings of others."""
    if seconds is None:
        return spread(utterances, count)
    whole = [utterance for utterance in utterances if load_length(utterance).seconds <= seconds]
    chosen = spread(whole, count)
    longer = [utterance for utterance in utterances if utterance not in whole]
    return chosen + [
        beginning(utterance, seconds) for utterance in spread(longer, count - len(chosen))
    ]


def _sides(utterances: Sequence[Utterance]) -> tuple[list[Utterance], list[Utterance]]:
    enrol = [utterance for utterance in utterances if utterance.split == "enrol"]
    trial = [utterance for utterance in utterances if utterance.split == "trial"]
    if enrol and trial:
        return enrol, trial
    half = len(utterances) // 2
    return (
        [replace(utterance, split="enrol") for utterance in utterances[:half]],
        [replace(utterance, split="trial") for utterance in utterances[half:]],
    )


def _spread_by_gender(corpus: Corpus, count: int) -> list[str]:
    """Names of speakers, as many of each gender as possible, in sorted order."""
    groups: dict[str, list[str]] = {}
    for speaker, utterances in corpus.by_speaker().items():
        groups.setdefault(utterances[0].gender, []).append(speaker)
    chosen: list[str] = []
    for number, names in enumerate(sorted(groups.values(), key=len)):
        share = min(len(names), -(-(count - len(chosen)) // (len(groups) - number)))
        chosen += [names[turn * len(names) // share] for turn in range(share)]
    return sorted(chosen[:count])
