"""Differences of the measures between score sets, with intervals from shared resamples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import Progress
from sottovoce.findings import ComparedSet, Comparison, PairedDifference, Resampling
from sottovoce.measure.catalogue import MEASURES, Measure
from sottovoce.measure.cautions import comparison_warnings
from sottovoce.measure.intervals import Interval, check_confidence
from sottovoce.measure.joint_draws import (
    JointDraws,
    JointSets,
    degrees_of_freedom,
    plan_together,
    simultaneous_half_widths,
)
from sottovoce.measure.pairing import PairedScores, pair_sets
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.subsampling import Deviations
from sottovoce.measure.summary import measure_scores

NO_INTERVAL = "a maximum: resamples give no interval of its difference"
FEW_FALSE_ALARMS = 10
"""With fewer, differences between equal systems are claimed in 0 to 8 % of the sets, not in 5 %."""
ROUGH = (
    f"rests on fewer than {FEW_FALSE_ALARMS} false alarms: its interval is rough, mostly wider "
    "than necessary; more trials would tell more"
)


def compare_scores(
    sets: PairedScores | Sequence[ScoreSource],
    *,
    interval: float | None = 0.95,
    replicates: int | None = None,
    only: Iterable[str] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compute the differences of every score measure between all pairs of some score sets.

    The same speakers (or trials) are drawn for all sets, so that what the sets share cancels.

    Parameters
    ----------
    sets : PairedScores or sequence of ScoreSource
        Two or more score sets; those that :func:`~sottovoce.measure.pair_sets` did not pair are
        paired by the names of their speakers.
    interval : float or None, default 0.95
        Confidence with which the intervals of all pairs of sets hold together; None for none.
    replicates : int, optional
        Resamples behind the intervals; default 1,000, fewer (200 at least) for very large sets.
    only : iterable of str, optional
        Names of the measures to compare; default all that are registered.
    seed : int, default 0
        Of the resamples.
    progress : callable, optional
        Called with the number of resamples done and to do.

    Returns
    -------
    Comparison
        One difference per measure and pair of sets.

    Examples
    --------
    >>> from sottovoce.measure import Scores
    >>> sets = [Scores([1.0, 3.0], [0.0, 2.0], name="a"), Scores([3.0, 4.0], [0.0, 2.0], name="b")]
    >>> compare_scores(sets, interval=None, only=["eer"]).differences["eer"][0].value
    0.5
    """
    if interval is not None:
        check_confidence(interval)
    paired = sets if isinstance(sets, PairedScores) else pair_sets(sets)
    measures = [MEASURES[name] for name in (MEASURES.defaults() if only is None else only)]
    plan = plan_together(paired, interval, replicates)
    joint = JointSets(paired, measures, plan)
    results = joint.draw(seed, _part_of(progress, 0, joint.subsamples + joint.tilts))
    deviations = joint.deviate(seed, _part_of(progress, joint.replicates, 0))
    differences = _Differences(paired, results, deviations, plan, seed)
    cautions = []
    if interval is not None:
        cautions = comparison_warnings(paired.sets, paired.paired_by == "trial", plan)
    return Comparison(
        sets=tuple(
            ComparedSet(name, len(scores.mated), scores.n_nonmated, left_out)
            for name, scores, left_out in zip(
                paired.names, paired.sets, paired.left_out, strict=True
            )
        ),
        paired_by=paired.paired_by,
        same_trials=paired.same_trials,
        interval=plan,
        differences={
            measure.name: differences.of(measure, column) for column, measure in enumerate(measures)
        },
        warnings=(*paired.warnings, *(caution.message for caution in cautions)),
    )


def _part_of(progress: Progress | None, before: int, after: int) -> Progress | None:
    """Progress of one of several steps, so that the whole is counted."""
    if progress is None:
        return None
    return lambda done, total: progress(before + done, before + total + after)


@dataclass(frozen=True, slots=True, eq=False)
class _Differences:
    """Values and resamples of some score sets, as differences between all pairs of sets."""

    paired: PairedScores
    results: JointDraws
    deviations: Deviations
    plan: Resampling | None
    seed: int

    def of(self, measure: Measure, column: int) -> tuple[PairedDifference, ...]:
        """Differences of one measure; a set without a value for it has none."""
        refusals = [reasons[column] for reasons in self.results.refusals]
        no_interval = NO_INTERVAL if self.plan and measure.method == "range" else None
        intervals = {} if no_interval else self._intervals(measure, column)
        few = self.results.false_alarms[:, column] < FEW_FALSE_ALARMS
        return tuple(
            self._difference(
                (i, j),
                measure,
                column,
                intervals.get((i, j)),
                refusals[i]
                or refusals[j]
                or no_interval
                or (ROUGH if intervals and (few[i] or few[j]) else None),
            )
            for i, j in combinations(range(len(refusals)), 2)
        )

    def _difference(
        self,
        pair: tuple[int, int],
        measure: Measure,
        column: int,
        interval: Interval | None,
        note: str | None,
    ) -> PairedDifference:
        names = [self.paired.names[i] for i in pair]
        first, second = self.results.values[pair, column].tolist()
        draws = self._draws(pair, column)
        measured = not np.isnan(first - second)
        resampled = measured and len(draws) > 0
        return PairedDifference(
            first=names[0],
            second=names[1],
            first_value=None if np.isnan(first) else first,
            second_value=None if np.isnan(second) else second,
            value=first - second if measured else None,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            share_below=float(np.mean(draws < 0)) if resampled else None,
            share_above=float(np.mean(draws > 0)) if resampled else None,
            discloses_more=discloses_more(names, interval, measure),
            note=note,
        )

    def _draws(self, pair: tuple[int, int], column: int) -> NDArray[np.float64]:
        return self.results.draws[:, pair[0], column] - self.results.draws[:, pair[1], column]

    def _intervals(self, measure: Measure, column: int) -> dict[tuple[int, int], Interval]:
        """Simultaneous intervals of one measure, by pair of sets that have a value for it."""
        values = self.results.values[:, column]
        pairs = list(combinations(np.flatnonzero(np.isfinite(values)).tolist(), 2))
        if self.plan is None or not pairs:
            return {}
        degrees = [
            degrees_of_freedom(measure, scores, errors)
            for scores, errors in zip(self.paired.sets, self.results.errors.tolist(), strict=True)
        ]
        standard = self.deviations.errors(pairs, column, min(degrees))
        widths = simultaneous_half_widths(
            standard.errors,
            self.deviations.of_differences(pairs, column),
            self.plan.confidence,
            standard.degrees,
        )
        reaches = [self._reach(i, measure, column) for i in range(len(values))]
        span = measure.bounds[1] - measure.bounds[0]
        intervals = {}
        for (i, j), width in zip(pairs, widths.tolist(), strict=True):
            value = float(values[i] - values[j])
            below = math.hypot(width, reaches[i][0], reaches[j][1])
            above = math.hypot(width, reaches[i][1], reaches[j][0])
            intervals[i, j] = Interval(max(value - below, -span), min(value + above, span))
        return intervals

    def _reach(self, number: int, measure: Measure, column: int) -> tuple[float, float]:
        """How far the value of a set may lie below and above, where all its resamples agree.

        Elsewhere nothing, since the resamples tell. The reaches are added to the width of a
        difference in squares, as those of independent values (Zou and Donner 2008).
        """
        value = float(self.results.values[number, column])
        if self.plan is None or np.isnan(value) or np.ptp(self.results.draws[:, number, column]):
            return 0.0, 0.0
        estimate = measure_scores(
            self.paired.sets[number],
            interval=self.plan.confidence,
            replicates=self.plan.replicates,
            only=[measure.name],
            seed=self.seed,
        ).measures[measure.name]
        low = measure.bounds[0] if estimate.low is None else estimate.low
        high = measure.bounds[1] if estimate.high is None else estimate.high
        return value - low, high - value


def discloses_more(names: Sequence[str], interval: Interval | None, measure: Measure) -> str | None:
    """Name the set that discloses more; None while the interval of the difference holds zero.

    Parameters
    ----------
    names : sequence of str
        Of both sets.
    interval : Interval or None
        Of the value of the first set less that of the second.
    measure : Measure
        What is compared.
    """
    if interval is None or interval.low <= 0 <= interval.high:
        return None
    return names[1] if (interval.low > 0) == measure.lower_discloses else names[0]
