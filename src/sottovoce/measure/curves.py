"""The curves of a set of scores: everything that its figures show, computed once."""

from __future__ import annotations

import numpy as np

from sottovoce.core.errors import SottovoceError
from sottovoce.core.types import FloatArray
from sottovoce.findings import (
    DetCurve,
    EceCurve,
    MissRate,
    NotMeasured,
    ScoreCurves,
    ScoreHistogram,
)
from sottovoce.measure.disclosure import disclosure, ece_profile
from sottovoce.measure.linkability import linkability
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import eer, roc, rocch_eer, tpr_at_fpr_of

FALSE_ALARM_RATES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""At which miss rates are listed."""
DET_POINTS, DET_END_POINTS = 300, 60
"""Points of a DET curve: along the curve, and at each end, where its scale is widest."""


def score_curves(scores: ScoreSource) -> ScoreCurves:
    """Compute the ECE profile, DET curve and histogram of a set of scores.

    Parameters
    ----------
    scores : ScoreSource
        Mated and non-mated scores, in memory or streamed.

    Returns
    -------
    ScoreCurves
        The histogram is a note where there are too few scores for one.
    """
    tally = Tally.of(scores)
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
