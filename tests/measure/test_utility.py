"""Words, melody, length and loudness kept: laws, and the slow definition of word errors."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.measure.utility import (
    WordErrors,
    average,
    duration_ratio,
    f0_correlation,
    loudness_difference,
    word_error_difference,
    word_error_rate,
    word_errors,
)

sentences = st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join)


def slowly(said: tuple[str, ...], heard: tuple[str, ...]) -> tuple[int, int, int, int]:
    """Errors, substitutions, deletions, insertions: the least in that order, over all alignments.

    The definition: every word is right, replaced, dropped or made up.
    """

    @cache
    def least(i: int, j: int) -> tuple[int, int, int, int]:
        if i == len(said) and j == len(heard):
            return (0, 0, 0, 0)
        ways = []
        if i < len(said) and j < len(heard):
            wrong = said[i] != heard[j]
            e, s, d, n = least(i + 1, j + 1)
            ways.append((e + wrong, s + wrong, d, n))
        if i < len(said):
            e, s, d, n = least(i + 1, j)
            ways.append((e + 1, s, d + 1, n))
        if j < len(heard):
            e, s, d, n = least(i, j + 1)
            ways.append((e + 1, s, d, n + 1))
        return min(ways)

    return least(0, 0)


@given(sentences, sentences)
def test_word_errors_by_definition(reference: str, hypothesis: str) -> None:
    found = word_errors(reference, hypothesis)
    said, heard = tuple(reference.split()), tuple(hypothesis.split())
    total, *parts = slowly(said, heard)
    assert found.total == total and found.words == len(said)
    assert [found.substitutions, found.deletions, found.insertions] == parts


@given(sentences, sentences, sentences)
def test_word_errors_are_a_distance(a: str, b: str, c: str) -> None:
    assert word_errors(a, a).total == 0
    assert word_errors(a, b).total == word_errors(b, a).total
    assert word_errors(a, c).total <= word_errors(a, b).total + word_errors(b, c).total
    swapped = word_errors(b, a)
    assert swapped.deletions == word_errors(a, b).insertions


def test_long_transcripts() -> None:
    rng = np.random.default_rng(0)
    words = [str(word) for word in rng.integers(0, 50, 3000)]
    kept = [word for word in words if rng.random() > 0.1]
    assert word_errors(" ".join(words), " ".join(kept)) == WordErrors(3000, 0, 3000 - len(kept), 0)


def test_the_rate_is_over_all_words_and_its_interval_by_speaker() -> None:
    rng = np.random.default_rng(1)
    rates = rng.uniform(0.0, 0.4, 40)
    errors = [
        WordErrors(20, int(rng.binomial(20, rate)), 0, 0) for rate in rates for _ in range(10)
    ]
    speakers = [f"s{i // 10}" for i in range(400)]
    found = word_error_rate(errors, speakers, rng=np.random.default_rng(0))
    alone = word_error_rate(errors, rng=np.random.default_rng(0))
    assert found.value == alone.value == sum(one.total for one in errors) / 8000
    assert found.low is not None and found.high is not None
    assert alone.low is not None and alone.high is not None
    assert found.low < found.value < found.high
    # utterances of a speaker rise and fall together, so speakers vary more than chance would
    assert found.high - found.low > 1.5 * (alone.high - alone.low)
    spread = np.std([sum(e.total for e in errors[i : i + 10]) / 200 for i in range(0, 400, 10)])
    assert found.high - found.low == pytest.approx(2 * 1.96 * spread / math.sqrt(40), rel=0.15)
    assert (found.resampled, alone.resampled) == ("speaker", "utterance")
    assert found.to_dict()["low"] == found.low


def test_no_interval_from_a_handful_and_no_rate_from_nothing() -> None:
    few = word_error_rate([WordErrors(5, 1, 0, 0)] * 6, rng=np.random.default_rng(0))
    assert (few.value, few.low, few.resampled) == (0.2, None, "")
    with raises_code("empty", TooFewError):
        word_error_rate([WordErrors(0, 0, 0, 3)], rng=np.random.default_rng(0))
    with raises_code("mismatch", InputError):
        word_error_rate([WordErrors(1, 0, 0, 0)], ["a", "b"], rng=np.random.default_rng(0))


def test_averages_are_of_speakers() -> None:
    found = average([1, 1, 1, 1, 2, 3, 4, 5], list("aaaabcde"))
    assert found.value == 3.0 and found.resampled == "speaker"
    half = 2.776445 * np.std([1, 2, 3, 4, 5], ddof=1) / math.sqrt(5)  # Student's t, 4 degrees
    assert found.low == pytest.approx(3.0 - half) and found.high == pytest.approx(3.0 + half)
    assert average([1.0, 2.0]).low is None
    with pytest.raises(TooFewError):
        average([])


@given(st.integers(0, 1000), st.floats(0.3, 3.0), st.floats(-50, 50))
def test_pitch_correlation_does_not_mind_register(seed: int, scale: float, shift: float) -> None:
    track = np.random.default_rng(seed).uniform(90, 250, 60)
    track[::7] = 0
    other = np.where(track > 0, scale * (track + shift), np.nan)
    assert f0_correlation(track, other) == pytest.approx(1.0)
    assert f0_correlation(track, np.where(track > 0, 400 - track, 0)) == pytest.approx(-1.0)


def test_pitch_correlation_by_definition_and_over_other_lengths() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.uniform(90, 200, 50), rng.uniform(90, 200, 50)
    one[:5] = 0
    other[3:9] = np.nan
    assert f0_correlation(one, other) == pytest.approx(np.corrcoef(one[9:], other[9:])[0, 1])
    smooth = 120 + 30 * np.sin(np.linspace(0, 6, 200))
    slower = 120 + 30 * np.sin(np.linspace(0, 6, 260))
    assert f0_correlation(smooth, slower) > 0.999


def test_pitch_that_cannot_be_compared() -> None:
    voiced = np.linspace(100, 200, 30)
    with raises_code("too-few", TooFewError):
        f0_correlation(voiced, np.zeros(30))
    with raises_code("constant", TooFewError):
        f0_correlation(voiced, np.full(30, 120.0))
    with raises_code("wrong-shape", InputError):
        f0_correlation(voiced, np.zeros((2, 3)))


def test_length_and_loudness() -> None:
    assert duration_ratio(2.0, 3.0) == 1.5
    tone = np.sin(np.arange(1000))
    assert loudness_difference(tone, 0.5 * tone) == pytest.approx(-6.0206, abs=1e-4)
    with raises_code("silent", InputError):
        loudness_difference(tone, 0 * tone)
    with raises_code("out-of-range", InputError):
        duration_ratio(0.0, 1.0)


counts = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30
)


@given(counts)
def test_difference_of_word_error_rates(rows: list[tuple[int, int, int]]) -> None:
    first = [WordErrors(words, errors, 0, 0) for words, errors, _ in rows]
    second = [WordErrors(words, 0, 0, errors) for words, _, errors in rows]
    speakers = [f"s{i % 7}" for i in range(len(rows))]

    def difference(a: list[WordErrors], b: list[WordErrors]) -> float:
        found = word_error_difference(a, b, speakers, rng=np.random.default_rng(0))
        if found.low is not None and found.high is not None:
            assert found.low <= found.value <= found.high
        return found.value

    words = sum(row[0] for row in rows)
    expected = sum(row[1] for row in rows) / words - sum(row[2] for row in rows) / words
    assert difference(first, second) == pytest.approx(expected, abs=1e-12)
    assert difference(second, first) == pytest.approx(-expected, abs=1e-12)
    assert difference(first, first) == 0.0


def test_difference_is_paired() -> None:
    """What makes an utterance hard for both systems does not widen the interval."""
    rng = np.random.default_rng(1)
    hard = rng.integers(0, 80, 200)
    first = [WordErrors(100, int(errors) + 5, 0, 0) for errors in hard]
    second = [WordErrors(100, int(errors), 0, 0) for errors in hard]
    speakers = [f"s{i // 5}" for i in range(200)]
    found = word_error_difference(first, second, speakers, rng=rng)
    assert (found.value, found.low, found.high) == pytest.approx((0.05, 0.05, 0.05), abs=1e-9)
    with raises_code("mismatch"):
        word_error_difference(first, second[:-1], speakers, rng=rng)
