"""Estimation of what an anonymiser did to a recording, from the sound of the recording alone.

An attacker that has the anonymiser knows the draws of the speech it anonymised itself. A ridge
regression from the long-term spectrum to the numbers of the change (Hoerl and Kennard 1970), and
another to whether there was any change, are trained on that speech; speakers that were left out
decide how strongly the weights are shrunk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sottovoce.core.errors import TooFewError
from sottovoce.core.records import Record
from sottovoce.core.types import Audio, FloatArray, IntArray, Names
from sottovoce.signal.fbank import RATE
from sottovoce.signal.level import prepared

WINDOW, SHIFT, BANDS = 400, 160, 64
"""Samples of a frame and between frames; bands of equal width from 0 to 8 kHz."""
ACTIVE = 0.06
"""Share of the mean energy above which a frame counts as speech."""
PENALTIES = (1.0, 10.0, 100.0, 1000.0)
FOLDS = 4
FEWEST = 8
"""Speakers below which nothing is learnt."""


def long_term_spectrum(audio: Audio, rate: int) -> FloatArray:
    """Describe the spectrum of all speech of a recording, without its level.

    Parameters
    ----------
    audio : array of float32
        Samples of one channel, at least 0.1 s and not silent.
    rate : int
        Samples per second.

    Returns
    -------
    array of float64, 128
        Mean and standard deviation over time of the log power in 64 bands.
    """
    samples = prepared(audio, rate, RATE).astype(np.float64)
    frames = sliding_window_view(samples, WINDOW)[::SHIFT] * np.hanning(WINDOW)
    power = np.square(np.abs(np.fft.rfft(frames, 4 * 2 * BANDS)))
    energy = power.sum(axis=1)
    speech = power[energy > ACTIVE * energy.mean()]
    bands = speech[:, 1:].reshape(len(speech), BANDS, -1).mean(axis=2)
    logs = np.log(bands + 1e-7)
    logs -= logs.mean(axis=1, keepdims=True)
    return np.concatenate([logs.mean(axis=0), logs.std(axis=0)])


@dataclass(frozen=True, slots=True)
class Ridge(Record):
    """Linear regression with shrunken weights."""

    centre: tuple[float, ...]
    """Mean of each feature."""
    intercept: tuple[float, ...]
    """Mean of each target."""
    weights: tuple[tuple[float, ...], ...]
    """Features × targets."""
    error: tuple[float, ...]
    """Mean absolute error of each target on speakers that were left out in turns."""

    def __call__(self, features: FloatArray) -> FloatArray:
        """Return the estimates for one or more recordings."""
        return np.asarray((features - self.centre) @ np.array(self.weights) + self.intercept)


@dataclass(frozen=True, slots=True)
class DrawEstimator(Record):
    """Tells whether a recording was anonymised, and by what numbers."""

    changed: Ridge
    """1 for anonymised recordings, 0 for originals."""
    numbers: Ridge
    """The numbers of the change, of anonymised recordings."""

    def estimate(self, audio: Audio, rate: int) -> FloatArray | None:
        """Estimate the change of a recording.

        Parameters
        ----------
        audio : array of float32
            Samples of one channel.
        rate : int
            Samples per second.

        Returns
        -------
        array of float64 or None
            The numbers of the change; None for a recording that sounds like an original.
        """
        features = long_term_spectrum(audio, rate)
        if float(self.changed(features)[0]) < 0.5:
            return None
        return self.numbers(features)


def fit_estimator(
    originals: FloatArray,
    anonymised: FloatArray,
    changes: FloatArray,
    *,
    original_speakers: Names,
    anonymised_speakers: Names,
) -> DrawEstimator:
    """Learn to recognise the change of recordings.

    Parameters
    ----------
    originals : array of float64, n × 128
        :func:`long_term_spectrum` of original recordings.
    anonymised : array of float64, m × 128
        The same of anonymised recordings.
    changes : array of float64, m × k
        The numbers of their changes.
    original_speakers, anonymised_speakers : array of str
        The speaker of each recording, n and m.

    Raises
    ------
    TooFewError
        With fewer than 8 speakers.
    """
    count = len(np.unique(anonymised_speakers))
    if count < FEWEST:
        raise TooFewError(
            f"{count} training speakers; recognising draws needs at least {FEWEST}: add some"
        )
    both = np.concatenate([originals, anonymised])
    is_changed = np.repeat([0.0, 1.0], [len(originals), len(anonymised)])[:, None]
    speakers = np.concatenate([original_speakers, anonymised_speakers])
    return DrawEstimator(
        fit_ridge(both, is_changed, speakers),
        fit_ridge(anonymised, changes, anonymised_speakers),
    )


def fit_ridge(features: FloatArray, targets: FloatArray, speakers: Names) -> Ridge:
    """Fit a ridge regression; speakers that are left out in turns choose the penalty.

    Parameters
    ----------
    features : array of float64, n × d
        One row per recording.
    targets : array of float64, n × k
        What is estimated.
    speakers : array of str, n
        The speaker of each recording.
    """
    folds = np.unique(speakers, return_inverse=True)[1].astype(np.int64) % FOLDS
    errors = [_left_out_error(features, targets, folds, penalty) for penalty in PENALTIES]
    spread = np.maximum(targets.std(axis=0), 1e-12)
    best = int(np.argmin([float((error / spread).sum()) for error in errors]))
    centre, intercept, weights = _solve(features, targets, PENALTIES[best])
    return Ridge(
        tuple(centre.tolist()),
        tuple(intercept.tolist()),
        tuple(tuple(row) for row in weights.tolist()),
        tuple(errors[best].tolist()),
    )


def _left_out_error(
    features: FloatArray, targets: FloatArray, folds: IntArray, penalty: float
) -> FloatArray:
    errors = np.empty_like(targets)
    for fold in range(FOLDS):
        rest, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        centre, intercept, weights = _solve(features[rest], targets[rest], penalty)
        estimates = (features[held_out] - centre) @ weights + intercept
        errors[held_out] = np.abs(estimates - targets[held_out])
    return np.asarray(errors.mean(axis=0))


def _solve(
    features: FloatArray, targets: FloatArray, penalty: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centre, intercept and weights; every feature is shrunk in units of its own spread."""
    centre, spread = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-9)
    scaled = (features - centre) / spread
    intercept = targets.mean(axis=0)
    gram = scaled.T @ scaled + penalty * np.eye(scaled.shape[1])
    weights = np.linalg.solve(gram, scaled.T @ (targets - intercept))
    return centre, intercept, np.asarray(weights / spread[:, None])
