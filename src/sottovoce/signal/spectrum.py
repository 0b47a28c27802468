"""Linear prediction of many frames at once, and warps of the frequency axis.

Frames are rows of a matrix; the loops of linear prediction run over the order of the predictor or
over the samples of a frame, never over frames. Frequencies of warps are ω from 0 to π. A warp h is
increasing with h(0) = 0 and h(π) = π. The warped envelope is S'(ω) = S(h(ω)): formants move down
where h(ω) > ω.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import FloatArray

Frames = NDArray[np.float64]
"""Frames × samples."""
Predictors = NDArray[np.float64]
"""Frames × (order + 1): 1, a_1, …, a_p of A(z) = 1 + a_1 z^-1 + … + a_p z^-p."""
Poles = NDArray[np.complex128]
"""Frames × order: the roots of A(z)."""


def burg(frames: Frames, order: int) -> Predictors:
    """Estimate predictors with Burg's method (1967); all poles lie within the unit circle.

    Step i takes the reflection coefficient k_i = -2 Σ f·b / Σ (f² + b²) of forward and backward
    errors f, b.

    Parameters
    ----------
    frames : ndarray of float64, shape (frames, samples)
        The signal in frames.
    order : int
        Order p of the predictors.

    Returns
    -------
    ndarray of float64, shape (frames, order + 1)
        Coefficients 1, a_1, …, a_p; those of a frame of zeros are 1, 0, …, 0.
    """
    predictors = np.zeros((len(frames), order + 1))
    predictors[:, 0] = 1.0
    forward, backward = frames[:, 1:], frames[:, :-1]
    for step in range(1, order + 1):
        product = np.einsum("fn,fn->f", forward, backward)
        energy = np.einsum("fn,fn->f", forward, forward)
        energy += np.einsum("fn,fn->f", backward, backward)
        reflection = np.where(energy > 0, -2 * product / np.where(energy > 0, energy, 1.0), 0.0)
        predictors[:, 1 : step + 1] += reflection[:, None] * predictors[:, step - 1 :: -1][:, :step]
        weight = reflection[:, None]
        forward, backward = (
            forward[:, 1:] + weight * backward[:, 1:],
            backward[:, :-1] + weight * forward[:, :-1],
        )
    return predictors


def poles_of(predictors: Predictors) -> Poles:
    """Compute the roots of each predictor as eigenvalues of its companion matrix.

    Parameters
    ----------
    predictors : ndarray of float64, shape (frames, order + 1)
        Coefficients of A(z).

    Returns
    -------
    ndarray of complex128, shape (frames, order)
        The poles; complex ones come as exactly conjugate pairs.
    """
    count, order = len(predictors), predictors.shape[1] - 1
    companions = np.zeros((count, order, order))
    companions[:, 0] = -predictors[:, 1:]
    companions[:, np.arange(1, order), np.arange(order - 1)] = 1.0
    return np.asarray(np.linalg.eigvals(companions), np.complex128)


def predictors_of(poles: Poles) -> Predictors:
    """Compute the real predictors with given roots: the inverse of :func:`poles_of`.

    Parameters
    ----------
    poles : ndarray of complex128, shape (frames, order)
        Roots that are real or come as conjugate pairs.

    Returns
    -------
    ndarray of float64, shape (frames, order + 1)
        Coefficients of A(z).
    """
    count, order = poles.shape
    predictors = np.zeros((count, order + 1), np.complex128)
    predictors[:, 0] = 1.0
    for step in range(order):
        predictors[:, 1 : step + 2] -= poles[:, step, None] * predictors[:, : step + 1]
    return predictors.real.copy()


def refilter(frames: Frames, predictors: Predictors, changed: Predictors) -> Frames:
    """Filter each frame with A(z) / A'(z): its residual goes through another all-pole filter.

    Parameters
    ----------
    frames : ndarray of float64, shape (frames, samples)
        The signal in frames.
    predictors : ndarray of float64, shape (frames, order + 1)
        A(z) of each frame.
    changed : ndarray of float64, shape (frames, order + 1)
        A'(z) of each frame.

    Returns
    -------
    ndarray of float64, shape (frames, samples)
        The filtered frames.
    """
    order = predictors.shape[1] - 1
    count, length = frames.shape
    signal = frames.T.copy()  # samples × frames, so that each step works on contiguous rows
    residual = signal.copy()
    for lag in range(1, order + 1):
        residual[lag:] += predictors[:, lag] * signal[:-lag]
    feedback = np.ascontiguousarray(-changed[:, :0:-1].T)  # a'_p … a'_1
    output = np.zeros((order + length, count))
    for n in range(length):
        past = output[n : n + order]
        output[n + order] = residual[n] + np.einsum("kf,kf->f", feedback, past)
    return output[order:].T


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
