"""Measures of several score sets and of resamples that the sets share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import FloatArray, Progress
from sottovoce.findings import Resampling
from sottovoce.measure.catalogue import Evidence, Measure
from sottovoce.measure.ladder import round_down
from sottovoce.measure.paired_draws import resample_together
from sottovoce.measure.pairing import PairedScores
from sottovoce.measure.quantiles import t_quantile
from sottovoce.measure.resampling import by_speaker, enough, mated_speakers
from sottovoce.measure.score_intervals import false_alarm_degrees
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.subsampling import (
    Deviations,
    pair_scale,
    shown_pairs,
    subsample_count,
    subsample_scale,
    subsample_together,
    tilt_together,
)
from sottovoce.measure.summary import plan_resampling, refusal, tally_for
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import eer

_T_DRAWS = 20_000
"""Draws of several correlated t: the 95 % quantile of the largest is then off by less than 1 %."""


@dataclass(frozen=True, slots=True, eq=False)
class JointDraws:
    """Values of some measures of some score sets, and of their resamples."""

    values: NDArray[np.float64]
    """Sets × measures; NaN where a measure cannot be computed from a set."""
    draws: NDArray[np.float64]
    """Resamples × sets × measures; without any resample where no intervals are asked for."""
    refusals: tuple[tuple[str, ...], ...]
    """Sets × measures: why a measure cannot be computed from a set; empty where it can."""
    false_alarms: NDArray[np.float64]
    """Sets × measures: how many false alarms a measure rests on; infinite if it rests on none."""
    errors: NDArray[np.float64]
    """Sets: trials of the rarer kind on the wrong side of the threshold of the EER."""

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
                self.false_alarms[end - size : end],
                self.errors[end - size : end],
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


class JointSets:
    """Several score sets, counted for some measures, of which resamples can be drawn together.

    Parameters
    ----------
    paired : PairedScores
        The score sets.
    measures : sequence of Measure
        What to compute.
    plan : Resampling or None
        How many resamples to draw; None for none.
    """

    def __init__(
        self, paired: PairedScores, measures: Sequence[Measure], plan: Resampling | None
    ) -> None:
        self._paired, self._measures = paired, measures
        self.replicates = plan.replicates if plan else 0
        count = subsample_count(self.replicates) if self.replicates else 0
        self.subsamples, self.tilts = count, count // 2
        self._refusals = [
            [refusal(measure, scores) for measure in measures] for scores in paired.sets
        ]
        tallies = [
            tally_for(
                [measure for measure, reason in zip(measures, reasons, strict=True) if not reason],
                scores,
                plan,
            )
            for reasons, scores in zip(self._refusals, paired.sets, strict=True)
        ]
        self._ladders = list(map(round_down, tallies))
        self._values = self._measure(tallies)
        counts = [measure.false_alarms or _no_false_alarms for measure in measures]
        self._false_alarms = self._compute(tallies, counts)
        self._errors = np.array(
            [eer(tally) * min(tally.n_mated, tally.n_nonmated) for tally in tallies]
        )

    def _measure(self, tallies: Sequence[Tally]) -> NDArray[np.float64]:
        """Values of the measures (sets × measures)."""
        return self._compute(tallies, [measure.compute for measure in self._measures])

    def _measure_resample(self, tallies: Sequence[Tally]) -> NDArray[np.float64]:
        """Values of a resample, in which a measure may be estimated in another way."""
        computes = [measure.resampled or measure.compute for measure in self._measures]
        return self._compute(tallies, computes)

    def _compute(
        self, tallies: Sequence[Tally], computes: Sequence[Callable[[Evidence], float]]
    ) -> NDArray[np.float64]:
        return np.array(
            [
                [
                    np.nan if reason else compute(evidence)
                    for compute, reason in zip(computes, reasons, strict=True)
                ]
                for evidence, reasons in zip(map(Evidence, tallies), self._refusals, strict=True)
            ]
        )

    def draw(self, seed: int | Sequence[int], progress: Progress | None = None) -> JointDraws:
        """Compute the measures of the sets and of resamples that the sets share.

        Parameters
        ----------
        seed : int or sequence of int
            Of the resamples.
        progress : callable, optional
            Called with the number of resamples done and to do.
        """
        draws = np.empty((self.replicates, *self._values.shape))
        rng = np.random.default_rng(seed)
        resamples = resample_together(
            self._paired, self._ladders, replicates=self.replicates, rng=rng
        )
        moved = self._values - self._measure(self._ladders)
        for i, drawn in enumerate(resamples):
            draws[i] = self._measure_resample(drawn) + moved
            if progress:
                progress(i + 1, self.replicates)
        refusals = tuple(map(tuple, self._refusals))
        return JointDraws(self._values, draws, refusals, self._false_alarms, self._errors)

    def deviate(self, seed: int, progress: Progress | None = None) -> Deviations:
        """Compute the measures in subsamples, as deviations that tell the standard errors.

        Parameters
        ----------
        seed : int
            Of the subsamples.
        progress : callable, optional
            Called with the number of subsamples done and to do.
        """
        rng = np.random.default_rng([seed, 1])
        total, values = self.subsamples + self.tilts, []
        left_out = subsample_together(self._paired, self._ladders, count=self.subsamples, rng=rng)
        tilted = tilt_together(self._paired, self._ladders, count=self.tilts, rng=rng)
        for i, drawn in enumerate(chain(left_out, tilted)):
            values.append(self._measure(drawn))
            if progress:
                progress(i + 1, total)
        drawn_values = np.array(values).reshape(-1, *self._values.shape)
        return Deviations(
            self._scaled(drawn_values[: self.subsamples], subsample_scale),
            self._scaled(drawn_values[self.subsamples :], pair_scale),
            least_share=1 / max(map(shown_pairs, self._paired.sets)),
        )

    def _scaled(
        self, values: NDArray[np.float64], scale: Callable[[ScoreSource], float]
    ) -> NDArray[np.float64]:
        """Deviations from the mean over subsamples, by the factor of each set."""
        if not len(values):
            return values
        factors = np.array([scale(scores) for scores in self._paired.sets])
        return np.asarray((values - values.mean(axis=0)) * factors[:, None])


def _no_false_alarms(evidence: Evidence) -> float:
    """The number of a measure that is not at one operating point: nothing is rare to it."""
    return np.inf


def degrees_of_freedom(measure: Measure, scores: ScoreSource, errors: float) -> float:
    """Count what an interval rests on, less one: speakers with mated trials, or trials.

    There are no more than two for each error, since the variance of a count is as uncertain as
    that: with few errors the standard error varies more from sample to sample than the number of
    speakers says.

    Parameters
    ----------
    measure : Measure
        At a low false-alarm rate it rests on the few trials that are false alarms.
    scores : ScoreSource
        The scores.
    errors : float
        Trials of the rarer kind on the wrong side of the threshold of the EER.
    """
    if by_speaker(scores):
        units = mated_speakers(scores)
    else:
        units = min(len(scores.mated), scores.n_nonmated)
    return min(units - 1.0, false_alarm_degrees(measure, scores), max(1.0, 2 * errors))


def simultaneous_half_widths(
    errors: FloatArray, deviations: FloatArray, confidence: float, degrees: FloatArray
) -> FloatArray:
    r"""Compute the half widths of intervals that hold for several quantities together.

    The intervals are :math:`\hat\theta_k \pm c\, s_k` with the standard errors :math:`s_k`. For one
    quantity c is the quantile of Student's t; for several it is that of the largest
    :math:`|T_k|`, where the numerators have the correlations of the quantities and every standard
    error is uncertain by itself.

    Parameters
    ----------
    errors : array of float64
        Standard error of each quantity.
    deviations : array of float64, subsamples × quantities
        Deviations with the correlations of the quantities.
    confidence : float
        Between 0 and 1.
    degrees : array of float64
        Degrees of freedom of each standard error.

    Returns
    -------
    array of float64
        One per quantity; 0 where the standard error is 0.
    """
    varies = errors > 0
    varying = deviations[:, varies]
    count = varying.shape[1]
    if count == 0:
        return errors
    if count == 1:
        return np.asarray(errors * t_quantile(float(degrees[varies][0]), (1 + confidence) / 2))
    correlation = np.atleast_2d(np.corrcoef(varying, rowvar=False))
    return np.asarray(errors * _largest_t_quantile(correlation, confidence, degrees[varies]))


def _largest_t_quantile(correlation: FloatArray, confidence: float, degrees: FloatArray) -> float:
    """Quantile of the largest of several correlated |t|, from draws with a fixed seed."""
    rng = np.random.default_rng(0)
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = rng.standard_normal((_T_DRAWS, len(values)), np.float32) @ root.T.astype(np.float32)
    spread = np.sqrt(rng.chisquare(degrees, normal.shape) / degrees)
    return float(np.quantile((np.abs(normal) / spread).max(axis=1), confidence))
