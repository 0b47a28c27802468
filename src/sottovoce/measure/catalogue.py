"""The score measures by name: what each is computed from, and how to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sottovoce.core.registry import FamilyRegistry
from sottovoce.measure.calibration import Blocks, oracle_blocks
from sottovoce.measure.calibration_error import (
    dev_pav_of,
    flat_dev_pav,
    require_finite_calibration,
)
from sottovoce.measure.corrected_linkability import check_fine_bins, d_sys_corrected_of
from sottovoce.measure.detection_cost import (
    OperatingPoint,
    check_threshold,
    dcf,
    error_rates,
    false_alarms_of_min_dcf,
    min_dcf_of,
    require_dcf,
)
from sottovoce.measure.disclosure import (
    FULL_DISCLOSURE,
    chance_worst_case,
    d_ece_of,
    worst_case_of,
)
from sottovoce.measure.linkability import d_sys_of, linkability
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import (
    cllr,
    eer,
    min_cllr_of,
    require_fpr,
    rocch_eer_of,
    tpr_at_fpr_of,
)

Need = Literal["bins", "costs", "every_score"]
"""What a measure needs the tally to hold besides counts: histogram bins, the costs of Cllr, or a
cut at every score of both classes."""
Method = Literal["disclosure", "share", "range"]
"""How an interval is made of resamples.

``disclosure``: on the logarithm of the distance from full disclosure; ``share``: the exact binomial
interval of a share of trials; ``range``: percentiles, for a maximum, which has no
confidence interval.
"""


class Evidence:
    """A tally with the outcome of PAV on it: what the measures are computed from.

    Parameters
    ----------
    tally : Tally
        The counts of one set of scores.
    """

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    @cached_property
    def blocks(self) -> Blocks:
        """Outcome of plain PAV, computed when it is first needed."""
        return oracle_blocks(self.tally)


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a set of scores, and how to read it."""

    name: str
    label: str
    lower_discloses: bool
    """Whether a *lower* value means that more is disclosed."""
    chance: float
    """The value when the scores hold no evidence."""
    compute: Callable[[Evidence], float]
    unit: str = ""
    """``%`` for shares, ``bits``, or nothing."""
    needs: frozenset[Need] = frozenset()
    """What the tally must hold besides counts."""
    thresholds: tuple[float, ...] = ()
    """Scores that the tally must be cut at."""
    bounds: tuple[float, float] = (0.0, 1.0)
    """Smallest and largest value; intervals are clipped to them."""
    method: Method = "disclosure"
    """How its interval is made of resamples."""
    share_of: Literal["mated", "nonmated"] = "mated"
    """Which trials it is a share of, if it is one."""
    false_alarm_rate: float | None = None
    """Where it is measured, if at one: few false alarms leave few degrees of freedom."""
    false_alarms: Callable[[Evidence], float] | None = None
    """How many false alarms it rests on, if it is at one operating point."""
    false_alarm_cost: float = 0.0
    """What it would rise by if all non-mated pairs were accepted, where it is a lowest cost."""
    separable: bool = False
    """Whether its interval reaches to the least separated scores where scores are separated."""
    resampled: Callable[[Evidence], float] | None = None
    """What the interval is made of where it is not the value, whose own bias would mislead."""
    check: Callable[[ScoreSource], None] = lambda source: None
    """Raises :class:`~sottovoce.core.errors.TooFewError` if data are too few for this number."""
    sampled_chance: Callable[[Tally, np.random.Generator], float] | None = None
    """The chance level where it depends on how many scores there are; replaces ``chance``."""
    parts: tuple[tuple[float, Measure], ...] = ()
    """Weights and shares whose sum it is; its interval is then made of theirs."""
    by_default: bool = True
    """Whether it is computed where no measures are named."""
    chance_stream: int = 0
    """Number of the random stream behind ``sampled_chance``, so that measures do not share one."""
    remark: str = ""

    @property
    def full_disclosure(self) -> float:
        """The value when every score gives its pair away; may be infinite."""
        return self.bounds[0] if self.lower_discloses else self.bounds[1]

    @property
    def direction(self) -> str:
        """Which way the number points, in words."""
        return f"{'lower' if self.lower_discloses else 'higher'} = more disclosed"


_UNBOUNDED = float("inf")


class MeasureRegistry(FamilyRegistry[Measure]):
    """Score measures by name, and families of them such as ``min_dcf_0.05``.

    >>> MEASURES["fmr_at_1.50"].name
    'fmr_at_1.5'
    """

    def defaults(self) -> list[str]:
        """Return the names of the measures that are computed where none are named."""
        return [name for name in self if self[name].by_default]


MEASURES = MeasureRegistry("measure", group="sottovoce.measures")
"""Score measures by name."""


def _tpr_measure(fpr: float) -> Measure:
    return Measure(
        f"tpr_at_fpr_{_written(fpr)}",
        f"TPR at FPR {100 * fpr:g} %",
        lower_discloses=False,
        chance=fpr,
        compute=lambda evidence: tpr_at_fpr_of(evidence.tally, fpr),
        unit="%",
        method="share",
        false_alarm_rate=fpr,
        false_alarms=lambda evidence: fpr * evidence.tally.n_nonmated,
        check=lambda source: require_fpr(source.n_nonmated, fpr),
    )


def _written(number: float) -> str:
    """A number as it stands in the name of a measure."""
    return f"{number:.12g}"


def _at_point(point: OperatingPoint) -> str:
    """An operating point as it stands in the name of a measure."""
    numbers = [point.prior]
    if (point.cost_miss, point.cost_false_alarm) != (1, 1):
        numbers += [point.cost_miss, point.cost_false_alarm]
    return "_".join(map(_written, numbers))


def _described(point: OperatingPoint) -> str:
    """An operating point in the label of a measure."""
    costs = f", costs {point.cost_miss:g}:{point.cost_false_alarm:g}"
    return f"π = {point.prior:g}{costs if point.cost_miss != point.cost_false_alarm else ''}"


def _min_dcf_measure(prior: float, cost_miss: float = 1, cost_false_alarm: float = 1) -> Measure:
    point = OperatingPoint(prior, cost_miss, cost_false_alarm)
    return Measure(
        f"min_dcf_{_at_point(point)}",
        f"minDCF at {_described(point)}",
        lower_discloses=True,
        chance=1.0,
        compute=lambda evidence: min_dcf_of(evidence.blocks, point),
        false_alarms=lambda evidence: false_alarms_of_min_dcf(evidence.blocks, point),
        false_alarm_cost=point.normalised(0.0, 1.0),
        separable=True,
        check=lambda source: require_dcf(len(source.mated), source.n_nonmated, point),
    )


def _dcf_measure(prior: float, cost_miss: float = 1, cost_false_alarm: float = 1) -> Measure:
    point = OperatingPoint(prior, cost_miss, cost_false_alarm)
    smaller = min(point.odds, 1.0)
    return Measure(
        f"dcf_{_at_point(point)}",
        f"DCF at {_described(point)}",
        lower_discloses=True,
        chance=1.0,
        compute=lambda evidence: dcf(evidence.tally, point),
        false_alarms=lambda evidence: _false_matches(evidence.tally, point.threshold),
        thresholds=(point.threshold,),
        parts=(
            (point.odds / smaller, _fnmr_measure(point.threshold)),
            (1 / smaller, _fmr_measure(point.threshold)),
        ),
        bounds=(0.0, 1.0 + max(point.odds, 1 / point.odds)),
        remark=_TAKEN_FOR_LLRS,
    )


def _fmr_measure(threshold: float) -> Measure:
    return _error_rate_measure("fmr", threshold)


def _fnmr_measure(threshold: float) -> Measure:
    return _error_rate_measure("fnmr", threshold)


def _error_rate_measure(rate: Literal["fmr", "fnmr"], threshold: float) -> Measure:
    """Share of non-mated pairs that a threshold accepts, or of mated pairs that it rejects."""
    check_threshold(threshold)

    def compute(evidence: Evidence) -> float:
        (rates,) = error_rates(evidence.tally, [threshold])
        return rates.false_match if rate == "fmr" else rates.false_non_match

    def chance(tally: Tally, _: np.random.Generator) -> float:
        accepted = _accepted_share(tally, threshold)
        return accepted if rate == "fmr" else 1 - accepted

    return Measure(
        f"{rate}_at_{_written(threshold)}",
        f"{rate.upper()} at {threshold:g}",
        lower_discloses=True,
        chance=0.5,
        compute=compute,
        unit="%",
        thresholds=(threshold,),
        method="share",
        share_of="nonmated" if rate == "fmr" else "mated",
        false_alarms=(lambda evidence: _false_matches(evidence.tally, threshold))
        if rate == "fmr"
        else None,
        sampled_chance=chance,
        remark=_POOLED_CHANCE,
    )


def _false_matches(tally: Tally, threshold: float) -> float:
    """Non-mated scores that a threshold accepts."""
    return tally.n_nonmated - tally.counts_below(threshold)[1]


def _accepted_share(tally: Tally, threshold: float) -> float:
    """Share of all pairs that a threshold accepts, both classes counting the same."""
    (rates,) = error_rates(tally, [threshold])
    return (rates.false_match + 1 - rates.false_non_match) / 2


_TAKEN_FOR_LLRS = (
    "takes the scores for natural-log likelihood ratios; means little for other scores"
)
_POOLED_CHANCE = "chance is the rate if both classes had the scores of all pairs"


def _raw_d_sys(evidence: Evidence) -> float:
    """D_sys on fine bins, which hide less: the interval is to hold the true D_sys."""
    return d_sys_of(*evidence.tally.binned_finely())


for _measure in (
    Measure(
        "eer",
        "EER",
        lower_discloses=True,
        chance=0.5,
        compute=lambda evidence: eer(evidence.tally),
        unit="%",
        separable=True,
    ),
    Measure(
        "rocch_eer",
        "ROCCH-EER",
        lower_discloses=True,
        chance=0.5,
        compute=lambda evidence: rocch_eer_of(evidence.blocks),
        unit="%",
        bounds=(0.0, 0.5),
        separable=True,
    ),
    Measure(
        "cllr",
        "Cllr",
        lower_discloses=True,
        chance=1.0,
        compute=lambda evidence: cllr(evidence.tally),
        unit="bits",
        needs=frozenset({"costs"}),
        bounds=(0.0, _UNBOUNDED),
        remark=_TAKEN_FOR_LLRS,
    ),
    Measure(
        "min_cllr",
        "Cllr_min",
        lower_discloses=True,
        chance=1.0,
        compute=lambda evidence: min_cllr_of(evidence.blocks),
        unit="bits",
        separable=True,
    ),
    Measure(
        "d_ece",
        "D_ECE",
        lower_discloses=False,
        chance=0.0,
        compute=lambda evidence: d_ece_of(evidence.blocks),
        unit="bits",
        bounds=(0.0, FULL_DISCLOSURE),
        separable=True,
    ),
    Measure(
        "worst_case_log10_lr",
        "worst case log10(l)",
        lower_discloses=False,
        chance=0.0,
        compute=lambda evidence: worst_case_of(evidence.blocks),
        bounds=(0.0, _UNBOUNDED),
        method="range",
        sampled_chance=chance_worst_case,
        chance_stream=2,
        remark="a maximum: its range over resamples is shown, which is not a confidence interval; "
        "chance is what as many scores show on average without evidence",
    ),
    Measure(
        "d_sys",
        "D_sys",
        lower_discloses=False,
        chance=0.0,
        compute=lambda evidence: d_sys_of(*evidence.tally.binned()),
        needs=frozenset({"bins"}),
        separable=True,
        resampled=_raw_d_sys,
        check=check_fine_bins,
        sampled_chance=lambda tally, rng: linkability(tally, rng=rng).chance,
        chance_stream=1,
        remark="chance is the mean over shuffled labels: what the histogram shows without "
        "evidence; judge by the corrected value, whose interval this is too",
    ),
    Measure(
        "d_sys_corrected",
        "D_sys corrected",
        lower_discloses=False,
        chance=0.0,
        compute=lambda evidence: d_sys_corrected_of(evidence.tally),
        needs=frozenset({"bins"}),
        separable=True,
        resampled=_raw_d_sys,
        check=check_fine_bins,
    ),
    Measure(
        "dev_pav",
        "devPAV",
        lower_discloses=True,
        chance=0.0,
        compute=lambda evidence: dev_pav_of(evidence.tally, evidence.blocks),
        needs=frozenset({"every_score"}),
        bounds=(0.0, _UNBOUNDED),
        check=require_finite_calibration,
        sampled_chance=lambda tally, rng: flat_dev_pav(tally),
        by_default=False,
        remark=f"{_TAKEN_FOR_LLRS}; chance is its value if all likelihood ratios were 1",
    ),
):
    MEASURES.add(_measure.name, _measure)
for _family, _make, _numbers in (
    ("tpr_at_fpr", _tpr_measure, (0.01, 0.001, 0.0001)),
    ("min_dcf", _min_dcf_measure, (0.05, 0.01)),
    ("dcf", _dcf_measure, (0.05, 0.01)),
    ("fmr_at", _fmr_measure, ()),
    ("fnmr_at", _fnmr_measure, ()),
):
    MEASURES.add_family(_family, _make)
    for _number in _numbers:
        _measure = MEASURES.member(_family, _number)
        MEASURES.add(_measure.name, _measure)
