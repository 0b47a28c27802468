"""Kaldi's log-mel filter banks, the input of most speaker encoders.

The definition is Kaldi's ``compute-fbank-feats`` with these settings: 25 ms windows every 10 ms,
cut off at the end (snip edges), mean of each window removed, pre-emphasis 0.97, Povey's window,
power spectrum, triangles equally spaced in mel from 20 Hz to half the rate, natural log. No dither.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import rfft
from scipy.sparse import csr_array

RATE = 16_000
WINDOW, SHIFT, FFT = 400, 160, 512
FLOOR = np.finfo(np.float32).eps


def fbank(audio: NDArray[np.float32], bins: int = 80) -> NDArray[np.float32]:
    """Log-mel energies (frames × bins) of audio at 16 kHz with samples in −1 … 1."""
    frames = max(0, 1 + (len(audio) - WINDOW) // SHIFT)
    if not frames:
        return np.empty((0, bins), np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(audio, WINDOW)[::SHIFT][:frames]
    shaped = np.subtract(windows, windows.mean(axis=1, keepdims=True))
    first = shaped[:, 0].copy()
    shaped[:, 1:] -= 0.97 * shaped[:, :-1]
    shaped[:, 0] -= 0.97 * first
    shaped *= povey_window()
    spectrum = rfft(shaped, FFT, overwrite_x=True)[:, :-1]
    power = np.square(spectrum.real)
    power += np.square(spectrum.imag)
    # a sparse product: a dense one would start threads that get into the way of other recordings
    energies = (sparse_triangles(bins) @ power.T).T
    return np.asarray(np.log(np.maximum(energies, FLOOR)), np.float32)


@cache
def povey_window() -> NDArray[np.float32]:
    """A Hann window to the power 0.85."""
    return (np.hanning(WINDOW) ** 0.85).astype(np.float32)


@cache
def mel_triangles(bins: int, low: float = 20.0) -> NDArray[np.float32]:
    """Weights of each triangle (bins × frequencies below half the rate)."""
    edges = np.linspace(_mel(low), _mel(RATE / 2), bins + 2)
    mels = _mel(np.arange(FFT // 2) * RATE / FFT)
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    up, down = (mels - left) / (centre - left), (right - mels) / (right - centre)
    return np.maximum(0.0, np.minimum(up, down)).astype(np.float32)


@cache
def sparse_triangles(bins: int) -> csr_array:
    """The triangles, most of whose weights are zero."""
    return csr_array(mel_triangles(bins))


def _mel(hertz: NDArray[np.float64] | float) -> NDArray[np.float64]:
    return np.asarray(1127.0 * np.log1p(np.asarray(hertz) / 700.0))
