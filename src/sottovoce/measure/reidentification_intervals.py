"""Intervals of what re-identification measures, over speakers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import IntArray
from sottovoce.measure.identification import rank_disclosure
from sottovoce.measure.intervals import Interval, disclosure_interval, share_interval
from sottovoce.measure.population import Scoring, Standing
from sottovoce.measure.resampling import MIN_SPEAKERS, resample
from sottovoce.measure.scores import Scores, Speakers
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import rocch_eer

RANK_RESAMPLES = 100
"""Resamples behind an interval of rank disclosure, each of which is a fit."""

CHANCE_PLACE = 0.5
"""Mean share of the others who rank before a speaker of whom nothing is disclosed."""


def rank_interval(
    population: int, unit: int = 1
) -> Callable[[NDArray[np.float64], float], Interval]:
    """Return a maker of intervals of a mean rank that stay among the possible ranks.

    The place (rank − 1) / (N − 1) is a share of the others, so its mean has the interval of
    :func:`share_interval`. A mean rank is governed by the few speakers who are hidden best or found
    first, and a sample of few speakers easily has none of them. So the lower end is that of the
    sample and a further speaker who ranks first, if that is lower, and the upper end that of the
    sample and a further speaker at chance level, if that is higher.

    Parameters
    ----------
    population : int
        The largest rank, at least 2.
    unit : int, default 1
        What the ranks are divided by.
    """

    def interval(ranks: NDArray[np.float64], confidence: float) -> Interval:
        others = population - 1
        places = np.clip((ranks * unit - 1) / others, 0.0, 1.0)
        seen = share_interval(places, confidence)
        first = share_interval(np.append(places, 0.0), confidence)
        hidden = share_interval(np.append(places, CHANCE_PLACE), confidence)
        low, high = min(seen.low, first.low), max(seen.high, hidden.high)
        ends = Interval((1 + low * others) / unit, (1 + high * others) / unit)
        return ends.extended_to(float(ranks.mean()))

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
    speakers = len(np.unique(true))
    if speakers < MIN_SPEAKERS:
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
    spread = disclosure_interval(
        value, draws, confidence, units=speakers, full=0.0, none=0.5, bounds=(0.0, 0.5)
    )
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
    values = np.array(rank_disclosure(before, standing.models - 1, sizes))
    draws = np.empty((RANK_RESAMPLES, *values.shape))
    for draw in draws:
        picked = np.concatenate([rows[s] for s in rng.integers(0, len(rows), len(rows))])
        draw[:] = rank_disclosure(before[picked], standing.models - 1, sizes)

    def interval(kind: int, column: int) -> Interval:
        full = math.log2(sizes[column])
        return disclosure_interval(
            float(values[kind, column]),
            draws[:, kind, column],
            confidence,
            units=len(rows),
            full=full,
            none=0.0,
            bounds=(0.0, full),
        )

    return [(interval(0, column), interval(1, column)) for column in range(len(sizes))]
