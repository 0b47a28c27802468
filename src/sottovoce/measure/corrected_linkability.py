"""D_sys without the bias of its histogram.

A histogram of few scores shows some linkability where there is none, and one of wide bins hides
some where there is. Both are mended here: the bins are divided, and what the noise of the counts
adds to D_sys is subtracted. The card of D_sys_corrected has the formula and the measured bias.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import IntArray, RealArray
from sottovoce.measure.counting import make_edges
from sottovoce.measure.linkability import chance_d_sys, check_linkable, d_sys_of, default_bins
from sottovoce.measure.quantiles import normal_share
from sottovoce.measure.resampling import by_speaker
from sottovoce.measure.scores import CHUNK, Scores, ScoreSource, Speakers
from sottovoce.measure.tally import Counts, FineBins, Tally

Array = NDArray[np.float64]

_WITHOUT_EVIDENCE = math.sqrt(2)
"""How much more than once the visible bias is subtracted where there is no evidence.

The deviation of a share from its true value has the scale σ, that of a resample from it √2 σ. A
resample of noise shows (√2 − 1) of its bias: 1 / (√2 − 1) = 1 + √2 times that is the whole.
"""
_POWER = 6
"""Of the ratio of the chance level to the value: how fast that fades as evidence appears."""
_PERMUTATIONS = 100
"""Shuffles of the labels behind the chance level."""


def d_sys_corrected(scores: ScoreSource) -> float:
    """Estimate D_sys without the bias of its histogram.

    Parameters
    ----------
    scores : ScoreSource
        At least 20 mated scores. Where speakers are known, the noise is that of speakers.

    Returns
    -------
    float
        0 unlinkable … 1 fully linkable.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> noise = Scores(rng.normal(size=200), rng.normal(size=4000))
    >>> round(d_sys_corrected(noise), 2)
    0.01
    """
    check_fine_bins(scores)
    tally = Tally.of(scores, bins=fine_bin_count(len(scores.mated)))
    return d_sys_corrected_of(with_fine_bins(scores, tally))


def check_fine_bins(scores: ScoreSource) -> None:
    """Refuse data from which no histogram with fine bins can be made.

    Parameters
    ----------
    scores : ScoreSource
        Mated and non-mated scores.

    Raises
    ------
    TooFewError
        If there are fewer than 20 mated scores.
    InputError
        ``constant`` or ``too-close`` if the scores do not differ enough.
    """
    count = len(scores.mated)
    check_linkable(count, scores.low, scores.high)
    make_edges(scores.low, scores.high, fine_bin_count(count))


def refinement(bins: int) -> int:
    """Return into how many parts each bin is divided: 2, or more where bins are few.

    Parameters
    ----------
    bins : int
        Bins of the histogram.
    """
    return 2 if bins >= 10 else 4 if bins >= 5 else 8


def fine_bin_count(n_mated: int) -> int:
    """Return the number of fine bins.

    Parameters
    ----------
    n_mated : int
        How many mated scores there are, at least 20.
    """
    bins = default_bins(n_mated)
    return bins * refinement(bins)


def with_fine_bins(scores: ScoreSource, tally: Tally) -> Tally:
    """Make the bins of a tally its fine bins, and those that they are parts of its bins.

    Parameters
    ----------
    scores : ScoreSource
        At least 20 mated scores.
    tally : Tally
        Their counts, with :func:`fine_bin_count` bins.
    """
    edges = np.asarray(tally.edges)
    errors = _errors(scores, tally, edges)
    rng = np.random.default_rng(0)
    chance = chance_d_sys(*tally.binned(), permutations=_PERMUTATIONS, rng=rng)
    parts = refinement(default_bins(len(scores.mated)))
    return replace(tally, edges=edges[::parts], fine=FineBins(edges, *errors, chance))


def d_sys_corrected_of(tally: Tally) -> float:
    """Compute the corrected D_sys from counts on fine bins.

    Parameters
    ----------
    tally : Tally
        Of :func:`with_fine_bins`, or with weighted counts derived from it.
    """
    mated, nonmated = tally.binned_finely()
    raw = d_sys_of(mated, nonmated)
    if tally.fine is None or raw == 0:
        return raw
    errors = (tally.fine.mated_error, tally.fine.nonmated_error)
    p, q = mated / mated.sum(), nonmated / nonmated.sum()
    # where one class is missing, no noise of the other can change the sign of p − q
    bias = float(_excess(p, q, *errors)[(p > 0) & (q > 0)].sum())
    noise = min(1.0, tally.fine.chance / raw) ** _POWER
    return float(np.clip(raw - (1 + _WITHOUT_EVIDENCE * noise) * bias, 0.0, 1.0))


def _excess(p: Array, q: Array, p_error: Array, q_error: Array) -> Array:
    """How much larger a bin's term p·max(0, p − q)/(p + q) is on average with normal noise.

    The first summand is that of the kink at p = q, exact for a linear slope; the second that of
    the curvature, to second order.
    """
    spread = np.hypot(p_error, q_error)
    total = p + q
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (p - q) / spread
        density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        kink = p / total * spread * (density - np.abs(z) * normal_share(-np.abs(z)))
        curvature = 2 * normal_share(z) * ((q * p_error) ** 2 + (p * q_error) ** 2) / total**3
        return np.where((spread > 0) & (total > 0), kink + curvature, 0.0)


def _errors(scores: ScoreSource, tally: Tally, edges: Array) -> tuple[Array, Array]:
    """Standard errors of the shares per bin: over speakers where they are known."""
    mated, nonmated = tally.binned()
    if isinstance(scores, Scores) and scores.speakers is not None and by_speaker(scores):
        who = scores.speakers
        return (
            _error_over_speakers(scores.mated, [who.mated], who, edges),
            _error_over_speakers(
                scores.nonmated, [who.nonmated_enrol, who.nonmated_trial], who, edges
            ),
        )
    return _error_over_trials(mated), _error_over_trials(nonmated)


def _error_over_trials(counts: Counts) -> Array:
    total = counts.sum()
    share = counts / total
    return np.asarray(np.sqrt(share * (1 - share) / total))


def _error_over_speakers(
    values: RealArray, sides: list[IntArray], who: Speakers, edges: Array
) -> Array:
    """Linearised: the sum over speakers of the squared excess of what they take part in."""
    bins = len(edges) - 1
    counts = np.zeros(who.count * bins, np.int64)
    for start in range(0, len(values), CHUNK):
        chunk = slice(start, start + CHUNK)
        cells = np.searchsorted(edges[1:-1], values[chunk], side="right")
        for side in sides:
            counts += np.bincount(side[chunk] * bins + cells, minlength=len(counts))
    table = counts.reshape(who.count, bins)
    taking_part = table.sum(axis=1, keepdims=True)
    share = table.sum(axis=0) / table.sum()
    speakers = np.count_nonzero(taking_part)
    squares = ((table - share * taking_part) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(squares * speakers / (speakers - 1)) / len(values))
