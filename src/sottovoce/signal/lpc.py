"""Linear prediction of many frames at once: predictors, their poles, and filtering with them.

Frames are rows of a matrix. The loops run over the order of the predictor or over the samples of
a frame, never over frames.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
