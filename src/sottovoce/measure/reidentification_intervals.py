"""How far the curves of a re-identification study could be off: intervals over speakers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import IntArray
from sottovoce.measure.identification import rank_disclosure
from sottovoce.measure.intervals import (
    MIN_SPEAKERS,
    Interval,
    interval_of,
    mean_interval,
    resample,
)
from sottovoce.measure.population import Scoring, Standing
from sottovoce.measure.reidentification_settings import ReidentificationSettings
from sottovoce.measure.scores import Scores, Speakers
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import rocch_eer


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
    before: IntArray, standing: Standing, sizes: list[int], settings: ReidentificationSettings
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
    settings : ReidentificationSettings
        Confidence and seed.

    Returns
    -------
    list of pairs of Interval
        Of the mean and of the worst disclosure, one pair a size.
    """
    rng = np.random.default_rng([settings.seed, 3])
    _, codes = np.unique(standing.speakers, return_inverse=True)
    rows = [np.flatnonzero(codes == s) for s in range(codes.max() + 1)]
    drawn = []
    for _ in range(100):
        picked = np.concatenate([rows[s] for s in rng.integers(0, len(rows), len(rows))])
        drawn.append(rank_disclosure(before[picked], standing.models - 1, sizes))
    edge = (1 - (settings.confidence or 0.95)) / 2
    low, high = np.quantile(np.array(drawn), [edge, 1 - edge], axis=0)
    return [
        (
            Interval(float(low[0, i]), float(high[0, i])),
            Interval(float(low[1, i]), float(high[1, i])),
        )
        for i in range(len(sizes))
    ]
