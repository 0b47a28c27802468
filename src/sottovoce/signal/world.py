"""WORLD: a voice as pitch, spectral envelope and aperiodicity, and back (Morise et al. 2016).

DIO with StoneMask finds F0 (Harvest where DIO finds little), CheapTrick the envelope, D4C the
aperiodicity; every 5 ms, at 16 kHz.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyworld

from sottovoce.core.types import FloatArray

RATE = 16_000
PERIOD = 5.0
"""Milliseconds from frame to frame."""
BINS = 513
"""Frequencies of an envelope, from 0 to 8 kHz."""


DOUBTED, BELIEVED = 0.25, 0.2
"""Below the first share of voiced frames DIO is doubted, from the second on Harvest is believed.

In read speech half of all frames are voiced. In one recording of twenty, and wherever the
fundamental is missing as it is on the telephone, DIO finds less; Harvest, at ten times the cost,
finds the rest. But in whispering and noise Harvest finds pitch in up to 18 % of frames."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What WORLD takes a voice for; frames every 5 ms."""

    f0: FloatArray
    """Hertz; 0 where unvoiced."""
    envelope: FloatArray
    """Frames × frequencies: power."""
    aperiodicity: FloatArray
    """Frames × frequencies: share of noise, 0 to 1."""


def find_f0(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """F0 in hertz (0 where unvoiced) and the time of each frame, of a signal at 16 kHz."""
    rough, times = pyworld.dio(samples, RATE, frame_period=PERIOD)
    voiced = float(np.mean(rough > 0))
    if voiced < DOUBTED:
        other, _ = pyworld.harvest(samples, RATE, frame_period=PERIOD)
        if np.mean(other > 0) >= max(BELIEVED, voiced):
            rough = other
    return np.asarray(pyworld.stonemask(samples, rough, times, RATE)), times


def analyse_envelope(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """F0 and envelope alone of a signal at 16 kHz, for what is learnt and not put together."""
    samples = np.ascontiguousarray(samples, np.float64)
    f0, times = find_f0(samples)
    return f0, np.asarray(pyworld.cheaptrick(samples, f0, times, RATE))


def analyse(samples: FloatArray) -> Voice:
    """Take a signal at 16 kHz apart."""
    samples = np.ascontiguousarray(samples, np.float64)
    f0, times = find_f0(samples)
    envelope = pyworld.cheaptrick(samples, f0, times, RATE)
    aperiodicity = pyworld.d4c(samples, f0, times, RATE)
    return Voice(f0, envelope, aperiodicity)


def synthesise(voice: Voice) -> FloatArray:
    """A signal at 16 kHz from its parts; a frame or so longer than what was analysed."""
    return np.asarray(
        pyworld.synthesize(voice.f0, voice.envelope, voice.aperiodicity, RATE, PERIOD), np.float64
    )
