"""The score measures by name: what each is computed from, and how to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from sottovoce.core.registry import Registry
from sottovoce.measure.calibration import Blocks, oracle_blocks
from sottovoce.measure.disclosure import FULL_DISCLOSURE, d_ece_of, worst_case_of
from sottovoce.measure.intervals import Method
from sottovoce.measure.linkability import check_linkable, d_sys_of
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


class Evidence:
    """A tally with the outcome of PAV on it: what the measures are computed from."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    @cached_property
    def blocks(self) -> Blocks:
        """Plain PAV, run when first asked for."""
        return oracle_blocks(self.tally)


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a set of scores, and how to read it."""

    name: str
    label: str
    lower_discloses: bool
    """Whether a *lower* value means more is disclosed."""
    chance: float
    """The value when the scores hold no evidence."""
    compute: Callable[[Evidence], float]
    unit: str = ""
    bounds: tuple[float, float] = (0.0, 1.0)
    method: Method = "centred"
    """How its interval is made of resamples."""
    scarce: Literal["apart", "share", ""] = ""
    """What its interval is where resamples cannot vary: that of scores wholly apart, that of a
    share of the mated trials (:mod:`.scarce`), or what the resamples say."""
    check: Callable[[ScoreSource], None] = lambda source: None
    """Refuses data that are too few for this number."""
    remark: str = ""

    @property
    def direction(self) -> str:
        """Which way the number points, in words."""
        return f"{'lower' if self.lower_discloses else 'higher'} = more disclosed"


MEASURES: Registry[Measure] = Registry("measure", group="sottovoce.measures")


def _add(*args: Any, **options: Any) -> None:
    measure = Measure(*args, **options)
    MEASURES.add(measure.name, measure)


_INF = float("inf")
_add("eer", "EER", True, 0.5, lambda e: eer(e.tally), "%", scarce="apart")
_add(
    "rocch_eer",
    "ROCCH-EER",
    True,
    0.5,
    lambda e: rocch_eer_of(e.blocks),
    "%",
    bounds=(0.0, 0.5),
    method="reflected",
    scarce="apart",
)
_add(
    "cllr",
    "Cllr",
    True,
    1.0,
    lambda e: cllr(e.tally),
    "bits",
    bounds=(0.0, _INF),
    remark="takes the scores for natural-log likelihood ratios; means little for other scores",
)
_add(
    "min_cllr",
    "Cllr_min",
    True,
    1.0,
    lambda e: min_cllr_of(e.blocks),
    "bits",
    method="reflected",
    scarce="apart",
)
_add(
    "d_ece",
    "D_ECE",
    False,
    0.0,
    lambda e: d_ece_of(e.blocks),
    "bits",
    bounds=(0.0, FULL_DISCLOSURE),
    method="reflected",
    scarce="apart",
)
_add(
    "worst_case_log10_lr",
    "worst case log10(l)",
    False,
    0.0,
    lambda e: worst_case_of(e.blocks),
    bounds=(0.0, _INF),
    method="range",
    remark="a maximum: its range over resamples is shown, which is not a confidence interval; "
    "chance is what as many scores show on average without evidence",
)
_add(
    "linkability",
    "linkability D_sys",
    False,
    0.0,
    lambda e: d_sys_of(*e.tally.binned()),
    scarce="apart",
    check=lambda source: check_linkable(len(source.mated), source.low, source.high),
    remark="chance is the mean over shuffled labels: what the histogram shows without evidence",
)
for _fpr in (0.01, 0.001, 0.0001):
    _add(
        f"tpr_at_fpr_{_fpr}",
        f"TPR at FPR {100 * _fpr:g} %",
        False,
        _fpr,
        lambda e, fpr=_fpr: tpr_at_fpr_of(e.tally, fpr),
        "%",
        scarce="share",
        check=lambda source, fpr=_fpr: require_fpr(source.n_nonmated, fpr),
    )
