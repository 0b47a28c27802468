"""All score measures of one set of scores, and the curves that its figures show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sottovoce.core.errors import SottovoceError
from sottovoce.core.types import FloatArray, Progress
from sottovoce.findings import (
    DetCurve,
    EceCurve,
    Estimate,
    MissRate,
    NotMeasured,
    Resampling,
    ScoreCurves,
    ScoreHistogram,
    ScoreSummary,
)
from sottovoce.measure import acceleration
from sottovoce.measure.calibration_error import every_score
from sottovoce.measure.catalogue import MEASURES, Evidence, Measure
from sottovoce.measure.cautions import score_warnings
from sottovoce.measure.corrected_linkability import fine_bin_count, with_fine_bins
from sottovoce.measure.disclosure import (
    TAGS,
    attainable,
    disclosure,
    ece_profile,
    tag_of,
    worst_case_of,
)
from sottovoce.measure.intervals import (
    Interval,
    check_confidence,
    check_replicates,
    needed_replicates,
)
from sottovoce.measure.ladder import round_down
from sottovoce.measure.linkability import linkability
from sottovoce.measure.resampling import by_speaker, enough
from sottovoce.measure.score_intervals import score_intervals
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.measure.tippett import tippett_curves, tippett_thresholds
from sottovoce.measure.verification import eer, roc, rocch_eer, tpr_at_fpr_of


def measure_scores(
    scores: ScoreSource,
    *,
    interval: float | None = 0.95,
    replicates: int | None = None,
    only: Iterable[str] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> ScoreSummary:
    """Compute every score measure, or some of them, of a set of scores.

    Parameters
    ----------
    scores : ScoreSource
        Mated and non-mated scores, in memory or streamed from a file.
    interval : float or None, default 0.95
        Confidence of the intervals, between 0 and 1; None for no intervals.
    replicates : int, optional
        Resamples behind the intervals; default 1,000, fewer (200 at least) for very large sets.
    only : iterable of str, optional
        Names of the measures to compute; default all that are registered.
    seed : int, default 0
        Of the resamples and shuffles: the same seed gives the same intervals.
    progress : callable, optional
        Called with the number of resamples done and to do.

    Returns
    -------
    ScoreSummary
        One estimate per measure. A measure with too few data has the value None and says why.

    Examples
    --------
    >>> from sottovoce.measure import Scores, measure_scores
    >>> summary = measure_scores(Scores([2.0, 3.0, 4.0], [0.0, 1.0, 2.5]), interval=None)
    >>> round(summary.measures["eer"].value, 3)
    0.333
    """
    if interval is not None:
        check_confidence(interval)
    chosen = [MEASURES[name] for name in (MEASURES.defaults() if only is None else only)]
    refusals = {measure.name: reason for measure in chosen if (reason := refusal(measure, scores))}
    usable = [measure for measure in chosen if measure.name not in refusals]
    resampling = None
    if interval is not None and enough(scores):
        resampling = plan_resampling(scores, interval, replicates)
    tally = tally_for(usable, scores, resampling)
    evidence = Evidence(tally)
    values = {measure.name: measure.compute(evidence) for measure in usable}
    intervals: dict[str, Interval] = {}
    if resampling is not None:
        ladder = round_down(tally)
        rounded = {measure.name: measure.compute(Evidence(ladder)) for measure in usable}
        intervals = score_intervals(
            scores, ladder, usable, rounded, resampling, seed=seed, progress=progress
        )
        intervals = _moved(intervals, usable, rounded, values)
    chances = {measure.name: _chance(measure, tally, seed) for measure in usable}
    tag = tag_of(worst_case_of(evidence.blocks))
    cautions = score_warnings(scores, tally, resampling, interval, intervals.get("eer"))
    return ScoreSummary(
        name=scores.name,
        n_mated=len(scores.mated),
        n_nonmated=scores.n_nonmated,
        measures={
            measure.name: _estimate(measure, scores, values, intervals, chances, refusals)
            for measure in chosen
        },
        tag=tag,
        tag_meaning=TAGS[tag],
        attainable_log10_lr=attainable(tally),
        interval=resampling,
        warnings=tuple(caution.message for caution in cautions),
        warning_codes=tuple(caution.code for caution in cautions),
    )


def refusal(measure: Measure, scores: ScoreSource) -> str:
    """Say why a measure cannot be computed from some scores; empty if it can.

    Parameters
    ----------
    measure : Measure
        The measure.
    scores : ScoreSource
        The scores.
    """
    try:
        measure.check(scores)
    except SottovoceError as error:
        return str(error)
    return ""


def tally_for(measures: Sequence[Measure], scores: ScoreSource, plan: Resampling | None) -> Tally:
    """Count the scores, with everything that some measures and their resamples need.

    Parameters
    ----------
    measures : sequence of Measure
        What is to be computed from the tally.
    scores : ScoreSource
        The scores.
    plan : Resampling or None
        How the scores are to be resampled, if they are.
    """
    needs = frozenset[str]().union(*(measure.needs for measure in measures))
    bins = fine_bin_count(len(scores.mated)) if "bins" in needs else 0
    trials = len(scores.mated) + scores.n_nonmated
    loops = acceleration.loops_for(trials * plan.replicates) if plan else None
    thresholds = [threshold for measure in measures for threshold in measure.thresholds]
    if "every_score" in needs:
        thresholds += every_score(scores).tolist()
    tally = Tally.of(
        scores,
        bins=bins,
        thresholds=thresholds,
        costs="costs" in needs,
        squares=plan is not None and plan.unit == "trial",
        loops=loops,
    )
    return with_fine_bins(scores, tally) if bins else tally


def plan_resampling(scores: ScoreSource, confidence: float, replicates: int | None) -> Resampling:
    """Choose what is resampled, and how often.

    Parameters
    ----------
    scores : ScoreSource
        The scores.
    confidence : float
        Of the intervals, between 0 and 1.
    replicates : int or None
        How many resamples to draw; None for 1,000, fewer (200 at least) for very large sets.
    """
    trials = len(scores.mated) + scores.n_nonmated
    speakers = scores.speakers.count if scores.speakers and by_speaker(scores) else 0
    if replicates is None:
        replicates = max(200, min(1000, 2 * 10**9 // trials)) if speakers else 1000
        replicates = max(replicates, needed_replicates(confidence))
    check_replicates(replicates, confidence)
    unit, count = ("speaker", speakers) if speakers else ("trial", trials)
    return Resampling(confidence, unit, count, replicates)


def _moved(
    intervals: Mapping[str, Interval],
    measures: Sequence[Measure],
    origins: Mapping[str, float],
    values: Mapping[str, float],
) -> dict[str, Interval]:
    """Intervals of rounded scores, moved to the values of the scores as they are."""
    moved = {}
    for measure in measures:
        name = measure.name
        ends = np.array([intervals[name].low, intervals[name].high]) - origins[name] + values[name]
        low, high = np.clip(ends, *measure.bounds).tolist()
        moved[name] = Interval(low, high)
    return moved


def _chance(measure: Measure, tally: Tally, seed: int) -> float:
    if measure.sampled_chance is None:
        return measure.chance
    return measure.sampled_chance(tally, np.random.default_rng([seed, measure.chance_stream]))


def _estimate(
    measure: Measure,
    scores: ScoreSource,
    values: Mapping[str, float],
    intervals: Mapping[str, Interval],
    chances: Mapping[str, float],
    refusals: Mapping[str, str],
) -> Estimate:
    name = measure.name
    interval = intervals.get(name)
    return Estimate(
        value=values.get(name),
        chance=chances.get(name),
        direction=measure.direction,
        n_mated=len(scores.mated),
        n_nonmated=scores.n_nonmated,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        note=refusals.get(name) or measure.remark or None,
    )


FALSE_ALARM_RATES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""At which miss rates are listed."""
DET_POINTS, DET_END_POINTS = 300, 60
"""Points of a DET curve: along the curve, and at each end, where its scale is widest."""


def score_curves(scores: ScoreSource) -> ScoreCurves:
    """Compute the ECE profile, DET, histogram and Tippett curves of a set of scores.

    Parameters
    ----------
    scores : ScoreSource
        Mated and non-mated scores, in memory or streamed.

    Returns
    -------
    ScoreCurves
        The histogram is a note where there are too few scores for one.
    """
    tally = Tally.of(scores, thresholds=tippett_thresholds(scores))
    profile = ece_profile(tally)
    disclosed = disclosure(tally)
    return ScoreCurves(
        eer=eer(tally),
        rocch_eer=rocch_eer(tally),
        d_ece=disclosed.d_ece,
        worst_case_log10_lr=disclosed.worst_case_log10_lr,
        tag=disclosed.tag,
        ece=EceCurve(
            _values(profile.prior_log_odds), _values(profile.ece), _values(profile.zero_evidence)
        ),
        det=_det_curve(tally),
        miss_rates=tuple(
            MissRate(rate, 1 - tpr_at_fpr_of(tally, rate)) for rate in FALSE_ALARM_RATES
        ),
        histogram=_histogram(scores),
        tippett=tippett_curves(scores, tally),
    )


def _values(array: FloatArray) -> tuple[float, ...]:
    return tuple(array.tolist())


def _det_curve(tally: Tally) -> DetCurve:
    """Thin the ROC to what a figure can show: points evenly spaced along the curve."""
    curve = roc(tally)
    along = curve.miss - curve.false_alarm
    even = np.searchsorted(along, np.linspace(along[0], along[-1], DET_POINTS))
    ends = np.arange(min(DET_END_POINTS, len(along)))
    points = np.concatenate((even, ends, len(along) - 1 - ends))
    chosen = np.unique(np.clip(points, 0, len(along) - 1))
    return DetCurve(_values(curve.false_alarm[chosen]), _values(curve.miss[chosen]))


def _histogram(scores: ScoreSource) -> ScoreHistogram | NotMeasured:
    try:
        histogram = linkability(scores, permutations=0)
    except SottovoceError as error:
        return NotMeasured(str(error))
    return ScoreHistogram(
        histogram.d_sys,
        _values(histogram.edges),
        _values(histogram.mated),
        _values(histogram.nonmated),
        _values(histogram.local),
    )
