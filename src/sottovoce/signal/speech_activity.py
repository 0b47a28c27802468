"""How much of a recording is speech: frames whose energy stands out.

The rule of Kaldi's ``compute-vad`` with the settings of its x-vector recipes: a frame counts if the
log energy of enough of the frames around it is above a fixed level plus half the mean.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from sottovoce.signal.fbank import SHIFT, WINDOW

INTEGER_SCALE = 32768.0
"""Kaldi's samples are 16-bit integers."""
THRESHOLD, MEAN_SCALE = 5.5, 0.5
CONTEXT, PROPORTION = 2, 0.12
FRAME_SECONDS = SHIFT / 16_000


def active_speech(audio: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Tell which frames of a recording at 16 kHz are speech.

    Parameters
    ----------
    audio : ndarray of float32, shape (n,)
        Samples within ±1.

    Returns
    -------
    ndarray of bool, shape (frames,)
        A frame every 10 ms; none for less than 25 ms.
    """
    frames = max(0, 1 + (len(audio) - WINDOW) // SHIFT)
    if not frames:
        return np.empty(0, np.bool_)
    windows = np.lib.stride_tricks.sliding_window_view(audio, WINDOW)[::SHIFT][:frames]
    centred = (windows - windows.mean(axis=1, keepdims=True)).astype(np.float64) * INTEGER_SCALE
    energies = np.log(np.maximum(np.square(centred).sum(axis=1), np.finfo(np.float32).eps))
    loud = energies > THRESHOLD + MEAN_SCALE * energies.mean()
    width = 2 * CONTEXT + 1
    near = uniform_filter1d(loud.astype(np.float64), width, mode="constant")
    inside = uniform_filter1d(np.ones(frames), width, mode="constant")
    return np.asarray(near >= PROPORTION * inside)


def speech_seconds(audio: NDArray[np.float32]) -> float:
    """Return the seconds of speech in a recording at 16 kHz, without pauses.

    Parameters
    ----------
    audio : ndarray of float32, shape (n,)
        Samples within ±1.
    """
    return float(active_speech(audio).sum()) * FRAME_SECONDS
