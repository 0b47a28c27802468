"""Embeddings: checked when made, averaged by speaker, compared by cosine and distance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError
from sottovoce.speaker import Cosine, Embeddings, Euclidean, LinkageFunction, speaker_means
from sottovoce.speaker.averages import add_by_speaker, enrolment_models
from sottovoce.speaker.embeddings import BLOCK
from sottovoce.speaker.readers import read_embeddings

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(6, 3)).astype(np.float32)
SPEAKERS = ["bob", "ann", "bob", "cyd", "ann", "bob"]
IDS = ["u0", "u1", "u2", "u3", "u4", "u5"]
GENDER = ["m", "f", "m", "f", "f", "m"]


# ====================================================================================== the object


def test_speakers_are_numbered_in_the_order_of_their_names() -> None:
    embeddings = Embeddings.of(VECTORS, SPEAKERS, utterances=IDS, gender=GENDER)
    assert embeddings.names.tolist() == ["ann", "bob", "cyd"]
    assert embeddings.speakers.tolist() == [1, 0, 1, 2, 0, 1]
    assert embeddings.counts.tolist() == [2, 3, 1]
    assert (len(embeddings), embeddings.dimension) == (6, 3)
    assert embeddings.utterances is not None and embeddings.gender is not None
    assert embeddings.vectors is VECTORS


@pytest.mark.parametrize("speakers", [[3, 20, 3], np.array([b"3", b"20", b"3"]), ["3", "20", "3"]])
def test_names_may_be_text_or_whole_numbers(speakers: Any) -> None:
    embeddings = Embeddings.of(np.ones((3, 2)), speakers)
    assert embeddings.names.tolist() == ["20", "3"] and embeddings.speakers.tolist() == [1, 0, 1]


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32, ">f4"])
def test_all_numbers_become_float32(dtype: Any) -> None:
    embeddings = Embeddings.of(np.arange(1, 7).reshape(3, 2).astype(dtype), [0, 1, 2])
    assert embeddings.vectors.dtype == np.float32 and embeddings.vectors[2, 1] == 6


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_the_lowest_integer_is_not_zero(dtype: Any) -> None:
    """Its absolute value overflows to itself, a negative number."""
    lowest = np.iinfo(dtype).min
    embeddings = Embeddings.of(np.array([[lowest, 0], [1, lowest]], dtype), [0, 1])
    assert embeddings.vectors.tolist() == [[lowest, 0], [1, lowest]]


def test_the_lowest_long_integer_is_too_large() -> None:
    with raises_code("out-of-range", InputError):
        Embeddings.of(np.array([[np.iinfo(np.int64).min, 0]]), [0])


@pytest.mark.parametrize(
    ("vectors", "code", "detail"),
    [
        ([[1.0, 2.0], [3.0]], "mixed-lengths", ""),
        ([1.0, 2.0], "wrong-shape", "(2,)"),
        (np.empty((2, 0)), "wrong-shape", "(2, 0)"),
        (np.empty((0, 2)), "empty", ""),
        ([["a", "b"]], "wrong-type", "<U1"),
        (np.ones((2, 2), complex), "wrong-type", "complex128"),
        (np.ones((2, 2), bool), "wrong-type", "bool"),
        ([[1.0, 2.0], [np.nan, 1.0]], "not-finite", "row 1 "),
        ([[1.0, np.inf], [1.0, 1.0]], "not-finite", "row 0 "),
        ([[1.0, 1e300], [1.0, 1.0]], "out-of-range", "row 0 is below 1e-15 or above 1e+17"),
        (np.array([[1.0, 2.0], [1e-30, 1e-31]], np.float32), "out-of-range", "row 1 "),
        (np.array([[1.0, 2.0], [1e30, 0.0]], np.float32), "out-of-range", "row 1 "),
        ([[1.0, 2.0], [0.0, 0.0]], "all-zero", "row 1 "),
    ],
)
def test_bad_vectors(vectors: Any, code: str, detail: str) -> None:
    with raises_code(code, InputError) as caught:
        Embeddings.of(vectors, ["a", "b"], name="voices")
    assert str(caught.value).startswith("voices: ") and detail in str(caught.value)


def test_bad_rows_are_found_in_later_blocks() -> None:
    vectors = np.ones((BLOCK + 5, 1), np.float32)
    vectors[BLOCK + 2] = 0
    with raises_code("all-zero", InputError) as caught:
        Embeddings.of(vectors, np.zeros(len(vectors), int))
    assert "row 32,770 " in str(caught.value)


@pytest.mark.parametrize("column", ["speakers", "utterances", "gender"])
@pytest.mark.parametrize(
    ("values", "code", "detail"),
    [
        (["a"], "wrong-shape", "(1,) for 2 vectors"),
        ([["a", "b"]], "wrong-shape", "(1, 2)"),
        ([0.5, 1.5], "wrong-type", "float64"),
        ([True, False], "wrong-type", "bool"),
        (np.array([None, "a"], object), "wrong-type", "object"),
        (np.array([b"\xff", b"a"]), "not-utf8", ""),
    ],
)
def test_bad_names(column: str, values: Any, code: str, detail: str) -> None:
    arrays = {"speakers": ["a", "b"], column: values}
    with raises_code(code, InputError) as caught:
        Embeddings.of(np.ones((2, 2)), name="voices", **arrays)
    assert str(caught.value).startswith(f"voices: {column}: ") and detail in str(caught.value)


@pytest.mark.parametrize("column", ["speakers", "utterances"])
def test_empty_names(column: str) -> None:
    arrays: dict[str, Any] = {"speakers": ["a", "b"], column: ["a", " "]}
    with raises_code("empty-name", InputError) as caught:
        Embeddings.of(np.ones((2, 2)), **arrays)
    assert f"{column}: row 1 " in str(caught.value)


def test_repeated_utterance_ids() -> None:
    with raises_code("duplicate-id", InputError) as caught:
        Embeddings.of(VECTORS, SPEAKERS, utterances=["u1", "u2", "u1", "u3", "u2", "u4"])
    assert ": u1, u2;" in str(caught.value)


def test_a_mapped_table_stays_on_disk(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    embeddings = Embeddings.of(mapped, np.arange(6))
    assert isinstance(embeddings.vectors, np.memmap)
    assert np.shares_memory(embeddings.vectors, mapped)
    assert speaker_means(embeddings) is embeddings.vectors


# ========================================================================================== subsets


@pytest.mark.parametrize(
    "selection", [np.array([4, 0, 3]), np.array([True, False, False, True, True, False])]
)
def test_rows_keep_what_belongs_to_them(selection: Any) -> None:
    embeddings = Embeddings.of(
        VECTORS, SPEAKERS, utterances=IDS, gender=GENDER, name="n", origin="o"
    )
    subset = embeddings.rows(selection)
    wanted = [4, 0, 3] if selection.dtype != np.bool_ else [0, 3, 4]
    np.testing.assert_array_equal(subset.vectors, VECTORS[wanted])
    assert subset.names[subset.speakers].tolist() == [SPEAKERS[row] for row in wanted]
    assert subset.utterances is not None and subset.gender is not None
    assert subset.utterances.tolist() == [IDS[row] for row in wanted]
    assert subset.gender.tolist() == [GENDER[row] for row in wanted]
    assert (subset.name, subset.origin) == ("n", "o")


def test_vectors_of_some_speakers() -> None:
    embeddings = Embeddings.of(VECTORS, SPEAKERS)
    subset = embeddings.of_speakers(np.array([2, 0]))
    assert subset.names.tolist() == ["ann", "cyd"] and subset.speakers.tolist() == [0, 1, 0]
    np.testing.assert_array_equal(subset.vectors, VECTORS[[1, 3, 4]])
    assert subset.utterances is None and subset.gender is None


# =========================================================================================== digest


def test_the_digest_depends_on_the_content_only(tmp_path: Path) -> None:
    embeddings = Embeddings.of(VECTORS, SPEAKERS, utterances=IDS, gender=GENDER, name="here")
    elsewhere = Embeddings.of(
        np.asfortranarray(VECTORS.astype(">f4")),
        np.array(SPEAKERS, "<U40"),
        utterances=np.array(IDS, "S9"),
        gender=GENDER,
        name="there",
        origin="another file",
    )
    embeddings.write(tmp_path / "file.npz")
    read = read_embeddings(tmp_path / "file.npz")
    assert len(embeddings.digest()) == 64
    assert embeddings.digest() == elsewhere.digest() == read.digest()


def test_the_digest_is_fixed() -> None:
    """Computed by hand with hashlib over the JSON header and the little-endian float32 values."""
    embeddings = Embeddings.of([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])
    expected = "bdb1c458eb78bcdd83a8f7dd99a99ef9fd0b28f5758c27d1c189cfcc3fba3898"
    assert embeddings.digest() == expected


def test_every_part_of_the_content_changes_the_digest() -> None:
    content: dict[str, Any] = {
        "vectors": VECTORS,
        "speakers": SPEAKERS,
        "utterances": IDS,
        "gender": GENDER,
    }
    changed_vectors = VECTORS.copy()
    changed_vectors[5, 2] = np.nextafter(changed_vectors[5, 2], np.float32(9))
    changes: list[dict[str, Any]] = [
        {},
        {"vectors": changed_vectors},
        {"vectors": VECTORS[::-1]},
        {"vectors": np.delete(VECTORS, 2, axis=1)},
        {"speakers": [*SPEAKERS[:-1], "ann"]},
        {"speakers": [*SPEAKERS[:-1], "bo"]},
        {"utterances": None},
        {"utterances": [*IDS[:-1], "u6"]},
        {"gender": None},
        {"gender": [*GENDER[:-1], "f"]},
        {"gender": IDS},
        {"utterances": None, "gender": IDS},
        {"gender": None, "utterances": IDS[::-1]},
    ]
    digests = [Embeddings.of(**content | change).digest() for change in changes]
    assert len(set(digests)) == len(changes)


def test_the_digest_covers_all_blocks() -> None:
    vectors = np.ones((BLOCK + 5, 1), np.float32)
    speakers = np.zeros(len(vectors), int)
    before = Embeddings.of(vectors, speakers).digest()
    vectors[-1] = 2
    assert Embeddings.of(vectors, speakers).digest() != before


# =========================================================================================== means


def test_means_of_speakers() -> None:
    means = speaker_means(Embeddings.of(VECTORS, SPEAKERS))
    expected = [VECTORS[[1, 4]].mean(0), VECTORS[[0, 2, 5]].mean(0), VECTORS[3]]
    assert means.dtype == np.float32
    np.testing.assert_allclose(means, expected, rtol=1e-6)


def test_means_over_several_blocks() -> None:
    speakers = RNG.integers(0, 40, 2 * BLOCK + 7) + 100
    vectors = RNG.normal(size=(len(speakers), 2)).astype(np.float32)
    means = speaker_means(Embeddings.of(vectors, speakers))
    expected = [vectors[speakers == s].mean(0, dtype=np.float64) for s in range(100, 140)]
    np.testing.assert_allclose(means, expected, atol=1e-7)


def test_single_vectors_out_of_order_are_sorted_by_speaker() -> None:
    means = speaker_means(Embeddings.of(VECTORS[:3], ["c", "a", "b"]))
    np.testing.assert_array_equal(means, VECTORS[[1, 2, 0]])


CANCELLING: dict[str, Any] = {
    "opposite": [[1.0, 2.0], [-1.0, -2.0]],
    "up to rounding": [[0.1, 0.7], [0.2, -0.4], [-0.3, -0.3]],
    "of very small numbers": [[1e-14, 0.0], [-1e-14, 0.0]],
}


@pytest.mark.parametrize("case", CANCELLING)
def test_enrolment_vectors_that_cancel_are_refused(case: str) -> None:
    """A model without a direction recognises nobody, which would look like protection."""
    vectors = np.array([[1.0, 1.0], *CANCELLING[case], [1.0, 0.0]], np.float32)
    speakers = ["ann", *["bob"] * (len(vectors) - 2), "cyd"]
    with raises_code("all-zero", InputError) as caught:
        enrolment_models(Embeddings.of(vectors, speakers, origin="e.npz"))
    assert "e.npz" in str(caught.value)
    assert "bob" in str(caught.value)
    assert "ann" not in str(caught.value) and "cyd" not in str(caught.value)


def test_enrolment_models_are_means() -> None:
    embeddings = Embeddings.of(VECTORS, SPEAKERS)
    np.testing.assert_array_equal(enrolment_models(embeddings), speaker_means(embeddings))
    almost = Embeddings.of([[1.0, 0.001], [-1.0, 0.001]], ["ann", "ann"])
    np.testing.assert_allclose(enrolment_models(almost), [[0.0, 0.001]])


def test_vectors_are_added_to_the_present_sums() -> None:
    sums = np.ones((4, 2))
    add_by_speaker(sums, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([3, 0, 3]))
    assert sums.tolist() == [[4, 5], [1, 1], [1, 1], [7, 9]]


# =============================================================================== linkage functions


@pytest.mark.parametrize("centre", [None, np.array([0.5, -1.0, 2.0])])
def test_cosine_and_euclidean_follow_their_definitions(centre: Any) -> None:
    a, b = VECTORS, RNG.normal(size=(4, 3)).astype(np.float32)
    centred_a, centred_b = (v if centre is None else v - centre for v in (a, b))
    lengths = np.outer(np.linalg.norm(centred_a, axis=1), np.linalg.norm(centred_b, axis=1))
    distance = np.square(centred_a[:, None] - centred_b).sum(2)
    cases: list[tuple[LinkageFunction, str, Any]] = [
        (Cosine(centre), "cosine", centred_a @ centred_b.T / lengths),
        (Euclidean(centre), "euclidean", -distance),
    ]
    for linkage, name, expected in cases:
        models, trials = linkage.enrol(a, 1), linkage.trial(b, 1)
        assert linkage.name == name and models.dtype == trials.dtype == np.float32
        np.testing.assert_allclose(models @ trials.T, expected, atol=2e-5)


def test_the_cosine_of_the_centre_itself_is_not_nan() -> None:
    assert Cosine(VECTORS[0]).enrol(VECTORS[:1], 1).tolist() == [[0, 0, 0]]


# ========================================================================================= writing


@pytest.mark.parametrize("columns", [{}, {"utterances": IDS}, {"gender": GENDER}])
def test_written_embeddings_can_be_read(columns: dict[str, Any], tmp_path: Path) -> None:
    embeddings = Embeddings.of(VECTORS, SPEAKERS, **columns)
    embeddings.write(tmp_path / "new" / "voices.npz")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["voices.npz"]
    read = read_embeddings(tmp_path / "new" / "voices.npz")
    np.testing.assert_array_equal(read.vectors, embeddings.vectors)
    assert read.names[read.speakers].tolist() == SPEAKERS
    for name in ("utterances", "gender"):
        column = getattr(read, name)
        assert (None if column is None else column.tolist()) == columns.get(name)
