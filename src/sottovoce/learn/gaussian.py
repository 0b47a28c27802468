"""The Gaussian mechanism for one release: how much noise makes one answer private.

A query q whose answer changes by at most S₂ (in Euclidean norm) if one record changes is answered
with q(D) + N(0, S₂²σ²). For a training run, which is many releases of random lots, use
:func:`sottovoce.learn.account` instead: the formulas here hold for a single release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from sottovoce.core.errors import UsageError
from sottovoce.core.records import Record
from sottovoce.core.types import FloatArray
from sottovoce.learn.draws import Draws


@dataclass(frozen=True, slots=True)
class GaussianNoise(Record):
    """Noise of one release of the Gaussian mechanism."""

    epsilon: float
    delta: float
    sensitivity: float
    """S₂, the largest change of the answer by one record, in Euclidean norm."""
    multiplier: float
    """σ, the least noise multiplier, exact (Balle and Wang 2018)."""
    classical_multiplier: float | None
    """σ = √(2 ln(1.25/δ)) / ε, a sufficient multiplier for ε below 1; None for larger ε, where
    its proof does not hold."""

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise, S₂ σ."""
        return self.sensitivity * self.multiplier


def gaussian_noise(*, epsilon: float, delta: float, sensitivity: float = 1.0) -> GaussianNoise:
    r"""Compute the noise with which one release is (ε, δ)-differentially private.

    The release is private exactly if
    :math:`\Phi(1/2\sigma - \epsilon\sigma) - e^\epsilon \Phi(-1/2\sigma - \epsilon\sigma)
    \le \delta`.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee; ε above 0, δ between 0 and 1.
    sensitivity : float, default 1.0
        S₂, the largest change of the answer by one record, in Euclidean norm; above 0.

    Returns
    -------
    GaussianNoise
        The exact multiplier and the classical one.

    Raises
    ------
    UsageError
        ``out-of-range``.

    Examples
    --------
    >>> noise = gaussian_noise(epsilon=0.5, delta=1e-5)
    >>> round(noise.multiplier, 2), round(noise.classical_multiplier, 2)
    (7.03, 9.69)
    """
    if not 0 < epsilon < math.inf or not 0 < delta < 1 or not 0 < sensitivity < math.inf:
        raise UsageError(
            f"ε = {epsilon}, δ = {delta}, sensitivity {sensitivity}: use ε and sensitivity above "
            "0 and δ between 0 and 1",
            code="out-of-range",
        )
    low, high = 0.0, 1.0
    while gaussian_delta(high, epsilon) > delta:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if gaussian_delta(middle, epsilon) <= delta else (middle, high)
    classical = math.sqrt(2 * math.log(1.25 / delta)) / epsilon if epsilon < 1 else None
    return GaussianNoise(epsilon, delta, sensitivity, high, classical)


def gaussian_delta(multiplier: float, epsilon: float) -> float:
    """Return the least δ with which one Gaussian release is (ε, δ)-differentially private.

    Parameters
    ----------
    multiplier : float
        σ, the noise as a multiple of the sensitivity, above 0.
    epsilon : float
        ε, at least 0.
    """
    ndtr, log_ndtr = scipy.special.ndtr, scipy.special.log_ndtr
    shift, middle = 1 / (2 * multiplier), epsilon * multiplier
    return float(ndtr(shift - middle) - np.exp(epsilon + log_ndtr(-shift - middle)))


def release(answer: ArrayLike, noise: GaussianNoise, draws: Draws, *, step: int = 0) -> FloatArray:
    """Answer a query with the Gaussian mechanism.

    Parameters
    ----------
    answer : array-like of float
        q(D), of any shape.
    noise : GaussianNoise
        Noise for the sensitivity of the query.
    draws : Draws
        Where the noise comes from.
    step : int, default 0
        Number of the release. Two different answers with the same draws and number would have
        the same noise, and their difference would not be private.
    """
    exact = np.asarray(answer, float)
    return exact + noise.deviation * draws.normal(step, exact.size).reshape(exact.shape)
