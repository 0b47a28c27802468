"""What a re-identification study asks for and what it finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sottovoce.measure.open_set import OpenSet
from sottovoce.measure.population import default_populations

LENGTHS = (1, 3, 30)


@dataclass(frozen=True, slots=True)
class Settings:
    """What is measured and how."""

    lengths: tuple[int, ...] = LENGTHS
    """Utterances a conversation."""
    populations: tuple[int, ...] | None = None
    """Population sizes; default 20, 40, 80, … and everybody."""
    k: int = 20
    """Of top-k."""
    conversations: int = 10
    """Conversations a trial speaker contributes at most."""
    enrolled: int = 495
    """Enrolment speakers whose predicates are tried in Singling Out, at most."""
    enrol_utterances: int = 30
    """Utterances a predicate is made of, at most."""
    draws: int = 100
    """Random populations in Singling Out."""
    core: bool = False
    """Whether all trial speakers are part of every population, as in the COMPRISE study."""
    literal: bool = False
    """Follow the published protocol: 5 draws, one conversation a speaker."""
    confidence: float | None = 0.95
    seed: int = 0

    def sizes(self, everybody: int) -> list[int]:
        """Population sizes that can be drawn of so many speakers."""
        if self.populations is None:
            return default_populations(everybody)
        return sorted({size for size in self.populations if 2 <= size <= everybody})


@dataclass(frozen=True, slots=True)
class Point:
    """One value at one population size and conversation length."""

    length: int
    population: int
    value: float
    chance: float
    low: float | None = None
    high: float | None = None
    k: int | None = None
    no_evidence: float | None = None
    """What this very protocol gives without evidence, where that differs from ``chance``."""

    def to_dict(self) -> dict[str, float | int]:
        """By name, without what is not set."""
        return {n: v for n in self.__slots__ if (v := getattr(self, n)) is not None}


@dataclass(frozen=True, slots=True)
class SpeakerRisk:
    """How exposed one speaker is in conversations of one length."""

    speaker: str
    length: int
    trials: int
    """On how many conversations this rests."""
    linkability: float
    """Chance of being linked among everybody."""
    vanishes_at: int | None
    """Population in which the chance of being linked falls below 1/2; None: in none of these."""

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Reidentification:
    """Curves over population size; higher = more disclosed, except for rank."""

    linkability: list[Point] = field(default_factory=list)
    singling_out: list[Point] = field(default_factory=list)
    one_minus_rocch_eer: list[Point] = field(default_factory=list)
    rank: list[Point] = field(default_factory=list)
    normalised_rank: list[Point] = field(default_factory=list)
    top_k: list[Point] = field(default_factory=list)
    rank_disclosure: list[Point] = field(default_factory=list)
    worst_rank_disclosure: list[Point] = field(default_factory=list)
    open_set: list[OpenSet] = field(default_factory=list)
    speakers: list[SpeakerRisk] = field(default_factory=list)
    excluded: list[dict[str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    enrolled: int = 0
    linkage: str = ""

    CURVES = (
        "linkability",
        "singling_out",
        "one_minus_rocch_eer",
        "rank",
        "normalised_rank",
        "top_k",
        "rank_disclosure",
        "worst_rank_disclosure",
    )

    def to_dict(self) -> dict[str, Any]:
        """What ``sottovoce reidentify --json`` prints, without provenance."""
        curves = {name: [p.to_dict() for p in getattr(self, name)] for name in self.CURVES}
        return {
            "enrolled_speakers": self.enrolled,
            "linkage": self.linkage,
            **curves,
            "open_set": [one.to_dict() for one in self.open_set],
            "speakers": [one.to_dict() for one in self.speakers],
            "excluded": self.excluded,
            "notes": self.notes,
        }


def worst_speakers(risks: Iterable[SpeakerRisk], most: int = 10) -> list[SpeakerRisk]:
    """The most exposed speakers, each at the conversation length that exposes them most."""
    ordered = sorted(risks, key=lambda one: (-one.linkability, -(one.vanishes_at or 10**12)))
    first: dict[str, SpeakerRisk] = {}
    for one in ordered:
        first.setdefault(one.speaker, one)
    return list(first.values())[:most]
