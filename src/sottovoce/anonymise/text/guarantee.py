"""Guarantees of a transformation: ε, the leak bound, and the probability that a text leaks.

A private value w is found with probability ρ and then replaced with probability p by a draw from a
table of N values; r = ρ p. Two texts are neighbours if they differ in one private value of one
type. Nothing is guaranteed about where private values are, how many, or the words around them.

ε assumes that values are missed at random and that every value is in the table. A tagger misses
the same rare name each time, and real names are in no table. So ε is never given without δ, an
upper limit of the share of private words that stay, which assumes neither.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sottovoce.core.errors import TooFewError, UsageError
from sottovoce.core.records import JsonObject
from sottovoce.core.types import IntArray

CONFIDENCE = 0.95


def epsilon(size: int, rate: float) -> float:
    """Compute ε of uniform draws.

    ε = ln(1 + N (1 − r) / r), the largest ratio of P(out | w) and P(out | w′).

    Parameters
    ----------
    size : int
        N: the number of values in the table, at least 1.
    rate : float
        r: the share of values that are replaced, from 0 to 1.

    Examples
    --------
    >>> round(epsilon(1000, 0.9), 4), epsilon(1000, 1.0), epsilon(1000, 0.0)
    (4.7195, 0.0, inf)
    """
    _check(size, rate)
    return math.inf if rate == 0 else math.log1p(size * (1 - rate) / rate)


def rate_for(size: int, wanted: float) -> float:
    """Compute the rate that gives a wanted ε: r = N / (N + e^ε − 1).

    Parameters
    ----------
    size : int
        N: the number of values in the table, at least 1.
    wanted : float
        ε, at least 0.

    Examples
    --------
    >>> round(rate_for(1000, 3.0), 6)
    0.981272
    """
    _check(size, 1.0)
    if wanted < 0:
        raise UsageError(f"ε is {wanted:g}; it cannot be below 0", code="out-of-range")
    return 1 / (1 + math.expm1(wanted) / size)


def epsilon_if_different(size: int, rate: float) -> float:
    """Compute ε if a draw were never allowed to equal the original.

    It grows without limit as r → 1, which is why draws here may equal the original.

    Parameters
    ----------
    size : int
        N: the number of values in the table, at least 1.
    rate : float
        r: the share of values that are replaced, from 0 to 1.
    """
    _check(size, rate)
    if rate in (0.0, 1.0) or size < 2:
        return math.inf
    return abs(math.log((1 - rate) * (size - 1) / rate))


def leak_bound(
    missed: int, total: int, confidence: float = CONFIDENCE, *, effective: float | None = None
) -> float:
    """Compute δ: the one-sided upper Clopper–Pearson limit of the share of missed private words.

    Parameters
    ----------
    missed : int
        Private words that were not found.
    total : int
        All private words, at least 1.
    confidence : float, default 0.95
        Confidence level of the limit.
    effective : float, optional
        Independent words that would tell as much, see :func:`effective_words`; by default
        ``total``, which is right only if words are missed independently.

    Raises
    ------
    TooFewError
        If there are no private words.

    Examples
    --------
    >>> round(leak_bound(5, 100), 4), round(leak_bound(0, 300), 4)
    (0.1023, 0.0099)
    >>> round(leak_bound(5, 100, effective=40), 4)
    0.1492
    """
    if not 0 <= missed <= total or total == 0:
        raise TooFewError(
            f"{missed} of {total} private words were missed; δ needs at least one private word"
        )
    from scipy.stats import beta

    if missed == total:
        return 1.0
    size = total if effective is None else effective
    misses = size * missed / total
    return float(beta.ppf(confidence, misses + 1, size - misses))


def effective_words(missed: IntArray, private: IntArray) -> float:
    """Compute how many independently missed words would tell as much as these.

    A tagger that misses a name misses all of its words, so the words of a sentence tell less than
    as many words of different sentences. The number of words is divided by the design effect, the
    variance of the share over sentences by that of independent words (Korn and Graubard, *Survey
    Methodology* 24, 1998). If no word was missed, or all were, each sentence counts as one word.

    Parameters
    ----------
    missed : array of int
        Missed private words of each sentence.
    private : array of int
        All private words of each sentence; sentences without any do not count.

    Examples
    --------
    >>> import numpy as np
    >>> effective_words(np.array([1, 0, 1, 0]), np.array([1, 1, 1, 1])) < 4
    True
    """
    missed, private = missed[private > 0], private[private > 0]
    count, total = len(private), int(private.sum())
    share = missed.sum() / max(1, total)
    if count < 2 or share in (0.0, 1.0):
        return float(count)
    from scipy.stats import t

    spread = count / (count - 1) * ((missed - share * private) ** 2).sum()
    design_effect = max(1.0, spread / (total * share * (1 - share)))
    few_sentences = (t.ppf(CONFIDENCE, total - 1) / t.ppf(CONFIDENCE, count - 1)) ** 2
    return float(total / design_effect * few_sentences)


def leak_of_text(delta: float, words: int) -> float:
    """Compute the probability that a text leaks at least one of its private words.

    1 − (1 − δ)^m.

    Parameters
    ----------
    delta : float
        δ: the share of private words that leak, from 0 to 1.
    words : int
        m: private words of the text.

    Examples
    --------
    >>> round(leak_of_text(0.1, 10), 4)
    0.6513
    """
    if not 0 <= delta <= 1 or words < 0:
        raise UsageError(
            f"δ is {delta:g} and m is {words}; they must be a share and a count",
            code="out-of-range",
        )
    return 1.0 if delta == 1 and words else -math.expm1(words * math.log1p(-delta))


def _check(size: int, rate: float) -> None:
    if size < 1:
        raise UsageError(f"the table has {size} values; it needs at least one", code="too-few")
    if not 0 <= rate <= 1:
        raise UsageError(f"the rate is {rate:g}; it must lie between 0 and 1", code="out-of-range")


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What can be guaranteed of a transformation; its numbers are only given together."""

    strategy: str
    probability: float
    """p: the probability that a value that was found is replaced."""
    missed: int
    """Private words of the test set that were missed."""
    total: int
    """Private words of the test set."""
    effective: float
    """Independent words that would tell as much, see :func:`effective_words`."""
    kind: str
    """Kind of text that was measured; nothing is guaranteed for any other."""
    measured_on: str
    """Name of the test set."""
    tables: dict[str, int]
    """N by type, for strategies that draw."""

    @property
    def recall(self) -> float:
        """ρ, as measured."""
        return 1 - self.missed / self.total

    @property
    def leak(self) -> float:
        """δ: the share that is missed at most, or found and kept."""
        bound = leak_bound(self.missed, self.total, effective=self.effective)
        return 1 - (1 - bound) * self.probability

    def epsilons(self) -> dict[str, float]:
        """Return ε by type, on average and if misses were random."""
        rate = self.recall * self.probability
        return {kind: epsilon(size, rate) for kind, size in self.tables.items()}

    def to_dict(self) -> JsonObject:
        """Return the numbers by name; an infinite ε is null."""
        return {
            "strategy": self.strategy,
            "probability": self.probability,
            "kind": self.kind,
            "measured_on": self.measured_on,
            "missed": self.missed,
            "private_words": self.total,
            "recall": self.recall,
            "delta": self.leak,
            "leak_of_text": {str(m): leak_of_text(self.leak, m) for m in (1, 5, 10)},
            "epsilon_average_case": {
                kind: value if math.isfinite(value) else None
                for kind, value in self.epsilons().items()
            },
            "epsilon_assumes": "random misses, and originals that are in the table",
        }
