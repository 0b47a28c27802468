"""Rhythm: speaking rate, syllables and pauses, found from loudness alone.

Syllable nuclei are peaks of the smoothed intensity, after de Jong and Wempe, "Praat script to
detect syllable nuclei and measure speech rate automatically", Behavior Research Methods 41, 2009.
Silence before the first and after the last word is not described: it tells how a recording was cut.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

from sottovoce.attack.evidence.block import mean_and_spread, quantiles, runs_of
from sottovoce.core.types import FloatArray
from sottovoce.signal.fbank import RATE
from sottovoce.signal.level import SHIFT, speech_frames

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Quantiles of the logarithms of intervals and pauses."""
TYPICAL_INTERVAL = float(np.log(0.2))
"""Log seconds between syllables where there are none to measure."""
TYPICAL_PAUSE = float(np.log(0.3))
TYPICAL_PHRASE = float(np.log(2.0))
SMOOTHING = 3.0
"""Standard deviation, in frames of 10 ms, of the smoothing of intensity."""
PROMINENCE = 2.0
"""Decibels by which a nucleus stands out between its neighbours."""
RANGE = 25.0
"""Nuclei are at most this many dB below the loudest frames."""


class Rhythm:
    """Rate of syllables, their intervals, and number and length of pauses."""

    name = "rhythm"
    version = "1"
    dimension = 2 * (2 + len(SHARES) + 2)

    def describe(self, samples: FloatArray) -> FloatArray:
        """Describe rhythm.

        Parameters
        ----------
        samples : array of float64, n
            One channel at 16 kHz.
        """
        speech = speech_frames(samples.astype(np.float32), RATE)
        intensity = intensity_in_decibels(samples)[: len(speech)]
        spoken = runs_of(speech)
        first, last = (spoken[0][0], spoken[-1][1]) if spoken else (0, len(speech))
        return np.concatenate(
            [_syllables(intensity[first:last], speech[first:last]), _pauses(speech[first:last])]
        )


def intensity_in_decibels(samples: FloatArray) -> FloatArray:
    """Return the smoothed intensity every 10 ms in dB, 0 for the loudest frame.

    Parameters
    ----------
    samples : array of float64, n
        One channel at 16 kHz.
    """
    step = int(SHIFT * RATE)
    count = -(-len(samples) // step)
    power = np.square(np.pad(samples, (0, count * step - len(samples)))).reshape(count, step)
    smooth = gaussian_filter1d(power.mean(axis=1), SMOOTHING, mode="nearest")
    decibels = 10 * np.log10(np.maximum(smooth, 1e-10))
    return np.asarray(decibels - decibels.max())


def _syllables(intensity: FloatArray, speech: NDArray[np.bool_]) -> FloatArray:
    """Nuclei per second of speech and of everything, intervals, and how much these alternate."""
    nuclei, _ = find_peaks(intensity, height=-RANGE, prominence=PROMINENCE)
    spoken, total = max(speech.sum() * SHIFT, SHIFT), max(len(speech) * SHIFT, SHIFT)
    rates = np.log1p([len(nuclei) / spoken, len(nuclei) / total])
    intervals = np.diff(nuclei) * SHIFT
    neighbours = intervals[intervals < 1.0]  # longer ones contain a pause
    logs = np.log(neighbours)
    alternation = np.abs(np.diff(neighbours)) / (neighbours[1:] + neighbours[:-1])
    return np.concatenate(
        [rates, quantiles(logs, SHARES, TYPICAL_INTERVAL), mean_and_spread(alternation, 0.2)]
    )


def _pauses(speech: NDArray[np.bool_]) -> FloatArray:
    """Share and number of pauses, length of pauses and of what is said between them."""
    pauses = np.array([stop - start for start, stop in runs_of(~speech)]) * SHIFT
    phrases = np.array([stop - start for start, stop in runs_of(speech)]) * SHIFT
    total = max(len(speech) * SHIFT, SHIFT)
    return np.concatenate(
        [
            [pauses.sum() / total, len(pauses) / total],
            quantiles(np.log(pauses), SHARES, TYPICAL_PAUSE),
            mean_and_spread(np.log(phrases), TYPICAL_PHRASE),
        ]
    )
