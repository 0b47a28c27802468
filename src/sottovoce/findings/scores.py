"""What a set of scores shows: every measure with its interval, and the curves behind figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.core.records import Record, optional


@dataclass(frozen=True, slots=True)
class NotMeasured(Record):
    """In place of a result that could not be computed."""

    note: str
    """Why there is none."""


@dataclass(frozen=True, slots=True)
class Estimate(Record):
    """A value with everything needed to read it."""

    value: float | None
    """None where there were too few data; ``note`` says so."""
    chance: float | None
    """The value expected when the scores hold no evidence."""
    direction: str
    """``lower = more disclosed`` or ``higher = more disclosed``."""
    n_mated: int
    n_nonmated: int
    low: float | None = optional()
    """Lower end of the interval, if one was asked for."""
    high: float | None = optional()
    note: str | None = optional()


@dataclass(frozen=True, slots=True)
class Resampling(Record):
    """How intervals were made."""

    confidence: float
    """Between 0 and 1."""
    unit: str
    """What was resampled: ``speaker`` or ``trial``."""
    count: int
    """How many speakers (or trials) there are."""
    replicates: int
    """How many resamples were drawn."""


@dataclass(frozen=True, slots=True)
class ScoreSummary(Record):
    """Every score measure of one set of scores."""

    name: str
    """What the set is called, usually the stem of its file."""
    n_mated: int
    n_nonmated: int
    measures: Mapping[str, Estimate]
    """By the name of the measure."""
    tag: str
    """Category of the worst case, from ``0`` (no evidence) to ``F``."""
    tag_meaning: str
    attainable_log10_lr: float
    """The largest worst case that this many scores could have shown."""
    interval: Resampling | None
    """How the intervals were made; None without intervals."""
    warnings: tuple[str, ...] = ()
    """What has to be known before any of the numbers is used."""
    warning_codes: tuple[str, ...] = ()
    """One short code per warning, in the same order, such as ``few-speakers``."""


@dataclass(frozen=True, slots=True)
class EceCurve(Record):
    """Empirical cross-entropy over the adversary's prior, in bits."""

    prior_log_odds: tuple[float, ...]
    """Natural logarithm of π / (1 − π)."""
    ece: tuple[float, ...]
    """After oracle calibration: what the adversary still does not know."""
    zero_evidence: tuple[float, ...]
    """Perfect privacy: the entropy of the prior itself."""


@dataclass(frozen=True, slots=True)
class DetCurve(Record):
    """Both error rates over all thresholds, thinned to what a figure can show."""

    false_alarm: tuple[float, ...]
    miss: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MissRate(Record):
    """The miss rate at one false-alarm rate."""

    false_alarm: float
    miss: float


@dataclass(frozen=True, slots=True)
class ScoreHistogram(Record):
    """Histogram of both classes, and the local linkability in each bin."""

    d_sys: float
    edges: tuple[float, ...]
    mated: tuple[float, ...]
    """Share of mated scores in each bin."""
    nonmated: tuple[float, ...]
    """Share of non-mated scores in each bin."""
    local: tuple[float, ...]
    """D(s) in each bin."""


@dataclass(frozen=True, slots=True)
class TippettCurve(Record):
    """How often likelihood ratios reach a value, thinned to what a figure can show."""

    log10_lr: tuple[float, ...]
    """Rising; the last one is just above the highest likelihood ratio."""
    mated: tuple[float, ...]
    """Share of mated pairs whose likelihood ratio is at least this."""
    nonmated: tuple[float, ...]
    """Share of non-mated pairs whose likelihood ratio is at least this."""


@dataclass(frozen=True, slots=True)
class Tippett(Record):
    """Tippett curves of one set of scores."""

    scores: TippettCurve
    """Of the scores taken as natural-log likelihood ratios."""
    calibrated: TippettCurve
    """After oracle calibration with Laplace's rule."""


@dataclass(frozen=True, slots=True)
class ScoreCurves(Record):
    """Everything that the figures of one set of scores show."""

    eer: float
    rocch_eer: float
    d_ece: float
    worst_case_log10_lr: float
    tag: str
    ece: EceCurve
    det: DetCurve
    miss_rates: tuple[MissRate, ...]
    histogram: ScoreHistogram | NotMeasured
    tippett: Tippett | None = optional()
    """None in results of versions without it."""
