"""Preparation of a recording for a network: sample rate, loudness, and pauses left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.types import Audio

LOUDNESS = 0.05
"""Root mean square of prepared audio; quiet recordings stay above the floor of log features."""
SHORTEST = 0.1
"""Shortest accepted recording in seconds."""


def prepared(audio: Audio, rate: int, target_rate: int) -> Audio:
    """Resample a recording and scale it to the root mean square :data:`LOUDNESS`.

    Parameters
    ----------
    audio : ndarray of float32, shape (n,)
        One channel.
    rate : int
        Its sample rate in Hz.
    target_rate : int
        Sample rate of the result in Hz.

    Returns
    -------
    ndarray of float32, shape (m,)
        The prepared recording.

    Raises
    ------
    InputError
        If the audio has several channels (``wrong-shape``), samples that are not finite
        (``not-finite``), or is silent (``silent``).
    TooFewError
        If it is shorter than :data:`SHORTEST`.
    """
    audio = np.asarray(audio, np.float32)
    if audio.ndim != 1:
        raise InputError(
            f"audio of shape {audio.shape}: must be one channel; mix the channels down",
            code="wrong-shape",
        )
    if not np.isfinite(audio).all():
        raise InputError("audio must have finite samples; write it again", code="not-finite")
    if len(audio) < SHORTEST * rate:
        raise TooFewError(
            f"{len(audio) / rate:.3f} s of audio; a voice needs at least {SHORTEST} s"
        )
    if rate != target_rate:
        import soxr

        audio = np.asarray(soxr.resample(audio, rate, target_rate), np.float32)
    level = root_mean_square(audio)
    if level < 1e-7:
        raise InputError("silence; there is no voice in it: leave the recording out", code="silent")
    return audio * np.float32(LOUDNESS / level)


def root_mean_square(audio: NDArray[np.floating]) -> float:
    """Compute the root mean square, summed in double precision.

    Parameters
    ----------
    audio : ndarray, shape (n,)
        Samples.
    """
    return float(np.sqrt(np.mean(np.square(audio, dtype=np.float64))))


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
