"""Audio as networks want it: one channel, one rate, one loudness."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.types import Audio

LOUDNESS = 0.05
"""Root mean square to which recordings are brought, so that quiet ones do not meet a floor."""
SHORTEST = 0.1
"""Seconds of audio below which there is neither a voice nor a word."""


def prepared(audio: Audio, rate: int, target_rate: int) -> Audio:
    """Bring a recording to another rate and to :data:`LOUDNESS`; silence is refused."""
    audio = np.asarray(audio, np.float32)
    if audio.ndim != 1 or not np.isfinite(audio).all():
        raise InputError("audio must be one channel of finite samples; mix down or repair it")
    if len(audio) < SHORTEST * rate:
        raise TooFewError(
            f"{len(audio) / rate:.3f} s of audio; a voice needs at least {SHORTEST} s"
        )
    if rate != target_rate:
        import soxr

        audio = np.asarray(soxr.resample(audio, rate, target_rate), np.float32)
    level = root_mean_square(audio)
    if level < 1e-7:
        raise InputError("silence; there is no voice in it: leave the recording out")
    return audio * np.float32(LOUDNESS / level)


def root_mean_square(audio: NDArray[np.floating]) -> float:
    """The level of audio, summed in double precision."""
    return float(np.sqrt(np.mean(np.square(audio, dtype=np.float64))))
