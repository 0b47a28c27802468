"""Intervals of the score measures, from resamples of one set of scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import Progress
from sottovoce.findings import Resampling
from sottovoce.measure.catalogue import Evidence, Measure
from sottovoce.measure.intervals import (
    Interval,
    binomial_interval,
    disclosure_interval,
    interval_of,
    least_separated,
    resampled_share_interval,
    weighted_sum_interval,
)
from sottovoce.measure.resampling import mated_speakers, resample
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import eer


def score_intervals(
    scores: ScoreSource,
    tally: Tally,
    measures: Sequence[Measure],
    values: Mapping[str, float],
    plan: Resampling,
    *,
    seed: int,
    progress: Progress | None = None,
) -> dict[str, Interval]:
    """Make the intervals of some measures of one set of scores.

    Parameters
    ----------
    scores : ScoreSource
        The scores.
    tally : Tally
        Their counts, with all that the measures need.
    measures : sequence of Measure
        What intervals are made of.
    values : mapping of str to float
        The value of each measure, by its name.
    plan : Resampling
        Confidence, and what is resampled how often.
    seed : int
        Of the resamples.
    progress : callable, optional
        Called with the number of resamples done and to do.

    Returns
    -------
    dict of str to Interval
        By the name of the measure; each holds the value.
    """
    parts = [part for measure in measures for _, part in measure.parts]
    columns = [*measures, *parts]
    draws = np.empty((plan.replicates, len(columns)))
    rng = np.random.default_rng(seed)
    for i, resampled in enumerate(resample(scores, tally, replicates=plan.replicates, rng=rng)):
        evidence = Evidence(resampled)
        draws[i] = [_resampled(measure)(evidence) for measure in columns]
        if progress:
            progress(i + 1, plan.replicates)
    evidence, worst_compatible = Evidence(tally), _worst_compatible(scores, tally, plan)
    intervals: dict[str, Interval] = {}
    for column, measure in enumerate(columns):
        resampled_value = _resampled(measure)(evidence)
        interval = _interval(measure, resampled_value, draws[:, column], scores, plan)
        if measure.separable and worst_compatible is not None:
            interval = interval.extended_to(_resampled(measure)(worst_compatible))
        interval = _with_unseen_false_alarms(measure, evidence, interval, plan.confidence)
        interval = _with_unseen_hits(measure, evidence, interval, scores, plan)
        intervals[measure.name] = interval.extended_to(values.get(measure.name, resampled_value))
    for measure in measures:
        if measure.parts:
            intervals[measure.name] = _interval_of_sum(measure, evidence, intervals)
    return {measure.name: intervals[measure.name] for measure in measures}


def _interval_of_sum(
    measure: Measure, evidence: Evidence, intervals: Mapping[str, Interval]
) -> Interval:
    """Interval of a weighted sum of shares, from those of the shares."""
    terms = [
        (weight, part.compute(evidence), intervals[part.name]) for weight, part in measure.parts
    ]
    return weighted_sum_interval(measure.compute(evidence), terms, bounds=measure.bounds)


def resampled_units(scores: ScoreSource, plan: Resampling) -> int:
    """Count what the intervals rest on: speakers with mated trials, or trials of the rarer kind.

    Parameters
    ----------
    scores : ScoreSource
        The scores.
    plan : Resampling
        What is resampled.
    """
    if plan.unit == "speaker":
        return mated_speakers(scores)
    return min(len(scores.mated), scores.n_nonmated)


def _resampled(measure: Measure) -> Callable[[Evidence], float]:
    return measure.resampled or measure.compute


def _interval(
    measure: Measure,
    value: float,
    draws: NDArray[np.float64],
    scores: ScoreSource,
    plan: Resampling,
) -> Interval:
    if measure.method == "range":
        return interval_of(value, draws, plan.confidence, method="range", bounds=measure.bounds)
    if measure.method == "share":
        return _share_interval(measure, value, draws, scores, plan)
    return disclosure_interval(
        value,
        draws,
        plan.confidence,
        units=resampled_units(scores, plan),
        full=measure.full_disclosure,
        none=measure.chance,
        bounds=measure.bounds,
    )


def _share_interval(
    measure: Measure,
    value: float,
    draws: NDArray[np.float64],
    scores: ScoreSource,
    plan: Resampling,
) -> Interval:
    trials = len(scores.mated) if measure.share_of == "mated" else scores.n_nonmated
    units = mated_speakers(scores) if plan.unit == "speaker" else trials
    degrees = min(units - 1, false_alarm_degrees(measure, scores))
    return resampled_share_interval(
        value, draws, plan.confidence, units=units, trials=trials, degrees=degrees
    )


def false_alarm_degrees(measure: Measure, scores: ScoreSource) -> float:
    """Return two degrees of freedom a false alarm: the variance of a count is as uncertain as that.

    Parameters
    ----------
    measure : Measure
        Infinity is returned if it is not at a false-alarm rate.
    scores : ScoreSource
        The scores.
    """
    rate = measure.false_alarm_rate
    return np.inf if rate is None else max(1.0, 2 * rate * scores.n_nonmated)


def _with_unseen_false_alarms(
    measure: Measure, evidence: Evidence, interval: Interval, confidence: float
) -> Interval:
    """Allow for false alarms at the best threshold where the data have none.

    Resamples have none either; so many non-mated trials without any are compatible with a rate up
    to the end of the exact interval for 0. Its cost is added in squares (Zou and Donner 2008).
    """
    if not measure.false_alarm_cost or measure.false_alarms is None:
        return interval
    if measure.false_alarms(evidence) >= 1:
        return interval
    value = measure.compute(evidence)
    unseen = binomial_interval(0.0, evidence.tally.n_nonmated, confidence)
    cost = Interval(0.0, measure.false_alarm_cost * unseen.high)
    terms = [(1.0, value, interval), (1.0, 0.0, cost)]
    return weighted_sum_interval(value, terms, bounds=measure.bounds)


def _with_unseen_hits(
    measure: Measure, evidence: Evidence, interval: Interval, scores: ScoreSource, plan: Resampling
) -> Interval:
    """Allow for mated trials above all thresholds that pay, where the best one accepts nothing.

    Resamples may accept nothing either, and the interval would be a point; so many speakers (or
    trials) of whom none is accepted are compatible with a share up to the end of the exact interval
    for 0.
    """
    if not measure.false_alarm_cost or measure.compute(evidence) != measure.chance:
        return interval
    unseen = binomial_interval(0.0, resampled_units(scores, plan), plan.confidence)
    return interval.extended_to(measure.chance * (1 - unseen.high))


def _worst_compatible(scores: ScoreSource, tally: Tally, plan: Resampling) -> Evidence | None:
    """The least separated scores, where fewer than one trial is on the wrong side."""
    if eer(tally) * min(len(scores.mated), scores.n_nonmated) >= 1:
        return None
    return Evidence(least_separated(tally, resampled_units(scores, plan), plan.confidence))
