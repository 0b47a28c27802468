"""Speech made to vary as recordings do, so that an encoder learns the voice and not the room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft
from scipy.signal import fftconvolve

from sottovoce.core.types import Audio
from sottovoce.signal.fbank import RATE

SPEEDS = (1.0, 0.9, 1.1)
"""Speech played slower or faster has another pitch and vocal tract: each counts as a new voice."""
SNR = (5.0, 25.0)
"""dB of speech above added noise."""
ECHO = (0.1, 0.5)
"""Seconds in which an echo falls by 60 dB."""
SHARE = 0.4
"""How often each change is made."""


def at_speed(audio: Audio, speed: float) -> Audio:
    """Speech played ``speed`` times as fast."""
    if speed == 1.0:
        return audio
    import soxr

    return np.asarray(soxr.resample(audio, RATE * speed, RATE), np.float32)


def augmented(audio: Audio, rng: np.random.Generator) -> Audio:
    """Noise, echo, both or neither."""
    if rng.random() < SHARE:
        audio = with_echo(audio, rng.uniform(*ECHO), rng)
    if rng.random() < SHARE:
        audio = with_noise(audio, rng.uniform(*SNR), rng.uniform(0, 1), rng)
    return audio


def with_noise(audio: Audio, snr: float, slope: float, rng: np.random.Generator) -> Audio:
    """Add noise whose amplitude falls with frequency to the power ``slope`` (0 is white)."""
    spectrum = rfft(rng.normal(size=len(audio)))
    noise = irfft(spectrum / np.maximum(np.arange(len(spectrum)), 1) ** slope, len(audio))
    level = np.sqrt(np.mean(audio**2) / max(np.mean(noise**2), 1e-20)) * 10 ** (-snr / 20)
    return np.asarray(audio + level * noise, np.float32)


def with_echo(audio: Audio, seconds: float, rng: np.random.Generator) -> Audio:
    """Convolve with decaying noise, as a small room would."""
    t = np.arange(int(seconds * RATE)) / RATE
    tail = rng.normal(size=len(t)) * 10 ** (-3 * t / seconds)
    tail *= rng.uniform(0.05, 0.5) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return np.asarray(fftconvolve(audio, tail)[: len(audio)], np.float32)


def masked(banks: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Hide a few bands and a few frames (Park et al. 2019)."""
    banks = banks.copy()
    band, frames = int(rng.integers(0, 9)), int(rng.integers(0, len(banks) // 10 + 1))
    low, first = rng.integers(0, banks.shape[1] - band), rng.integers(0, len(banks) - frames + 1)
    banks[:, low : low + band] = 0
    banks[first : first + frames] = 0
    return banks
