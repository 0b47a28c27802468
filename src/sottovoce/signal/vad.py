"""Voice activity detection by loudness relative to the background of the recording.

The detector suits clean and moderately noisy speech of one person close to a microphone. It cannot
tell speech from music or other loud sounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import Audio

WINDOW, SHIFT = 0.025, 0.010
"""Length of an analysis window and distance between windows, in seconds."""
LOUD, QUIET = 95, 10
"""Percentiles of loudness taken as the level of speech and of the background."""
THRESHOLD = 0.35
"""Position of the threshold between background (0) and speech (1), in dB."""
RANGE = 40.0
"""Frames that are this many dB below the speech level never count as speech."""
MINIMUM_CONTRAST = 12.0
"""Below this difference of speech and background in dB all frames count as speech."""
HANGOVER = 0.10
"""Seconds added before and after loud frames: soft consonants begin and end words."""


def speech_frames(audio: Audio, rate: int) -> NDArray[np.bool_]:
    """Decide every 10 ms whether there is speech.

    Parameters
    ----------
    audio : ndarray of float32, shape (n,)
        One channel.
    rate : int
        Sample rate in Hz.

    Returns
    -------
    ndarray of bool, shape (frames,)
        At least one frame.
    """
    width, shift = int(WINDOW * rate), int(SHIFT * rate)
    count = max(1, 1 + (len(audio) - width) // shift)
    power = np.concatenate([[0.0], np.cumsum(np.square(audio, dtype=np.float64))])
    starts = shift * np.arange(count)
    energy = power[np.minimum(starts + width, len(audio))] - power[starts]
    decibels = 10 * np.log10(np.maximum(energy, 1e-12))
    quiet, loud = np.percentile(decibels, [QUIET, LOUD])
    if loud - quiet < MINIMUM_CONTRAST:
        return np.ones(count, bool)
    threshold = max(quiet + THRESHOLD * (loud - quiet), loud - RANGE)
    return _widened(decibels > threshold, round(HANGOVER / SHIFT))


def without_pauses(audio: Audio, rate: int) -> Audio:
    """Cut out the pauses of a recording.

    Parameters
    ----------
    audio : ndarray of float32, shape (n,)
        One channel.
    rate : int
        Sample rate in Hz.

    Returns
    -------
    ndarray of float32, shape (m,)
        The samples of all frames with speech, joined.
    """
    shift = int(SHIFT * rate)
    speech = np.repeat(speech_frames(audio, rate), shift)
    speech = np.concatenate([speech, np.full(max(0, len(audio) - len(speech)), speech[-1])])
    return audio[speech[: len(audio)]]


def _widened(speech: NDArray[np.bool_], margin: int) -> NDArray[np.bool_]:
    """Extend every run of speech by ``margin`` frames on both sides."""
    near = np.convolve(speech, np.ones(2 * margin + 1), "full")[margin : margin + len(speech)]
    return near > 0.5
