"""Which masked words count as recovered."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.recording.leak_measures import count_recovered

WORDS = st.lists(st.sampled_from(["anna", "bonn", "carl", "dora"]), max_size=6)


@pytest.mark.parametrize(
    ("runs", "transcript", "remaining", "hits"),
    [
        (["will"], "I will go", ["i", "go"], 1),
        (["will", "will"], "I will go", ["i", "go"], 1),
        (["the"], "the end", ["the", "end"], 0),
        (["the"], "the end of the", ["the", "end", "of"], 1),
        (["Ann's"], "ANN said", ["said"], 1),
        (["Mr"], "mister Lee", ["Lee"], 1),
        (["42 86"], "it was forty two eighty six", ["it", "was"], 2),
        (["Ann Lee", "Ann"], "Ann Lee", [], 2),
        (["Annabel"], "Ann a bell", [], 0),
        (["Ann"], "", ["Ann"], 0),
        ([], "anything", [], 0),
    ],
)
def test_a_heard_word_counts_once_and_not_if_a_remaining_word_explains_it(
    runs: list[str], transcript: str, remaining: list[str], hits: int
) -> None:
    total = sum(len(run.split()) for run in runs)
    assert count_recovered(runs, transcript, remaining) == (hits, total)


@given(masked=WORDS, transcript=WORDS, remaining=WORDS)
def test_single_words_are_compared_as_multisets(
    masked: list[str], transcript: list[str], remaining: list[str]
) -> None:
    common = (Counter(transcript) - Counter(remaining)) & Counter(masked)
    assert count_recovered(masked, " ".join(transcript), remaining) == (common.total(), len(masked))


def test_words_are_normalised_by_the_rules_of_their_language() -> None:
    """In English *ten* is the figure 10; in Dutch it is a word."""
    assert count_recovered(["ten"], "10", lang="en") == (1, 1)
    assert count_recovered(["ten"], "10", lang="nl") == (0, 1)
