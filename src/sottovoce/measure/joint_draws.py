"""Measures of several score sets and of resamples that the sets share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import Progress
from sottovoce.findings import Resampling
from sottovoce.measure.catalogue import Evidence, Measure
from sottovoce.measure.ladder import round_down
from sottovoce.measure.pairing import PairedScores, resample_together
from sottovoce.measure.quantiles import normal_quantile, t_quantile
from sottovoce.measure.resampling import by_speaker, enough, mated_speakers
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.summary import plan_resampling, refusal, tally_for


@dataclass(frozen=True, slots=True, eq=False)
class JointDraws:
    """Values of some measures of some score sets, and of their resamples."""

    values: NDArray[np.float64]
    """Sets × measures; NaN where a measure cannot be computed from a set."""
    draws: NDArray[np.float64]
    """Resamples × sets × measures; without any resample where no intervals are asked for."""
    refusals: tuple[tuple[str, ...], ...]
    """Sets × measures: why a measure cannot be computed from a set; empty where it can."""

    def split(self, sizes: Sequence[int]) -> list[JointDraws]:
        """Divide the sets, in their order, into groups.

        Parameters
        ----------
        sizes : sequence of int
            Sets of each group.
        """
        ends = np.cumsum(sizes)
        return [
            JointDraws(
                self.values[end - size : end],
                self.draws[:, end - size : end],
                self.refusals[end - size : end],
            )
            for size, end in zip(sizes, ends.tolist(), strict=True)
        ]


def plan_together(
    paired: PairedScores, confidence: float | None, replicates: int | None
) -> Resampling | None:
    """Choose how several score sets are resampled; None where they are not.

    Parameters
    ----------
    paired : PairedScores
        The score sets.
    confidence : float or None
        Of the intervals, between 0 and 1; None for no intervals.
    replicates : int or None
        How many resamples to draw; None for as many as the largest set allows, 1,000 at most.
    """
    if confidence is None or not all(map(enough, paired.sets)):
        return None
    plans = [plan_resampling(scores, confidence, replicates) for scores in paired.sets]
    fewest = min(plan.replicates for plan in plans)
    if paired.paired_by == "trial":
        first = paired.sets[0]
        return Resampling(confidence, "trial", len(first.mated) + first.n_nonmated, fewest)
    units = {plan.unit for plan in plans}
    unit = "trial" if "trial" in units else "speaker"
    count = min(plan.count for plan in plans if plan.unit == unit)
    return Resampling(confidence, unit, count, fewest)


def draw_together(
    paired: PairedScores,
    measures: Sequence[Measure],
    plan: Resampling | None,
    *,
    seed: int | Sequence[int] = 0,
    progress: Progress | None = None,
) -> JointDraws:
    """Compute measures of several score sets and of resamples that the sets share.

    Parameters
    ----------
    paired : PairedScores
        The score sets.
    measures : sequence of Measure
        What to compute.
    plan : Resampling or None
        How many resamples to draw; None for none.
    seed : int or sequence of int, default 0
        Of the resamples.
    progress : callable, optional
        Called with the number of resamples done and to do.
    """
    refusals = [[refusal(measure, scores) for measure in measures] for scores in paired.sets]
    usable = [
        [measure for measure, reason in zip(measures, reasons, strict=True) if not reason]
        for reasons in refusals
    ]
    tallies = [
        tally_for(some, scores, plan) for some, scores in zip(usable, paired.sets, strict=True)
    ]
    ladders = list(map(round_down, tallies))
    values, rounded = (
        np.array(
            [
                _values(Evidence(tally), measures, some)
                for tally, some in zip(some_tallies, usable, strict=True)
            ]
        )
        for some_tallies in (tallies, ladders)
    )
    replicates = plan.replicates if plan else 0
    draws = np.empty((replicates, len(tallies), len(measures)))
    rng = np.random.default_rng(seed)
    resamples = resample_together(paired, ladders, replicates=replicates, rng=rng)
    for i, drawn in enumerate(resamples):
        for j, (tally, some) in enumerate(zip(drawn, usable, strict=True)):
            draws[i, j] = _resampled_values(Evidence(tally), measures, some)
        draws[i] += values - rounded
        if progress:
            progress(i + 1, replicates)
    return JointDraws(values, draws, tuple(map(tuple, refusals)))


def _values(
    evidence: Evidence, measures: Sequence[Measure], usable: Sequence[Measure]
) -> list[float]:
    return [measure.compute(evidence) if measure in usable else np.nan for measure in measures]


def _resampled_values(
    evidence: Evidence, measures: Sequence[Measure], usable: Sequence[Measure]
) -> list[float]:
    """Values of a resample, in which a measure may be estimated in another way."""
    return [
        (measure.resampled or measure.compute)(evidence) if measure in usable else np.nan
        for measure in measures
    ]


def degrees_of_freedom(scores: ScoreSource) -> int:
    """Count what an interval rests on, less one: speakers with mated trials, or trials.

    Parameters
    ----------
    scores : ScoreSource
        The scores.
    """
    if by_speaker(scores):
        return mated_speakers(scores) - 1
    return min(len(scores.mated), scores.n_nonmated) - 1


def simultaneous_half_widths(
    draws: NDArray[np.float64], confidence: float, degrees: int
) -> NDArray[np.float64]:
    r"""Compute the half widths of intervals that hold for several quantities together.

    The intervals are :math:`\hat\theta_k \pm c\, s_k` with the standard deviation :math:`s_k` of
    the resamples. The factor c is the quantile, over resamples, of the largest studentised
    deviation :math:`\max_k |\theta^*_k - \bar\theta^*_k| / s_k`, multiplied by the ratio of the
    quantiles of Student's t and of the normal distribution, because few speakers show less than all
    of the spread.

    Parameters
    ----------
    draws : array of float64, resamples × quantities
        The quantities in each resample.
    confidence : float
        Between 0 and 1.
    degrees : int
        Degrees of freedom of Student's t: speakers, or trials, less one.

    Returns
    -------
    array of float64
        One per quantity; 0 where all resamples agree.
    """
    spread: NDArray[np.float64] = draws.std(axis=0, ddof=1)
    varying = spread > 0
    if not varying.any():
        return spread
    studentised = np.abs(draws - draws.mean(axis=0))[:, varying] / spread[varying]
    largest = np.quantile(studentised.max(axis=1), confidence)
    tail = (1 + confidence) / 2
    return np.asarray(spread * largest * (t_quantile(degrees, tail) / normal_quantile(tail)))
