"""What is given away by recordings and texts that were cut into short pieces."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.core.records import Record, optional
from sottovoce.findings.reidentification import CurvePoint
from sottovoce.findings.scores import Estimate


@dataclass(frozen=True, slots=True)
class SlicePoint(Record):
    """How well slices of one length are linked to speakers."""

    seconds: float
    """Length that was asked for."""
    mean_seconds: float
    """Mean length of the slices; recordings that are shorter are slices as they are."""
    slices: int
    """Slices that were attacked."""
    left_out: int
    """Recordings that gave no slice: silent, or their words could not be aligned."""
    linked_with: str
    """The linkage function, chosen on training speech that was cut to the same length."""
    d_sys: Estimate
    d_sys_corrected: Estimate
    eer: Estimate
    linkability: CurvePoint
    """Among all enrolled speakers, from a single slice."""


@dataclass(frozen=True, slots=True)
class SliceCurve(Record):
    """Linkage of slices over their length, shortest first."""

    cut: str
    """``first``: the first seconds of each recording; ``words``: all pieces between words."""
    points: tuple[SlicePoint, ...]


@dataclass(frozen=True, slots=True)
class HitRate(Record):
    """Share of slices whose successor is among the first k, with an interval over documents."""

    k: int
    value: float
    low: float
    high: float
    chance: float


@dataclass(frozen=True, slots=True)
class Reassembly(Record):
    """How often the true successor of a slice is found among all slices."""

    hits: tuple[HitRate, ...]
    slices: int
    """To choose from."""
    tried: int
    """Slices whose successor was looked for."""


@dataclass(frozen=True, slots=True)
class SliceText(Record):
    """What the words of slices of one length give away, under one score."""

    words: int
    """Of a slice."""
    score: str
    """``mutual`` or ``joint``; rest on the first."""
    slices: int
    d_sys: Estimate
    d_sys_corrected: Estimate
    eer: Estimate
    reassembly: Reassembly
    seconds: float | None = optional()
    """Length of speech that the words stand for; None where texts alone were cut."""
