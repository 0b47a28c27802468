"""Energy: how loudness varies, and the long-term spectrum, which also describes the channel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sottovoce.attack.evidence.rhythm import intensity_in_decibels
from sottovoce.core.types import FloatArray
from sottovoce.signal.fbank import fbank
from sottovoce.signal.level import SHIFT

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Quantiles of the level and of its change."""
FLOOR = -60.0
"""Level in dB below which silence is not told apart."""
MODULATION = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0)
"""Edges in Hz of the bands of the modulation spectrum."""
BANDS, BANKS = 20, 80
"""Bands of the long-term spectrum, and filter banks they are averaged from."""


class Energy:
    """Distribution of the level, of its changes, and the spectrum of its modulation."""

    name = "energy"
    version = "1"
    dimension = 2 * len(SHARES) + 2 + len(MODULATION) - 1

    def describe(self, samples: FloatArray) -> FloatArray:
        """Describe energy.

        Parameters
        ----------
        samples : array of float64, n
            One channel at 16 kHz.
        """
        level = np.maximum(intensity_in_decibels(samples), FLOOR)
        change = np.diff(level) if len(level) > 1 else np.zeros(1)
        return np.concatenate(
            [
                np.quantile(level, SHARES),
                np.quantile(change, SHARES),
                [level.std(), change.std()],
                _modulation(level),
            ]
        )


def _modulation(level: FloatArray) -> FloatArray:
    """Log share of the level's variance in each band of modulation frequency."""
    spectrum = np.abs(np.fft.rfft((level - level.mean()) * np.hanning(len(level)), 4096)) ** 2
    frequencies = np.fft.rfftfreq(4096, SHIFT)
    power = [
        spectrum[(low <= frequencies) & (frequencies < high)].sum()
        for low, high in pairwise(MODULATION)
    ]
    return np.asarray(np.log(np.array(power) / max(float(spectrum.sum()), 1e-12) + 1e-4))


class Spectrum:
    """Mean and spread of each band over the loud frames: the voice's timbre and the channel."""

    name = "spectrum"
    version = "1"
    dimension = 2 * BANDS

    def describe(self, samples: FloatArray) -> FloatArray:
        """Describe the long-term spectrum.

        Parameters
        ----------
        samples : array of float64, n
            One channel at 16 kHz.
        """
        banks = fbank(np.asarray(samples, np.float32)).astype(np.float64)
        bands = banks.reshape(len(banks), BANDS, BANKS // BANDS).mean(axis=2)
        level = bands.mean(axis=1)
        loud = bands[level >= np.median(level)]
        shapes = loud - loud.mean(axis=1, keepdims=True)
        return np.concatenate([shapes.mean(axis=0), shapes.std(axis=0)])
