"""The door: what a set of scores accepts, keeps and refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError
from sottovoce.measure import Scores, Speakers


def test_lists_become_flat_arrays_of_doubles() -> None:
    scores = Scores([1, 2, 3], (0.5,), name="mine")
    assert scores.mated.dtype == scores.nonmated.dtype == np.float64
    assert scores.mated.tolist() == [1.0, 2.0, 3.0]
    assert (scores.n_mated, scores.n_nonmated, scores.name) == (3, 1, "mine")
    assert (scores.low, scores.high) == (0.5, 3.0)
    assert scores.speakers is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float64),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (">f4", np.float64),
        (">f8", np.float64),
    ],
)
def test_single_precision_is_kept_and_all_else_is_double(given: Any, kept: Any) -> None:
    scores = Scores(np.array([1, 2], given), np.array([0, 3], given))
    assert scores.mated.dtype == scores.nonmated.dtype == np.dtype(kept)
    assert scores.mated.dtype.isnative
    assert scores.mated.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", np.typecodes["AllInteger"])
def test_whole_numbers_of_all_types_are_exact_or_refused(dtype: str) -> None:
    limits = np.iinfo(dtype)
    ends = np.array([limits.min, limits.min + 1, limits.max - 1, limits.max], dtype)
    if limits.bits == 64:
        for values in (ends, ends[2:]):
            with raises_code("out-of-range", InputError) as caught:
                Scores([0.0], values)
            assert f"{int(values.max()):,}" in str(caught.value) or limits.min < 0
        ends = np.array([max(limits.min, -(2**53)), 2**53 - 1, 2**53], dtype)
    scores = Scores(ends, ends[:1])
    assert [int(score) for score in scores.mated] == ends.tolist()
    assert (scores.low, scores.high) == (ends.min(), ends.max())


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1])
def test_whole_numbers_that_doubles_round_are_refused(value: int) -> None:
    with raises_code("out-of-range", InputError):
        Scores([value, 0], [0.0])


def test_numbers_that_single_precision_cannot_hold_are_refused_as_infinite() -> None:
    with np.errstate(over="ignore"):
        values = np.array([1.0, 1e39]).astype(np.float32)
    with raises_code("not-finite", InputError):
        Scores([0.0], values)
    assert Scores([0.0], [1.0, 1e39]).high == 1e39


def test_a_double_array_is_not_copied() -> None:
    mated = np.array([1.0, 2.0])
    assert Scores(mated, [0.0]).mated is mated


def test_the_range_spans_both_classes() -> None:
    assert Scores([5, -3], [1]).low == -3
    assert Scores([5, -3], [1, 9]).high == 9


def test_chunks_hold_every_nonmated_score_and_can_be_asked_for_again() -> None:
    scores = Scores([1.0], [3.0, 2.0])
    for _ in range(2):
        assert np.concatenate(list(scores.nonmated_chunks())).tolist() == [3.0, 2.0]


def test_a_set_of_scores_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Scores([1], [0]).name = "other"  # type: ignore[misc]


BAD: dict[str, tuple[Any, str]] = {
    "nothing": ([], "empty"),
    "one number": (3.0, "wrong-shape"),
    "two axes": ([[1.0, 2.0]], "wrong-shape"),
    "ragged": ([[1.0], [2.0, 3.0]], "wrong-shape"),
    "text": (["a", "b"], "wrong-type"),
    "complex": ([1 + 2j], "wrong-type"),
    "truth values": ([True, False], "wrong-type"),
    "objects": ([None, 1.0], "wrong-type"),
    "dates": (np.array(["2020-01-01"], "datetime64[D]"), "wrong-type"),
    "nothing at all": (None, "wrong-shape"),
    "NaN": ([1.0, np.nan, np.nan], "not-finite"),
    "infinity": ([np.inf, 0.0], "not-finite"),
    "minus infinity": ([0.0, -np.inf], "not-finite"),
    "single precision NaN": (np.array([np.nan], np.float32), "not-finite"),
}


def test_the_first_score_that_is_not_finite_is_named() -> None:
    with raises_code("not-finite") as caught:
        Scores([1.0, np.nan, np.inf], [0.0])
    assert "2 of 3" in str(caught.value) and "position 1" in str(caught.value)


@pytest.mark.parametrize("side", ["mated", "nonmated"])
@pytest.mark.parametrize("what", BAD)
def test_bad_scores_are_refused_with_one_line(what: str, side: str) -> None:
    values, code = BAD[what]
    sides: dict[str, Any] = {"mated": [1.0], "nonmated": [0.0], side: values}
    with raises_code(code, InputError) as caught:
        Scores(**sides, name="this set")
    message = str(caught.value)
    assert message.startswith(f"this set: {side}: ")
    assert "\n" not in message


def test_speakers_are_numbered_across_all_columns() -> None:
    who = Speakers.from_names(["b", "a"], ["a", "c", "b"], ["b", "b", "d"])
    assert who.count == 4
    assert who.mated.tolist() == [1, 0]
    assert who.nonmated_enrol.tolist() == [0, 2, 1]
    assert who.nonmated_trial.tolist() == [1, 1, 3]
    assert who.mated.dtype == np.int64


def test_speakers_may_be_numbers() -> None:
    who = Speakers.from_names([10, 7], [7], [10])
    assert who.count == 2
    assert who.mated[0] == who.nonmated_trial[0]
    assert who.mated[1] == who.nonmated_enrol[0]


@pytest.mark.parametrize(
    ("mated", "enrol", "trial"),
    [("a", "bc", "de"), ("aa", "b", "de"), ("aa", "bc", "d"), ("aaa", "bc", "de")],
)
def test_speakers_must_match_the_trials(mated: str, enrol: str, trial: str) -> None:
    who = Speakers.from_names(list(mated), list(enrol), list(trial))
    with raises_code("mismatch", InputError):
        Scores([1, 2], [0, 1], speakers=who, name="mine")


@pytest.mark.parametrize(
    ("mated", "enrol", "trial"),
    [
        ([7, 9, 9, 110], [7, 9], [9, 110]),
        (np.array([-128, 127], np.int8), np.array([200, 255], np.uint8), np.array([3, 3])),
        ([10**12, 5, 10**12], [5, 5], [-1, 2**63 - 1]),
        (np.array([2**64 - 1], np.uint64), np.array([2**63], np.uint64), [0]),
        (["7", "x"], [7, 7], [8, 9]),
        (np.array([b"b", "é".encode()]), ["b"], ["c"]),
        (np.array([1, "a", 2.5], object), [1], ["a"]),
    ],
)
def test_speakers_are_numbered_as_their_names_as_text(mated: Any, enrol: Any, trial: Any) -> None:
    """Whole numbers are counted in a table, but mean the same as when they are text."""
    speakers = Speakers.from_names(mated, enrol, trial)

    def as_text(values: Any) -> list[str]:
        return [v.decode() if isinstance(v, bytes) else str(v) for v in np.asarray(values).tolist()]

    names = sorted({*as_text(mated), *as_text(enrol), *as_text(trial)})
    assert speakers.names is not None
    assert speakers.names.tolist() == names
    sides = (speakers.mated, speakers.nonmated_enrol, speakers.nonmated_trial)
    for numbers, values in zip(sides, (mated, enrol, trial), strict=True):
        assert [names[number] for number in numbers] == as_text(values)
