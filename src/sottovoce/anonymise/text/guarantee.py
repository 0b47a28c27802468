"""What a transformation promises: ε, the leak bound, and the chance that a text leaks.

A private value w is found with probability ρ and then replaced with probability p by a draw from a
table of N values; r = ρ p. Two texts are neighbours if they differ in one private value of one
type. Nothing is promised on where private values are, how many, or on the words around them.

ε assumes that values are missed at random and that every value is in the table. A tagger misses
the same rare name each time, and real names are in no table. So ε is never given without δ, an
upper limit of the share of private words that stay, for which neither is assumed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sottovoce.core.errors import TooFewError, UsageError

CONFIDENCE = 0.95


def epsilon(size: int, rate: float) -> float:
    """ε of uniform draws from ``size`` values, of which ``rate`` = r are replaced.

    ε = ln(1 + N (1 − r) / r), the largest ratio of P(out | w) and P(out | w′).

    >>> round(epsilon(1000, 0.9), 4), epsilon(1000, 1.0), epsilon(1000, 0.0)
    (4.7195, 0.0, inf)
    """
    _check(size, rate)
    return math.inf if rate == 0 else math.log1p(size * (1 - rate) / rate)


def rate_for(size: int, wanted: float) -> float:
    """The r that gives a wanted ε: r = N / (N + e^ε − 1).

    >>> round(rate_for(1000, 3.0), 6)
    0.981272
    """
    _check(size, 1.0)
    if wanted < 0:
        raise UsageError(f"ε of {wanted:g}; it is never below 0")
    return 1 / (1 + math.expm1(wanted) / size)


def epsilon_if_different(size: int, rate: float) -> float:
    """ε if a draw were never allowed to equal the original: it grows without limit as r → 1.

    Why draws here may equal the original.
    """
    _check(size, rate)
    if rate in (0.0, 1.0) or size < 2:
        return math.inf
    return abs(math.log((1 - rate) * (size - 1) / rate))


def leak_bound(missed: int, total: int, confidence: float = CONFIDENCE) -> float:
    """δ: the one-sided upper Clopper–Pearson limit of the share of private words that are missed.

    >>> round(leak_bound(5, 100), 4), round(leak_bound(0, 300), 4)
    (0.1023, 0.0099)
    """
    if not 0 <= missed <= total or total == 0:
        raise TooFewError(f"{missed} of {total} private words missed; there must be some to count")
    from scipy.stats import beta

    if missed == total:
        return 1.0
    return float(beta.ppf(confidence, missed + 1, total - missed))


def leak_of_text(delta: float, words: int) -> float:
    """The probability that a text with ``words`` private words leaks at least one.

    1 − (1 − δ)^m.

    >>> round(leak_of_text(0.1, 10), 4)
    0.6513
    """
    if not 0 <= delta <= 1 or words < 0:
        raise UsageError(f"δ = {delta:g} and {words} words; a share and a count")
    return 1.0 if delta == 1 and words else -math.expm1(words * math.log1p(-delta))


def _check(size: int, rate: float) -> None:
    if size < 1:
        raise UsageError(f"a table of {size} values; it needs at least one")
    if not 0 <= rate <= 1:
        raise UsageError(f"a rate of {rate:g}; between 0 and 1")


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What can be said of a transformation, always together."""

    strategy: str
    probability: float
    """p: the probability that what was found is replaced."""
    missed: int
    total: int
    """Private words of a tagged text, and how many of them were missed."""
    measured_on: str
    tables: dict[str, int]
    """N by type, for strategies that draw."""

    @property
    def recall(self) -> float:
        """ρ, as measured."""
        return 1 - self.missed / self.total

    @property
    def leak(self) -> float:
        """δ: what is missed at most, and what is found and kept."""
        return 1 - (1 - leak_bound(self.missed, self.total)) * self.probability

    def epsilons(self) -> dict[str, float]:
        """ε by type, on average and if misses were random."""
        rate = self.recall * self.probability
        return {kind: epsilon(size, rate) for kind, size in self.tables.items()}

    def to_dict(self) -> dict[str, Any]:
        """By name; an infinite ε is null."""
        finite = {k: e if math.isfinite(e) else None for k, e in self.epsilons().items()}
        return {
            "strategy": self.strategy,
            "probability": self.probability,
            "measured_on": self.measured_on,
            "missed": self.missed,
            "private_words": self.total,
            "recall": self.recall,
            "delta": self.leak,
            "leak_of_text": {str(m): leak_of_text(self.leak, m) for m in (1, 5, 10)},
            "epsilon_average_case": finite,
            "epsilon_assumes": "random misses, and originals that are in the table",
        }
