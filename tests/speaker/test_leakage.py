"""Training speakers are never evaluated, and no recording is compared with itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sottovoce.cli import run
from sottovoce.measure import reidentify
from sottovoce.speaker import Embeddings
from sottovoce.speaker.leakage import check_training, make_evaluation_linkage, shared_recordings
from sottovoce.speaker.linkage import LINKAGES


def noise(seed: int, names: list[str], *, utterances: int = 6, dimension: int = 8) -> Embeddings:
    rng = np.random.default_rng(seed)
    speakers = np.repeat(names, utterances)
    vectors = rng.normal(size=(len(speakers), dimension)).astype(np.float32)
    return Embeddings.of(vectors, speakers, name=f"set{seed}")


ENROL, TRIAL = (noise(seed, [f"s{i}" for i in range(12)]) for seed in (1, 2))
OTHERS = [f"t{i}" for i in range(15)]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(LINKAGES)), st.integers(0, 11), st.integers(0, 14))
def test_a_training_set_that_shares_one_speaker_is_refused(
    linkage: str, attacked: int, place: int
) -> None:
    names = [*OTHERS]
    names[place] = f"s{attacked}"
    with raises_code("not-disjoint"):
        make_evaluation_linkage(linkage, noise(3, names), (ENROL, TRIAL))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 71), st.integers(0, 89), st.booleans())
def test_a_training_set_that_shares_one_vector_is_refused(
    row: int, place: int, of_trial: bool
) -> None:
    train = noise(3, OTHERS)
    vectors = train.vectors.copy()
    vectors[place] = (TRIAL if of_trial else ENROL).vectors[row]
    shared = Embeddings.of(vectors, train.names[train.speakers])
    with raises_code("not-disjoint"):
        check_training(shared, ENROL, TRIAL)
    check_training(train, ENROL, TRIAL)


def test_the_same_recordings_are_found_wherever_they_are() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=(200, 5)).astype(np.float32)
    second = rng.normal(size=(300, 5)).astype(np.float32)
    first[[3, 150]] = second[[299, 7]]
    first[9], second[11] = [1, 2, 0, 3, 4], [1, 2, -0.0, 3, 4]
    rows, others = shared_recordings(
        Embeddings.of(first, np.arange(200)), Embeddings.of(second, np.arange(300))
    )
    assert dict(zip(rows.tolist(), others.tolist(), strict=True)) == {3: 299, 150: 7, 9: 11}
    other_dimension = noise(4, ["a"], dimension=6)
    assert not len(shared_recordings(ENROL, other_dimension)[0])


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 71),
    st.integers(0, 89),
    st.floats(1e-3, 1e3),
    st.sampled_from([np.float32, float]),
)
def test_a_training_set_that_shares_one_vector_of_another_length_is_refused(
    row: int, place: int, factor: float, dtype: type
) -> None:
    """Vectors are often stored with length one in one file and as they are in another."""
    train = noise(3, OTHERS)
    vectors: NDArray[np.floating] = train.vectors.astype(dtype)
    vectors[place] = ENROL.vectors[row].astype(dtype) * dtype(factor)
    with raises_code("not-disjoint"):
        check_training(Embeddings.of(vectors, train.names[train.speakers]), ENROL, TRIAL)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_directions_of_few_dimensions_are_alike_without_being_the_same(dimension: int) -> None:
    first, second = (
        noise(seed, [f"{seed}{i}" for i in range(200)], dimension=dimension) for seed in (5, 6)
    )
    assert not len(shared_recordings(first, second)[0])


def test_one_voice_for_everybody_is_no_shared_recording() -> None:
    same = np.ones((20, 4), np.float32)
    first, second = (Embeddings.of(same, np.arange(20) % 5) for _ in range(2))
    assert not len(shared_recordings(first, second)[0])


def test_recordings_on_both_sides_are_refused_without_ids() -> None:
    with raises_code("not-disjoint"):
        reidentify(ENROL, ENROL)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    sets = {
        "enrol": ENROL,
        "trial": TRIAL,
        "train": noise(3, OTHERS),
        "leaky": noise(4, [*OTHERS[:-1], "s3"]),
    }
    for name, embeddings in sets.items():
        embeddings.write(tmp_path / f"{name}.npz")
    return tmp_path


@pytest.mark.parametrize("linkage", ["cosine", "projection", "plda"])
@pytest.mark.parametrize("command", ["reidentify", "similarity"])
def test_every_command_that_trains_refuses_attacked_speakers(
    command: str, linkage: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = ("--enrol", "--trial") if command == "reidentify" else ("--original", "--anonymised")
    options = [command, sides[0], str(files / "enrol.npz"), sides[1], str(files / "trial.npz")]
    options += ["--linkage", linkage, "--no-interval", "--json"]
    assert run([*options, "--train", str(files / "leaky.npz")]) == 2
    shown = capsys.readouterr()
    assert "s3" in shown.err and not shown.out
    if command == "reidentify":
        assert run([*options, "--train", str(files / "train.npz")]) == 0
        assert json.loads(capsys.readouterr().out)["linkability"]
