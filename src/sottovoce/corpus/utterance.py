"""Utterances and corpora: who said what, in which file. No format is known, no audio opened."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sottovoce.core.errors import InputError, first_few

GENDERS = {
    **dict.fromkeys(("f", "female", "feminine", "woman"), "f"),
    **dict.fromkeys(("m", "male", "masculine", "man"), "m"),
}
"""Spellings of the two; any other word is kept as it is."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """Something one person said, and where it is recorded.

    A file of its own:

    >>> utterance = Utterance("61-70970-0005", Path("61-70970-0005.flac"), "61", gender="Female")
    >>> utterance.gender
    'f'

    A part of a longer recording, in seconds; ``end=None`` is the end of the file:

    >>> turn = Utterance("call7-002", Path("call7.wav"), "ann", start=12.5, end=15.25)
    >>> turn.end - turn.start
    2.75

    One side of a telephone call, where each speaker has a channel:

    >>> caller = Utterance("call8-a", Path("call8.wav"), "bob", channel=0)

    Recorded on another day, and to be used as a trial:

    >>> later = Utterance("u9", Path("u9.wav"), "ann", session="2024-05-02", split="trial")

    What a format knows beyond that is kept as text:

    >>> Utterance("u1", Path("u1.mp3"), "c4f1", extra={"accent": "Dutch"}).extra["accent"]
    'Dutch'
    """

    id: str
    """Unique in its corpus."""
    path: Path
    speaker: str
    gender: str = ""
    """``f``, ``m``, another word as the corpus has it, or empty where it is unknown."""
    language: str = ""
    transcript: str = ""
    session: str = ""
    """The occasion of the recording; different speakers may use the same names."""
    split: str = ""
    """The part of the corpus, such as ``train``, ``enrol`` or ``trial``."""
    start: float | None = None
    end: float | None = None
    extra: Mapping[str, str] = field(default_factory=dict, hash=False)
    channel: int | None = None
    """Counted from 0; without one, two channels are averaged and more are refused."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gender", GENDERS.get(self.gender.lower(), self.gender))
        if not self.id.strip():
            raise InputError("an utterance without id; give each one its own", code="empty")
        if not self.speaker.strip():
            raise InputError(f"utterance {self.id!r} has no speaker; say who speaks", code="empty")
        start = 0.0 if self.start is None else self.start
        end = math.inf if self.end is None else self.end
        if not (0 <= start < end) or self.end == math.inf:
            raise InputError(
                f"utterance {self.id!r} from {start:g} to {end:g} s; seconds with 0 ≤ start < end",
                code="out-of-range",
            )
        if self.channel is not None and self.channel < 0:
            raise InputError(
                f"utterance {self.id!r} in channel {self.channel}; the first is 0",
                code="out-of-range",
            )


@dataclass(frozen=True)
class Corpus:
    """Utterances with different ids, in the order of their list.

    >>> ann, bob = (Utterance(f"u{i}", Path(f"u{i}.wav"), name) for i, name in enumerate("ab"))
    >>> corpus = Corpus("two voices", Path("."), (ann, bob))
    >>> corpus.speakers, len(corpus), len(corpus.select(speakers=["b"]))
    (('a', 'b'), 2, 1)
    """

    name: str
    root: Path
    utterances: tuple[Utterance, ...]
    places: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Where each utterance is listed, such as ``manifest.csv:12``; empty where it is not."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What a person should know about how the corpus was read."""

    def __post_init__(self) -> None:
        if self.places and len(self.places) != len(self.utterances):
            raise ValueError(f"{len(self.places)} places for {len(self.utterances)} utterances")
        counts = Counter(utterance.id for utterance in self.utterances)
        if len(counts) < len(self.utterances):
            repeated = [name for name, count in counts.items() if count > 1]
            listed = first_few(repeated, len(repeated))
            raise InputError(
                f"{self.name}: utterance ids occur twice: {listed}; keep one each",
                code="duplicate-id",
            )

    def __iter__(self) -> Iterator[Utterance]:
        return iter(self.utterances)

    def __len__(self) -> int:
        return len(self.utterances)

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """All speakers, sorted."""
        return tuple(sorted({utterance.speaker for utterance in self.utterances}))

    def where(self, index: int) -> str:
        """Return where an utterance is listed, or else its file.

        Parameters
        ----------
        index : int
            Position of the utterance, from 0.
        """
        return self.places[index] if self.places else str(self.utterances[index].path)

    def by_speaker(self) -> dict[str, tuple[Utterance, ...]]:
        """Group the utterances by speaker; speakers are sorted, utterances in their order."""
        groups: dict[str, list[Utterance]] = {name: [] for name in self.speakers}
        for utterance in self.utterances:
            groups[utterance.speaker].append(utterance)
        return {name: tuple(utterances) for name, utterances in groups.items()}

    def select(
        self,
        predicate: Callable[[Utterance], bool] | None = None,
        *,
        split: str | None = None,
        speakers: Iterable[str] | None = None,
    ) -> Corpus:
        """Return a corpus of the utterances that meet all conditions.

        Parameters
        ----------
        predicate : callable, optional
            Takes an utterance and returns whether it is selected.
        split : str, optional
            Its split; at least one utterance must have it.
        speakers : iterable of str, optional
            Its speaker is one of these; all of them must exist.
        """
        selected = list(range(len(self)))
        if split is not None:
            self._refuse_unknown(
                "split", {split}, {utterance.split for utterance in self.utterances}
            )
            selected = [i for i in selected if self.utterances[i].split == split]
        if speakers is not None:
            wanted = set(speakers)
            self._refuse_unknown("speaker", wanted, set(self.speakers))
            selected = [i for i in selected if self.utterances[i].speaker in wanted]
        if predicate is not None:
            selected = [i for i in selected if predicate(self.utterances[i])]
        places = tuple(self.places[i] for i in selected) if self.places else ()
        utterances = tuple(self.utterances[i] for i in selected)
        return Corpus(self.name, self.root, utterances, places, self.notes)

    def _refuse_unknown(self, kind: str, wanted: set[str], known: set[str]) -> None:
        if unknown := sorted(wanted - known):
            have = first_few(sorted(name for name in known if name), len(known - {""}), most=8)
            raise InputError(
                f"{self.name}: no {kind} {unknown[0]!r}; this corpus has {have or 'none'}",
                code="unknown-name",
            )
