"""What counts as a masked word that was heard."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.recording.recovery import recovered

WORDS = st.lists(st.sampled_from(["anna", "bonn", "carl", "dora"]), max_size=6)


@pytest.mark.parametrize(
    ("runs", "heard", "kept", "hits"),
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
def test_heard_once_counts_once_and_kept_words_explain_what_is_heard(
    runs: list[str], heard: str, kept: list[str], hits: int
) -> None:
    total = sum(len(run.split()) for run in runs)
    assert recovered(runs, heard, kept) == (hits, total)


@given(masked=WORDS, heard=WORDS, kept=WORDS)
def test_of_single_words_it_is_the_multiset_that_is_common(
    masked: list[str], heard: list[str], kept: list[str]
) -> None:
    common = (Counter(heard) - Counter(kept)) & Counter(masked)
    assert recovered(masked, " ".join(heard), kept) == (common.total(), len(masked))
