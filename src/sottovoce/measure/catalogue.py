"""The score measures by name: what each is computed from, and how to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sottovoce.core.registry import Registry
from sottovoce.measure.calibration import Blocks, oracle_blocks
from sottovoce.measure.disclosure import (
    FULL_DISCLOSURE,
    chance_worst_case,
    d_ece_of,
    worst_case_of,
)
from sottovoce.measure.intervals import Method
from sottovoce.measure.linkability import check_linkable, d_sys_of, linkability
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

Need = Literal["bins", "costs"]
"""What a measure needs the tally to hold besides counts: histogram bins, or the costs of Cllr."""
ZeroWidth = Literal["separated", "share", "bootstrap"]
"""What an interval is made of where all resamples agree.

``separated``: of the least separated scores that so few speakers could have shown as separated;
``share``: Wilson's interval of a share of the mated trials; ``bootstrap``: what the resamples say.
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
    bounds: tuple[float, float] = (0.0, 1.0)
    """Smallest and largest value; intervals are clipped to them."""
    method: Method = "centred"
    """How its interval is made of resamples."""
    zero_width: ZeroWidth = "bootstrap"
    """What its interval is where all resamples agree."""
    check: Callable[[ScoreSource], None] = lambda source: None
    """Raises :class:`~sottovoce.core.errors.TooFewError` if data are too few for this number."""
    sampled_chance: Callable[[Tally, np.random.Generator], float] | None = None
    """The chance level where it depends on how many scores there are; replaces ``chance``."""
    chance_stream: int = 0
    """Number of the random stream behind ``sampled_chance``, so that measures do not share one."""
    remark: str = ""

    @property
    def direction(self) -> str:
        """Which way the number points, in words."""
        return f"{'lower' if self.lower_discloses else 'higher'} = more disclosed"


MEASURES: Registry[Measure] = Registry("measure", group="sottovoce.measures")
"""Score measures by name."""

_UNBOUNDED = float("inf")


def _tpr_measure(fpr: float) -> Measure:
    return Measure(
        f"tpr_at_fpr_{fpr}",
        f"TPR at FPR {100 * fpr:g} %",
        lower_discloses=False,
        chance=fpr,
        compute=lambda evidence: tpr_at_fpr_of(evidence.tally, fpr),
        unit="%",
        zero_width="share",
        check=lambda source: require_fpr(source.n_nonmated, fpr),
    )


for _measure in (
    Measure(
        "eer",
        "EER",
        lower_discloses=True,
        chance=0.5,
        compute=lambda evidence: eer(evidence.tally),
        unit="%",
        zero_width="separated",
    ),
    Measure(
        "rocch_eer",
        "ROCCH-EER",
        lower_discloses=True,
        chance=0.5,
        compute=lambda evidence: rocch_eer_of(evidence.blocks),
        unit="%",
        bounds=(0.0, 0.5),
        method="reflected",
        zero_width="separated",
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
        remark="takes the scores for natural-log likelihood ratios; means little for other scores",
    ),
    Measure(
        "min_cllr",
        "Cllr_min",
        lower_discloses=True,
        chance=1.0,
        compute=lambda evidence: min_cllr_of(evidence.blocks),
        unit="bits",
        method="reflected",
        zero_width="separated",
    ),
    Measure(
        "d_ece",
        "D_ECE",
        lower_discloses=False,
        chance=0.0,
        compute=lambda evidence: d_ece_of(evidence.blocks),
        unit="bits",
        bounds=(0.0, FULL_DISCLOSURE),
        method="reflected",
        zero_width="separated",
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
        zero_width="separated",
        check=lambda source: check_linkable(len(source.mated), source.low, source.high),
        sampled_chance=lambda tally, rng: linkability(tally, rng=rng).chance,
        chance_stream=1,
        remark="chance is the mean over shuffled labels: what the histogram shows without evidence",
    ),
    *(_tpr_measure(fpr) for fpr in (0.01, 0.001, 0.0001)),
):
    MEASURES.add(_measure.name, _measure)
