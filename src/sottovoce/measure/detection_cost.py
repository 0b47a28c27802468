"""What decisions by a threshold cost: detection cost (DCF), and error rates at given thresholds.

The NIST speaker recognition evaluations and the VoxCeleb challenges weigh both kinds of error by a
prior and two costs. A pair is accepted as mated if its score reaches the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.measure.calibration import Blocks, oracle_blocks
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import as_tally


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """How often pairs are mated, and what both kinds of error cost.

    Normalised costs depend on the effective prior only: a prior of 0.01 with a miss that costs ten
    times as much as a false alarm is the same operating point as a prior of 0.0917.

    >>> point = OperatingPoint(0.01, cost_miss=10)
    >>> round(point.effective_prior, 4), round(point.threshold, 4)
    (0.0917, 2.2925)
    """

    prior: float
    """Probability that a pair is mated, above 0 and below 1."""
    cost_miss: float = 1.0
    """Cost of rejecting a mated pair, above 0."""
    cost_false_alarm: float = 1.0
    """Cost of accepting a non-mated pair, above 0."""

    def __post_init__(self) -> None:
        if not 0.0 < self.prior < 1.0:
            raise InputError(
                f"prior {self.prior:g}: must be above 0 and below 1", code="out-of-range"
            )
        for cost in (self.cost_miss, self.cost_false_alarm):
            if not 0.0 < cost < math.inf:
                raise InputError(f"cost {cost:g}: must be above 0 and finite", code="out-of-range")

    @property
    def odds(self) -> float:
        """Prior odds times the ratio of the costs."""
        return self.prior * self.cost_miss / ((1 - self.prior) * self.cost_false_alarm)

    @property
    def effective_prior(self) -> float:
        """The prior that gives the same normalised cost where both errors cost the same."""
        return self.odds / (1 + self.odds)

    @property
    def threshold(self) -> float:
        """Natural-log likelihood ratio from which on accepting costs no more than rejecting."""
        return -math.log(self.odds)

    def normalised(self, miss: float, false_alarm: float) -> float:
        """Cost of two error rates, in units of the best decision without scores.

        Parameters
        ----------
        miss : float
            Share of mated pairs that are rejected.
        false_alarm : float
            Share of non-mated pairs that are accepted.
        """
        return (self.odds * miss + false_alarm) / min(self.odds, 1.0)


def min_dcf(scores: ScoreSource | Tally, point: OperatingPoint) -> float:
    r"""Compute the normalised detection cost at the best threshold.

    .. math:: \min_t \frac{C_{miss} \pi P_{miss}(t) + C_{fa} (1 - \pi) P_{fa}(t)}
                         {\min(C_{miss} \pi, C_{fa} (1 - \pi))}

    0 = fully disclosed, 1 = no better than deciding without scores. Martin & Przybocki, "The NIST
    speaker recognition evaluation series", 2009.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.
    point : OperatingPoint
        Prior and costs.

    Examples
    --------
    >>> from sottovoce.measure import Scores
    >>> min_dcf(Scores([3, 5, 7, 8], [1, 2, 4, 6]), OperatingPoint(0.5))
    0.5
    """
    return min_dcf_of(oracle_blocks(as_tally(scores)), point)


def min_dcf_of(blocks: Blocks, point: OperatingPoint) -> float:
    """Compute the smallest normalised detection cost from the outcome of PAV.

    The cost is linear in both error rates, so its minimum is at a corner of the hull of the ROC.

    Parameters
    ----------
    blocks : Blocks
        Outcome of plain PAV.
    point : OperatingPoint
        Prior and costs.
    """
    return float(_costs_at_corners(blocks, point).min())


def false_alarms_of_min_dcf(blocks: Blocks, point: OperatingPoint) -> float:
    """Count the non-mated scores that the best threshold of a detection cost accepts.

    Parameters
    ----------
    blocks : Blocks
        Outcome of plain PAV.
    point : OperatingPoint
        Prior and costs.
    """
    best = int(np.argmin(_costs_at_corners(blocks, point)))
    return float(blocks.nonmated[best:].sum())


def _costs_at_corners(blocks: Blocks, point: OperatingPoint) -> NDArray[np.float64]:
    """Costs of thresholds below each block, and above all."""
    mated = np.append(0, np.cumsum(blocks.mated))
    nonmated = np.append(0, np.cumsum(blocks.nonmated))
    miss, false_alarm = mated / mated[-1], 1 - nonmated / nonmated[-1]
    return np.asarray((point.odds * miss + false_alarm) / min(point.odds, 1.0))


def require_dcf(n_mated: float, n_nonmated: float, point: OperatingPoint) -> None:
    """Refuse an operating point at which a single error costs more than deciding without scores.

    Its best threshold would accept or reject everything, or make no error of that kind, whatever
    the scores are worth.

    Parameters
    ----------
    n_mated, n_nonmated : float
        How many scores of each class there are.
    point : OperatingPoint
        Prior and costs.

    Raises
    ------
    TooFewError
        If there are too few scores of a class.
    """
    for count, needed, kind in (
        (n_nonmated, 1 / point.odds, "non-mated"),
        (n_mated, point.odds, "mated"),
    ):
        if count < needed * (1 - 1e-9):
            raise TooFewError(
                f"{count:,.0f} {kind} scores; the detection cost at a prior of "
                f"{point.effective_prior:.3g} needs {math.ceil(needed * (1 - 1e-9)):,}: add trials "
                "or ask for a prior nearer to one half"
            )


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Errors of deciding by one threshold."""

    threshold: float
    """Scores from here on are accepted as mated."""
    false_match: float
    """FMR: share of non-mated pairs that are accepted."""
    false_non_match: float
    """FNMR: share of mated pairs that are rejected."""


def error_rates(scores: ScoreSource | Tally, thresholds: Iterable[float]) -> tuple[ErrorRates, ...]:
    """Compute the false match and false non-match rate at given thresholds (ISO/IEC 19795-1).

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or a tally that is cut at the thresholds.
    thresholds : iterable of float
        Finite scores; a pair is accepted if its score is at least the threshold.

    Examples
    --------
    >>> from sottovoce.measure import Scores
    >>> error_rates(Scores([3, 5, 7, 8], [1, 2, 4, 6]), [5])
    (ErrorRates(threshold=5, false_match=0.25, false_non_match=0.25),)
    """
    wanted = tuple(thresholds)
    for threshold in wanted:
        check_threshold(threshold)
    tally = scores if isinstance(scores, Tally) else Tally.of(scores, thresholds=wanted)
    rates = []
    for threshold in wanted:
        mated, nonmated = tally.counts_below(threshold)
        false_match = (tally.n_nonmated - nonmated) / tally.n_nonmated
        rates.append(ErrorRates(threshold, false_match, mated / tally.n_mated))
    return tuple(rates)


def check_threshold(threshold: float) -> None:
    """Refuse a threshold that is no finite number.

    Parameters
    ----------
    threshold : float
        The threshold.
    """
    if not math.isfinite(threshold):
        raise InputError(f"threshold {threshold}: must be finite", code="out-of-range")


def dcf(scores: ScoreSource | Tally, point: OperatingPoint) -> float:
    """Compute the normalised detection cost of scores taken as natural-log likelihood ratios.

    Also called actual DCF: decisions are those that would be best if the scores were what they are
    taken for, at the threshold of the operating point. 1 = no better than deciding without scores;
    above 1 the scores mislead.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or a tally that is cut at the threshold.
    point : OperatingPoint
        Prior and costs.
    """
    (rates,) = error_rates(scores, [point.threshold])
    return point.normalised(rates.false_non_match, rates.false_match)
