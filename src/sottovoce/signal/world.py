"""The WORLD vocoder: analysis into F0, spectral envelope and aperiodicity, and synthesis.

F0 comes from DIO with StoneMask, or from Harvest where DIO finds little; the envelope from
CheapTrick and the aperiodicity from D4C. Frames are 5 ms apart, audio is at 16 kHz. Morise et al.
2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyworld

from sottovoce.core.types import FloatArray

RATE = 16_000
"""Sample rate in Hz."""
PERIOD = 5.0
"""Distance of frames in milliseconds."""
BINS = 513
"""Number of frequencies of an envelope, from 0 to 8 kHz."""
DIO_MINIMUM, HARVEST_MINIMUM = 0.25, 0.2
"""If DIO finds a smaller share of voiced frames, Harvest is tried and used from its own minimum on.

In read speech half of all frames are voiced. In one recording of twenty, and wherever the
fundamental is missing as on the telephone, DIO finds fewer; Harvest, at ten times the cost, finds
the missing ones. But in whispering and noise Harvest finds pitch in up to 18 % of the frames."""


@dataclass(frozen=True, slots=True)
class Voice:
    """WORLD parameters of a recording, in frames of 5 ms."""

    f0: FloatArray
    """F0 in Hz; 0 where unvoiced."""
    envelope: FloatArray
    """Power, frames × frequencies."""
    aperiodicity: FloatArray
    """Share of noise from 0 to 1, frames × frequencies."""


def find_f0(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Estimate the fundamental frequency of a signal at 16 kHz.

    Parameters
    ----------
    samples : ndarray of float64, shape (n,)
        The signal.

    Returns
    -------
    f0 : ndarray of float64, shape (frames,)
        F0 in Hz, 0 where unvoiced.
    times : ndarray of float64, shape (frames,)
        Time of each frame in seconds.
    """
    rough, times = pyworld.dio(samples, RATE, frame_period=PERIOD)
    voiced = float(np.mean(rough > 0))
    if voiced < DIO_MINIMUM:
        harvested, _ = pyworld.harvest(samples, RATE, frame_period=PERIOD)
        if np.mean(harvested > 0) >= max(HARVEST_MINIMUM, voiced):
            rough = harvested
    return np.asarray(pyworld.stonemask(samples, rough, times, RATE)), times


def analyse_envelope(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Analyse a signal at 16 kHz without its aperiodicity, where nothing is synthesised from it.

    Parameters
    ----------
    samples : ndarray of float64, shape (n,)
        The signal.

    Returns
    -------
    f0 : ndarray of float64, shape (frames,)
        F0 in Hz, 0 where unvoiced.
    envelope : ndarray of float64, shape (frames, 513)
        Power spectrum without the harmonics.
    """
    samples = np.ascontiguousarray(samples, np.float64)
    f0, times = find_f0(samples)
    return f0, np.asarray(pyworld.cheaptrick(samples, f0, times, RATE))


def analyse(samples: FloatArray) -> Voice:
    """Analyse a signal at 16 kHz.

    Parameters
    ----------
    samples : ndarray of float64, shape (n,)
        The signal.

    Returns
    -------
    Voice
        Its WORLD parameters.
    """
    samples = np.ascontiguousarray(samples, np.float64)
    f0, times = find_f0(samples)
    envelope = pyworld.cheaptrick(samples, f0, times, RATE)
    aperiodicity = pyworld.d4c(samples, f0, times, RATE)
    return Voice(f0, envelope, aperiodicity)


def synthesise(voice: Voice) -> FloatArray:
    """Synthesise a signal at 16 kHz.

    Parameters
    ----------
    voice : Voice
        WORLD parameters.

    Returns
    -------
    ndarray of float64, shape (n,)
        The signal, up to a few milliseconds longer than the one that was analysed.
    """
    return np.asarray(
        pyworld.synthesize(voice.f0, voice.envelope, voice.aperiodicity, RATE, PERIOD), np.float64
    )
