"""Pitch: level, range and movement of F0, which most voice anonymisers keep or only shift."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from sottovoce.attack.evidence.block import mean_and_spread, quantiles, runs_of
from sottovoce.core.types import FloatArray
from sottovoce.signal import world

SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
"""Quantiles of log F0."""
TYPICAL = float(np.log(150.0))
"""Log F0 where nothing is voiced: between the voices of women and men."""
SECONDS = world.PERIOD / 1000
LONG = 20
"""Frames (100 ms) from which on the shape of a voiced stretch is described."""
POINTS = 16
"""Points to which a voiced stretch is resampled for its shape."""
SHAPES = 5
"""Coefficients of the cosine transform of a stretch, without the constant."""


class Pitch:
    """Statistics of log F0, of its changes, and of the shape of voiced stretches."""

    name = "pitch"
    version = "1"
    dimension = len(SHARES) + 2 + 3 + 4 + 2 * SHAPES

    def describe(self, samples: FloatArray) -> FloatArray:
        """Describe pitch.

        Parameters
        ----------
        samples : array of float64, n
            One channel at 16 kHz.
        """
        f0, _ = world.find_f0(samples)
        voiced = f0 > 0
        logs = np.log(np.where(voiced, f0, 1.0))
        runs = runs_of(voiced)
        level = quantiles(logs[voiced], SHARES, TYPICAL)
        extent = [level[-1] - level[0], float(logs[voiced].std()) if voiced.any() else 0.0]
        return np.concatenate(
            [level, extent, _changes(logs, runs), _voicing(logs, voiced, runs), _shapes(logs, runs)]
        )


def _changes(logs: FloatArray, runs: list[tuple[int, int]]) -> FloatArray:
    """Size and spread of the change per frame, and of its change (irregular periods)."""
    steps = [np.diff(logs[start:stop]) for start, stop in runs if stop - start > 2]
    if not steps:
        return np.zeros(3)
    change = np.concatenate(steps)
    bend = np.concatenate([np.diff(step) for step in steps])
    return np.log1p(1e3 * np.array([np.abs(change).mean(), change.std(), np.abs(bend).mean()]))


def _voicing(
    logs: FloatArray, voiced: NDArray[np.bool_], runs: list[tuple[int, int]]
) -> FloatArray:
    """Share of voiced frames, length of stretches (log seconds), fall of F0 per second."""
    lengths = np.log([(stop - start) * SECONDS for start, stop in runs])
    frames = np.flatnonzero(voiced)
    slope = float(np.polyfit(frames * SECONDS, logs[voiced], 1)[0]) if len(frames) > LONG else 0.0
    return np.concatenate([[voiced.mean()], mean_and_spread(lengths, np.log(0.2)), [slope]])


def _shapes(logs: FloatArray, runs: list[tuple[int, int]]) -> FloatArray:
    """Mean and spread of the cosine transform of long stretches."""
    places = np.linspace(0, 1, POINTS)
    stretches = [
        np.interp(places, np.linspace(0, 1, stop - start), logs[start:stop])
        for start, stop in runs
        if stop - start >= LONG
    ]
    if not stretches:
        return np.zeros(2 * SHAPES)
    shapes = dct(np.stack(stretches), norm="ortho", axis=1)[:, 1 : SHAPES + 1]
    return np.concatenate([shapes.mean(axis=0), shapes.std(axis=0)])
