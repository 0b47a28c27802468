"""Intervals: how far a number could be off, from resamples or in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from sottovoce.core.errors import InputError
from sottovoce.core.types import IntArray
from sottovoce.measure.identification import rank_disclosure
from sottovoce.measure.population import Scoring, Standing
from sottovoce.measure.resampling import MIN_SPEAKERS, resample
from sottovoce.measure.scores import Scores, Speakers
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import rocch_eer

Method = Literal["centred", "reflected", "range"]

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
    method: Method = "centred",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """Make an interval from a value and its resamples; it always holds the value itself.

    A resample repeats scores, and a fit to it (PAV) finds more evidence than there is, just as the
    fit to the sample did. ``reflected`` takes that excess off twice, once for each: right for what
    PAV feeds. ``centred`` takes off the resamples' own excess only: right for what has none, and
    for histograms, whose excess is reported as the chance level. ``range`` takes off nothing: for
    a maximum, whose resamples have no such law. docs/intervals.md has the measured coverage.

    Parameters
    ----------
    value : float
        The estimate from the data themselves.
    draws : array of float64
        The estimate from each resample.
    confidence : float
        Between 0 and 1.
    method : {"centred", "reflected", "range"}
        What is taken off, see above.
    bounds : tuple of float
        The interval is clipped to them.
    """
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "reflected":
        low, high = 2 * value - high, 2 * value - low
    elif method == "centred":
        low, high = (np.array([low, high]) - draws.mean() + value).tolist()
    low, high = np.clip([low, high], *bounds).tolist()
    return Interval(min(low, value), max(high, value))


def share_interval(shares: NDArray[np.float64], confidence: float) -> Interval:
    """Make Wilson's interval of a mean of shares, for as many speakers as they are worth.

    Shares that vary less than yes-or-no answers would are worth more speakers; where all are 0 or
    all are 1 the interval still says how little so many speakers can show.

    Parameters
    ----------
    shares : array of float64
        One share per speaker, 0 to 1.
    confidence : float
        Between 0 and 1.
    """
    n, share = float(len(shares)), float(shares.mean())
    spread = float(shares.var(ddof=1)) if n > 1 else 0.0
    if 0.0 < share < 1.0 and spread > 0.0:
        n = max(n - 1, share * (1 - share) * n / spread)
    z = float(ndtri((1 + confidence) / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half)))


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
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * values.std(ddof=1) / math.sqrt(n))
    return Interval(mean - half, mean + half)


def least_separated(tally: Tally, units: int, confidence: float) -> Tally:
    """Build the worst score set that is still compatible with seeing no overlap among so few.

    Scores that are perfectly separated stay so in every resample. That is no certainty: of k
    speakers (or trials) none was on the wrong side, and then up to a share e of them may be, the
    upper end of Wilson's interval for 0 of k. In the result a share e of either class lies on the
    side of the other. Of all score sets with this EER it is the one with the least evidence: the
    hull of its ROC has a single corner, at (e, 1 − e).

    Parameters
    ----------
    tally : Tally
        Counts of perfectly separated scores.
    units : int
        How many speakers, or trials, the scores rest on.
    confidence : float
        Between 0 and 1.
    """
    wrong = share_interval(np.zeros(units), confidence).high
    mated = tally.n_mated * np.array([0.0, wrong, 0.0, 1 - wrong, 0.0])
    nonmated = tally.n_nonmated * np.array([0.0, 1 - wrong, 0.0, wrong, 0.0])
    return Tally(np.array([0.0, 1.0]), mated, nonmated, edges=np.array([0.0, 1.0, 2.0]))


def repeated_share_interval(share: float, units: int, confidence: float) -> Interval:
    """Return Wilson's interval of a share of 0 or 1 that every resample repeats.

    Parameters
    ----------
    share : float
        0 or 1.
    units : int
        How many speakers, or trials, it rests on.
    confidence : float
        Between 0 and 1.
    """
    return share_interval(np.full(units, share), confidence)


def rank_interval(
    population: int, unit: int = 1
) -> Callable[[NDArray[np.float64], float], Interval]:
    """Return a maker of intervals of a mean rank that stay among the possible ranks.

    Parameters
    ----------
    population : int
        The largest rank.
    unit : int, default 1
        What the ranks are divided by.
    """

    def interval(ranks: NDArray[np.float64], confidence: float) -> Interval:
        unbounded = mean_interval(ranks, confidence)
        low, high = max(unbounded.low, 1 / unit), min(unbounded.high, population / unit)
        return Interval(min(low, float(ranks.mean())), max(high, float(ranks.mean())))

    return interval


def eer_spread(
    scoring: Scoring, confidence: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Estimate how far 1 − ROCCH-EER may lie below and above its value.

    Resamples speakers of up to 200 random models and 5,000 random trials: the spread depends on
    how many speakers there are, not on every pair of them.

    Parameters
    ----------
    scoring : Scoring
        All scores.
    confidence : float
        Between 0 and 1.
    rng : numpy.random.Generator
        Draws the resamples.
    """
    trials = np.sort(rng.permutation(len(scoring.trials))[:5000])
    models = np.sort(rng.permutation(len(scoring.means))[:200])
    scores = scoring.trials[trials] @ scoring.models(models).T
    true = scoring.speakers[trials]
    if len(np.unique(true)) < MIN_SPEAKERS:
        return 0.5, 0.5
    row, column = np.nonzero(true[:, None] != models[None, :])
    everyone = np.unique(np.concatenate((true, models)))
    number = np.searchsorted(everyone, true)
    others = np.searchsorted(everyone, models)
    who = Speakers(number, number[row], others[column], len(everyone))
    part = Scores(scoring.true_scores()[trials], scores[row, column], speakers=who)
    tally = Tally.of(part)
    resampled = resample(part, tally, replicates=200, rng=rng)
    value = rocch_eer(tally)
    draws = np.array([rocch_eer(replicate) for replicate in resampled])
    spread = interval_of(value, draws, confidence, method="reflected", bounds=(0.0, 0.5))
    return spread.high - value, value - spread.low


def rank_disclosure_intervals(
    before: IntArray, standing: Standing, sizes: list[int], confidence: float, seed: int
) -> list[tuple[Interval, Interval]]:
    """Make intervals of mean and worst rank disclosure, from resamples of speakers.

    Parameters
    ----------
    before : array of int
        Others ranked before the true speaker in each trial.
    standing : Standing
        Whose trial each is.
    sizes : list of int
        Population sizes.
    confidence : float
        Between 0 and 1.
    seed : int
        Of the resamples.

    Returns
    -------
    list of pairs of Interval
        Of the mean and of the worst disclosure, one pair per size.
    """
    rng = np.random.default_rng([seed, 3])
    _, codes = np.unique(standing.speakers, return_inverse=True)
    rows = [np.flatnonzero(codes == s) for s in range(codes.max() + 1)]
    drawn = []
    for _ in range(100):
        picked = np.concatenate([rows[s] for s in rng.integers(0, len(rows), len(rows))])
        drawn.append(rank_disclosure(before[picked], standing.models - 1, sizes))
    edge = (1 - confidence) / 2
    low, high = np.quantile(np.array(drawn), [edge, 1 - edge], axis=0)
    return [
        (
            Interval(float(low[0, i]), float(high[0, i])),
            Interval(float(low[1, i]), float(high[1, i])),
        )
        for i in range(len(sizes))
    ]
