"""Tippett plots: how often likelihood ratios reach a value, for mated and for non-mated pairs.

Evett & Buckleton, "Statistical analysis of STR data", Advances in Forensic Haemogenetics 6, 1996;
named after Tippett et al., "The evidential value of the comparison of paint flakes from sources
other than vehicles", Journal of the Forensic Science Society 8, 1968.
"""

from __future__ import annotations

import math

import numpy as np

from sottovoce.core.types import FloatArray
from sottovoce.findings import Tippett, TippettCurve
from sottovoce.measure.calibration import block_llrs, laplace_blocks, oracle_blocks
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally

LN_10 = math.log(10.0)
POINTS = 200
"""Points of a curve: so many along it, evenly spaced."""
POWERS = tuple(range(-4, 5))
"""Powers of ten at which a curve always has a point, so that shares can be read off it exactly."""
GRID = 128
"""Equal steps over the range of the scores at which the shares are counted too."""


TOLERANCE = 1e-9
"""Likelihood ratios this near to a power of ten, on the logarithmic scale, are at it."""


def reached_share(curve: TippettCurve, power: int) -> tuple[float, float]:
    """Return the shares of mated and of non-mated pairs that reach a power of ten.

    Parameters
    ----------
    curve : TippettCurve
        What :func:`tippett_curves` computed.
    power : int
        One of :data:`POWERS`.
    """
    place = int(np.searchsorted(curve.log10_lr, power - TOLERANCE))
    if place == len(curve.log10_lr):
        return 0.0, 0.0
    return curve.mated[place], curve.nonmated[place]


def tippett_thresholds(source: ScoreSource) -> list[float]:
    """Return the scores that a tally must be cut at for smooth curves.

    Parameters
    ----------
    source : ScoreSource
        Mated and non-mated scores.
    """
    powers = [power * LN_10 for power in POWERS]
    return [*powers, *np.linspace(source.low, source.high, GRID + 1).tolist()]


def tippett_curves(source: ScoreSource, tally: Tally | None = None) -> Tippett:
    """Compute both Tippett curves of a set of scores.

    Parameters
    ----------
    source : ScoreSource
        Mated and non-mated scores.
    tally : Tally, optional
        Their tally, cut at :func:`tippett_thresholds`, if there is one already.

    Returns
    -------
    Tippett
        Of the scores taken as natural-log likelihood ratios, and after oracle calibration with
        Laplace's rule.

    Examples
    --------
    >>> from sottovoce.measure import Scores
    >>> curve = tippett_curves(Scores([1.0, 2.0], [-1.0, 1.0])).scores
    >>> reached_share(curve, 0)  # of likelihood ratios of at least 1
    (1.0, 0.5)
    """
    if tally is None:
        tally = Tally.of(source, thresholds=tippett_thresholds(source))
    return Tippett(_raw_curve(source, tally), _calibrated_curve(tally))


def _raw_curve(source: ScoreSource, tally: Tally) -> TippettCurve:
    """Shares that reach the lowest score and each cut."""
    mated, nonmated = tally.cumulative
    below = np.stack((mated[:-1:2] / tally.n_mated, nonmated[:-1:2] / tally.n_nonmated))
    values, reached = tally.cuts, 1 - below
    if source.low < values[0]:
        values = np.append(source.low, values)
        reached = np.column_stack((np.ones(2), reached))
    inside = values <= source.high  # of the thresholds, some may lie above all scores
    return _curve(values[inside] / LN_10, reached[:, inside], source.high / LN_10)


def _calibrated_curve(tally: Tally) -> TippettCurve:
    blocks = laplace_blocks(oracle_blocks(tally), tally.loops)
    llrs = block_llrs(blocks, tally.n_mated, tally.n_nonmated)
    reached = [
        1 - np.append(0, np.cumsum(np.add.reduceat(side, blocks.first))[:-1]) / side.sum()
        for side in tally.groups
    ]
    return _curve(llrs / LN_10, np.stack(reached), float(llrs[-1]) / LN_10)


def _curve(values: FloatArray, reached: FloatArray, highest: float) -> TippettCurve:
    """Keep points that are evenly spaced along the curve, and end it above the highest value."""
    along = 2 - reached.sum(axis=0)
    even = np.searchsorted(along, np.linspace(along[0], along[-1], POINTS))
    powers = np.searchsorted(values, np.array(POWERS) - TOLERANCE)
    wanted = np.concatenate((even, powers, (0, len(values) - 1)))
    chosen = np.unique(np.clip(wanted, 0, len(values) - 1))
    thresholds = np.append(values[chosen], np.nextafter(highest, np.inf))
    mated, nonmated = np.column_stack((reached[:, chosen], np.zeros(2)))
    return TippettCurve(tuple(thresholds.tolist()), tuple(mated.tolist()), tuple(nonmated.tolist()))
