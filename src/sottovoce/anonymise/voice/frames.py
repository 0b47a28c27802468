"""Features of an utterance for the neural anonymisers: content, F0, energy and envelope.

All features share one time grid. A content frame (24 ms) holds three WORLD frames of 8 ms; audio is
padded so that content frame ``t`` belongs to WORLD frames 3t, 3t + 1 and 3t + 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyworld
from scipy.ndimage import uniform_filter1d

from sottovoce.asr.content import HOP, REACH, ContentEncoder
from sottovoce.core.types import Audio, Features, FloatArray, IntArray, RealArray

RATE = 16_000
"""Sample rate in Hz."""
SPLIT = 3
"""WORLD frames in a content frame."""
STEP = HOP // SPLIT
"""Distance of WORLD frames in samples."""
PERIOD = 1000 * STEP / RATE
"""Distance of WORLD frames in milliseconds."""
ENVELOPE = 40
"""Coefficients of a coded spectral envelope."""
LEAD = REACH // 2 - STEP + 1
"""Silent samples before the audio, so that the first content frame is centred on WORLD frame 1."""
ENERGY_WINDOW = 400
"""Samples over which energy is averaged."""
ENERGY_FLOOR = 1e-8
"""Added to energies before the logarithm."""
FIT_SECONDS = 60.0
"""Seconds of speech from which the voice and pitch of a speaker are learnt."""
POWER_FLOOR = 1e-10
"""Smallest power of an envelope before it is coded."""
UNVOICED_F0 = 120.0
"""F0 in Hz of an utterance without voiced frames."""


@dataclass(frozen=True, slots=True, eq=False)
class Prosody:
    """F0 and energy of WORLD frames."""

    f0: FloatArray
    """In Hz, 0 where unvoiced."""
    energy: Features
    """Natural logarithm of the mean square, minus that of the whole utterance."""

    def __len__(self) -> int:
        return len(self.f0)


def frame_counts(samples: int) -> tuple[int, int]:
    """Return how many frames a recording at 16 kHz has.

    Parameters
    ----------
    samples : int
        Length of the recording.

    Returns
    -------
    world_frames : int
        Number of WORLD frames (8 ms).
    content_frames : int
        Number of content frames (24 ms) that hold them all.
    """
    world_frames = samples // STEP + 1
    return world_frames, -(-world_frames // SPLIT)


def content_of(audio: Audio, encoder: ContentEncoder) -> Features:
    """Compute content features, each dimension normalised over the utterance.

    Instance normalisation (mean 0 and variance 1 over the utterance) removes much of what is
    constant: the speaker and the channel.

    Parameters
    ----------
    audio : ndarray of float32, shape (n,)
        Recording at 16 kHz.
    encoder : ContentEncoder
        Encoder of a speech recogniser.

    Returns
    -------
    ndarray of float32, shape (content frames, 288)
        The normalised features.
    """
    _, count = frame_counts(len(audio))
    length = (count - 1) * HOP + REACH
    padded = np.pad(audio, (LEAD, max(0, length - LEAD - len(audio))))
    features = encoder.features(padded, RATE)[:count]
    return np.asarray((features - features.mean(0)) / (features.std(0) + 1e-3), np.float32)


def energy_of(audio: RealArray) -> Features:
    """Compute the log energy around each WORLD frame, minus that of the whole recording.

    Parameters
    ----------
    audio : ndarray, shape (n,)
        Recording at 16 kHz.

    Returns
    -------
    ndarray of float32, shape (WORLD frames,)
        Natural logarithms.
    """
    count, _ = frame_counts(len(audio))
    power = np.square(audio, dtype=np.float64)
    local = uniform_filter1d(power, ENERGY_WINDOW, mode="constant")
    centres = np.minimum(np.arange(count) * STEP, len(audio) - 1)
    level = np.log(power.mean() + ENERGY_FLOOR)
    return np.asarray(np.log(local[centres] + ENERGY_FLOOR) - level, np.float32)


def with_energy_floor(energy: Features, decibels: float) -> Features:
    """Raise quiet frames to a common level, so that pauses do not tell the noise of a room.

    Parameters
    ----------
    energy : ndarray of float32, shape (WORLD frames,)
        Result of :func:`energy_of`.
    decibels : float
        The level, as distance below that of the whole recording.

    Returns
    -------
    ndarray of float32, shape (WORLD frames,)
        Natural logarithms.
    """
    return np.maximum(energy, np.float32(-decibels * np.log(10) / 10))


def prosody_table(prosody: Prosody) -> Features:
    """Arrange prosody as input of the networks.

    Parameters
    ----------
    prosody : Prosody
        F0 and energy of WORLD frames.

    Returns
    -------
    ndarray of float32, shape (content frames, 9)
        Log F0 (interpolated where unvoiced), voicing and energy of three WORLD frames per row.
    """
    voiced = prosody.f0 > 0
    columns = (_interpolated_log_f0(prosody.f0), voiced, prosody.energy)
    return stacked(np.column_stack(columns).astype(np.float32))


def _interpolated_log_f0(f0: FloatArray) -> FloatArray:
    voiced = np.flatnonzero(f0 > 0)
    if not len(voiced):
        return np.full(len(f0), np.log(UNVOICED_F0))
    return np.interp(np.arange(len(f0)), voiced, np.log(f0[voiced]))


def stacked(table: Features) -> Features:
    """Put three WORLD frames into each row; the last frame is repeated to fill the last row.

    Parameters
    ----------
    table : ndarray of float32, shape (WORLD frames, d)
        One row per WORLD frame.

    Returns
    -------
    ndarray of float32, shape (content frames, 3 d)
        One row per content frame.
    """
    return table[_padded_rows(len(table))].reshape(-1, SPLIT * table.shape[1])


def _padded_rows(count: int) -> IntArray:
    rows = -(-count // SPLIT) * SPLIT
    return np.minimum(np.arange(rows), count - 1)


def coded_frames(envelope: FloatArray, aperiodicity: FloatArray) -> Features:
    """Code the envelope and aperiodicity of WORLD frames without the level of the utterance.

    Parameters
    ----------
    envelope : ndarray of float64, shape (frames, 513)
        Power spectra.
    aperiodicity : ndarray of float64, shape (frames, 513)
        Share of noise.

    Returns
    -------
    ndarray of float32, shape (frames, 41)
        40 coefficients of the envelope and one of the aperiodicity.
    """
    coded = pyworld.code_spectral_envelope(np.maximum(envelope, POWER_FLOOR), RATE, ENVELOPE)
    band = pyworld.code_aperiodicity(aperiodicity, RATE)
    loud = coded[:, 0] >= np.median(coded[:, 0])  # the level is that of speech, not of pauses
    coded[:, 0] -= coded[loud, 0].mean()
    return np.column_stack((coded, band)).astype(np.float32)
