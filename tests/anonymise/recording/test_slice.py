"""Pieces partition words and samples, are long enough, and cut no word."""

from __future__ import annotations

import itertools

import numpy as np
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.slice import (
    Remainder,
    Slice,
    cut_with_fade,
    shuffled_names,
    slice_seconds,
    slice_words,
)

RATE = 1000

steps = st.lists(st.tuples(st.floats(0.0, 0.5), st.floats(0.02, 0.9)), max_size=25)


def words(steps: list[tuple[float, float]]) -> tuple[list[tuple[float, float]], int]:
    position, times = 0.0, []
    for gap, length in steps:
        times.append((position + gap, position + gap + length))
        position += gap + length
    return times, round((position + 0.2) * RATE)


@given(steps, st.floats(0.1, 4.0), st.sampled_from(["merge", "keep", "drop"]))
def test_laws(given_steps: list[tuple[float, float]], seconds: float, rest: Remainder) -> None:
    times, size = words(given_steps)
    cut = slice_words(times, size, RATE, seconds=seconds, rest=rest)
    assert cut[0].start == 0 and cut[0].first == 0
    for piece, following in itertools.pairwise(cut):  # without gap or overlap
        assert (piece.stop, piece.end) == (following.first, following.start)
    if rest != "drop":
        assert (cut[-1].stop, cut[-1].end) == (len(times), size)
    short = [piece for piece in cut if piece.end - piece.start < seconds * RATE]
    if rest == "keep":
        assert short in ([], [cut[-1]])
    else:
        assert not short or (len(cut) == 1 and size < seconds * RATE) or cut == short[:1]
    for piece in cut[:-1]:  # no cut within a word
        before, after = times[piece.stop - 1], times[piece.stop]
        assert before[1] * RATE - 0.5 <= piece.end <= after[0] * RATE + 0.5


def test_each_piece_is_as_short_as_its_words_allow() -> None:
    times = [(0.5 * i, 0.5 * i + 0.4) for i in range(10)]
    cut = slice_words(times, 5000, RATE, seconds=1.0)
    assert [(piece.first, piece.stop) for piece in cut] == [(0, 3), (3, 5), (5, 7), (7, 10)]
    assert [piece.end - piece.start for piece in cut] == [1450, 1000, 1000, 1550]
    kept = slice_words(times, 5000, RATE, seconds=1.0, rest="keep")
    assert [(piece.first, piece.stop) for piece in kept][-1] == (9, 10)


def test_cuts_regardless_of_words() -> None:
    assert [(piece.start, piece.end) for piece in slice_seconds(2500, RATE, 1.0)] == [(0, 1000)]
    pieces = slice_seconds(2500, RATE, 1.0, first_only=False)
    assert [(piece.start, piece.end) for piece in pieces] == [(0, 1000), (1000, 2000), (2000, 2500)]
    assert [(piece.start, piece.end) for piece in slice_seconds(500, RATE, 1.0)] == [(0, 500)]


def test_a_piece_fades_at_both_ends() -> None:
    audio = np.ones(3000, np.float32)
    piece = cut_with_fade(audio, Slice(0, 1, 1000, 2000), RATE)
    rise = [0.1, 0.3, 0.5, 0.7, 0.9]  # 5 ms are 5 samples
    np.testing.assert_allclose(piece, [*rise, *[1.0] * 990, *rise[::-1]])
    assert audio.min() == 1


def test_order_and_names_follow_from_the_secret_alone() -> None:
    ids = [f"u-{i}" for i in range(50)]
    first = shuffled_names(Secret.reproducible(1), ids)
    assert first == shuffled_names(Secret.reproducible(1), ids)
    assert sorted(index for _, index in first) == list(range(50))
    assert [index for _, index in first] != [
        index for _, index in shuffled_names(Secret.reproducible(2), ids)
    ]
    again = shuffled_names(Secret.reproducible(1), ids[::-1])
    assert [name for name, _ in again] == [name for name, _ in first]


def test_what_is_refused() -> None:
    for wrong in (0.0, -1.0, float("nan"), 1e9):
        with raises_code("out-of-range"):
            slice_words([(0.0, 1.0)], 1000, RATE, seconds=wrong)
    with raises_code("unknown-name"):
        slice_words([(0.0, 1.0)], 1000, RATE, seconds=1.0, rest="lose")  # type: ignore[arg-type]
