"""Voices and sessions of the built-in corpus, and how a voice articulates a sentence.

A :class:`Voice` holds what distinguishes a synthetic speaker from others, a :class:`Session` what
makes two recordings of one speaker differ. :func:`articulate` turns the phones of a sentence into
segments with a duration, formant targets and the levels of three sources: voice, breath and hiss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sottovoce.core.types import FloatArray
from sottovoce.corpus.demo.phones import PHONES, Hiss, Phone, Word

RATE = 16_000
"""Sample rate in Hz."""

Gender = Literal["f", "m"]

HOP = 80  # samples between filter frames: 5 ms
FFT = 9 * HOP  # room for 35 ms of ringing behind each frame
BINS = np.arange(FFT // 2 + 1) * (RATE / FFT)  # Hz


@dataclass(frozen=True, slots=True)
class Voice:
    """Properties of a speaker. Values are factors where no unit is named."""

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
    """Properties of a recording session. Values are factors where no unit is named."""

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
    """Draw factors around 1, at most 2.5 standard deviations away."""
    return np.asarray(np.exp(np.clip(rng.standard_normal(size), -2.5, 2.5) * spread))


def factor(rng: np.random.Generator, spread: float) -> float:
    """Draw a factor around 1.

    Parameters
    ----------
    rng : Generator
        Source of randomness.
    spread : float
        Standard deviation of the factor's logarithm.
    """
    return float(_factors(rng, spread, 1)[0])


def _bumps(rng: np.random.Generator, count: int, decibels: float) -> FloatArray:
    """Draw a smooth curve over frequency: a sum of ``count`` bumps on a mel-like axis."""
    axis = np.log1p(BINS / 700)
    centres = rng.uniform(axis[6], axis[-1], count)
    widths = rng.uniform(0.08, 0.3, count)
    heights = rng.normal(0.0, decibels, count)
    bumps = heights * np.exp(-0.5 * ((axis[:, None] - centres) / widths) ** 2)
    return np.asarray(bumps.sum(axis=1))


def draw_voice(rng: np.random.Generator, gender: Gender) -> Voice:
    """Draw a voice.

    Parameters
    ----------
    rng : Generator
        Source of randomness.
    gender : {"f", "m"}
        Determines the ranges of pitch, tract length and breath.
    """
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
    """Draw a session: a day, a room and a microphone.

    Parameters
    ----------
    rng : Generator
        Source of randomness.
    """
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
    """Draw an impulse response: the direct sound and a tail that decays in 0.15 to 0.4 s."""
    length = int(0.25 * RATE)
    seconds = np.arange(length) / RATE
    tail = rng.standard_normal(length) * 10 ** (-3 * seconds / rng.uniform(0.15, 0.4))
    tail[: int(rng.uniform(0.003, 0.01) * RATE)] = 0.0
    tail *= 10 ** (rng.uniform(-22, -10) / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return tail


# ---------------------------------------------------------------------------------- segments

NEUTRAL = np.array([500.0, 1500.0, 2500.0])
"""Formants of a neutral vocal tract, in Hz."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a phone with one set of targets; a phone has one to three of them."""

    milliseconds: float
    formants: FloatArray
    hold: float
    voice: float = 0.0
    breath: float = 0.0
    hiss: float = 0.0
    peak: float = 4000.0
    width: float = 4000.0
    nasal: float = 0.0
    accent: bool = False
    word: int = -1  # index of its word; -1 in silence
    mark: str = ""  # the punctuation that a silence stands for


def articulate(
    words: Sequence[Word], voice: Voice, rate: float, rng: np.random.Generator
) -> list[Segment]:
    """Return the segments of a sentence, with the silences around and in it.

    Parameters
    ----------
    words : sequence of Word
        The sentence.
    voice : Voice
        Who says it.
    rate : float
        Speaking rate; 2 halves all durations.
    rng : Generator
        Source of randomness, for durations.
    """
    segments = [Segment(150.0, NEUTRAL, 0.05)]
    for index, word in enumerate(words):
        for position, name in enumerate(word.phones):
            stretch = _stretch(word, position) * voice.durations[name.rstrip("1")] / rate
            parts = _parts(name, _neighbours(words, index, position), voice)
            for part in parts:
                milliseconds = part.milliseconds * stretch * factor(rng, 0.07)
                segments.append(replace(part, milliseconds=milliseconds, word=index))
        if word.mark:
            pause = 200.0 if index + 1 == len(words) else 170.0 * voice.pause / rate
            segments.append(Segment(pause, NEUTRAL, 0.05, mark=word.mark))
    return segments


def _stretch(word: Word, position: int) -> float:
    """Return the factor of a phone's duration.

    Unstressed vowels are shorter; from the last vowel before a pause on, phones are longer.
    """
    name = word.phones[position]
    reduced = PHONES[name.rstrip("1")].kind == "vowel" and not name.endswith("1") and name != "AX"
    last_vowel = max(i for i, n in enumerate(word.phones) if PHONES[n.rstrip("1")].kind == "vowel")
    return (0.72 if reduced else 1.0) * (1.4 if word.mark and position >= last_vowel else 1.0)


def _neighbours(words: Sequence[Word], index: int, position: int) -> tuple[str, str]:
    """Return the phones before and after a phone; an empty string at a pause."""
    phones = words[index].phones
    before = after = ""
    if position > 0:
        before = phones[position - 1]
    elif index > 0 and not words[index - 1].mark:
        before = words[index - 1].phones[-1]
    if position + 1 < len(phones):
        after = phones[position + 1]
    elif index + 1 < len(words) and not words[index].mark:
        after = words[index + 1].phones[0]
    return before.rstrip("1"), after.rstrip("1")


def _parts(name: str, neighbours: tuple[str, str], voice: Voice) -> list[Segment]:
    """Return the segments of a phone as a voice says it."""
    bare = name.rstrip("1")
    phone = PHONES[bare]
    if phone.kind in ("vowel", "glide", "nasal"):
        return _sonorant(name, phone, voice)
    formants = np.array(phone.formants[0])
    if phone.hiss is None:
        return [Segment(phone.milliseconds, formants, phone.hold, breath=1.0)]
    if phone.kind == "stop":
        return _stop(bare, phone, phone.hiss, neighbours, voice)
    peak, level = voice.hisses[bare]
    noisy = Segment(
        phone.milliseconds,
        formants,
        phone.hold,
        voice=phone.loudness,
        hiss=phone.hiss.level * level,
        peak=phone.hiss.peak * peak,
        width=phone.hiss.width,
    )
    if phone.kind == "fricative":
        return [noisy]
    half = phone.milliseconds / 2
    closure = Segment(half, formants, phone.hold, voice=phone.loudness / 2)
    return [closure, replace(noisy, milliseconds=half)]


def _sonorant(name: str, phone: Phone, voice: Voice) -> list[Segment]:
    stressed = name.endswith("1")
    accent = voice.vowels.get(name.rstrip("1"), np.ones(3))
    weak = phone.kind == "vowel" and not stressed
    shares = (1.0,) if len(phone.formants) == 1 else (0.55, 0.45)
    return [
        Segment(
            phone.milliseconds * share,
            np.array(target) * accent,
            phone.hold * (0.8 if weak else 1.0),
            voice=phone.loudness * (0.75 if weak else 1.0),
            nasal=float(phone.kind == "nasal"),
            accent=stressed and part == 0,
        )
        for part, (share, target) in enumerate(zip(shares, phone.formants, strict=True))
    ]


def _stop(
    bare: str, phone: Phone, hiss: Hiss, neighbours: tuple[str, str], voice: Voice
) -> list[Segment]:
    """Return closure, burst and, of a voiceless stop before a vowel or glide, aspiration."""
    before, after = neighbours
    follower = PHONES.get(after)
    formants, place = np.array(phone.formants[0]), hiss.peak
    sonorous = follower is not None and follower.kind in ("vowel", "glide")
    if bare in ("K", "G") and follower and sonorous:
        formants[1] = np.clip(1.1 * follower.formants[0][1], 1000, 2350)
        place = 1.1 * formants[1]  # a velar burst is at F2 of the following phone
    peak, level = voice.hisses[bare]
    closure = Segment(
        0.75 * phone.milliseconds, formants, phone.hold, phone.loudness * phone.voiced
    )
    burst = Segment(
        12.0,
        formants,
        phone.hold,
        voice=0.1 * phone.voiced,
        hiss=hiss.level * level * (1.0 if sonorous else 0.4),
        peak=place * peak,
        width=hiss.width,
    )
    if phone.voiced or not sonorous or before == "S":
        return [closure, burst]
    return [closure, burst, Segment(38.0 * voice.aspiration, formants, 0.1, breath=0.8)]
