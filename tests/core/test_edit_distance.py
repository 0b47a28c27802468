"""Edits between sequences against the textbook definition."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.core.edit_distance import Edits, count_edits

words = st.lists(st.sampled_from("abc"), max_size=7)


@given(words, words)
def test_the_fewest_edits_with_the_fewest_substitutions(left: list[str], right: list[str]) -> None:
    @cache
    def best(i: int, j: int) -> tuple[int, int, int, int]:
        """Total, substitutions, deletions, insertions, by plain recursion."""
        if i == 0 or j == 0:
            return i + j, 0, i, j
        total, changed, deleted, inserted = best(i - 1, j - 1)
        differs = int(left[i - 1] != right[j - 1])
        options = [(total + differs, changed + differs, deleted, inserted)]
        total, changed, deleted, inserted = best(i - 1, j)
        options.append((total + 1, changed, deleted + 1, inserted))
        total, changed, deleted, inserted = best(i, j - 1)
        options.append((total + 1, changed, deleted, inserted + 1))
        return min(options)

    total, *edits = best(len(left), len(right))
    assert count_edits(left, right) == Edits(*edits)
    assert count_edits(left, right).total == total
