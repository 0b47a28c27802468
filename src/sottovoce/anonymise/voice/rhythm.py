"""Change of the rhythm of speech: stretches of it are slowed down or sped up, the length is kept.

How long a speaker holds sounds and pauses is part of the voice. A map of time with a random speed
in each stretch of 0.3 s hides some of it. Words stay in their order, and the limit of the change of
speed keeps them intelligible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.core.types import FloatArray, RealArray

STRETCH = 0.3
"""Seconds of a stretch with one speed."""


@dataclass(frozen=True, slots=True, eq=False)
class TimeMap:
    """An increasing, piecewise linear map of the times of the output to those of the recording."""

    output: FloatArray
    """Seconds in the output, increasing from 0."""
    recording: FloatArray
    """The seconds in the recording that are heard there, increasing from 0 to the same end."""

    def frames(self, count: int, period: float) -> FloatArray:
        """Return which frame of the recording each frame of the output is read from.

        Parameters
        ----------
        count : int
            Number of frames.
        period : float
            Distance of frames in milliseconds.

        Returns
        -------
        ndarray of float64, shape (count,)
            Positions in frames, not decreasing, from 0 to at most ``count`` − 1.
        """
        times = np.arange(count) * (period / 1000)
        positions = np.interp(times, self.output, self.recording) / (period / 1000)
        return np.asarray(np.clip(positions, 0, count - 1))


def random_time_map(seconds: float, change: float, rng: np.random.Generator) -> TimeMap:
    """Draw a map of time that keeps the length.

    Parameters
    ----------
    seconds : float
        Length of the recording.
    change : float
        Largest change of speed, 0 to below 1: 0.2 for speeds from 0.8 to 1.2.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    TimeMap
        The identity where ``change`` is 0 or the recording is shorter than two stretches.
    """
    count = max(1, int(seconds / STRETCH))
    deviations = rng.uniform(-change, change, count)
    deviations -= deviations.mean()  # so that the length is kept
    largest = np.abs(deviations).max()
    if largest > change:
        deviations *= change / largest
    knots = np.linspace(0, seconds, count + 1)
    recording = np.concatenate([[0.0], np.cumsum((1 + deviations) * np.diff(knots))])
    return TimeMap(knots, recording)


def rows_at(rows: RealArray, positions: FloatArray) -> FloatArray:
    """Read rows at fractional positions by linear interpolation.

    Parameters
    ----------
    rows : ndarray, shape (n, ...)
        Values of frames.
    positions : ndarray of float64, shape (m,)
        Positions in frames, 0 to n − 1.

    Returns
    -------
    ndarray of float64, shape (m, ...)
        The interpolated values.
    """
    low = np.minimum(positions.astype(np.int64), max(len(rows) - 2, 0))
    high = np.minimum(low + 1, len(rows) - 1)
    share = (positions - low).reshape(-1, *([1] * (rows.ndim - 1)))
    return np.asarray(rows[low] * (1 - share) + rows[high] * share)
