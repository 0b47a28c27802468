"""The door: what a set of scores accepts, keeps and refuses."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

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
    "nothing": ([], "no scores; at least 1 is needed"),
    "one number": (3.0, "shape ()"),
    "two axes": ([[1.0, 2.0]], "shape (1, 2)"),
    "ragged": ([[1.0], [2.0, 3.0]], "rows of different lengths"),
    "text": (["a", "b"], "scores must be real numbers"),
    "complex": ([1 + 2j], "complex128 values"),
    "truth values": ([True, False], "bool values"),
    "objects": ([None, 1.0], "object values"),
    "dates": (np.array(["2020-01-01"], "datetime64[D]"), "must be real numbers"),
    "nothing at all": (None, "shape ()"),
    "NaN": ([1.0, np.nan, np.nan], "2 of 3 scores are not finite, the first (nan) at position 1"),
    "infinity": ([np.inf, 0.0], "1 of 2 scores are not finite, the first (inf) at position 0"),
    "minus infinity": ([0.0, -np.inf], "the first (-inf) at position 1"),
    "single precision NaN": (np.array([np.nan], np.float32), "not finite"),
}


@pytest.mark.parametrize("side", ["mated", "nonmated"])
@pytest.mark.parametrize("what", BAD)
def test_bad_scores_are_refused_with_one_line(what: str, side: str) -> None:
    values, complaint = BAD[what]
    sides: dict[str, Any] = {"mated": [1.0], "nonmated": [0.0], side: values}
    with pytest.raises(InputError, match=re.escape(complaint)) as caught:
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
    with pytest.raises(InputError, match=r"mine: speakers given for .* but there are 2 and 2"):
        Scores([1, 2], [0, 1], speakers=who, name="mine")
