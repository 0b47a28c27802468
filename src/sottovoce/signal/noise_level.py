"""Signal-to-noise ratio of a recording from the distribution of its amplitudes (WADA-SNR).

Speech amplitudes are assumed to follow a gamma distribution with shape 0.4, noise a Gaussian one.
Then G = ln E|x| − E ln|x| falls as the noise grows, and G of a recording gives the ratio. Kim and
Stern, "Robust signal-to-noise ratio estimation based on waveform amplitude distribution analysis",
Interspeech 2008. The table of G is computed here from the two distributions.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from sottovoce.core.types import FloatArray

SHAPE = 0.4
"""Shape of the gamma distribution of speech amplitudes."""
LOWEST, HIGHEST = -20.0, 100.0
"""Range of the estimate in dB."""
_QUANTILES, _DENSITY = 4000, 4.0


def wada_snr(audio: NDArray[np.floating]) -> float:
    """Estimate the signal-to-noise ratio of a recording in dB.

    Parameters
    ----------
    audio : ndarray of float, shape (n,)
        Samples; their scale does not matter.

    Returns
    -------
    float
        From −20 to 100 dB; 100 also for silence.
    """
    amplitudes = np.abs(np.asarray(audio, np.float64))
    amplitudes = amplitudes[amplitudes > 0]
    if not len(amplitudes):
        return HIGHEST
    statistic = float(np.log(amplitudes.mean()) - np.log(amplitudes).mean())
    ratios, statistics = _table()
    return float(np.interp(statistic, statistics, ratios))


@cache
def _table() -> tuple[FloatArray, FloatArray]:
    """G for ratios of a decibel apart, both rising."""
    ratios = np.arange(LOWEST, HIGHEST + 1)
    # more quantiles near 0, where the logarithm falls without end
    places = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    speech = special.gammaincinv(SHAPE, places**_DENSITY)
    weights = _DENSITY * places ** (_DENSITY - 1)
    power = SHAPE * (SHAPE + 1)  # E of the square of a gamma variable of scale 1
    statistics = [
        _statistic(speech / np.sqrt(power * 10 ** (-ratio / 10)), weights / weights.sum())
        for ratio in ratios.tolist()
    ]
    return ratios, np.maximum.accumulate(np.array(statistics))


def _statistic(means: FloatArray, weights: FloatArray) -> float:
    """G of Gaussian noise of variance 1 around amplitudes of speech, weighted."""
    density = np.exp(-np.square(means) / 2) * np.sqrt(2 / np.pi)
    mean = density + means * special.erf(means / np.sqrt(2))
    return float(np.log(weights @ mean) - weights @ _mean_log(means))


def _mean_log(means: FloatArray) -> FloatArray:
    """E ln|X| of a Gaussian X of variance 1; its slope is √2 times Dawson's integral of μ/√2."""
    grid = np.concatenate(([0.0], np.geomspace(1e-3, 30.0, 4000)))
    slopes = np.sqrt(2) * special.dawsn(grid / np.sqrt(2))
    steps = np.diff(grid) * (slopes[1:] + slopes[:-1]) / 2
    values = np.concatenate(([0.0], np.cumsum(steps))) - (np.euler_gamma + np.log(2)) / 2
    large = np.maximum(means, 30.0)
    beyond = np.log(large) - 1 / (2 * large**2)
    return np.where(means < 30.0, np.interp(means, grid, values), beyond)
