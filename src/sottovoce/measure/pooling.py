"""Means over conditions, their intervals, and how much the conditions differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.core.types import FloatArray
from sottovoce.findings import Heterogeneity
from sottovoce.measure.intervals import Interval


@dataclass(frozen=True, slots=True, eq=False)
class ConditionValues:
    """One quantity in several conditions."""

    names: Sequence[str]
    values: FloatArray
    weights: FloatArray
    """Of the conditions in the mean, such as numbers of speakers."""
    draws: FloatArray
    """The quantity in each resample (resamples × conditions)."""
    together: bool
    """Whether the conditions were resampled together, since they share speakers."""

    @property
    def shares(self) -> FloatArray:
        """The weights, adding up to 1."""
        return np.asarray(self.weights / self.weights.sum())

    @property
    def mean(self) -> float:
        """Weighted mean of the values."""
        return float(self.values @ self.shares)

    @property
    def mean_draws(self) -> FloatArray:
        """Weighted mean of the values in each resample."""
        return self.draws @ self.shares

    def interval(self, intervals: Sequence[Interval]) -> Interval:
        r"""Make the interval of the mean from those of the conditions.

        The distance to the lower end is :math:`\sqrt{\sum_{cd} w_c w_d r_{cd} l_c l_d}` with the
        distances :math:`l_c` of the conditions and the correlations :math:`r_{cd}` of their
        resamples, which are 0 for conditions that share no speaker; likewise the upper end (Zou and
        Donner 2008).

        Parameters
        ----------
        intervals : sequence of Interval
            One per condition.
        """
        below = self.shares * (self.values - np.array([interval.low for interval in intervals]))
        above = self.shares * (np.array([interval.high for interval in intervals]) - self.values)
        correlation = self._correlation()
        low, high = (math.sqrt(max(0.0, side @ correlation @ side)) for side in (below, above))
        return Interval(self.mean - low, self.mean + high)

    def _correlation(self) -> FloatArray:
        count = len(self.values)
        if not self.together or len(self.draws) < 2:
            return np.eye(count)
        deviations = self.draws - self.draws.mean(axis=0)
        lengths = np.sqrt((deviations**2).sum(axis=0))
        scaled = deviations / np.where(lengths > 0, lengths, 1.0)
        correlation = np.clip(scaled.T @ scaled, -1.0, 1.0)
        np.fill_diagonal(correlation, 1.0)
        return np.asarray(correlation)

    def heterogeneity(self) -> Heterogeneity | None:
        r"""Test whether the conditions differ more than chance explains.

        Cochran's :math:`Q = \sum_c (\hat\theta_c - \bar\theta)^2 / s_c^2` with the standard
        deviations :math:`s_c` of the resamples and the mean :math:`\bar\theta` weighted by
        :math:`1 / s_c^2`. Its p-value is the share of resamples, moved so that all conditions are
        equal, whose Q is at least as large; conditions may therefore share speakers.

        Returns
        -------
        Heterogeneity or None
            None for a single condition, or where all resamples of a condition agree.
        """
        if len(self.values) < 2 or len(self.draws) < 2:
            return None
        spread = self.draws.std(axis=0, ddof=1)
        if np.any(spread == 0):
            return None
        precision = 1 / spread**2
        q = float(_cochran(self.values[None], precision)[0])
        by_chance = _cochran(self.draws - self.draws.mean(axis=0), precision)
        degrees = len(self.values) - 1
        return Heterogeneity(
            q=q,
            degrees=degrees,
            i_squared=max(0.0, 1 - degrees / q) if q > 0 else 0.0,
            p_value=float((1 + np.sum(by_chance >= q)) / (1 + len(by_chance))),
            lowest=self.names[int(np.argmin(self.values))],
            highest=self.names[int(np.argmax(self.values))],
        )


def _cochran(values: FloatArray, precision: FloatArray) -> FloatArray:
    """Q of each row of values (rows × conditions)."""
    mean = values @ precision / precision.sum()
    return np.asarray((values - mean[:, None]) ** 2 @ precision)
