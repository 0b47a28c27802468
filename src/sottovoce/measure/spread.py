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
from sottovoce.measure.risk import Settings
from sottovoce.measure.scores import Scores, Speakers
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import rocch_eer


def rank_interval(
    population: int, unit: int = 1
) -> Callable[[NDArray[np.float64], float], Interval]:
    """Intervals of a mean rank, in units of ``unit``, that stay among the ranks there are."""

    def interval(ranks: NDArray[np.float64], confidence: float) -> Interval:
        found = mean_interval(ranks, confidence)
        low, high = max(found.low, 1 / unit), min(found.high, population / unit)
        return Interval(min(low, float(ranks.mean())), max(high, float(ranks.mean())))

    return interval


def eer_spread(
    scoring: Scoring, confidence: float, rng: np.random.Generator
) -> tuple[float, float]:
    """How far 1 − ROCCH-EER may lie below and above its value, from resamples of speakers.

    Judged on up to 200 random models and 5,000 random trials: the spread depends on how many
    speakers there are, not on every pair of them.
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
    part = Scores(scoring.own()[trials], scores[row, column], speakers=who)
    tally = Tally.of(part)
    drawn = resample(part, tally, replicates=200, rng=rng)
    value = rocch_eer(tally)
    draws = np.array([rocch_eer(one) for one in drawn])
    spread = interval_of(value, draws, confidence, method="reflected", bounds=(0.0, 0.5))
    return spread.high - value, value - spread.low


def disclosure_spread(
    before: IntArray, standing: Standing, sizes: list[int], settings: Settings
) -> list[tuple[Interval, Interval]]:
    """Intervals of mean and worst rank disclosure, from resamples of speakers."""
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
