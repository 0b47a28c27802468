"""What every voice anonymiser does before and after its own work.

A recording is checked, its mean removed, brought to 16 kHz and full scale, cut into pieces where it
is long, changed, and brought back to its own rate, length and loudness. So a method sees 16 kHz
samples of one level and need not care for the rest. What lies above 8 kHz is not anonymised but
dropped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import soxr

from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.types import Audio, FloatArray

Change = Callable[[FloatArray], FloatArray]
"""The work of a method: samples at the working rate to as many samples."""

RATE = 16_000
SHORTEST = 1_600
"""Samples at the working rate to which shorter recordings are padded with silence."""
LONGEST = 60 * RATE
"""Samples changed at once; a longer recording is cut where it is quietest, to bound memory."""
SEARCH = 10 * RATE
"""Samples before the longest piece's end in which the quietest place is looked for."""
JOIN = RATE // 50
"""Samples over which two pieces are faded into each other."""
SILENCE = 2.0**-16
"""A peak below it, half a step of 16 bits, is silence and stays silence."""
KNEE = 0.7
CEILING = 0.999
"""Above the knee loud peaks bend towards the ceiling, if loudness could not be kept otherwise."""


def condition(change: Change, audio: Audio, rate: int) -> Audio:
    """Apply ``change`` to a recording of any rate, length and level."""
    samples = _checked(audio, rate)
    if not len(samples):
        return np.zeros(0, np.float32)
    samples = samples - samples.mean()
    peak = float(np.abs(samples).max())
    if peak < SILENCE:
        return np.zeros(len(samples), np.float32)
    work = _resampled(samples / peak, rate, RATE)
    if np.abs(work).max(initial=0.0) < SILENCE:  # all of it lies above what is kept
        return np.zeros(len(samples), np.float32)
    changed = _resampled(_in_pieces(change, work), RATE, rate)
    return match_loudness(_of_length(changed, len(samples)), samples)


def match_loudness(changed: FloatArray, original: FloatArray) -> Audio:
    """Bring ``changed`` to the root mean square of ``original``, without its mean and within ±1.

    Where a peak would exceed 1, loud samples are bent smoothly and the rest is raised, so that
    loudness is kept all the same.
    """
    changed = changed - changed.mean()
    wanted, level = _level(original), _level(changed)
    if not level > 0:
        return np.zeros(len(changed), np.float32)
    scaled = changed * (wanted / level)
    if np.abs(scaled).max() <= CEILING:
        return scaled.astype(np.float32)
    drive = 1.0
    for _ in range(30):
        bent = _bent(scaled * drive)
        error = wanted / _level(bent)
        if abs(error - 1) < 0.01:
            break
        drive = min(drive * error, 1e3)
    return bent.astype(np.float32)


def _bent(samples: FloatArray) -> FloatArray:
    """The samples with all beyond the knee bent smoothly towards the ceiling."""
    size = np.abs(samples)
    room = CEILING - KNEE
    over = KNEE + room * np.tanh((size - KNEE) / room)
    return np.where(size <= KNEE, samples, np.copysign(over, samples))


def _level(samples: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(samples - samples.mean()))))


def _checked(audio: Audio, rate: int) -> FloatArray:
    samples = np.asarray(audio, np.float64)
    if samples.ndim != 1:
        raise InputError(
            f"audio of shape {samples.shape}; give one channel at a time, or mix them down"
        )
    if not np.isfinite(samples).all():
        raise InputError("audio with samples that are not finite; write the recording again")
    if not 4_000 <= rate <= 768_000:
        raise UsageError(f"rate {rate}; use 4,000 to 768,000 Hz, such as 16000")
    return samples


def _resampled(samples: FloatArray, rate: int, to: int) -> FloatArray:
    if rate == to:
        return samples
    return np.asarray(soxr.resample(samples, rate, to, quality="HQ"), np.float64)


def _of_length(samples: FloatArray, length: int) -> FloatArray:
    lacking = length - len(samples)
    return np.pad(samples, (0, lacking)) if lacking > 0 else samples[:length].copy()


def _in_pieces(change: Change, samples: FloatArray) -> FloatArray:
    """Change a recording a piece at a time, each faded into the next at a quiet place."""
    whole = np.zeros(len(samples))
    fade = np.arange(1, JOIN + 1) / (JOIN + 1)
    begin = 0
    while True:
        end = _end(samples, begin)
        piece = samples[begin:end]
        changed = _of_length(change(_of_length(piece, max(len(piece), SHORTEST))), len(piece))
        if begin:
            changed[:JOIN] *= fade
        if end < len(samples):
            changed[-JOIN:] *= fade[::-1]
        whole[begin:end] += changed
        if end == len(samples):
            return whole
        begin = end - JOIN


def _end(samples: FloatArray, begin: int) -> int:
    """Where the piece that begins there ends: at the end, or after the quietest stretch."""
    if len(samples) - begin <= LONGEST:
        return len(samples)
    last = begin + LONGEST
    energy = np.square(samples[last - SEARCH : last]).reshape(-1, JOIN).sum(axis=1)
    return last - SEARCH + (int(energy.argmin()) + 1) * JOIN
