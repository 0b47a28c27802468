"""Errors of an adversary who decides by a threshold: EER, ROCCH-EER, TPR at low FPR, C_llr.

Maouche et al. 2020, sections 3.1 and 3.2. Every function takes a set of scores or its tally.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.measure.calibration import Blocks, oracle_blocks
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Counts, Tally


def as_tally(scores: ScoreSource | Tally) -> Tally:
    """Tally the scores, unless they are a tally already.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.
    """
    return scores if isinstance(scores, Tally) else Tally.of(scores)


@dataclass(frozen=True, slots=True, eq=False)
class Roc:
    """The piecewise-linear ROC, from "call everything mated" to "call nothing mated".

    A step of equal scores is one straight segment: its inner points are what an adversary gets who
    tosses a coin on a tie.
    """

    false_alarm: NDArray[np.float64]
    miss: NDArray[np.float64]


def roc(scores: ScoreSource | Tally, *, hull: bool = False) -> Roc:
    """Compute false-alarm and miss rates at every threshold.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.
    hull : bool, default False
        Take the convex hull.
    """
    tally = as_tally(scores)
    if hull:
        blocks = oracle_blocks(tally)
        mated, nonmated = blocks.mated, blocks.nonmated
    else:
        filled = (tally.mated + tally.nonmated) > 0
        mated, nonmated = tally.mated[filled], tally.nonmated[filled]
    miss = np.concatenate(([0], np.cumsum(mated)))
    alarms = tally.n_nonmated - np.concatenate(([0], np.cumsum(nonmated)))
    return Roc(alarms / tally.n_nonmated, miss / tally.n_mated)


def _crossing(passed_mated: Counts, passed_nonmated: Counts) -> float:
    """Where the miss rate meets the false-alarm rate along straight segments.

    Takes running counts, in score order.
    """
    miss = passed_mated / passed_mated[-1]
    alarm = (passed_nonmated[-1] - passed_nonmated) / passed_nonmated[-1]
    i = int(np.searchsorted(miss - alarm, 0.0))
    before_miss, before_alarm = (miss[i - 1], alarm[i - 1]) if i else (0.0, 1.0)
    rise, run = miss[i] - before_miss, before_alarm - alarm[i]
    if not run:
        return float(before_alarm)
    return float(before_miss + rise * (before_alarm - before_miss) / (rise + run))


def eer(scores: ScoreSource | Tally) -> float:
    """Compute the equal error rate: where the piecewise-linear ROC has equal error rates.

    0 = fully disclosed, 0.5 = chance; above 0.5 the scores point the wrong way.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.

    Examples
    --------
    >>> from sottovoce.measure import Scores
    >>> eer(Scores([3, 5, 7, 8], [1, 2, 4, 6]))
    0.25
    """
    return _crossing(*as_tally(scores).cumulative)


def rocch_eer(scores: ScoreSource | Tally) -> float:
    """Compute the equal error rate on the convex hull of the ROC.

    Brümmer & de Villiers, "The BOSARIS toolkit user guide", 2011.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.
    """
    return rocch_eer_of(oracle_blocks(as_tally(scores)))


def rocch_eer_of(blocks: Blocks) -> float:
    """Compute the ROCCH-EER from the outcome of PAV.

    Parameters
    ----------
    blocks : Blocks
        Outcome of plain PAV.
    """
    return _crossing(np.cumsum(blocks.mated), np.cumsum(blocks.nonmated))


def tpr_at_fpr(scores: ScoreSource | Tally, fpr: float) -> float:
    """Compute the share of mated pairs that are accepted at a false-alarm rate.

    Needs 1/fpr non-mated scores: with fewer, such a rate cannot be seen.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.
    fpr : float
        The false-alarm rate, above 0 and below 1. It needs 1/fpr non-mated scores to be seen.
    """
    tally = as_tally(scores)
    require_fpr(tally.n_nonmated, fpr)
    return tpr_at_fpr_of(tally, fpr)


def require_fpr(n_nonmated: float, fpr: float) -> None:
    """Refuse a false-alarm rate that so many non-mated scores cannot show.

    Parameters
    ----------
    n_nonmated : float
        How many non-mated scores there are.
    fpr : float
        The false-alarm rate.
    """
    if not 0.0 < fpr < 1.0:
        raise InputError(
            f"false-alarm rate {fpr}: must be above 0 and below 1", code="out-of-range"
        )
    if n_nonmated * fpr < 1.0 - 1e-9:
        raise TooFewError(
            f"{n_nonmated:,.0f} non-mated scores; a false-alarm rate of {fpr:g} needs "
            f"{1 / fpr:,.0f}: add trials or ask for a higher rate"
        )


def tpr_at_fpr_of(tally: Tally, fpr: float) -> float:
    """Compute the share of mated pairs accepted at a false-alarm rate, from a tally of any size.

    Parameters
    ----------
    tally : Tally
        Counts of the scores.
    fpr : float
        The false-alarm rate.
    """
    passed_mated, passed_nonmated = tally.cumulative
    quota = tally.n_nonmated * fpr
    # the first cell, from the top, with which the false alarms would exceed the quota
    wanted = tally.n_nonmated - quota * (1 + 1e-12)
    if wanted <= 0:
        return 1.0
    i = int(np.searchsorted(passed_nonmated, wanted))
    accepted, alarms = tally.n_mated - passed_mated[i], tally.n_nonmated - passed_nonmated[i]
    share = np.clip((quota - alarms) / tally.nonmated[i], 0.0, 1.0)
    return float((accepted + share * tally.mated[i]) / tally.n_mated)


def cllr(scores: ScoreSource | Tally) -> float:
    r"""Compute the cost of the scores taken as natural-log likelihood ratios, in bits.

    .. math:: C_{llr} = \frac{1}{2} [ \langle \log_2(1 + e^{-s}) \rangle_{mated}
                                    + \langle \log_2(1 + e^{s}) \rangle_{non-mated} ]

    0 = perfect, 1 = no better than scores of zero; above 1 the scores mislead. Brümmer & du Preez,
    Computer Speech & Language 20, 2006. (Maouche et al. 2020, eq. 2, leaves the 1/2
    out; their Table 1 has it.)

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.
    """
    tally = scores if isinstance(scores, Tally) else Tally.of(scores, costs=True)
    if tally.costs is None:
        raise InputError(
            "this tally has no costs; make it with Tally.of(…, costs=True)", code="missing-costs"
        )
    mated, nonmated = tally.costs
    return (mated.total / tally.n_mated + nonmated.total / tally.n_nonmated) / 2


def min_cllr(scores: ScoreSource | Tally) -> float:
    r"""Compute C_llr after oracle calibration, :math:`C_{llr}^{min}`.

    0 = fully disclosed, 1 = no evidence.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.

    Examples
    --------
    >>> from sottovoce.measure import Scores
    >>> min_cllr(Scores([3, 5, 7, 8], [1, 2, 4, 6]))
    0.5
    """
    return min_cllr_of(oracle_blocks(as_tally(scores)))


def min_cllr_of(blocks: Blocks) -> float:
    """Compute C_llr^min from the outcome of PAV.

    Parameters
    ----------
    blocks : Blocks
        Outcome of plain PAV.
    """
    a, b = blocks.mated / blocks.mated.sum(), blocks.nonmated / blocks.nonmated.sum()
    total = a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(a > 0, a * np.log2(total / a), 0.0)
        bits += np.where(b > 0, b * np.log2(total / b), 0.0)
    return float(bits.sum() / 2)
