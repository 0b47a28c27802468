"""Voices and sessions of the built-in corpus: what one speaker, and one recording day, is like.

Everything that tells two synthetic speakers apart is drawn here, and everything that makes two
recordings of one speaker differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sottovoce.core.types import FloatArray
from sottovoce.corpus.demo.phones import PHONES

RATE = 16_000
"""Samples a second."""

Gender = Literal["f", "m"]

HOP = 80  # samples between filter frames: 5 ms
FFT = 9 * HOP  # room for 35 ms of ringing behind each frame
BINS = np.arange(FFT // 2 + 1) * (RATE / FFT)  # Hz


@dataclass(frozen=True, slots=True)
class Voice:
    """What stays with a speaker. Lengths and frequencies are factors where no unit is named."""

    gender: Gender
    tract: float  # of all formants: 1 for a vocal tract of 17.5 cm, more for a shorter one
    formants: FloatArray  # of each formant
    bandwidths: FloatArray  # of each formant's bandwidth
    vowels: dict[str, FloatArray]  # of F1 to F3, phone by phone: an accent
    hisses: dict[str, tuple[float, float]]  # of peak and level of the noise, phone by phone
    durations: dict[str, float]  # phone by phone
    pitch: float  # Hz
    accent: float  # semitones of a typical accent
    accent_delay: float  # its peak behind the vowel's start, in vowels
    declination: float  # semitones lost over a phrase
    ending: float  # semitones at the end of a sentence
    rise: float  # semitones at a comma
    open_quotient: float
    tilt: float  # pole of the low-pass behind the glottis
    jitter: float
    shimmer: float
    breath: float
    nasality: float
    rate: float
    pause: float
    aspiration: float  # of the breath behind voiceless stops, in time
    slur: float  # of the transitions, in time
    colour: FloatArray  # decibels at the points of the FFT: what the model of the tract leaves out


@dataclass(frozen=True, slots=True)
class Session:
    """What changes between two recordings of a speaker."""

    pitch: float
    rate: float
    effort: float  # how much the source is darkened or brightened
    breath: float
    tract: float  # how open or rounded the person happens to speak
    equaliser: FloatArray  # decibels at the points of the FFT
    room: FloatArray  # impulse response
    noise: float  # decibels below the speech
    noise_slope: float
    level: float  # decibels re full scale


def _factors(rng: np.random.Generator, spread: float | FloatArray, size: int) -> FloatArray:
    """Factors scattered around one, none far away."""
    return np.asarray(np.exp(np.clip(rng.standard_normal(size), -2.5, 2.5) * spread))


def factor(rng: np.random.Generator, spread: float) -> float:
    """A random factor around one; ``spread`` is its standard deviation in the log."""
    return float(_factors(rng, spread, 1)[0])


def _bumps(rng: np.random.Generator, count: int, decibels: float) -> FloatArray:
    """A smooth random curve over frequency: a sum of ``count`` bumps on a mel-like axis."""
    axis = np.log1p(BINS / 700)
    centres = rng.uniform(axis[6], axis[-1], count)
    widths = rng.uniform(0.08, 0.3, count)
    heights = rng.normal(0.0, decibels, count)
    bumps = heights * np.exp(-0.5 * ((axis[:, None] - centres) / widths) ** 2)
    return np.asarray(bumps.sum(axis=1))


def draw_voice(rng: np.random.Generator, gender: Gender) -> Voice:
    """A new voice."""
    female = gender == "f"
    vowels = [name for name, phone in PHONES.items() if phone.kind in ("vowel", "glide")]
    noisy = [name for name, phone in PHONES.items() if phone.hiss]
    return Voice(
        gender=gender,
        tract=(1.15 if female else 1.0) * factor(rng, 0.05),
        formants=_factors(rng, np.array([0.03, 0.04, 0.04, *[0.05] * 5]), 8),
        bandwidths=_factors(rng, 0.3, 8),
        vowels={name: _factors(rng, 0.05, 3) for name in vowels},
        hisses={name: (factor(rng, 0.08), factor(rng, 0.3)) for name in noisy},
        durations={name: factor(rng, 0.12) for name in PHONES},
        pitch=(200.0 if female else 115.0) * factor(rng, 0.13),
        accent=float(rng.uniform(1.0, 4.5)),
        accent_delay=float(rng.uniform(0.2, 0.9)),
        declination=float(rng.uniform(1.0, 5.0)),
        ending=float(rng.uniform(-5.0, -1.5)),
        rise=float(rng.uniform(-1.5, 3.0)),
        open_quotient=float(rng.uniform(0.5, 0.75) if female else rng.uniform(0.4, 0.65)),
        tilt=float(rng.uniform(0.35, 0.75) if female else rng.uniform(0.2, 0.65)),
        jitter=float(rng.uniform(0.004, 0.015)),
        shimmer=float(rng.uniform(0.02, 0.08)),
        breath=(1.3 if female else 0.9) * factor(rng, 0.5),
        nasality=float(rng.uniform(0.0, 0.25)),
        rate=1.08 * factor(rng, 0.1),
        pause=factor(rng, 0.4),
        aspiration=factor(rng, 0.25),
        slur=factor(rng, 0.15),
        colour=_bumps(rng, 7, 3.0),
    )


def draw_session(rng: np.random.Generator) -> Session:
    """A new day, in a new room, in front of another microphone."""
    octaves = np.log2(np.maximum(BINS, 60) / 1000)
    low_cut = -10 * np.log10(1 + (rng.uniform(30, 110) / np.maximum(BINS, 10)) ** 4)
    return Session(
        pitch=factor(rng, 0.06),
        rate=factor(rng, 0.06),
        effort=float(rng.normal(0.0, 0.1)),
        breath=factor(rng, 0.35),
        tract=factor(rng, 0.015),
        equaliser=rng.normal(0.0, 1.3) * octaves + _bumps(rng, 5, 2.0) + low_cut,
        room=_room(rng),
        noise=float(rng.uniform(22, 48)),
        noise_slope=float(rng.uniform(-6, -1)),
        level=float(rng.uniform(-30, -22)),
    )


def _room(rng: np.random.Generator) -> FloatArray:
    """An impulse response: the direct sound and a tail that dies within 0.15 to 0.4 s."""
    length = int(0.25 * RATE)
    seconds = np.arange(length) / RATE
    tail = rng.standard_normal(length) * 10 ** (-3 * seconds / rng.uniform(0.15, 0.4))
    tail[: int(rng.uniform(0.003, 0.01) * RATE)] = 0.0
    tail *= 10 ** (rng.uniform(-22, -10) / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return tail


# ---------------------------------------------------------------------------------- segments
