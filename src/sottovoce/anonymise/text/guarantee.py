"""Guarantees of a transformation: ε, the leak bound, and the probability that a text leaks.

A private value w is found with probability ρ and then replaced with probability p by a draw from a
table of N values; r = ρ p. Two texts are neighbours if they differ in one private value of one
type. Nothing is guaranteed about where private values are, how many, or the words around them.

ε assumes that values are missed at random and that every value is in the table. A tagger misses
the same rare name each time, and real names are in no table. So ε is never given without δ, an
upper limit of the share of private words that stay, which assumes neither.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypedDict

from sottovoce.core.errors import TooFewError, UsageError
from sottovoce.core.records import JsonObject

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


def leak_bound(missed: int, total: int, confidence: float = CONFIDENCE) -> float:
    """Compute δ: the one-sided upper Clopper–Pearson limit of the share of missed private words.

    Parameters
    ----------
    missed : int
        Private words that were not found.
    total : int
        All private words, at least 1.
    confidence : float, default 0.95
        Confidence level of the limit.

    Raises
    ------
    TooFewError
        If there are no private words.

    Examples
    --------
    >>> round(leak_bound(5, 100), 4), round(leak_bound(0, 300), 4)
    (0.1023, 0.0099)
    """
    if not 0 <= missed <= total or total == 0:
        raise TooFewError(
            f"{missed} of {total} private words were missed; δ needs at least one private word"
        )
    from scipy.stats import beta

    if missed == total:
        return 1.0
    return float(beta.ppf(confidence, missed + 1, total - missed))


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
        return 1 - (1 - leak_bound(self.missed, self.total)) * self.probability

    def epsilons(self) -> dict[str, float]:
        """Return ε by type, on average and if misses were random."""
        rate = self.recall * self.probability
        return {kind: epsilon(size, rate) for kind, size in self.tables.items()}

    def to_dict(self) -> JsonObject:
        """Return the numbers by name; an infinite ε is null."""
        return {
            "strategy": self.strategy,
            "probability": self.probability,
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


class MissedWords(TypedDict):
    """Private words of a test set, and how many were missed."""

    missed: int
    total: int


class _MeasuredRecall(TypedDict):
    """Recall of the shipped taggers of a language, as ``recipes/measure_entities.py`` writes it."""

    set: str
    by_tau: dict[str, MissedWords]


@cache
def _measured_recall() -> dict[str, dict[str, _MeasuredRecall]]:
    """Return what was measured, by register and language."""
    path = files("sottovoce.anonymise.text") / "models" / "recall.json"
    recall: dict[str, dict[str, _MeasuredRecall]] = json.loads(path.read_text(encoding="utf-8"))
    return recall


def measured_recall(lang: str, tau: float, *, written: bool) -> tuple[str, MissedWords] | None:
    """Look up how many private words both shipped taggers together have missed.

    Parameters
    ----------
    lang : str
        Language code.
    tau : float
        τ of the taggers; the nearest lower one that was measured counts.
    written : bool
        Look up written test sets, where the language has one, instead of spoken ones.

    Returns
    -------
    (str, MissedWords) or None
        Name of the test set and the counts; None if no τ as low as this was measured.
    """
    measured = _measured_recall()
    recall = measured["spoken"][lang]
    if written:
        recall = measured["written"].get(lang, recall)
    taus = [measured_tau for measured_tau in recall["by_tau"] if float(measured_tau) <= tau]
    if not taus:
        return None
    return recall["set"], recall["by_tau"][max(taus, key=float)]
