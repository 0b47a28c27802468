r"""How far scores are from the likelihood ratios they are taken for: devPAV.

Vergeer, van Schaik & Sjerps, "Measuring calibration of likelihood-ratio systems: a comparison of
four metrics, including a new metric devPAV", Forensic Science International 321, 2021, 110722.
"""

from __future__ import annotations

import math

import numpy as np

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.types import FloatArray, IntArray
from sottovoce.measure.calibration import Blocks, block_llrs, laplace_blocks, oracle_blocks
from sottovoce.measure.scores import Scores, ScoreSource
from sottovoce.measure.tally import Tally

LN_10 = math.log(10.0)


def dev_pav(scores: Scores) -> float:
    r"""Compute the mean distance between scores and their oracle calibration, in log10 units.

    .. math:: \frac{1}{x_2 - x_1} \int_{x_1}^{x_2} |y(x) - x|\, dx

    x is the score as a log10 likelihood ratio and y(x) its calibration by PAV, joined by straight
    lines between neighbouring scores; x₁ and x₂ are the lowest and highest score whose calibration
    is finite. 0 = perfectly calibrated.

    Parameters
    ----------
    scores : Scores
        Natural-log likelihood ratios.

    Raises
    ------
    TooFewError
        Where all mated scores are above all non-mated ones: no calibration is finite.

    Examples
    --------
    >>> round(dev_pav(Scores([1.0, 2.0, -0.5], [-2.0, 0.5, -1.0])), 4)
    0.1086
    """
    require_finite_calibration(scores)
    tally = Tally.of(scores, thresholds=every_score(scores).tolist())
    return dev_pav_of(tally, oracle_blocks(tally))


def every_score(source: ScoreSource) -> FloatArray:
    """Return the distinct scores of both classes, which a tally must be cut at for devPAV.

    Parameters
    ----------
    source : ScoreSource
        Scores in memory.

    Raises
    ------
    InputError
        ``unsupported`` for scores that are streamed.
    """
    if not isinstance(source, Scores):
        raise InputError(
            "devPAV needs all scores in memory, and these are streamed; take fewer trials",
            code="unsupported",
        )
    return np.unique(np.concatenate((source.mated, source.nonmated)).astype(np.float64))


def require_finite_calibration(source: ScoreSource) -> None:
    """Refuse scores that devPAV is not defined for.

    Parameters
    ----------
    source : ScoreSource
        The scores.

    Raises
    ------
    InputError
        ``unsupported`` for scores that are streamed.
    TooFewError
        Where all mated scores are above all non-mated ones.
    """
    if isinstance(source, Scores) and source.mated.min() > source.nonmated.max():
        raise TooFewError(
            "all mated scores are above all non-mated ones, so no calibration of them is finite; "
            "devPAV needs scores that overlap: add trials"
        )
    if not isinstance(source, Scores):
        every_score(source)


def dev_pav_of(tally: Tally, blocks: Blocks) -> float:
    """Compute devPAV from a tally that is cut at every score.

    Parameters
    ----------
    tally : Tally
        Counts of the scores.
    blocks : Blocks
        Outcome of plain PAV on it. Where no block holds both classes, as a resample may turn out,
        Laplace's rule is applied first.
    """
    llrs = block_llrs(blocks, tally.n_mated, tally.n_nonmated)
    if not np.isfinite(llrs).any():
        blocks = laplace_blocks(blocks, tally.loops)
        llrs = block_llrs(blocks, tally.n_mated, tally.n_nonmated)
    first, last = _ends(tally, blocks)
    finite = np.isfinite(llrs)
    x = np.stack((first[finite], last[finite]), axis=1).ravel()
    return _mean_distance(x / LN_10, np.repeat(llrs[finite], 2) / LN_10)


def flat_dev_pav(tally: Tally) -> float:
    """Compute devPAV as it would be if PAV found no evidence: likelihood ratios of 1 everywhere.

    Parameters
    ----------
    tally : Tally
        Counts of the scores, cut at every score.
    """
    filled = tally.cuts[_filled(tally)]
    return _mean_distance(filled[[0, -1]] / LN_10, np.zeros(2))


def _filled(tally: Tally) -> IntArray:
    """Numbers of the cuts that hold scores."""
    counts = tally.mated + tally.nonmated
    if counts[::2].any():
        raise InputError(
            "this tally is not cut at every score; make it with Tally.of(…, thresholds=…)",
            code="missing-cuts",
        )
    return np.flatnonzero(counts[1::2]).astype(np.int64)


def _ends(tally: Tally, blocks: Blocks) -> tuple[FloatArray, FloatArray]:
    """The lowest and the highest score of each block."""
    filled = _filled(tally)
    starts = np.searchsorted(filled, blocks.first - 1)  # step 0 is the gap below the first cut
    scores = tally.cuts[filled]
    return scores[starts], scores[np.append(starts[1:], len(filled)) - 1]


def _mean_distance(x: FloatArray, y: FloatArray) -> float:
    """Mean of |y − x| along straight lines between points, in the order of x."""
    width = float(x[-1] - x[0])
    distance = y - x
    if width == 0:
        return float(abs(distance[0]))
    before, after = distance[:-1], distance[1:]
    sizes = np.abs(before) + np.abs(after)
    with np.errstate(invalid="ignore"):
        crossing = np.where(sizes > 0, (before**2 + after**2) / sizes, 0.0)
    twice = np.where(before * after < 0, crossing, sizes)
    return float(np.diff(x) @ twice / 2 / width)
