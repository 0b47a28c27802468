"""An utterance taken apart for the neural anonymisers: content, pitch, energy, envelope.

All parts share one clock. A content frame (24 ms) holds three WORLD frames of 8 ms; audio is padded
so that content frame ``t`` is about WORLD frames 3t, 3t + 1 and 3t + 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyworld
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from sottovoce.asr.content import HOP, REACH, ContentEncoder
from sottovoce.core.errors import SottovoceError
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Utterance

RATE = 16_000
SPLIT = 3
"""WORLD frames in a content frame."""
STEP = HOP // SPLIT
"""Samples from one WORLD frame to the next."""
PERIOD = 1000 * STEP / RATE
"""The same in milliseconds."""
ENVELOPE = 40
"""Numbers that code a spectral envelope."""
LEAD = REACH // 2 - STEP + 1
"""Silent samples put in front, so that the first content frame is centred on WORLD frame 1."""
ENERGY_WINDOW = 400
"""Samples over which energy is taken."""
ENERGY_FLOOR = 1e-8
ENOUGH = 60
"""Seconds of a speaker from which voice and pitch are learnt."""
POWER_FLOOR = 1e-10
"""Power below which an envelope is not coded."""


def first_minute(utterances: Iterable[Utterance]) -> Iterator[Audio]:
    """Recordings of a speaker until there is a minute; what cannot be read is passed over."""
    left = ENOUGH * RATE
    for one in utterances:
        if left <= 0:
            return
        try:
            audio = load_audio(one, RATE)
        except SottovoceError:
            continue
        left -= len(audio)
        yield audio


@dataclass(frozen=True, slots=True, eq=False)
class Prosody:
    """How something is said, for WORLD frames."""

    f0: FloatArray
    """Hz, 0 where unvoiced."""
    energy: NDArray[np.float32]
    """Natural log of the mean square, less that of the whole utterance."""

    def __len__(self) -> int:
        return len(self.f0)


def frame_counts(samples: int) -> tuple[int, int]:
    """WORLD frames of so many samples at 16 kHz, and content frames that hold them all."""
    fine = samples // STEP + 1
    return fine, -(-fine // SPLIT)


def content_of(audio: Audio, encoder: ContentEncoder) -> NDArray[np.float32]:
    """Content features (content frames × 288), each dimension brought to mean 0 and variance 1.

    Taking the utterance's own mean and variance away (instance normalisation) leaves out much of
    what is constant over it: the speaker and the channel.
    """
    _, coarse = frame_counts(len(audio))
    needed = (coarse - 1) * HOP + REACH
    padded = np.pad(audio, (LEAD, max(0, needed - LEAD - len(audio))))
    found = encoder.features(padded, RATE)[:coarse]
    return np.asarray((found - found.mean(0)) / (found.std(0) + 1e-3), np.float32)


def energy_of(audio: NDArray[np.floating]) -> NDArray[np.float32]:
    """Log energy about each WORLD frame, less that of the whole."""
    fine, _ = frame_counts(len(audio))
    power = np.square(audio, dtype=np.float64)
    local = uniform_filter1d(power, ENERGY_WINDOW, mode="constant")
    at = np.minimum(np.arange(fine) * STEP, len(audio) - 1)
    level = np.log(power.mean() + ENERGY_FLOOR)
    return np.asarray(np.log(local[at] + ENERGY_FLOOR) - level, np.float32)


def prosody_table(prosody: Prosody) -> NDArray[np.float32]:
    """Columns for the networks: log F0 (filled where unvoiced), voicing, energy.

    Three WORLD frames a row; the last one is repeated until the row is full.
    """
    voiced = prosody.f0 > 0
    table = np.stack(
        [filled_log_f0(prosody.f0), voiced.astype(np.float32), prosody.energy], axis=1
    ).astype(np.float32)
    return table[_whole(len(table))].reshape(-1, SPLIT * 3)


def filled_log_f0(f0: FloatArray) -> FloatArray:
    """Log F0 with straight lines where it is unvoiced; that of 120 Hz where nothing is voiced."""
    voiced = np.flatnonzero(f0 > 0)
    if not len(voiced):
        return np.full(len(f0), np.log(120.0))
    return np.interp(np.arange(len(f0)), voiced, np.log(f0[voiced]))


def _whole(count: int) -> NDArray[np.int64]:
    rows = -(-count // SPLIT) * SPLIT
    return np.minimum(np.arange(rows), count - 1)


def stacked(fine: NDArray[np.float32]) -> NDArray[np.float32]:
    """A table of WORLD frames with three a row."""
    return fine[_whole(len(fine))].reshape(-1, SPLIT * fine.shape[1])


def coded_frames(envelope: FloatArray, aperiodicity: FloatArray) -> NDArray[np.float32]:
    """Coded envelope and aperiodicity of WORLD frames; the utterance's level is taken away."""
    coded = pyworld.code_spectral_envelope(np.maximum(envelope, POWER_FLOOR), RATE, ENVELOPE)
    band = pyworld.code_aperiodicity(aperiodicity, RATE)
    loud = coded[:, 0] >= np.median(coded[:, 0])  # pauses do not count
    coded[:, 0] -= coded[loud, 0].mean()
    return np.column_stack((coded, band)).astype(np.float32)
