"""Kaldi's log-mel filter banks, the input of most speaker encoders.

Equal to Kaldi's ``compute-fbank-feats`` with these settings: windows of 25 ms every 10 ms, no
window beyond the last sample (snip edges), mean of each window removed, pre-emphasis 0.97, Povey
window, power spectrum, triangular filters equally spaced in mel from 20 Hz to half the sample
rate, natural logarithm, no dither.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy
from numpy.typing import NDArray

RATE = 16_000
"""Sample rate in Hz."""
WINDOW, SHIFT, FFT = 400, 160, 512
"""Length of a window, distance between windows and size of the Fourier transform, in samples."""
FLOOR = np.finfo(np.float32).eps
"""Smallest energy before the logarithm."""
_PREEMPHASIS = 0.97


def fbank(audio: NDArray[np.float32], bins: int = 80) -> NDArray[np.float32]:
    """Compute the log-mel energies of a recording at 16 kHz.

    Parameters
    ----------
    audio : ndarray of float32, shape (n,)
        Samples within ±1.
    bins : int, default 80
        Number of mel filters.

    Returns
    -------
    ndarray of float32, shape (frames, bins)
        Natural logarithm of the energies; no frame for less than 25 ms.
    """
    frames = max(0, 1 + (len(audio) - WINDOW) // SHIFT)
    if not frames:
        return np.empty((0, bins), np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(audio, WINDOW)[::SHIFT][:frames]
    shaped = np.subtract(windows, windows.mean(axis=1, keepdims=True))
    first = shaped[:, 0].copy()
    shaped[:, 1:] -= _PREEMPHASIS * shaped[:, :-1]
    shaped[:, 0] -= _PREEMPHASIS * first
    shaped *= _povey_window()
    spectrum = scipy.fft.rfft(shaped, FFT, overwrite_x=True)[:, :-1]
    power = np.square(spectrum.real)
    power += np.square(spectrum.imag)
    # A sparse product: a dense one would start threads that slow down parallel recordings.
    energies = (_sparse_triangles(bins) @ power.T).T
    return np.asarray(np.log(np.maximum(energies, FLOOR)), np.float32)


@cache
def _povey_window() -> NDArray[np.float32]:
    """Hann window to the power 0.85."""
    return (np.hanning(WINDOW) ** 0.85).astype(np.float32)


@cache
def mel_triangles(bins: int, low: float = 20.0) -> NDArray[np.float32]:
    """Return the weights of triangular filters equally spaced in mel.

    Parameters
    ----------
    bins : int
        Number of filters.
    low : float, default 20.0
        Lower edge of the first filter in Hz.

    Returns
    -------
    ndarray of float32, shape (bins, 256)
        One row per filter over the frequencies below half the sample rate.
    """
    edges = np.linspace(_mel(low), _mel(RATE / 2), bins + 2)
    mels = _mel(np.arange(FFT // 2) * RATE / FFT)
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (mels - left) / (centre - left), (right - mels) / (right - centre)
    return np.maximum(0.0, np.minimum(rising, falling)).astype(np.float32)


@cache
def _sparse_triangles(bins: int) -> scipy.sparse.csr_array:
    """The filters as a sparse matrix: most weights are zero."""
    return scipy.sparse.csr_array(mel_triangles(bins))


def _mel(hertz: NDArray[np.float64] | float) -> NDArray[np.float64]:
    return np.asarray(1127.0 * np.log1p(np.asarray(hertz) / 700.0))
