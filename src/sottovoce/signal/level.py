"""Preparation of a recording for a network: one channel, one sample rate, one loudness."""

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
