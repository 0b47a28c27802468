"""Numbers for what still leaks, from two arrays of scores. Needs numpy and scipy only.

>>> from sottovoce.measure import Scores, eer, disclosure
>>> scores = Scores(mated=[2.1, 3.0, 2.7], nonmated=[0.3, 1.2, 2.2, 0.1])
>>> round(eer(scores), 3)
0.25
>>> disclosure(scores).tag
'A'
"""

from importlib import import_module
from typing import TYPE_CHECKING

from sottovoce.findings import (
    Comparison,
    Estimate,
    ScoreCurves,
    ScoreSummary,
    Similarity,
)
from sottovoce.measure.calibration import Calibration, calibrate
from sottovoce.measure.calibration_error import dev_pav
from sottovoce.measure.corrected_linkability import d_sys_corrected
from sottovoce.measure.detection_cost import (
    ErrorRates,
    OperatingPoint,
    dcf,
    error_rates,
    min_dcf,
)
from sottovoce.measure.disclosure import (
    Disclosure,
    EceProfile,
    disclosure,
    ece_profile,
)
from sottovoce.measure.held_out_calibration import (
    LogisticCalibration,
    fit_calibration,
    fit_logistic,
)
from sottovoce.measure.linkability import Linkability, linkability
from sottovoce.measure.paired import compare_scores
from sottovoce.measure.paired_shares import compare_shares
from sottovoce.measure.pairing import PairedScores, pair_sets
from sottovoce.measure.scores import Scores, Speakers
from sottovoce.measure.similarity import similarity
from sottovoce.measure.summary import measure_scores, score_curves
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import cllr, eer, min_cllr, roc, rocch_eer, tpr_at_fpr

if TYPE_CHECKING:
    from sottovoce.findings import Reidentification
    from sottovoce.measure.reidentification import reidentify
    from sottovoce.measure.reidentification_settings import ReidentificationSettings
    from sottovoce.measure.utility import f0_correlation, word_error_rate, word_errors

_ON_DEMAND = {
    "Reidentification": "reidentification",
    "ReidentificationSettings": "reidentification_settings",
    "f0_correlation": "utility",
    "reidentify": "reidentification",
    "word_error_rate": "utility",
    "word_errors": "utility",
}
"""Modules, by name of what they define, that scores alone do not need: imported when asked for."""


def __getattr__(name: str) -> object:
    module = _ON_DEMAND.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)


__all__ = [
    "Calibration",
    "Comparison",
    "Disclosure",
    "EceProfile",
    "ErrorRates",
    "Estimate",
    "Linkability",
    "LogisticCalibration",
    "OperatingPoint",
    "PairedScores",
    "Reidentification",
    "ReidentificationSettings",
    "ScoreCurves",
    "ScoreSummary",
    "Scores",
    "Similarity",
    "Speakers",
    "Tally",
    "calibrate",
    "cllr",
    "compare_scores",
    "compare_shares",
    "d_sys_corrected",
    "dcf",
    "dev_pav",
    "disclosure",
    "ece_profile",
    "eer",
    "error_rates",
    "f0_correlation",
    "fit_calibration",
    "fit_logistic",
    "linkability",
    "measure_scores",
    "min_cllr",
    "min_dcf",
    "pair_sets",
    "reidentify",
    "roc",
    "rocch_eer",
    "score_curves",
    "similarity",
    "tpr_at_fpr",
    "word_error_rate",
    "word_errors",
]
