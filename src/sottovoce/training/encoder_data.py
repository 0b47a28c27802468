"""Training data of a speaker encoder: settings, augmented crops of recordings.

Recordings are augmented (speed, noise, echo, masked features), so that the encoder learns the voice
and not the room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft
from scipy.signal import fftconvolve

from sottovoce.core.errors import UsageError
from sottovoce.core.records import Record
from sottovoce.core.types import Audio, Features, IntArray
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import features, prepare

CACHE = 1 << 30
"""Bytes of decoded audio that are kept in memory; other recordings are decoded when drawn."""
SPEEDS = (1.0, 0.9, 1.1)
"""Other speeds change pitch and vocal tract: a speaker at another speed is another class."""
SNR = (5.0, 25.0)
"""Range of the level of speech above added noise, in dB."""
ECHO = (0.1, 0.5)
"""Range of the time in which an echo falls by 60 dB, in seconds."""
AUGMENTED_SHARE = 0.4
"""Probability of noise, and of an echo."""


@dataclass(frozen=True, slots=True)
class TrainingSettings(Record):
    """Settings of a training run; together with the corpus they determine its result."""

    network: str = "ecapa"
    """``ecapa`` or ``xvector``."""
    width: int = 128
    """Channels of the network, a multiple of 4."""
    dimension: int = 192
    """Values in an embedding."""
    steps: int = 2000
    batch: int = 32
    """Crops per step."""
    seconds: float = 3.0
    """Length of a crop."""
    learning_rate: float = 2e-3
    """The highest one."""
    held_out: float = 0.15
    """Share of the speakers that are held out."""
    seed: int = 0

    def __post_init__(self) -> None:
        limits = {"width": 16, "dimension": 8, "steps": 1, "batch": 2, "seconds": 0.5}
        for name, least in limits.items():
            if getattr(self, name) < least:
                raise UsageError(
                    f"{name} {getattr(self, name)}: must be at least {least}", code="out-of-range"
                )
        if self.network not in ("ecapa", "xvector"):
            raise UsageError(
                f"network {self.network!r}: must be ecapa or xvector", code="unknown-name"
            )
        if self.width % 4:
            raise UsageError(f"width {self.width}: must be a multiple of 4", code="out-of-range")
        if not 0 < self.held_out < 1:
            raise UsageError(
                f"held-out share {self.held_out:g}: must be between 0 and 1", code="out-of-range"
            )


class CropSettings(Protocol):
    """What a batch of crops depends on besides the recordings."""

    @property
    def batch(self) -> int:
        """Crops per batch."""

    @property
    def seconds(self) -> float:
        """Length of a crop."""

    @property
    def seed(self) -> int:
        """Seed of all draws."""


class CropSampler:
    """Draws batches of random crops; a batch depends on the seed and the step only.

    Parameters
    ----------
    corpora : sequence of Corpus
        Recordings of the training speakers. Several corpora may hold the same speakers and
        utterances in different forms, such as anonymised with different draws: they are all crops
        of the same speaker.
    settings : CropSettings
        Size of a batch, length of a crop, and the seed.
    """

    def __init__(self, corpora: Sequence[Corpus], settings: CropSettings) -> None:
        self.settings = settings
        groups: dict[str, list[Utterance]] = {}
        for corpus in corpora:
            for speaker, utterances in corpus.by_speaker().items():
                groups.setdefault(speaker, []).extend(utterances)
        self.by_speaker = [groups[speaker] for speaker in sorted(groups)]
        self.classes = len(self.by_speaker) * len(SPEEDS)
        self._cache: dict[Utterance, NDArray[np.int16]] = {}
        self._free_bytes = CACHE

    def draw(self, step: int) -> tuple[Features, IntArray]:
        """Draw a batch; speakers are equally likely, however many recordings they have.

        Parameters
        ----------
        step : int
            Number of the step.

        Returns
        -------
        banks : array of float32, crops × frames × 80
            Filter banks.
        classes : array of int, crops
            Class of each crop: a speaker at a speed.
        """
        rng = np.random.default_rng((self.settings.seed, step))
        speakers = rng.integers(len(self.by_speaker), size=self.settings.batch)
        banks, classes = [], []
        for speaker in speakers:
            utterances = self.by_speaker[speaker]
            speed = int(rng.integers(len(SPEEDS)))
            audio = self._crop(utterances[rng.integers(len(utterances))], SPEEDS[speed], rng)
            banks.append(_masked(features(prepare(_augmented(audio, rng), RATE)), rng))
            classes.append(speaker * len(SPEEDS) + speed)
        return np.stack(banks), np.array(classes, np.int64)

    def _crop(self, utterance: Utterance, speed: float, rng: np.random.Generator) -> Audio:
        audio = self._load(utterance)
        length = int(self.settings.seconds * RATE)
        need = int(length * speed) + RATE // 50  # the resampler leaves at least `length` of it
        audio = np.resize(audio, max(len(audio), need))
        start = int(rng.integers(len(audio) - need + 1))
        return change_speed(audio[start : start + need], speed)[:length]

    def _load(self, utterance: Utterance) -> Audio:
        if utterance not in self._cache:
            audio = load_audio(utterance, RATE)
            if audio.nbytes // 2 > self._free_bytes:
                return audio
            self._cache[utterance] = np.rint(audio * 32767).astype(np.int16)
            self._free_bytes -= audio.nbytes // 2
        return self._cache[utterance].astype(np.float32) / np.float32(32767)


# ==================================================================================== augmentation


def change_speed(audio: Audio, speed: float) -> Audio:
    """Resample speech so that it plays faster or slower, with pitch changed accordingly.

    Parameters
    ----------
    audio : array of float32
        Samples at 16 kHz.
    speed : float
        Factor; above 1 is faster.
    """
    if speed == 1.0:
        return audio
    import soxr

    return np.asarray(soxr.resample(audio, RATE * speed, RATE), np.float32)


def add_noise(audio: Audio, snr: float, slope: float, rng: np.random.Generator) -> Audio:
    """Add noise whose amplitude falls with a power of the frequency.

    Parameters
    ----------
    audio : array of float32
        Samples at 16 kHz.
    snr : float
        Level of the audio above the noise, in dB.
    slope : float
        The power; 0 is white noise, 1 falls by 6 dB per octave.
    rng : numpy.random.Generator
        Draws the noise.
    """
    spectrum = rfft(rng.normal(size=len(audio)))
    noise = irfft(spectrum / np.maximum(np.arange(len(spectrum)), 1) ** slope, len(audio))
    level = np.sqrt(np.mean(audio**2) / max(np.mean(noise**2), 1e-20)) * 10 ** (-snr / 20)
    return np.asarray(audio + level * noise, np.float32)


def add_echo(audio: Audio, seconds: float, rng: np.random.Generator) -> Audio:
    """Convolve with decaying noise, like the echo of a small room.

    Parameters
    ----------
    audio : array of float32
        Samples at 16 kHz.
    seconds : float
        Time in which the echo falls by 60 dB.
    rng : numpy.random.Generator
        Draws the noise and its level.
    """
    t = np.arange(int(seconds * RATE)) / RATE
    response = rng.normal(size=len(t)) * 10 ** (-3 * t / seconds)
    response *= rng.uniform(0.05, 0.5) / np.sqrt(np.sum(response**2))
    response[0] = 1.0
    return np.asarray(fftconvolve(audio, response)[: len(audio)], np.float32)


def _augmented(audio: Audio, rng: np.random.Generator) -> Audio:
    """Add an echo, noise, both or neither."""
    if rng.random() < AUGMENTED_SHARE:
        audio = add_echo(audio, rng.uniform(*ECHO), rng)
    if rng.random() < AUGMENTED_SHARE:
        audio = add_noise(audio, rng.uniform(*SNR), rng.uniform(0, 1), rng)
    return audio


def _masked(banks: Features, rng: np.random.Generator) -> Features:
    """Set a few bands and a few frames to zero (SpecAugment, Park et al. 2019)."""
    banks = banks.copy()
    band, frames = int(rng.integers(0, 9)), int(rng.integers(0, len(banks) // 10 + 1))
    low, first = rng.integers(0, banks.shape[1] - band), rng.integers(0, len(banks) - frames + 1)
    banks[:, low : low + band] = 0
    banks[first : first + frames] = 0
    return banks
