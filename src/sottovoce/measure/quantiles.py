"""The normal distribution, and quantiles of Student's t and of the beta distribution.

As in :mod:`scipy.special`, which takes longer to import than all else that intervals need.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

LARGE = 1e5
"""Degrees of freedom from which the expansion around the normal quantile is exact to 1e-14."""
_TINY = 1e-300
_LAST_STEP = 1e-11
"""Relative size of a Newton step after which the next one would be lost in rounding."""


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution.

    Parameters
    ----------
    probability : float
        Between 0 and 1, both excluded.
    """
    return NormalDist().inv_cdf(probability)


def normal_share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of a standard normal value below each of some values.

    Parameters
    ----------
    values : array of float64
        One axis; NaN stays NaN.
    """
    scaled = (values * -math.sqrt(0.5)).tolist()
    return np.array([math.erfc(value) / 2 for value in scaled])


def t_quantile(degrees: float, probability: float) -> float:
    """Return the quantile of Student's t distribution.

    Parameters
    ----------
    degrees : float
        Degrees of freedom, above 0; infinity for the normal distribution.
    probability : float
        Between 0 and 1, both excluded.

    Notes
    -----
    Newton's method from the normal quantile, which is nearer to 0 than that of t: the tail falls
    ever more slowly on the way, so no step leads too far.
    """
    if probability < 0.5:
        return -t_quantile(degrees, 1 - probability)
    z = normal_quantile(probability)
    if degrees >= LARGE:
        return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    tail, t = 1 - probability, z
    log_scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    for _ in range(200):
        log_density = log_scale - (degrees + 1) / 2 * math.log1p(t * t / degrees)
        density = math.exp(log_density) / math.sqrt(degrees * math.pi)
        step = (_tail(t, degrees) - tail) / density
        t += step
        if abs(step) <= _LAST_STEP * t:
            break
    return t


def beta_quantile(a: float, b: float, probability: float) -> float:
    """Return the quantile of the beta distribution.

    Parameters
    ----------
    a, b : float
        Both above 0.
    probability : float
        Between 0 and 1, both excluded.

    Notes
    -----
    Newton's method from the mean; a step that would leave what is known to hold the quantile
    is replaced by halving it.
    """
    low, high = 0.0, 1.0
    x = min(max(a / (a + b), _TINY), 1 - 2**-53)  # a mean next to 0 or 1 may be rounded to it
    for _ in range(200):
        excess = _beta_share(x, a, b) - probability
        low, high = (low, x) if excess > 0 else (x, high)
        log_density = (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - _log_beta(a, b)
        following = x - excess * math.exp(min(-log_density, 700.0))
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - x) <= _LAST_STEP * x or not 0.0 < following < 1.0:
            return following
        x = following
    return x


def _beta_share(x: float, a: float, b: float) -> float:
    if x < (a + 1) / (a + b + 2):
        return _incomplete_beta(x, a, b)
    return 1 - _incomplete_beta(1 - x, b, a)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _tail(t: float, degrees: float) -> float:
    """Probability of a value above t, which is not negative."""
    x = degrees / (degrees + t * t)
    if x < (degrees / 2 + 1) / (degrees / 2 + 2.5):
        return _incomplete_beta(x, degrees / 2, 0.5) / 2
    return 0.5 - _incomplete_beta(t * t / (degrees + t * t), 0.5, degrees / 2) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function by its continued fraction (Lentz's method).

    Converges fast for x below (a + 1) / (a + b + 2); DLMF 8.17.22.
    """
    if x == 0:
        return 0.0
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - _log_beta(a, b)) / a
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _off_zero(1 + term * d)
            c = _off_zero(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front * fraction


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
