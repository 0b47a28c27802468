"""Levenshtein distance between sequences, by kind of edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sottovoce.core.types import IntArray


class Edits(NamedTuple):
    """The fewest edits that turn one sequence into another."""

    substitutions: int
    deletions: int
    insertions: int

    @property
    def total(self) -> int:
        """The Levenshtein distance."""
        return self.substitutions + self.deletions + self.insertions


def count_edits(reference: Sequence[str], hypothesis: Sequence[str]) -> Edits:
    """Count the fewest edits between two sequences; among those, the fewest substitutions.

    Parameters
    ----------
    reference : sequence of str
        The words, or other symbols, that are right.
    hypothesis : sequence of str
        The words to compare with them.

    >>> count_edits("the cat sat on the mat".split(), "the bat sat mat please".split())
    Edits(substitutions=1, deletions=2, insertions=1)
    """
    numbers: dict[str, int] = {}
    left, right = (_numbered(words, numbers) for words in (reference, hypothesis))
    unit = len(left) + len(right) + 1  # cost of an edit; a substitution costs 1 more
    insertions = unit * np.arange(len(right) + 1)
    cost = insertions.copy()
    for row, symbol in enumerate(left):
        best = cost + unit
        np.minimum(best[1:], cost[:-1] + (right != symbol) * (unit + 1), out=best[1:])
        # insertions after the best column so far: a running minimum along the row
        cost = np.minimum.accumulate(best - insertions) + insertions
        cost[0] = unit * (row + 1)
    total, substitutions = divmod(int(cost[-1]), unit)
    shift = len(left) - len(right)
    deletions = (total - substitutions + shift) // 2
    return Edits(substitutions, deletions, deletions - shift)


def _numbered(symbols: Sequence[str], numbers: dict[str, int]) -> IntArray:
    return np.array([numbers.setdefault(symbol, len(numbers)) for symbol in symbols], np.int64)
