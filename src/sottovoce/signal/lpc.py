"""Linear prediction of many frames at once: predictors, their poles, and filtering with them.

Frames are rows of a table. No loop goes over frames, only over the predictor's order or over the
samples of one frame.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Frames = NDArray[np.float64]
Predictors = NDArray[np.float64]
"""Frames × (order + 1): 1, a_1, …, a_p of A(z) = 1 + a_1 z^-1 + … + a_p z^-p."""
Poles = NDArray[np.complex128]


def burg(frames: Frames, order: int) -> Predictors:
    """Predictors by Burg's method (1967): all poles lie within the unit circle.

    Step i takes the reflection coefficient k_i = -2 Σ f·b / Σ (f² + b²) of forward and backward
    errors f, b. A frame of zeros has the predictor 1.
    """
    predictors = np.zeros((len(frames), order + 1))
    predictors[:, 0] = 1.0
    forward, backward = frames[:, 1:], frames[:, :-1]
    for step in range(1, order + 1):
        both = np.einsum("fn,fn->f", forward, backward)
        energy = np.einsum("fn,fn->f", forward, forward)
        energy += np.einsum("fn,fn->f", backward, backward)
        reflection = np.where(energy > 0, -2 * both / np.where(energy > 0, energy, 1.0), 0.0)
        predictors[:, 1 : step + 1] += reflection[:, None] * predictors[:, step - 1 :: -1][:, :step]
        weight = reflection[:, None]
        forward, backward = (
            forward[:, 1:] + weight * backward[:, 1:],
            backward[:, :-1] + weight * forward[:, :-1],
        )
    return predictors


def poles_of(predictors: Predictors) -> Poles:
    """Roots of each predictor: the eigenvalues of its companion matrix; conjugates are exact."""
    count, order = len(predictors), predictors.shape[1] - 1
    companions = np.zeros((count, order, order))
    companions[:, 0] = -predictors[:, 1:]
    companions[:, np.arange(1, order), np.arange(order - 1)] = 1.0
    return np.asarray(np.linalg.eigvals(companions), np.complex128)


def predictors_of(poles: Poles) -> Predictors:
    """The real predictors with these roots, which come as conjugate pairs."""
    count, order = poles.shape
    found = np.zeros((count, order + 1), np.complex128)
    found[:, 0] = 1.0
    for step in range(order):
        found[:, 1 : step + 2] -= poles[:, step, None] * found[:, : step + 1]
    return found.real.copy()


def refilter(frames: Frames, predictors: Predictors, changed: Predictors) -> Frames:
    """Filter each frame with A(z) / A'(z): its residual through another all-pole filter."""
    order = predictors.shape[1] - 1
    count, length = frames.shape
    signal = frames.T.copy()  # samples × frames, so that a step works on whole rows
    residual = signal.copy()
    for lag in range(1, order + 1):
        residual[lag:] += predictors[:, lag] * signal[:-lag]
    feedback = np.ascontiguousarray(-changed[:, :0:-1].T)  # a'_p … a'_1
    output = np.zeros((order + length, count))
    for n in range(length):
        past = output[n : n + order]
        output[n + order] = residual[n] + np.einsum("kf,kf->f", feedback, past)
    return output[order:].T
