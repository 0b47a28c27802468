"""Warps of the frequency axis, and envelopes read off at warped frequencies.

Frequencies are ω from 0 to π. A warp h is increasing with h(0) = 0 and h(π) = π; the warped
envelope is S'(ω) = S(h(ω)), so where h(ω) > ω formants move down.
"""

from __future__ import annotations

import numpy as np

from sottovoce.core.types import FloatArray


def bilinear(omega: FloatArray, alpha: float) -> FloatArray:
    """The phase of an all-pass filter: ω + 2 atan(α sin ω / (1 − α cos ω)), |α| < 1."""
    return np.asarray(
        omega + 2 * np.arctan2(alpha * np.sin(omega), 1 - alpha * np.cos(omega)), np.float64
    )


def quadratic(omega: FloatArray, beta: float) -> FloatArray:
    """ω + β (ω/π − (ω/π)²); increasing for |β| < π."""
    share = omega / np.pi
    return omega + beta * (share - share**2)


def power(omega: FloatArray, alpha: FloatArray | float) -> FloatArray:
    """π (ω/π)^(1 − α), α < 1."""
    return np.asarray(np.pi * (omega / np.pi) ** (1 - np.asarray(alpha)), np.float64)


def axis(bins: int) -> FloatArray:
    """The frequencies of an envelope of so many bins, both ends included."""
    return np.linspace(0, np.pi, bins)


def read_at(rows: FloatArray, omega: FloatArray) -> FloatArray:
    """Rows of envelopes read at other frequencies, straight between bins; clamped to 0 … π.

    ``omega`` holds one list of frequencies for all rows, or one for each.
    """
    last = rows.shape[1] - 1
    place = np.clip(omega, 0, np.pi) * (last / np.pi)
    left = np.minimum(place.astype(np.intp), last - 1)
    share = place - left
    if omega.ndim == 1:
        low, high = np.take(rows, left, axis=1), np.take(rows, left + 1, axis=1)
    else:
        flat = rows.ravel()
        left += (np.arange(len(rows)) * rows.shape[1])[:, None]
        low, high = flat[left], flat[left + 1]
    high -= low
    high *= share
    high += low
    return np.asarray(high, np.float64)
