"""Intervals where resamples cannot vary: what so few speakers or trials could have missed.

Scores that lie wholly apart do so in every resample, and a share of 0 stays 0. That is no
certainty: of k speakers (or trials) none was on the wrong side, and then up to a share e may be,
the limit of Wilson's interval for 0 of k.
"""

from __future__ import annotations

import numpy as np

from sottovoce.measure.intervals import Interval, share_interval
from sottovoce.measure.tally import Tally


def least_apart(tally: Tally, units: int, confidence: float) -> Tally:
    """The least separated set that ``units`` could still have shown as wholly apart.

    A share e of either class lies on the side of the other. Of all sets with this EER it is the one
    with the least evidence: the hull of its ROC has a single corner, at (e, 1 − e).
    """
    wrong = share_interval(np.zeros(units), confidence).high
    mated = tally.n_mated * np.array([0.0, wrong, 0.0, 1 - wrong, 0.0])
    nonmated = tally.n_nonmated * np.array([0.0, 1 - wrong, 0.0, wrong, 0.0])
    return Tally(np.array([0.0, 1.0]), mated, nonmated, edges=np.array([0.0, 1.0, 2.0]))


def reaching(one: Interval, value: float) -> Interval:
    """An interval that reaches as far as a value.

    >>> reaching(Interval(0.0, 0.0), 0.09)
    Interval(low=0.0, high=0.09)
    """
    return Interval(min(one.low, value), max(one.high, value))


def of_share(value: float, units: int, confidence: float) -> Interval:
    """Of a share of 0 or 1 that every resample repeats."""
    return share_interval(np.full(units, value), confidence)
