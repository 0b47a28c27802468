"""Synthetic signals for all tests: tones, harmonics, vowels, noise, clicks and silence.

All functions return float64 arrays of one channel; draws depend on ``seed`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import ArrayLike
from scipy.signal import lfilter

from sottovoce.core.types import FloatArray

RATE = 16_000
Seed = int | Sequence[int]


def times(seconds: float, rate: int = RATE) -> FloatArray:
    """Return the time of each sample in seconds."""
    return np.arange(round(seconds * rate)) / rate


def silence(seconds: float = 1.0, *, rate: int = RATE) -> FloatArray:
    """Return zeros."""
    return np.zeros(round(seconds * rate))


def noise(
    seconds: float = 1.0,
    *,
    rate: int = RATE,
    level: float = 0.1,
    seed: Seed = 0,
    uniform: bool = False,
) -> FloatArray:
    """White noise: normal with standard deviation ``level``, or uniform within ±``level``."""
    rng = np.random.default_rng(seed)
    count = round(seconds * rate)
    return rng.uniform(-level, level, count) if uniform else rng.normal(0, level, count)


def clicks(
    seconds: float = 1.0,
    *,
    rate: int = RATE,
    level: float = 0.9,
    interval: int = 997,
    first: int = 5,
) -> FloatArray:
    """Return single samples of height ``level``, ``interval`` samples apart."""
    signal = silence(seconds, rate=rate)
    signal[first::interval] = level
    return signal


def tone(
    hertz: float = 440, seconds: float = 1.0, *, rate: int = RATE, level: float = 0.5
) -> FloatArray:
    """Return a sine."""
    return np.asarray(level * np.sin(2 * np.pi * hertz * times(seconds, rate)))


def harmonics(
    f0: ArrayLike,
    weights: Sequence[ArrayLike],
    seconds: float = 1.0,
    *,
    rate: int = RATE,
) -> FloatArray:
    """Return a sum of harmonics of F0.

    ``f0`` in Hz and the weight of each harmonic, from the first on, are numbers or have a value for
    each sample.
    """
    contour = np.broadcast_to(np.asarray(f0, np.float64), round(seconds * rate))
    phase = 2 * np.pi * np.cumsum(contour) / rate
    parts = [np.asarray(weight) * np.sin(k * phase) for k, weight in enumerate(weights, start=1)]
    return np.asarray(np.sum(parts, axis=0))


def resonate(
    signal: FloatArray, formants: ArrayLike, *, rate: int = RATE, bandwidth: float = 60
) -> FloatArray:
    """Filter a signal with resonances of one bandwidth in Hz, and scale it to a peak of 1."""
    radius = np.exp(-np.pi * bandwidth / rate)
    for hertz in np.atleast_1d(formants):
        angle = 2 * np.pi * hertz / rate
        signal = lfilter([1], [1, -2 * radius * np.cos(angle), radius**2], signal)
    return np.asarray(signal / np.abs(signal).max())


def vowel(
    formants: Sequence[float] = (700, 1200, 2600),
    seconds: float = 1.0,
    pitch: int = 125,
    *,
    rate: int = RATE,
    bandwidth: float = 60,
    noise_level: float = 1e-4,
    seed: Seed = 0,
) -> FloatArray:
    """Return pulses with a little noise through resonances: a vowel with a peak of 1."""
    signal = noise(seconds, rate=rate, level=noise_level, seed=seed)
    signal[:: rate // pitch] += 1.0
    return resonate(signal, formants, rate=rate, bandwidth=bandwidth)


def write_audio(path: Path, samples: FloatArray, rate: int = RATE) -> Path:
    """Write samples (one column per channel) to a file in a folder that is made if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate)
    return path
