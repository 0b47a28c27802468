"""Intervals: how far a number could be off, from resamples or in closed form."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.measure.quantiles import beta_quantile, normal_quantile, t_quantile
from sottovoce.measure.tally import Tally

VISIBLE_BIAS = 3.0
"""Resamples show a third at least of the bias that the sample has, so it may be thrice as large."""

ROUNDING = 1e-24
"""A variance of a mean below this share of that of one answer is rounding."""

MOST_ANSWERS = 1e9
"""A share is worth no more independent answers: its interval is then 0.0001 wide at most."""

MIN_REPLICATES = 20
"""Fewest resamples that an interval can be made of."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A range that holds the true value with the stated confidence."""

    low: float
    high: float

    def extended_to(self, value: float) -> Interval:
        """Extend the interval so that it holds a value.

        Parameters
        ----------
        value : float
            What the interval has to hold.

        Examples
        --------
        >>> Interval(0.0, 0.0).extended_to(0.09)
        Interval(low=0.0, high=0.09)
        """
        return Interval(min(self.low, value), max(self.high, value))


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that no interval can have.

    Parameters
    ----------
    confidence : float
        Must lie between 0 and 1, both excluded.
    """
    if not 0.0 < confidence < 1.0:
        raise InputError(
            f"interval {confidence}: must lie between 0 and 1, e.g. 0.95", code="out-of-range"
        )


def check_replicates(replicates: int, confidence: float) -> None:
    """Refuse fewer resamples than an interval of this confidence can be made of.

    Parameters
    ----------
    replicates : int
        How many resamples there are to be.
    confidence : float
        Between 0 and 1.
    """
    needed = needed_replicates(confidence)
    if replicates < needed:
        raise InputError(
            f"{replicates:,} resamples; an interval of confidence {confidence:g} needs at least "
            f"{needed:,}",
            code="out-of-range",
        )


def needed_replicates(confidence: float) -> int:
    """Return how many resamples an interval needs: one beyond its ends on average, 20 at least.

    Parameters
    ----------
    confidence : float
        Between 0 and 1.
    """
    return max(MIN_REPLICATES, math.ceil(1 / (1 - confidence) - 1e-6))


def interval_of(
    value: float,
    draws: NDArray[np.float64],
    confidence: float,
    *,
    method: Literal["centred", "range"] = "centred",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """Make an interval from percentiles of resamples; it always holds the value itself.

    ``centred`` shifts the percentiles so that the mean of the resamples is the value; ``range``
    takes them as they are: for a maximum, whose resamples follow no such law.

    Parameters
    ----------
    value : float
        The estimate from the data themselves.
    draws : array of float64
        The estimate from each resample.
    confidence : float
        Between 0 and 1.
    method : {"centred", "range"}
        See above.
    bounds : tuple of float
        The interval is clipped to them.
    """
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "centred":
        low, high = (np.array([low, high]) - draws.mean() + value).tolist()
    return _clipped(low, high, value, bounds)


def weighted_sum_interval(
    value: float,
    terms: Sequence[tuple[float, float, Interval]],
    *,
    bounds: tuple[float, float],
) -> Interval:
    """Make an interval of a weighted sum from the intervals of its terms.

    The distances of their ends are added in squares, as those of independent terms (Zou and Donner
    2008). An end that resamples cannot show, such as that of a share of 0, so counts in the sum.

    Parameters
    ----------
    value : float
        The sum.
    terms : sequence of (float, float, Interval)
        Weight above 0, value and interval of each term.
    bounds : tuple of float
        The interval is clipped to them.

    Examples
    --------
    >>> terms = [(3.0, 0.5, Interval(0.4, 0.6)), (4.0, 0.0, Interval(0.0, 0.1))]
    >>> weighted_sum_interval(1.5, terms, bounds=(0.0, 7.0)).high
    2.0
    """
    below = math.hypot(*(weight * (part - ends.low) for weight, part, ends in terms))
    above = math.hypot(*(weight * (ends.high - part) for weight, part, ends in terms))
    return _clipped(value - below, value + above, value, bounds)


def disclosure_interval(
    value: float,
    draws: NDArray[np.float64],
    confidence: float,
    *,
    units: int,
    full: float,
    none: float,
    bounds: tuple[float, float],
) -> Interval:
    r"""Make an interval of a measure of disclosure; it always holds the value itself.

    With :math:`y = \log(|x - x_{full}| + \epsilon)`, the logarithm of the distance from full
    disclosure, the interval reaches from :math:`\hat y` and from
    :math:`\hat y - 3\,(\bar y^* - \hat y)` as far as :math:`t_{k-1} s` on either side. The mean
    :math:`\bar y^*` and the standard deviation s are those of the resamples, k is the number of
    speakers (or trials). A fit (PAV, histogram) finds more evidence than there is, and resamples
    show a third of that excess at least, so the true value is taken to lie anywhere between no
    excess and three times the visible one. docs/intervals.md has the measured coverage.

    Parameters
    ----------
    value : float
        The estimate from the data themselves.
    draws : array of float64
        The estimate from each resample.
    confidence : float
        Between 0 and 1.
    units : int
        How many speakers, or trials, the value rests on; at least 2.
    full : float
        The value of full disclosure, one of the bounds. If it is infinite, or the value without
        evidence as well, y is x itself.
    none : float
        The value without evidence; ε is half the distance between both, divided by the units.
    bounds : tuple of float
        The interval is clipped to them.
    """
    if math.isinf(full) or full == none:
        low, high = _hull(value, draws, units, confidence)
        return _clipped(low, high, value, bounds)
    floor = abs(full - none) / (2 * units)
    ends = [
        end
        for origin in (full, none)
        for end in _log_scale_ends(value, draws, units, confidence, origin, floor)
    ]
    return _clipped(min(ends), max(ends), value, bounds)


def _log_scale_ends(
    value: float,
    draws: NDArray[np.float64],
    units: int,
    confidence: float,
    origin: float,
    floor: float,
) -> tuple[float, float]:
    """The ends of the hull on the scale of the logarithm of the distance from an origin."""
    side = math.copysign(1.0, value - origin)
    near, far = _hull(
        math.log(abs(value - origin) + floor),
        np.log(np.maximum(side * (draws - origin), 0.0) + floor),
        units,
        confidence,
    )
    reached = [math.exp(min(end, 500.0)) - floor for end in (near, far)]
    return origin + side * reached[0], origin + side * reached[1]


def _hull(
    value: float, draws: NDArray[np.float64], units: int, confidence: float
) -> tuple[float, float]:
    """From the value and from what it is less three times the visible bias, t·s either way."""
    reach = student_quantile(units - 1, confidence) * float(draws.std())
    corrected = value - VISIBLE_BIAS * (float(draws.mean()) - value)
    return min(value, corrected) - reach, max(value, corrected) + reach


def _clipped(low: float, high: float, value: float, bounds: tuple[float, float]) -> Interval:
    low, high = np.clip([low, high], *bounds).tolist()
    return Interval(min(low, value), max(high, value))


def student_quantile(degrees: float, confidence: float) -> float:
    """Return the quantile of Student's t for an interval on both sides.

    Parameters
    ----------
    degrees : float
        Degrees of freedom; infinity is returned for none.
    confidence : float
        Between 0 and 1.
    """
    return t_quantile(degrees, (1 + confidence) / 2) if degrees > 0 else math.inf


def binomial_interval(share: float, worth: float, confidence: float) -> Interval:
    """Make the exact interval of a share of independent answers (Clopper and Pearson 1934).

    Parameters
    ----------
    share : float
        0 to 1.
    worth : float
        How many answers the share rests on, above 0; not necessarily a whole number.
    confidence : float
        Between 0 and 1.
    """
    edge = (1 - confidence) / 2
    hits, misses = share * worth, (1 - share) * worth
    low = beta_quantile(hits, misses + 1, edge) if hits > 0 else 0.0
    high = beta_quantile(hits + 1, misses, 1 - edge) if misses > 0 else 1.0
    return Interval(min(low, share), max(high, share))


def share_interval(shares: NDArray[np.float64], confidence: float) -> Interval:
    """Make the interval of a mean of shares, for as many speakers as they are worth.

    The exact binomial interval of Korn and Graubard (1998): shares that vary less than yes-or-no
    answers are worth more speakers, and few speakers, whose variance is uncertain, are worth less.
    Where all are 0 or all are 1 the interval still says how little so many speakers can show.

    Parameters
    ----------
    shares : array of float64
        One share per speaker, 0 to 1.
    confidence : float
        Between 0 and 1.
    """
    n, share = len(shares), float(shares.mean())
    variance = float(shares.var(ddof=1)) / n if n > 1 else 0.0
    return binomial_interval(share, _worth(share, variance, n, n - 1, confidence), confidence)


def resampled_share_interval(
    value: float,
    draws: NDArray[np.float64],
    confidence: float,
    *,
    units: int,
    trials: int,
    degrees: float,
) -> Interval:
    """Make the interval of a share of trials from its resamples, as :func:`share_interval` does.

    Parameters
    ----------
    value : float
        The share in the data themselves.
    draws : array of float64
        The share in each resample.
    confidence : float
        Between 0 and 1.
    units : int
        How many speakers, or trials, were resampled.
    trials : int
        Trials that the share is of; it is worth no more than that many independent answers.
    degrees : float
        Degrees of freedom of the variance of the resamples.
    """
    worth = _worth(value, float(draws.var()), units, degrees, confidence)
    return binomial_interval(value, min(worth, trials), confidence)


def _worth(share: float, variance: float, units: int, degrees: float, confidence: float) -> float:
    """How many independent answers would vary as much; ``units`` where nothing varies.

    Equal shares vary by what their mean was rounded by, which is nothing.
    """
    if not 0.0 < share < 1.0 or variance <= ROUNDING * share * (1 - share):
        return units
    normal = normal_quantile((1 + confidence) / 2)
    uncertain = (normal / student_quantile(degrees, confidence)) ** 2
    worth = share * (1 - share) / variance * uncertain
    return min(max(worth, sys.float_info.min), MOST_ANSWERS)


def mean_interval(values: NDArray[np.float64], confidence: float) -> Interval:
    """Make the interval of a mean by Student's t.

    Parameters
    ----------
    values : array of float64
        One value per speaker; fewer than two have an unbounded interval.
    confidence : float
        Between 0 and 1.
    """
    n, mean = len(values), float(values.mean())
    if n < 2:
        return Interval(-math.inf, math.inf)
    half = student_quantile(n - 1, confidence) * float(values.std(ddof=1)) / math.sqrt(n)
    return Interval(mean - half, mean + half)


def least_separated(tally: Tally, units: int, confidence: float) -> Tally:
    """Build the worst score set that is still compatible with seeing no overlap among so few.

    Scores that are (all but) perfectly separated stay so in every resample. That is no certainty:
    of k speakers (or trials) none was on the wrong side, and then up to a share e may be, the
    upper end of the exact interval for 0 of k, one half at most. In the result a share e of either
    class lies on the side of the other. Of all score sets with this EER it is the one with the
    least evidence: the hull of its ROC has a single corner, at (e, 1 − e).

    Parameters
    ----------
    tally : Tally
        Counts of separated scores.
    units : int
        How many speakers, or trials, the scores rest on.
    confidence : float
        Between 0 and 1.
    """
    wrong = min(0.5, binomial_interval(0.0, units, confidence).high)
    mated = tally.n_mated * np.array([0.0, wrong, 0.0, 1 - wrong, 0.0])
    nonmated = tally.n_nonmated * np.array([0.0, 1 - wrong, 0.0, wrong, 0.0])
    return Tally(np.array([0.0, 1.0]), mated, nonmated, edges=np.array([0.0, 1.0, 2.0]))
