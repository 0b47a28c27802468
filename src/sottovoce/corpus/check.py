"""Checking a corpus: what is in it, and everything that is wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from sottovoce.core.errors import InputError
from sottovoce.core.parallel import map_ahead
from sottovoce.core.records import Record
from sottovoce.core.types import Progress
from sottovoce.corpus.audio import Length, load_length, load_native
from sottovoce.corpus.reading import Defect
from sottovoce.corpus.utterance import Corpus, Utterance

UNKNOWN = "unknown"
"""What an empty gender or language is counted under."""


@dataclass(frozen=True, slots=True)
class PerSpeaker(Record):
    """How many utterances a speaker has."""

    least: int
    median: float
    most: int


@dataclass(frozen=True, slots=True)
class CorpusReport(Record):
    """The content of a corpus and its defects, as ``sottovoce corpus --json`` prints them."""

    name: str
    utterances: int
    speakers: int
    hours: float
    """Of the utterances without defect."""
    genders: Mapping[str, int]
    """Speakers of each gender."""
    utterances_per_speaker: PerSpeaker
    sample_rates: Mapping[int, int]
    """Utterances without defect at each sample rate in Hz."""
    languages: Mapping[str, int]
    """Utterances in each language."""
    sessions: int
    """Sessions of all speakers together; utterances without a session are not counted."""
    splits: Mapping[str, int]
    """Utterances in each split; those without a split are not counted."""
    decoded: bool
    """Whether every sample was read, or headers only."""
    n_defects: int
    defects: tuple[Defect, ...]
    """What cannot be used, or contradicts something else."""
    remarks: tuple[Defect, ...]
    """What can be used but should be known: averaged channels, unusual rates, lone utterances."""
    notes: tuple[str, ...]
    """What is unusual in the lists of the corpus but no defect."""


@dataclass(frozen=True, slots=True)
class ListDefects(Record):
    """The defects of a corpus of which no line can be used."""

    n_defects: int
    defects: tuple[Defect, ...]


def check_corpus(
    corpus: Corpus,
    decode: bool = False,
    progress: Progress | None = None,
    listed: Iterable[Defect] = (),
) -> CorpusReport:
    """Check every file of a corpus.

    Parameters
    ----------
    corpus : Corpus
        What is checked.
    decode : bool, default False
        Read every sample instead of headers only: slower, but finds silence, samples that are not
        finite, and damage inside a file.
    progress : callable, optional
        Called with the number of utterances that are checked, and of all.
    listed : iterable of Defect, optional
        Defects of the lists of the corpus that reading them found; they come first in the report.

    Returns
    -------
    CorpusReport
        Defects are in the order of the corpus. If several utterances lie in one damaged file, each
        has its defect.
    """
    defects = list(listed)
    usable: dict[int, Length] = {}
    results = map_ahead(_decode if decode else _read_header, corpus, workers=2, ahead=16)
    earlier = _EarlierUtterances()
    for i, (utterance, result) in enumerate(results):
        where = corpus.where(i)
        if isinstance(result, InputError):
            message = str(result).removeprefix(f"{where}: ")
            defects.append(Defect(where, message, result.code))
        else:
            usable[i] = result
        defects += earlier.contradictions(utterance, where)
        if progress is not None:
            progress(i + 1, len(corpus))
    return _report(corpus, decode, usable, defects)


def _read_header(utterance: Utterance) -> Length | InputError:
    try:
        return load_length(utterance)
    except InputError as error:
        return error


def _decode(utterance: Utterance) -> Length | InputError:
    try:
        samples, rate = load_native(utterance)
        return replace(load_length(utterance), seconds=len(samples) / rate)
    except InputError as error:
        return error


class _EarlierUtterances:
    """Genders and recordings of the utterances so far, which a later utterance may contradict."""

    def __init__(self) -> None:
        self._genders: dict[str, tuple[str, str]] = {}
        self._parts: dict[tuple[Path, float | None, float | None, int | None], str] = {}

    def contradictions(self, utterance: Utterance, where: str) -> Iterator[Defect]:
        """Compare an utterance with the earlier ones, then add it to them.

        Parameters
        ----------
        utterance : Utterance
            The next one.
        where : str
            Where it is listed.
        """
        speaker, gender = utterance.speaker, utterance.gender
        if gender:
            first_gender, first = self._genders.setdefault(speaker, (gender, where))
            if first_gender != gender:
                message = f"speaker {speaker} has gender {gender}, but {first_gender} in {first}"
                yield Defect(where, f"{message}; correct one", "mismatch")
        part = (utterance.path, utterance.start, utterance.end, utterance.channel)
        if part in self._parts:
            message = f"the same recording as {self._parts[part]}; keep one of them"
            yield Defect(where, message, "duplicate-recording")
        self._parts.setdefault(part, utterance.id)


def _remarks(corpus: Corpus, usable: Mapping[int, Length]) -> Iterator[Defect]:
    """Describe what should be known of recordings that can be used, in the order of the corpus."""
    rates = Counter(length.rate for length in usable.values())
    usual = rates.most_common(1)[0][0] if rates else 0
    of_speaker = Counter(corpus.utterances[i].speaker for i in usable)
    for i, length in usable.items():
        where, speaker = corpus.where(i), corpus.utterances[i].speaker
        if length.averaged > 1:
            advice = "name one in the column channel if it is the speaker's"
            message = f"{length.averaged} channels are averaged; {advice}"
            yield Defect(where, message, "averaged-channels")
        if length.rate != usual:
            message = f"{length.rate:,} Hz where most have {usual:,}"
            advice = "an unusual rate can identify a speaker: resample all recordings alike"
            yield Defect(where, f"{message}; {advice}", "unusual-rate")
        if of_speaker[speaker] == 1:
            advice = "linking needs two, so an audit leaves it out: record another"
            message = f"the only usable utterance of {speaker}; {advice}"
            yield Defect(where, message, "only-utterance")


def _report(
    corpus: Corpus, decode: bool, usable: Mapping[int, Length], defects: list[Defect]
) -> CorpusReport:
    by_speaker = corpus.by_speaker()
    counts = [len(utterances) for utterances in by_speaker.values()] or [0]
    genders = Counter(_gender(utterances) for utterances in by_speaker.values())
    splits = Counter(utterance.split for utterance in corpus if utterance.split)
    sessions = {(utterance.speaker, utterance.session) for utterance in corpus if utterance.session}
    return CorpusReport(
        name=corpus.name,
        utterances=len(corpus),
        speakers=len(by_speaker),
        hours=sum(length.seconds for length in usable.values()) / 3600,
        genders=dict(sorted(genders.items())),
        utterances_per_speaker=PerSpeaker(min(counts), float(median(counts)), max(counts)),
        sample_rates=dict(sorted(Counter(length.rate for length in usable.values()).items())),
        languages=dict(
            Counter(utterance.language or UNKNOWN for utterance in corpus).most_common()
        ),
        sessions=len(sessions),
        splits=dict(sorted(splits.items())),
        decoded=decode,
        n_defects=len(defects),
        defects=tuple(defects),
        remarks=tuple(_remarks(corpus, usable)),
        notes=corpus.notes,
    )


def _gender(utterances: tuple[Utterance, ...]) -> str:
    """Return a speaker's gender: the first that an utterance states."""
    return next((utterance.gender for utterance in utterances if utterance.gender), UNKNOWN)
