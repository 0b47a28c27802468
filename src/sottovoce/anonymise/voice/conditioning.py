"""Steps that all voice anonymisers share: input to ``fit``, and before and after ``transform``.

:func:`condition` checks a recording, removes its mean, resamples it to 16 kHz, scales it to full
scale, splits it if it is long, lets the method change it, and restores rate, length and loudness.
So a method works on samples at 16 kHz of one level. Frequencies above 8 kHz are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import soxr

from sottovoce.core.errors import InputError, SottovoceError, UsageError
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Utterance

Change = Callable[[FloatArray], FloatArray]
"""The work of a method: samples at 16 kHz in, as many samples out."""

RATE = 16_000
"""Working sample rate in Hz."""
SHORTEST = 1_600
"""Shorter recordings are padded with silence to this many samples at the working rate."""
LONGEST = 60 * RATE
"""Samples changed at once; a longer recording is split at quiet places to bound memory."""
SEARCH = 10 * RATE
"""Samples before the end of the longest piece in which the quietest place is searched."""
CROSSFADE = RATE // 50
"""Samples over which two pieces are cross-faded."""
SILENCE = 2.0**-16
"""A recording whose peak is below half a step of 16 bits is silent and stays silent."""
KNEE = 0.7
CEILING = 0.999
"""Peaks above the knee are compressed towards the ceiling if loudness needs peaks above 1."""


def first_recordings(utterances: Iterable[Utterance], seconds: float) -> Iterator[Audio]:
    """Read recordings of a speaker at 16 kHz until there is enough audio to learn from.

    Recordings that cannot be read are skipped: ``transform`` reports them.

    Parameters
    ----------
    utterances : iterable of Utterance
        Utterances of one speaker.
    seconds : float
        Reading stops after the recording with which this duration is reached.

    Yields
    ------
    ndarray of float32, shape (n,)
        The next recording.
    """
    missing = int(seconds * RATE)
    for utterance in utterances:
        if missing <= 0:
            return
        try:
            audio = load_audio(utterance, RATE)
        except SottovoceError:
            continue
        missing -= len(audio)
        yield audio


def condition(change: Change, audio: Audio, rate: int) -> Audio:
    """Apply a change of voice to a recording of any rate, length and level.

    Parameters
    ----------
    change : callable
        Takes samples at 16 kHz with a peak of 1 and returns as many changed samples. Called for
        pieces of at most one minute.
    audio : ndarray of float32, shape (n,)
        One channel.
    rate : int
        Sample rate in Hz, 4,000 to 768,000.

    Returns
    -------
    ndarray of float32, shape (n,)
        The changed recording: same rate, length and loudness, within ±1. Silence stays silence.

    Raises
    ------
    InputError
        If the audio has several channels (``wrong-shape``) or samples that are not finite
        (``not-finite``).
    UsageError
        If the rate is out of range.
    """
    samples = _checked(audio, rate)
    if not len(samples):
        return np.zeros(0, np.float32)
    samples = samples - samples.mean()
    peak = float(np.abs(samples).max())
    if peak < SILENCE:
        return np.zeros(len(samples), np.float32)
    resampled = _resampled(samples / peak, rate, RATE)
    if np.abs(resampled).max(initial=0.0) < SILENCE:  # all energy is above 8 kHz
        return np.zeros(len(samples), np.float32)
    changed = _resampled(_in_pieces(change, resampled), RATE, rate)
    return match_loudness(with_length(changed, len(samples)), samples)


def match_loudness(changed: FloatArray, original: FloatArray) -> Audio:
    """Scale a signal to the root mean square of another one, without its mean and within ±1.

    If a peak would exceed 1, loud samples are compressed smoothly and the others are raised until
    the loudness is right.

    Parameters
    ----------
    changed : ndarray of float64, shape (n,)
        The signal to scale.
    original : ndarray of float64, shape (m,)
        The signal whose loudness is kept.

    Returns
    -------
    ndarray of float32, shape (n,)
        The scaled signal.
    """
    changed = changed - changed.mean()
    goal, level = _level(original), _level(changed)
    if not level > 0:
        return np.zeros(len(changed), np.float32)
    scaled = changed * (goal / level)
    if np.abs(scaled).max() <= CEILING:
        return scaled.astype(np.float32)
    drive = 1.0
    for _ in range(30):
        compressed = _compressed(scaled * drive)
        error = goal / _level(compressed)
        if abs(error - 1) < 0.01:
            break
        drive = min(drive * error, 1e3)
    return compressed.astype(np.float32)


def _compressed(samples: FloatArray) -> FloatArray:
    """Compress all samples beyond the knee smoothly towards the ceiling."""
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
            f"audio of shape {samples.shape}; give one channel at a time, or mix them down",
            code="wrong-shape",
        )
    if not np.isfinite(samples).all():
        raise InputError(
            "audio with samples that are not finite; write the recording again", code="not-finite"
        )
    if not 4_000 <= rate <= 768_000:
        raise UsageError(
            f"rate {rate}; use 4,000 to 768,000 Hz, such as 16000", code="out-of-range"
        )
    return samples


def _resampled(samples: FloatArray, rate: int, target_rate: int) -> FloatArray:
    if rate == target_rate:
        return samples
    return np.asarray(soxr.resample(samples, rate, target_rate, quality="HQ"), np.float64)


def with_length(samples: FloatArray, length: int) -> FloatArray:
    """Cut a signal, or pad it with silence, to a length.

    Parameters
    ----------
    samples : ndarray of float64, shape (n,)
        The signal.
    length : int
        Number of samples of the copy that is returned.
    """
    return np.pad(samples, (0, max(0, length - len(samples))))[:length].copy()


def _in_pieces(change: Change, samples: FloatArray) -> FloatArray:
    """Change a recording piece by piece; neighbouring pieces are cross-faded at quiet places."""
    output = np.zeros(len(samples))
    fade = np.arange(1, CROSSFADE + 1) / (CROSSFADE + 1)
    begin = 0
    while True:
        end = _piece_end(samples, begin)
        piece = samples[begin:end]
        padded = with_length(piece, max(len(piece), SHORTEST))
        changed = with_length(change(padded), len(piece))
        if begin:
            changed[:CROSSFADE] *= fade
        if end < len(samples):
            changed[-CROSSFADE:] *= fade[::-1]
        output[begin:end] += changed
        if end == len(samples):
            return output
        begin = end - CROSSFADE


def _piece_end(samples: FloatArray, begin: int) -> int:
    """Return where a piece ends: at the end of the recording or after the quietest stretch."""
    if len(samples) - begin <= LONGEST:
        return len(samples)
    last = begin + LONGEST
    energy = np.square(samples[last - SEARCH : last]).reshape(-1, CROSSFADE).sum(axis=1)
    return last - SEARCH + (int(energy.argmin()) + 1) * CROSSFADE
