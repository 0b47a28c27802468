"""How likely speakers are found again, over population size and conversation length."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from sottovoce.core.records import Record, optional


@dataclass(frozen=True, slots=True)
class CurvePoint(Record):
    """One value at one population size and conversation length."""

    length: int
    """Utterances a conversation."""
    population: int
    """Speakers to choose from."""
    value: float
    chance: float
    """The value expected when the scores hold no evidence."""
    low: float | None = optional()
    high: float | None = optional()
    k: int | None = optional()
    """Of top-k."""
    no_evidence: float | None = optional()
    """What this very protocol gives without evidence, where that differs from ``chance``."""


@dataclass(frozen=True, slots=True)
class LinkabilityBySize(Record):
    """Linkability at every population size from 2 to everybody, for one conversation length."""

    length: int
    """Utterances a conversation."""
    populations: tuple[int, ...]
    """Every size, or 200 of them where there are more; the last is everybody."""
    values: tuple[float, ...]
    """In the order of ``populations``; guessing gives one in so many."""
    low: tuple[float, ...] | None = optional()
    high: tuple[float, ...] | None = optional()

    def point(self, population: int) -> CurvePoint:
        """Return the value at a population size, or at the next smaller one that is there.

        Parameters
        ----------
        population : int
            At least 2. The smaller population discloses more, so this is no more comforting.
        """
        sizes = self.populations
        i = max((i for i, size in enumerate(sizes) if size <= population), default=0)
        return CurvePoint(
            self.length,
            sizes[i],
            self.values[i],
            1 / sizes[i],
            low=None if self.low is None else self.low[i],
            high=None if self.high is None else self.high[i],
        )

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """All sizes as points of a curve."""
        return tuple(self.point(size) for size in self.populations)


@dataclass(frozen=True, slots=True)
class OpenSetPoint(Record):
    """Verification measures when everybody in a population of this size is a non-mated speaker."""

    length: int
    population: int
    eer: float
    rocch_eer: float
    min_cllr: float
    d_sys: float | None
    """None where there are too few mated scores."""


@dataclass(frozen=True, slots=True)
class SpeakerRisk(Record):
    """How exposed one speaker is in conversations of one length."""

    speaker: str
    length: int
    trials: int
    """On how many conversations this rests."""
    linkability: float
    """Probability of being linked among all enrolled speakers."""
    vanishes_at: int | None
    """Population in which that probability falls below 1/2; None if it does not."""


@dataclass(frozen=True, slots=True)
class ExcludedSpeakers(Record):
    """How many speakers of the trials could not be used at one conversation length."""

    length: int
    speakers_not_enrolled: int
    speakers_with_too_few_utterances: int


@dataclass(frozen=True, slots=True)
class Reidentification(Record):
    """Curves over population size; a higher value discloses more, except for the ranks."""

    enrolled_speakers: int
    linkage: str
    """Name of the linkage function."""
    linkability: tuple[CurvePoint, ...] = ()
    singling_out: tuple[CurvePoint, ...] = ()
    one_minus_rocch_eer: tuple[CurvePoint, ...] = ()
    rank: tuple[CurvePoint, ...] = ()
    normalised_rank: tuple[CurvePoint, ...] = ()
    top_k: tuple[CurvePoint, ...] = ()
    rank_disclosure: tuple[CurvePoint, ...] = ()
    worst_rank_disclosure: tuple[CurvePoint, ...] = ()
    by_size: tuple[LinkabilityBySize, ...] = ()
    """Linkability over all population sizes, one a conversation length; empty where populations
    hold a core, or were drawn."""
    open_set: tuple[OpenSetPoint, ...] = ()
    speakers: tuple[SpeakerRisk, ...] = ()
    """The most exposed first."""
    excluded: tuple[ExcludedSpeakers, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What has to be known before any of the numbers is used."""
    warning_codes: tuple[str, ...] = ()
    """One short code per warning, in the same order, such as ``few-speakers``."""

    CURVES: ClassVar[tuple[str, ...]] = (
        "linkability",
        "singling_out",
        "one_minus_rocch_eer",
        "rank",
        "normalised_rank",
        "top_k",
        "rank_disclosure",
        "worst_rank_disclosure",
    )

    def curve(self, name: str) -> tuple[CurvePoint, ...]:
        """Return one curve by name.

        Parameters
        ----------
        name : str
            One of :attr:`CURVES`.
        """
        if name not in self.CURVES:
            raise KeyError(name)
        points: tuple[CurvePoint, ...] = getattr(self, name)
        return points

    def drawn_curve(self, name: str) -> tuple[CurvePoint, ...]:
        """Return the points that a figure draws: every population size where they are known.

        Parameters
        ----------
        name : str
            One of :attr:`CURVES`.
        """
        if name == "linkability" and self.by_size:
            return tuple(point for curve in self.by_size for point in curve.points)
        return self.curve(name)


def most_exposed(risks: Iterable[SpeakerRisk], most: int = 10) -> list[SpeakerRisk]:
    """Select the most exposed speakers, each at the length that exposes them most.

    Parameters
    ----------
    risks : iterable of SpeakerRisk
        Several lengths a speaker.
    most : int, default 10
        How many speakers to return at most.
    """
    ordered = sorted(risks, key=lambda risk: (-risk.linkability, -(risk.vanishes_at or 10**12)))
    worst: dict[str, SpeakerRisk] = {}
    for risk in ordered:
        worst.setdefault(risk.speaker, risk)
    return list(worst.values())[:most]
