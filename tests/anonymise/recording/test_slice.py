"""Slices: they partition words and samples, last long enough, and cut no word."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.slice import Rest, hard_cut, shuffled_names, slice_words
from sottovoce.core.errors import UsageError

RATE = 1000

steps = st.lists(st.tuples(st.floats(0.0, 0.5), st.floats(0.02, 0.9)), max_size=25)


def words(steps: list[tuple[float, float]]) -> tuple[list[tuple[float, float]], int]:
    at, out = 0.0, []
    for gap, length in steps:
        out.append((at + gap, at + gap + length))
        at += gap + length
    return out, round((at + 0.2) * RATE)


@given(steps, st.floats(0.1, 4.0), st.sampled_from(["merge", "keep", "drop"]))
def test_laws(given_steps: list[tuple[float, float]], seconds: float, rest: Rest) -> None:
    times, size = words(given_steps)
    cut = slice_words(times, size, RATE, seconds=seconds, rest=rest)
    assert cut[0].start == 0 and cut[0].first == 0
    for one, after in itertools.pairwise(cut):  # in order, nothing between or twice
        assert (one.stop, one.end) == (after.first, after.start)
    if rest != "drop":
        assert (cut[-1].stop, cut[-1].end) == (len(times), size)
    short = [one for one in cut if one.end - one.start < seconds * RATE]
    if rest == "keep":
        assert short in ([], [cut[-1]])
    else:
        assert not short or (len(cut) == 1 and size < seconds * RATE) or cut == short[:1]
    for one in cut[:-1]:  # no cut within a word, and none could have been made earlier
        before, after_word = times[one.stop - 1], times[one.stop]
        assert before[1] * RATE - 0.5 <= one.end <= after_word[0] * RATE + 0.5


def test_each_piece_is_as_short_as_its_words_allow() -> None:
    times = [(0.5 * i, 0.5 * i + 0.4) for i in range(10)]
    cut = slice_words(times, 5000, RATE, seconds=1.0)
    assert [(one.first, one.stop) for one in cut] == [(0, 3), (3, 5), (5, 7), (7, 10)]
    assert [one.end - one.start for one in cut] == [1450, 1000, 1000, 1550]
    kept = slice_words(times, 5000, RATE, seconds=1.0, rest="keep")
    assert [(one.first, one.stop) for one in kept][-1] == (9, 10)


def test_hard_cuts() -> None:
    assert [(one.start, one.end) for one in hard_cut(2500, RATE, 1.0)] == [(0, 1000)]
    pieces = hard_cut(2500, RATE, 1.0, all_of_it=True)
    assert [(one.start, one.end) for one in pieces] == [(0, 1000), (1000, 2000), (2000, 2500)]
    assert [(one.start, one.end) for one in hard_cut(500, RATE, 1.0)] == [(0, 500)]


def test_order_and_names_follow_from_the_secret_alone() -> None:
    ids = [f"u-{i}" for i in range(50)]
    first = shuffled_names(Secret.reproducible(1), ids)
    assert first == shuffled_names(Secret.reproducible(1), ids)
    assert sorted(place for _, place in first) == list(range(50))
    assert [place for _, place in first] != [
        place for _, place in shuffled_names(Secret.reproducible(2), ids)
    ]
    again = shuffled_names(Secret.reproducible(1), ids[::-1])
    assert [name for name, _ in again] == [name for name, _ in first]


def test_what_is_refused() -> None:
    for wrong in (0.0, -1.0, float("nan"), 1e9):
        with pytest.raises(UsageError, match="pieces of"):
            slice_words([(0.0, 1.0)], 1000, RATE, seconds=wrong)
    with pytest.raises(UsageError, match="choose merge"):
        slice_words([(0.0, 1.0)], 1000, RATE, seconds=1.0, rest="lose")  # type: ignore[arg-type]
