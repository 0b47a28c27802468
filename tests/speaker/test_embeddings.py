"""Embeddings: checked at the door, averaged by speaker, compared by cosine and distance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.core.errors import InputError
from sottovoce.speaker import Cosine, Embeddings, Euclidean, LinkageFunction, speaker_means
from sottovoce.speaker.embeddings import BLOCK, add_by_speaker
from sottovoce.speaker.readers import read_embeddings

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(6, 3)).astype(np.float32)
WHO = ["bob", "ann", "bob", "cyd", "ann", "bob"]


# ====================================================================================== the object


def test_speakers_are_numbered_in_the_order_of_their_names() -> None:
    voices = Embeddings.of(VECTORS, WHO, utterances=[f"u{i}" for i in range(6)], gender=["f"] * 6)
    assert voices.names.tolist() == ["ann", "bob", "cyd"]
    assert voices.speakers.tolist() == [1, 0, 1, 2, 0, 1]
    assert voices.counts.tolist() == [2, 3, 1]
    assert (len(voices), voices.dimension) == (6, 3)
    assert voices.utterances is not None and voices.gender is not None
    assert voices.vectors is VECTORS


@pytest.mark.parametrize("who", [[3, 20, 3], np.array([b"3", b"20", b"3"]), ["3", "20", "3"]])
def test_names_may_be_text_or_whole_numbers(who: Any) -> None:
    voices = Embeddings.of(np.ones((3, 2)), who)
    assert voices.names.tolist() == ["20", "3"] and voices.speakers.tolist() == [1, 0, 1]


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32, ">f4"])
def test_all_numbers_become_float32(dtype: Any) -> None:
    voices = Embeddings.of(np.arange(1, 7).reshape(3, 2).astype(dtype), [0, 1, 2])
    assert voices.vectors.dtype == np.float32 and voices.vectors[2, 1] == 6


@pytest.mark.parametrize(
    ("vectors", "complaint"),
    [
        ([[1.0, 2.0], [3.0]], "different lengths"),
        ([1.0, 2.0], r"shape \(2,\)"),
        (np.empty((2, 0)), "rows of one table"),
        (np.empty((0, 2)), "no vectors"),
        ([["a", "b"]], "real numbers"),
        (np.ones((2, 2), complex), "real numbers"),
        (np.ones((2, 2), bool), "real numbers"),
        ([[1.0, 2.0], [np.nan, 1.0]], "row 1 is not finite"),
        ([[1.0, np.inf], [1.0, 1.0]], "row 0 is not finite"),
        ([[1.0, 1e300], [1.0, 1.0]], "row 0 is below 1e-15 or above 1e\\+17"),
        (np.array([[1.0, 2.0], [1e-30, 1e-31]], np.float32), "row 1 is below 1e-15"),
        (np.array([[1.0, 2.0], [1e30, 0.0]], np.float32), "row 1 is .* rescale all vectors"),
        ([[1.0, 2.0], [0.0, 0.0]], "row 1 is all zero"),
    ],
)
def test_bad_vectors(vectors: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=rf"voices: .*{complaint}"):
        Embeddings.of(vectors, ["a", "b"], name="voices")


def test_bad_rows_are_found_in_later_blocks() -> None:
    vectors = np.ones((BLOCK + 5, 1), np.float32)
    vectors[BLOCK + 2] = 0
    with pytest.raises(InputError, match="row 32,770 is all zero"):
        Embeddings.of(vectors, np.zeros(len(vectors), int))


@pytest.mark.parametrize("what", ["speakers", "utterances", "gender"])
@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (["a"], r"shape \(1,\) for 2 vectors"),
        ([["a", "b"]], r"shape \(1, 2\)"),
        ([0.5, 1.5], "float64 values"),
        ([True, False], "bool values"),
        (np.array([None, "a"], object), "object values"),
        (np.array([b"\xff", b"a"]), "not UTF-8"),
    ],
)
def test_bad_names(what: str, values: Any, complaint: str) -> None:
    arrays = {"speakers": ["a", "b"], what: values}
    with pytest.raises(InputError, match=f"voices: {what}: .*{complaint}"):
        Embeddings.of(np.ones((2, 2)), name="voices", **arrays)


@pytest.mark.parametrize("what", ["speakers", "utterances"])
def test_empty_names(what: str) -> None:
    arrays: dict[str, Any] = {"speakers": ["a", "b"], what: ["a", " "]}
    with pytest.raises(InputError, match=f"{what}: row 1 has an empty name"):
        Embeddings.of(np.ones((2, 2)), **arrays)


def test_an_utterance_twice() -> None:
    ids = ["u1", "u2", "u1", "u3", "u2", "u4"]
    with pytest.raises(InputError, match="occur twice: u1, u2; keep"):
        Embeddings.of(VECTORS, WHO, utterances=ids)


def test_a_mapped_table_stays_where_it_is(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    voices = Embeddings.of(mapped, np.arange(6))
    assert isinstance(voices.vectors, np.memmap)
    assert np.shares_memory(voices.vectors, mapped)
    assert speaker_means(voices) is voices.vectors


# =========================================================================================== means


def test_means_of_speakers() -> None:
    voices = Embeddings.of(VECTORS, WHO)
    expected = [VECTORS[[1, 4]].mean(0), VECTORS[[0, 2, 5]].mean(0), VECTORS[3]]
    found = speaker_means(voices)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_means_over_several_blocks() -> None:
    who = RNG.integers(0, 40, 2 * BLOCK + 7) + 100
    vectors = RNG.normal(size=(len(who), 2)).astype(np.float32)
    found = speaker_means(Embeddings.of(vectors, who))
    expected = [vectors[who == s].mean(0, dtype=np.float64) for s in range(100, 140)]
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_one_vector_each_out_of_order_is_put_in_order() -> None:
    found = speaker_means(Embeddings.of(VECTORS[:3], ["c", "a", "b"]))
    np.testing.assert_array_equal(found, VECTORS[[1, 2, 0]])


def test_sums_are_added_to() -> None:
    sums = np.ones((4, 2))
    add_by_speaker(sums, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([3, 0, 3]))
    assert sums.tolist() == [[4, 5], [1, 1], [1, 1], [7, 9]]


# =============================================================================== linkage functions


@pytest.mark.parametrize("centre", [None, np.array([0.5, -1.0, 2.0])])
def test_cosine_and_euclidean_are_what_they_say(centre: Any) -> None:
    a, b = VECTORS, RNG.normal(size=(4, 3)).astype(np.float32)
    moved_a, moved_b = (v if centre is None else v - centre for v in (a, b))
    lengths = np.outer(np.linalg.norm(moved_a, axis=1), np.linalg.norm(moved_b, axis=1))
    distance = np.square(moved_a[:, None] - moved_b).sum(2)
    cases: list[tuple[LinkageFunction, str, Any]] = [
        (Cosine(centre), "cosine", moved_a @ moved_b.T / lengths),
        (Euclidean(centre), "euclidean", -distance),
    ]
    for linkage, name, expected in cases:
        models, trials = linkage.enrol(a, 1), linkage.trial(b, 1)
        assert linkage.name == name and models.dtype == trials.dtype == np.float32
        np.testing.assert_allclose(models @ trials.T, expected, atol=2e-5)


def test_the_cosine_of_the_centre_itself_is_no_nan() -> None:
    assert Cosine(VECTORS[0]).enrol(VECTORS[:1], 1).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("more", [{}, {"utterances": list("uvwxyz")}, {"gender": list("fmfmfm")}])
def test_what_is_written_is_read_again(more: dict[str, Any], tmp_path: Path) -> None:
    voices = Embeddings.of(VECTORS, WHO, **more)
    voices.write(tmp_path / "new" / "voices.npz")
    assert [one.name for one in (tmp_path / "new").iterdir()] == ["voices.npz"]
    again = read_embeddings(tmp_path / "new" / "voices.npz")
    np.testing.assert_array_equal(again.vectors, voices.vectors)
    assert again.names[again.speakers].tolist() == WHO
    for name in ("utterances", "gender"):
        column = getattr(again, name)
        assert (None if column is None else column.tolist()) == more.get(name)
