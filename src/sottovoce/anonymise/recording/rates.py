"""Shares with their intervals, and whether they are above chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy import stats

LEVEL = 0.01
"""A guesser is better than chance if chance would do as well this rarely."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of how many, the Clopper-Pearson interval at 95 %, and what chance gives."""

    hits: int
    total: int
    chance: float

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson 1934; the whole range where nothing was tried."""
        k, n = self.hits, self.total
        low = float(stats.beta.ppf(0.025, k, n - k + 1)) if k else 0.0
        high = float(stats.beta.ppf(0.975, k + 1, n - k)) if k < n else 1.0
        return low, high

    @property
    def above_chance(self) -> bool:
        """Whether chance alone would hardly have done so well."""
        if not self.total:
            return False
        tail = stats.binomtest(self.hits, self.total, min(self.chance, 1.0), "greater").pvalue
        return bool(tail < LEVEL)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        low, high = self.interval
        share = self.hits / self.total if self.total else None
        return {
            "hits": self.hits,
            "total": self.total,
            "share": share,
            "low": low,
            "high": high,
            "chance": self.chance,
            "above_chance": self.above_chance,
        }


@dataclass(slots=True)
class Count:
    """Hits and tries as they come in, and the hits that chance would have had."""

    hits: int = 0
    total: int = 0
    expected: float = 0.0

    def add(self, hits: int, total: int, chance: float = 0.0) -> None:
        """Add tries, each with a chance of its own."""
        self.hits += hits
        self.total += total
        self.expected += chance * total

    def rate(self, chance: float | None = None) -> Rate:
        """The share, against the mean chance of all tries or a given one."""
        given = self.expected / self.total if self.total and chance is None else chance or 0.0
        return Rate(self.hits, self.total, given)
