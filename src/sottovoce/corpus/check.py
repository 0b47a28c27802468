"""Looking a corpus through: what is in it, and everything that is wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from sottovoce.core.errors import InputError
from sottovoce.core.types import Progress
from sottovoce.corpus.ahead import map_ahead
from sottovoce.corpus.audio import Length, load_length, load_native
from sottovoce.corpus.defects import Defect
from sottovoce.corpus.utterance import Corpus, Utterance

UNKNOWN = "unknown"
"""What an empty gender or language is counted under."""


@dataclass(frozen=True, slots=True)
class PerSpeaker:
    """How many utterances a speaker has."""

    least: int
    median: float
    most: int

    def to_dict(self) -> dict[str, float]:
        """For JSON."""
        return {"least": self.least, "median": self.median, "most": self.most}


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """What is in a corpus; hours and sample rates are those of the utterances without defect."""

    name: str
    utterances: int
    speakers: int
    hours: float
    genders: Mapping[str, int]
    """Speakers of each gender."""
    per_speaker: PerSpeaker
    rates: Mapping[int, int]
    """Utterances at each sample rate in Hz."""
    languages: Mapping[str, int]
    """Utterances in each language."""
    sessions: int
    """Sessions of all speakers together; utterances without one are not counted."""
    splits: Mapping[str, int]
    """Utterances in each split; those without one are not counted."""
    decoded: bool
    """Whether every sample was read, or headers only."""
    defects: tuple[Defect, ...]
    """What cannot be used, or cannot be true."""
    remarks: tuple[Defect, ...]
    """What can be used but should be known: mixed channels, odd rates, lone utterances."""
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "utterances": self.utterances,
            "speakers": self.speakers,
            "hours": self.hours,
            "genders": dict(self.genders),
            "utterances_per_speaker": self.per_speaker.to_dict(),
            "sample_rates": {str(rate): count for rate, count in self.rates.items()},
            "languages": dict(self.languages),
            "sessions": self.sessions,
            "splits": dict(self.splits),
            "decoded": self.decoded,
            "n_defects": len(self.defects),
            "defects": [{"where": where, "what": what} for where, what in self.defects],
            "remarks": [{"where": where, "what": what} for where, what in self.remarks],
            "notes": list(self.notes),
        }


def check_corpus(
    corpus: Corpus,
    decode: bool = False,
    progress: Progress | None = None,
    listed: Iterable[Defect] = (),
) -> CorpusReport:
    """Look at every file of a corpus: at its header or, with ``decode``, at every sample.

    ``progress`` is called with the number of utterances done and that of all. Defects come in the
    order of the corpus, after those of its lists (``listed``), if it is the rest of a corpus with
    such; of one file that serves several utterances, each has its own.
    """
    defects = list(listed)
    usable: dict[int, Length] = {}
    looked = map_ahead(_decoded if decode else _header, corpus, workers=2, ahead=16)
    claims = _Claims()
    for i, (one, found) in enumerate(looked):
        where = corpus.where(i)
        if isinstance(found, InputError):
            defects.append(Defect(where, str(found).removeprefix(f"{where}: ")))
        else:
            usable[i] = found
        defects += [Defect(where, what) for what in claims.against(one, where)]
        if progress is not None:
            progress(i + 1, len(corpus))
    return _report(corpus, decode, usable, defects)


def _header(one: Utterance) -> Length | InputError:
    try:
        return load_length(one)
    except InputError as error:
        return error


def _decoded(one: Utterance) -> Length | InputError:
    try:
        samples, rate = load_native(one)
        return load_length(one)._replace(seconds=len(samples) / rate)
    except InputError as error:
        return error


class _Claims:
    """What earlier utterances said, for what a later one says to contradict."""

    def __init__(self) -> None:
        self._genders: dict[str, tuple[str, str]] = {}
        self._parts: dict[tuple[Path, float | None, float | None, int | None], str] = {}

    def against(self, one: Utterance, where: str) -> list[str]:
        """Complaints about an utterance in the light of those before it."""
        said = []
        if one.gender:
            gender, first = self._genders.setdefault(one.speaker, (one.gender, where))
            if gender != one.gender:
                said.append(
                    f"speaker {one.speaker} has gender {one.gender}, but {gender} in {first}; "
                    "correct one"
                )
        part = (one.path, one.start, one.end, one.channel)
        if part in self._parts:
            said.append(f"the same recording as {self._parts[part]}; keep one of them")
        self._parts.setdefault(part, one.id)
        return said


def _remarks(corpus: Corpus, usable: Mapping[int, Length]) -> Iterator[Defect]:
    """What should be known of recordings that can be used, in the order of the corpus."""
    rates = Counter(seen.rate for seen in usable.values())
    usual = rates.most_common(1)[0][0] if rates else 0
    of_speaker = Counter(corpus.utterances[i].speaker for i in usable)
    for i, seen in usable.items():
        where = corpus.where(i)
        if seen.averaged > 1:
            what = "channels are averaged; name one in the column channel if it is the speaker's"
            yield Defect(where, f"{seen.averaged} {what}")
        if seen.rate != usual:
            what = "a rate of one's own can give a speaker away: resample them alike"
            yield Defect(where, f"{seen.rate:,} Hz where most have {usual:,}; {what}")
        if of_speaker[corpus.utterances[i].speaker] == 1:
            what = "linking needs two, so an audit leaves it out: record another"
            yield Defect(
                where, f"the only usable utterance of {corpus.utterances[i].speaker}; {what}"
            )


def _report(
    corpus: Corpus, decode: bool, usable: Mapping[int, Length], defects: list[Defect]
) -> CorpusReport:
    by_speaker = corpus.by_speaker()
    counts = [len(own) for own in by_speaker.values()] or [0]
    genders = Counter(_gender(own) for own in by_speaker.values())
    splits = Counter(one.split for one in corpus if one.split)
    languages = Counter(one.language or UNKNOWN for one in corpus)
    return CorpusReport(
        name=corpus.name,
        utterances=len(corpus),
        speakers=len(by_speaker),
        hours=sum(seen.seconds for seen in usable.values()) / 3600,
        genders=dict(sorted(genders.items())),
        per_speaker=PerSpeaker(min(counts), float(median(counts)), max(counts)),
        rates=dict(sorted(Counter(seen.rate for seen in usable.values()).items())),
        languages=dict(languages.most_common()),
        sessions=len({(one.speaker, one.session) for one in corpus if one.session}),
        splits=dict(sorted(splits.items())),
        decoded=decode,
        defects=tuple(defects),
        remarks=tuple(_remarks(corpus, usable)),
        notes=corpus.notes,
    )


def _gender(utterances: tuple[Utterance, ...]) -> str:
    """A speaker's gender: the first that an utterance states."""
    return next((one.gender for one in utterances if one.gender), UNKNOWN)
