"""Score sets by condition: measured and compared within each, then pooled.

Scores of different conditions are never put into one histogram: a threshold that suits one need not
suit another, and the mixture would say something about neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.types import Progress, StageProgress
from sottovoce.findings import (
    Comparison,
    ComparisonByCondition,
    Estimate,
    LeftOutTrials,
    MeasuresByCondition,
    PairedDifference,
    PooledDifference,
    PooledEstimate,
)
from sottovoce.measure.catalogue import MEASURES, Measure
from sottovoce.measure.intervals import Interval
from sottovoce.measure.joint_draws import JointDraws, JointSets, plan_together
from sottovoce.measure.paired import compare_scores, discloses_more
from sottovoce.measure.pairing import PairedScores, join_conditions, single_set
from sottovoce.measure.pooling import ConditionValues
from sottovoce.measure.resampling import MIN_TRIALS, enough, mated_speakers
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.summary import measure_scores


@dataclass(frozen=True, slots=True)
class ConditionSettings:
    """How score sets are measured by condition.

    Parameters
    ----------
    column : str
        What tells the condition of a trial, such as ``gender``.
    interval : float or None, default 0.95
        Confidence of the intervals, between 0 and 1; None for none.
    replicates : int, optional
        Resamples behind the intervals; default 1,000, fewer for very large sets.
    only : tuple of str, optional
        Names of the measures; default all that are registered.
    seed : int, default 0
        Of the resamples.
    equal_weights : bool, default False
        Whether every condition counts the same in the pooled mean, as in the VoicePrivacy
        Challenges, instead of by its speakers.
    """

    column: str
    interval: float | None = 0.95
    replicates: int | None = None
    only: tuple[str, ...] | None = None
    seed: int = 0
    equal_weights: bool = False

    @property
    def measures(self) -> list[Measure]:
        """The measures that are computed."""
        return [MEASURES[name] for name in (self.only or MEASURES.defaults())]


def measure_by_condition(
    name: str,
    conditions: Mapping[str, ScoreSource],
    left_out: LeftOutTrials,
    settings: ConditionSettings,
    *,
    progress: StageProgress | None = None,
) -> MeasuresByCondition:
    """Compute every measure in each condition, and their means weighted by speakers.

    Parameters
    ----------
    name : str
        What the score set is called.
    conditions : mapping of str to ScoreSource
        The scores of each condition.
    left_out : LeftOutTrials
        Trials that belong to no condition.
    settings : ConditionSettings
        What is computed, and how.
    progress : callable, optional
        Called with the condition, and the number of its resamples done and to do.
    """
    _check(conditions, settings)
    summaries = {}
    for condition, scores in conditions.items():
        summaries[condition] = measure_scores(
            scores,
            interval=settings.interval,
            replicates=settings.replicates,
            only=settings.only,
            seed=settings.seed,
            progress=_stage(progress, condition),
        )
    sets = {condition: single_set(scores, name) for condition, scores in conditions.items()}
    pool = _Pool.of(sets, settings, progress)
    return MeasuresByCondition(
        name=name,
        column=settings.column,
        conditions=summaries,
        weights=pool.weights,
        weighted_by=pool.weighted_by,
        pooled={
            measure.name: pool.estimate(
                column,
                measure,
                [summaries[condition].measures[measure.name] for condition in pool.names],
            )
            for column, measure in enumerate(settings.measures)
        },
        left_out=left_out,
        warnings=(*_left_out_warnings({name: left_out}), *pool.warnings),
    )


def compare_by_condition(
    conditions: Mapping[str, PairedScores],
    left_out: Mapping[str, LeftOutTrials],
    settings: ConditionSettings,
    *,
    progress: StageProgress | None = None,
) -> ComparisonByCondition:
    """Compare score sets in each condition, and pool the differences weighted by speakers.

    Parameters
    ----------
    conditions : mapping of str to PairedScores
        The paired score sets of each condition, with the same names in all of them.
    left_out : mapping of str to LeftOutTrials
        By score set, its trials that belong to no condition.
    settings : ConditionSettings
        What is computed, and how.
    progress : callable, optional
        Called with the condition, and the number of its resamples done and to do.
    """
    _check(conditions, settings)
    comparisons = {}
    for condition, paired in conditions.items():
        comparisons[condition] = compare_scores(
            paired,
            interval=settings.interval,
            replicates=settings.replicates,
            only=settings.only,
            seed=settings.seed,
            progress=_stage(progress, condition),
        )
    pool = _Pool.of(conditions, settings, progress)
    return ComparisonByCondition(
        column=settings.column,
        conditions=comparisons,
        weights=pool.weights,
        weighted_by=pool.weighted_by,
        pooled={
            measure.name: pool.differences(column, measure, comparisons)
            for column, measure in enumerate(settings.measures)
        },
        left_out=left_out,
        warnings=(*_left_out_warnings(left_out), *pool.warnings),
    )


def _check(conditions: Mapping[str, object], settings: ConditionSettings) -> None:
    if not conditions:
        raise InputError(
            f"no condition of {settings.column!r} has mated and non-mated trials; choose another "
            "column",
            code="empty",
        )


def _stage(progress: StageProgress | None, condition: str) -> Progress | None:
    if progress is None:
        return None
    return lambda done, total: progress(condition, done, total)


def _left_out_warnings(left_out: Mapping[str, LeftOutTrials]) -> list[str]:
    warnings = []
    for name, trials in left_out.items():
        if trials.mixed:
            warnings.append(f"{name}: {trials.mixed:,} trials of two conditions are left out")
        if trials.unknown:
            warnings.append(f"{name}: {trials.unknown:,} trials of no known condition are left out")
    return warnings


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """Values and resamples of all conditions that have enough trials."""

    names: list[str]
    sets: list[PairedScores]
    results: list[JointDraws]
    together: bool
    weights: dict[str, int]
    weighted_by: str
    warnings: tuple[str, ...]

    @classmethod
    def of(
        cls,
        conditions: Mapping[str, PairedScores],
        settings: ConditionSettings,
        progress: StageProgress | None,
    ) -> _Pool:
        usable = {
            name: paired for name, paired in conditions.items() if all(map(enough, paired.sets))
        }
        warnings = [
            f"{name}: fewer than {MIN_TRIALS} trials of one kind, so it is not in the pooled means"
            for name in conditions
            if name not in usable
        ]
        sets = list(usable.values())
        speakers = [mated_speakers(paired.sets[0]) for paired in sets]
        by_speaker = all(speakers)
        counts = speakers if by_speaker else [len(paired.sets[0].mated) for paired in sets]
        weighted_by = "speaker" if by_speaker else "mated trial"
        if settings.equal_weights:
            counts, weighted_by = [1] * len(sets), "condition"
        results, together = _draw(sets, settings, progress)
        return cls(
            list(usable),
            sets,
            results,
            together,
            dict(zip(usable, counts, strict=True)),
            weighted_by,
            tuple(warnings),
        )

    def estimate(
        self, column: int, measure: Measure, estimates: Sequence[Estimate]
    ) -> PooledEstimate:
        """Mean of one measure of the only set of every condition."""
        measured = self._measured(column, [0])
        if not measured:
            return PooledEstimate(None, note="no condition has a value")
        quantity = self._quantity(column, {0: 1.0}, measured)
        interval = None
        if measure.method != "range":
            interval = _pooled_interval(quantity, [estimates[c] for c in measured])
        return PooledEstimate(
            value=quantity.mean,
            low=max(interval.low, measure.bounds[0]) if interval else None,
            high=min(interval.high, measure.bounds[1]) if interval else None,
            heterogeneity=quantity.heterogeneity(),
            note=self._missing(measured),
        )

    def differences(
        self, column: int, measure: Measure, comparisons: Mapping[str, Comparison]
    ) -> tuple[PooledDifference, ...]:
        """Mean differences of one measure, one per pair of sets."""
        by_condition = [comparisons[name].differences[measure.name] for name in self.names]
        return tuple(
            self._difference(column, measure, pairs) for pairs in zip(*by_condition, strict=True)
        )

    def _difference(
        self, column: int, measure: Measure, pairs: Sequence[PairedDifference]
    ) -> PooledDifference:
        names = pairs[0].first, pairs[0].second
        i, j = (self.sets[0].names.index(name) for name in names)
        measured = self._measured(column, [i, j])
        note = pairs[0].note or self._missing(measured)
        if not measured:
            return PooledDifference(PairedDifference(*names, None, None, None, note=note))
        quantity = self._quantity(column, {i: 1.0, j: -1.0}, measured)
        interval = _pooled_interval(quantity, [pairs[c] for c in measured])
        resampled = len(quantity.draws) > 0
        difference = PairedDifference(
            *names,
            first_value=self._quantity(column, {i: 1.0}, measured).mean,
            second_value=self._quantity(column, {j: 1.0}, measured).mean,
            value=quantity.mean,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            share_below=float(np.mean(quantity.mean_draws < 0)) if resampled else None,
            share_above=float(np.mean(quantity.mean_draws > 0)) if resampled else None,
            discloses_more=discloses_more(names, interval, measure),
            note=note,
        )
        return PooledDifference(difference, quantity.heterogeneity())

    def _measured(self, column: int, sets: Sequence[int]) -> list[int]:
        """Conditions in which all of some sets have a value for a measure."""
        return [
            number
            for number, result in enumerate(self.results)
            if np.all(np.isfinite(result.values[sets, column]))
        ]

    def _quantity(
        self, column: int, signs: Mapping[int, float], measured: Sequence[int]
    ) -> ConditionValues:
        """A sum of the values of some sets, each with its sign, in some conditions."""
        sets, factors = list(signs), np.array(list(signs.values()))
        results = [self.results[c] for c in measured]
        return ConditionValues(
            names=[self.names[c] for c in measured],
            values=np.array([result.values[sets, column] @ factors for result in results]),
            weights=np.array([self.weights[self.names[c]] for c in measured], np.float64),
            draws=np.stack([result.draws[:, sets, column] @ factors for result in results], axis=1),
            together=self.together,
        )

    def _missing(self, measured: Sequence[int]) -> str | None:
        names = [name for number, name in enumerate(self.names) if number not in measured]
        return f"without a value for {first_few(names, len(names))}" if names else None


def _pooled_interval(
    quantity: ConditionValues, parts: Sequence[Estimate | PairedDifference]
) -> Interval | None:
    """Interval of a mean; None if one of the conditions has none."""
    intervals = [
        Interval(part.low, part.high)
        for part in parts
        if part.low is not None and part.high is not None
    ]
    return quantity.interval(intervals) if len(intervals) == len(parts) else None


def _draw(
    sets: Sequence[PairedScores], settings: ConditionSettings, progress: StageProgress | None
) -> tuple[list[JointDraws], bool]:
    """Resamples of all conditions, and whether they were drawn together."""
    plans = [plan_together(paired, settings.interval, settings.replicates) for paired in sets]
    fewest = min((plan.replicates for plan in plans if plan is not None), default=0)
    plans = [None if plan is None else replace(plan, replicates=fewest) for plan in plans]
    stage = _stage(progress, "pooling")
    joined = join_conditions(sets)
    if joined is not None:
        whole = JointSets(joined, settings.measures, plans[0]).draw(settings.seed, stage)
        return whole.split([len(paired.sets) for paired in sets]), True
    return [
        JointSets(paired, settings.measures, plan).draw([settings.seed, number], stage)
        for number, (paired, plan) in enumerate(zip(sets, plans, strict=True))
    ], False
