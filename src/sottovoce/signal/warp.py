"""Warps of the frequency axis, and interpolation of envelopes at warped frequencies.

Frequencies are ω from 0 to π. A warp h is increasing with h(0) = 0 and h(π) = π. The warped
envelope is S'(ω) = S(h(ω)): formants move down where h(ω) > ω.
"""

from __future__ import annotations

import numpy as np

from sottovoce.core.types import FloatArray


def bilinear(omega: FloatArray, alpha: float) -> FloatArray:
    """Bilinear warp, the phase of an all-pass filter: ω + 2 atan(α sin ω / (1 − α cos ω)).

    Parameters
    ----------
    omega : ndarray of float64
        Frequencies from 0 to π.
    alpha : float
        Amount of warping, |α| < 1; 0 changes nothing.
    """
    return np.asarray(
        omega + 2 * np.arctan2(alpha * np.sin(omega), 1 - alpha * np.cos(omega)), np.float64
    )


def quadratic(omega: FloatArray, beta: float) -> FloatArray:
    """Quadratic warp: ω + β (ω/π − (ω/π)²).

    Parameters
    ----------
    omega : ndarray of float64
        Frequencies from 0 to π.
    beta : float
        Amount of warping, |β| < π; 0 changes nothing.
    """
    share = omega / np.pi
    return omega + beta * (share - share**2)


def power(omega: FloatArray, alpha: FloatArray | float) -> FloatArray:
    """Power warp: π (ω/π)^(1 − α).

    Parameters
    ----------
    omega : ndarray of float64
        Frequencies from 0 to π.
    alpha : float or ndarray of float64
        Amount of warping, α < 1; 0 changes nothing. Broadcast against ``omega``.
    """
    return np.asarray(np.pi * (omega / np.pi) ** (1 - np.asarray(alpha)), np.float64)


def axis(bins: int) -> FloatArray:
    """Return the frequencies of the bins of an envelope.

    Parameters
    ----------
    bins : int
        Number of bins; the first is at 0, the last at π.
    """
    return np.linspace(0, np.pi, bins)


def read_at(rows: FloatArray, omega: FloatArray) -> FloatArray:
    """Interpolate envelopes linearly at other frequencies.

    Parameters
    ----------
    rows : ndarray of float64, shape (frames, bins)
        Envelopes.
    omega : ndarray of float64, shape (k,) or (frames, k)
        Frequencies for all rows or for each row; clipped to 0 … π.

    Returns
    -------
    ndarray of float64, shape (frames, k)
        The envelopes at these frequencies.
    """
    last = rows.shape[1] - 1
    position = np.clip(omega, 0, np.pi) * (last / np.pi)
    left = np.minimum(position.astype(np.intp), last - 1)
    share = position - left
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
