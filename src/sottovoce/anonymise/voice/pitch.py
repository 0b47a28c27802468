"""Conversion of a speaker's F0 to that of another speaker, and smoothing of its contour.

Only voiced frames (F0 above 0) are changed, and whether a frame is voiced never changes.
COMPRISE deliverable D2.3 (2021), equations 3 and 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from sottovoce.core.types import FloatArray

LOWEST, HIGHEST = 50.0, 600.0
"""Range of converted F0 in Hz."""
MINIMUM_SPREAD = 0.02
"""Smallest standard deviation of log F0 (a third of a semitone): less would be over-amplified."""
NARROWEST = 0.125
"""Widths in frames below which a window, cut off at four standard deviations, has one frame."""
MINIMUM_VOICED = 20
"""Voiced frames from which on a distribution of F0 is used."""


class LogPitch(NamedTuple):
    """Mean and standard deviation of log F0."""

    mean: float
    sd: float


def log_pitch(f0: FloatArray) -> LogPitch | None:
    """Compute mean and standard deviation of log F0 over voiced frames.

    Parameters
    ----------
    f0 : ndarray of float64
        F0 in Hz, 0 where unvoiced.

    Returns
    -------
    LogPitch or None
        None if no frame is voiced.
    """
    logs = np.log(f0[f0 > 0])
    return LogPitch(float(logs.mean()), float(logs.std())) if len(logs) else None


def gaussian_pitch(f0: FloatArray, source: LogPitch, target: LogPitch) -> FloatArray:
    """Convert F0 by mean and spread: log F0' = (log F0 − μ_o) / σ_o · σ_t + μ_t.

    Parameters
    ----------
    f0 : ndarray of float64, shape (frames,)
        F0 in Hz, 0 where unvoiced.
    source : LogPitch
        Of the speaker (μ_o, σ_o).
    target : LogPitch
        Of the target speaker (μ_t, σ_t).

    Returns
    -------
    ndarray of float64, shape (frames,)
        Converted F0, 0 where unvoiced.
    """
    voiced = f0 > 0
    stretch = target.sd / max(source.sd, MINIMUM_SPREAD)
    logs = (np.log(f0[voiced]) - source.mean) * stretch + target.mean
    mapped = f0.copy()
    mapped[voiced] = np.exp(np.clip(logs, np.log(LOWEST), np.log(HIGHEST)))
    return mapped


def percentile_pitch(
    f0: FloatArray, target: FloatArray, *, source: FloatArray | None = None
) -> FloatArray:
    """Convert F0 by percentiles: F0' = F_t⁻¹(F_o(F0)).

    F_o is the distribution of the speaker, ``source``. If that is unknown it is the distribution of
    the utterance. With fewer than 20 voiced frames and an unknown speaker, the median is moved to
    that of the target and the shape of the contour is kept: a single syllable would be stretched
    over the whole range of the target.

    Parameters
    ----------
    f0 : ndarray of float64, shape (frames,)
        F0 in Hz, 0 where unvoiced.
    target : ndarray of float64
        F0 values, or evenly spaced percentiles, of the target speaker.
    source : ndarray of float64, optional
        F0 values, or evenly spaced percentiles, of the speaker.

    Returns
    -------
    ndarray of float64, shape (frames,)
        Converted F0, 0 where unvoiced.
    """
    voiced = f0 > 0
    target = np.sort(target[target > 0])
    if not voiced.any() or not len(target):
        return f0.copy()
    distribution = f0[voiced] if source is None else source[source > 0]
    if len(distribution) < MINIMUM_VOICED:
        return _to_median(f0, voiced, float(np.median(target)))
    mapped = f0.copy()
    mapped[voiced] = np.interp(_cumulative(f0[voiced], distribution), _shares(target), target)
    return mapped


def smoothed_pitch(f0: FloatArray, width: float) -> FloatArray:
    """Smooth the contour of F0; unvoiced frames stay unvoiced and the mean of log F0 is kept.

    Parameters
    ----------
    f0 : ndarray of float64, shape (frames,)
        F0 in Hz, 0 where unvoiced.
    width : float
        Standard deviation of the Gaussian window in frames; less than an eighth changes nothing.

    Returns
    -------
    ndarray of float64, shape (frames,)
        F0 in Hz, 0 where unvoiced.
    """
    voiced = f0 > 0
    if width < NARROWEST or not voiced.any():
        return f0.copy()
    logs = np.log(f0[voiced])
    contour = np.interp(np.arange(len(f0)), np.flatnonzero(voiced), logs)
    smooth = gaussian_filter1d(contour, width, mode="nearest")[voiced]
    changed = f0.copy()
    changed[voiced] = np.exp(smooth + (logs.mean() - smooth.mean()))
    return changed


def _to_median(f0: FloatArray, voiced: NDArray[np.bool_], median: float) -> FloatArray:
    mapped = f0.copy()
    mapped[voiced] = np.clip(f0[voiced] * (median / np.median(f0[voiced])), LOWEST, HIGHEST)
    return mapped


def _cumulative(values: FloatArray, sample: FloatArray) -> FloatArray:
    """Distribution function of a sample: 0 at its minimum, 1 at its maximum, linear between.

    Ties get their mean. This is the exact inverse of interpolating percentiles of the sample, so a
    speaker converted to themselves does not change.
    """
    ordered = np.sort(sample)
    distinct, first, count = np.unique(ordered, return_index=True, return_counts=True)
    middle = _shares(ordered)[first] + (count - 1) / 2 / max(len(ordered) - 1, 1)
    return np.asarray(np.interp(values, distinct, middle))


def _shares(ordered: FloatArray) -> FloatArray:
    return np.linspace(0, 1, len(ordered)) if len(ordered) > 1 else np.full(1, 0.5)
