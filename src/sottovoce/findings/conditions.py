"""Measures and differences by condition (gender, language, device), and pooled over conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.core.records import Record, optional
from sottovoce.findings.comparison import Comparison, PairedDifference
from sottovoce.findings.scores import ScoreSummary


@dataclass(frozen=True, slots=True)
class Heterogeneity(Record):
    """How much the values of the conditions differ, beyond what chance explains."""

    q: float
    """Cochran's Q: squared deviations from the mean weighted by precision, in their variances."""
    degrees: int
    """What Q is expected to be if all conditions are equal: their number less one."""
    i_squared: float
    """Share of the spread that chance does not explain, 0 to 1: max(0, 1 − degrees / Q)."""
    p_value: float
    """How often Q is as large in resamples of equal conditions."""
    lowest: str
    """The condition with the lowest value."""
    highest: str
    """The condition with the highest value."""


@dataclass(frozen=True, slots=True)
class PooledEstimate(Record):
    """Mean of a measure over conditions, weighted by speakers or equally."""

    value: float | None
    """None where no condition has a value."""
    low: float | None = optional()
    high: float | None = optional()
    heterogeneity: Heterogeneity | None = optional()
    note: str | None = optional()
    """Which conditions are not in the mean, and why."""


@dataclass(frozen=True, slots=True)
class PooledDifference(Record):
    """Difference between two score sets, as a mean over weighted conditions."""

    difference: PairedDifference
    heterogeneity: Heterogeneity | None = optional()


@dataclass(frozen=True, slots=True)
class LeftOutTrials(Record):
    """Trials that belong to no condition."""

    mixed: int
    """Of two recordings or speakers of different conditions."""
    unknown: int
    """Whose condition is not known."""


@dataclass(frozen=True, slots=True)
class MeasuresByCondition(Record):
    """Every measure of one score set by condition, and pooled."""

    name: str
    column: str
    """What tells the condition of a trial, such as ``gender``."""
    conditions: Mapping[str, ScoreSummary]
    weights: Mapping[str, int]
    """Of the conditions in the pooled mean."""
    weighted_by: str
    """What the weights count: ``speaker``, ``mated trial``, or ``condition`` if all are 1."""
    pooled: Mapping[str, PooledEstimate]
    """By the name of the measure."""
    left_out: LeftOutTrials
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonByCondition(Record):
    """Differences between score sets by condition, and pooled."""

    column: str
    conditions: Mapping[str, Comparison]
    weights: Mapping[str, int]
    weighted_by: str
    """What the weights count: ``speaker``, ``mated trial``, or ``condition`` if all are 1."""
    pooled: Mapping[str, tuple[PooledDifference, ...]]
    """By the name of the measure; one per pair of sets."""
    left_out: Mapping[str, LeftOutTrials]
    """By the name of the score set."""
    warnings: tuple[str, ...] = ()
