"""Where there is speech: by loudness against the recording's own background.

A simple detector, good for clean and moderately noisy speech of one person close to a microphone.
It does not know speech from music or from other loud sounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import Audio

WINDOW, SHIFT = 0.025, 0.010
"""Seconds over which loudness is taken, and from one such value to the next."""
LOUD, QUIET = 95, 10
"""Percentiles of loudness that stand for speech and for the background."""
PLACE = 0.35
"""How far from background to speech, in dB, the threshold lies."""
RANGE = 40.0
"""dB below the speech at which nothing counts as speech any more."""
LEAST = 12.0
"""dB between speech and background below which they cannot be told apart: all is kept."""
HANG = 0.10
"""Seconds kept before and after what is loud: soft consonants begin and end words."""


def speech_frames(audio: Audio, rate: int) -> NDArray[np.bool_]:
    """Whether there is speech, every 10 ms."""
    width, shift = int(WINDOW * rate), int(SHIFT * rate)
    count = max(1, 1 + (len(audio) - width) // shift)
    power = np.concatenate([[0.0], np.cumsum(np.square(audio, dtype=np.float64))])
    starts = shift * np.arange(count)
    energy = power[np.minimum(starts + width, len(audio))] - power[starts]
    decibels = 10 * np.log10(np.maximum(energy, 1e-12))
    quiet, loud = np.percentile(decibels, [QUIET, LOUD])
    if loud - quiet < LEAST:
        return np.ones(count, bool)
    threshold = max(quiet + PLACE * (loud - quiet), loud - RANGE)
    return _widened(decibels > threshold, round(HANG / SHIFT))


def without_pauses(audio: Audio, rate: int) -> Audio:
    """The speech of a recording, put together without what lies between."""
    shift = int(SHIFT * rate)
    kept = np.repeat(speech_frames(audio, rate), shift)
    kept = np.concatenate([kept, np.full(max(0, len(audio) - len(kept)), kept[-1])])
    return audio[kept[: len(audio)]]


def _widened(speech: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """True also ``by`` frames before and after each true one."""
    near = np.convolve(speech, np.ones(2 * by + 1), "full")[by : by + len(speech)]
    return near > 0.5
