"""Signals for the tests: vowels made of pulses and resonances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter


def vowel(
    formants: tuple[float, ...] = (700, 1200, 2600), seconds: float = 1.0, pitch: int = 125
) -> NDArray[np.float64]:
    """Pulses through resonances of 60 Hz width, at 16 kHz, with a little noise."""
    signal = np.zeros(int(16000 * seconds))
    signal[:: 16000 // pitch] = 1.0
    signal += 1e-4 * np.random.default_rng(0).standard_normal(len(signal))
    for hertz in formants:
        radius, angle = np.exp(-np.pi * 60 / 16000), 2 * np.pi * hertz / 16000
        signal = lfilter([1], [1, -2 * radius * np.cos(angle), radius**2], signal)
    return np.asarray(signal / np.abs(signal).max())
