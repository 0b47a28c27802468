"""A score measure: the area under the ROC."""

import numpy as np

from sottovoce.measure import roc
from sottovoce.measure.catalogue import Evidence, Measure


def roc_area(evidence: Evidence) -> float:
    """Probability that a mated pair scores above a non-mated one; ties count half."""
    curve = roc(evidence.tally)
    return float(np.trapezoid(1 - curve.miss[::-1], curve.false_alarm[::-1]))


ROC_AREA = Measure("roc_area", "ROC area", lower_discloses=False, chance=0.5, compute=roc_area)
