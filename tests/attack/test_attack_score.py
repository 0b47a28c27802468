"""Score tables against slow definitions, one pair at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attack_voices import SIZE, simulated
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sottovoce.attack import Cohort, ScoreTable, score_all
from sottovoce.attack import score as module
from sottovoce.attack.score import score_listed
from sottovoce.corpus.trials import TrialList
from sottovoce.measure import cllr, eer, min_cllr
from sottovoce.measure.readers import read_scores
from sottovoce.measure.scores import Scores
from sottovoce.speaker import Cosine, Embeddings, Euclidean, LinkageFunction, Plda

Floats = NDArray[np.float64]


def unequal(embeddings: Embeddings, seed: int) -> Embeddings:
    """Some of the recordings in any order, at least one of each speaker."""
    rng = np.random.default_rng(seed)
    _, first = np.unique(embeddings.speakers, return_index=True)
    some = np.union1d(first, rng.choice(len(embeddings), len(embeddings) // 2, replace=False))
    some = rng.permutation(some)
    assert embeddings.utterances is not None
    return Embeddings.of(
        embeddings.vectors[some],
        embeddings.names[embeddings.speakers[some]],
        utterances=embeddings.utterances[some],
    )


def one_score(linkage: LinkageFunction, model: Floats, count: int, trial: Floats) -> float:
    rows = linkage.enrol(model[None].astype(np.float32), count)
    return float((rows @ linkage.trial(trial[None].astype(np.float32), count).T).item())


def slow(
    enrol: Embeddings, trial: Embeddings, linkage: LinkageFunction, over: str, cohort: Cohort | None
) -> Floats:
    """The definitions."""

    def of(name: str, voices: Embeddings) -> Any:
        return voices.vectors[voices.names[voices.speakers] == name].astype(np.float64)

    def others() -> list[tuple[Floats, int]]:
        assert cohort is not None
        vectors = [of(name, cohort.embeddings) for name in cohort.embeddings.names]
        return [(rows.mean(0), len(rows)) for rows in vectors]

    def normalised(model: Floats, count: int, unknown: Floats) -> float:
        raw = one_score(linkage, model, count, unknown)
        if cohort is None:
            return raw
        nearest = cohort.nearest or len(cohort.embeddings.names)
        sides = (
            [one_score(linkage, model, count, other) for other, _ in others()],
            [one_score(linkage, other, n, unknown) for other, n in others()],
        )
        parts = []
        for side in sides:
            top = sorted(side)[-nearest:]
            parts.append((raw - np.mean(top)) / np.std(top))
        return float(np.mean(parts))

    table = []
    for name in enrol.names:
        vectors, row = of(name, enrol), []
        for unknown in trial.vectors.astype(np.float64):
            if over == "model":
                row.append(normalised(vectors.mean(0), len(vectors), unknown))
            else:
                each = [normalised(vector, 1, unknown) for vector in vectors]
                row.append(max(each) if over == "max" else float(np.mean(each)))
        table.append(row)
    return np.array(table)


@pytest.mark.parametrize("over", ["model", "mean", "max"])
@pytest.mark.parametrize("nearest", ["none", None, 3])
@pytest.mark.parametrize("kind", ["cosine", "euclidean", "plda"])
def test_scores_are_those_of_the_definition(over: Any, nearest: Any, kind: str) -> None:
    sets = simulated(1, evaluated=4, trained=6, each=3)
    enrol, trial = unequal(sets["enrol", "original"], 0), unequal(sets["trial", "original"], 1)
    voices = unequal(sets["train", "original"], 2)
    linkages: dict[str, LinkageFunction] = {
        "cosine": Cosine(voices.vectors.mean(0)),
        "euclidean": Euclidean(),
        "plda": Plda.fit(voices, shrinkage=0.5),
    }
    linkage = linkages[kind]
    cohort = None if nearest == "none" else Cohort(voices, nearest)
    table = score_all(enrol, trial, linkage, over=over, cohort=cohort)
    expected = slow(enrol, trial, linkage, over, cohort)
    np.testing.assert_allclose(table.values, expected, rtol=1e-3, atol=1e-3)
    assert trial.utterances is not None
    assert table.trials.tolist() == trial.utterances.tolist()
    assert table.speakers.tolist() == trial.names[trial.speakers].tolist()
    assert table.enrolled.tolist() == enrol.names.tolist()


def test_s_norm_does_not_see_the_scale_of_scores() -> None:
    sets = simulated(2, evaluated=5, trained=6)
    sides = sets["enrol", "original"], sets["trial", "original"]
    cohort = Cohort(sets["train", "original"])

    class Bent(Cosine):
        def enrol(self, vectors: Any, counts: Any = 1) -> Any:
            return np.column_stack((5 * super().enrol(vectors), np.full(len(vectors), 3.0)))

        def trial(self, vectors: Any, counts: Any = 1) -> Any:
            return np.column_stack((Cosine().enrol(vectors), np.ones(len(vectors))))

    plain, bent = (
        score_all(*sides, linkage, cohort=cohort).values for linkage in (Cosine(), Bent())
    )
    np.testing.assert_allclose(plain, bent, atol=1e-3)


def test_trials_without_ids_are_numbered() -> None:
    voices = Embeddings.of(np.eye(3), list("aab"))
    assert score_all(voices, voices, Cosine()).trials.tolist() == ["0", "1", "2"]


# ===================================================================================== the table


def table_of(seed: int, speakers: int, each: int) -> ScoreTable:
    rng = np.random.default_rng(seed)
    names = np.array([f"s{i}" for i in range(speakers)])
    true = np.repeat(names, each)
    ids = np.array([f"u{i}" for i in range(len(true))])
    values = rng.normal(size=(speakers, len(true))) + 2 * (names[:, None] == true)
    return ScoreTable(values, names, ids, true)


def test_scores_of_the_measures_have_the_right_pairs_and_speakers() -> None:
    table = table_of(0, 4, 3)
    scores = table.scores("mine")
    mated = [table.values[i, j] for i in range(4) for j in range(12) if j // 3 == i]
    assert scores.mated.tolist() == mated and scores.name == "mine"
    assert scores.n_nonmated == 36
    speakers = scores.speakers
    assert speakers is not None and speakers.count == 4
    assert speakers.mated.tolist() == np.repeat(np.arange(4), 3).tolist()
    assert (speakers.nonmated_enrol != speakers.nonmated_trial).all()


@given(st.integers(0, 10_000), st.integers(2, 30))
def test_exchanged_names_leave_nobody_under_the_own_name(seed: int, speakers: int) -> None:
    table = table_of(0, speakers, 1)
    other = table.permute_names(np.random.default_rng(seed))
    assert sorted(other.enrolled) == sorted(table.enrolled)
    assert (other.enrolled != table.enrolled).all()
    assert not (other.mated & table.mated).any()
    assert other.values is table.values


@settings(max_examples=10)
@given(st.integers(0, 1000), st.integers(2, 6), st.integers(1, 4))
def test_a_written_table_is_read_with_the_same_measures(
    tmp_path_factory: pytest.TempPathFactory, seed: int, speakers: int, each: int
) -> None:
    path = tmp_path_factory.mktemp("table") / "new" / "scores.parquet"
    table = table_of(seed, speakers, each)
    table.write(path)
    assert [file.name for file in path.parent.iterdir()] == ["scores.parquet"]
    read, direct = read_scores(path), table.scores()
    assert isinstance(read, Scores)
    for measure in (eer, min_cllr, cllr):
        assert measure(read) == pytest.approx(measure(direct), abs=1e-12)
    assert read.speakers is not None and direct.speakers is not None
    assert read.speakers.count == direct.speakers.count
    np.testing.assert_array_equal(read.mated, direct.mated)
    np.testing.assert_array_equal(read.nonmated, direct.nonmated)
    np.testing.assert_array_equal(read.speakers.mated, direct.speakers.mated)
    np.testing.assert_array_equal(read.speakers.nonmated_enrol, direct.speakers.nonmated_enrol)
    np.testing.assert_array_equal(read.speakers.nonmated_trial, direct.speakers.nonmated_trial)


# ========================================================================================= guards


def test_a_cohort_that_is_too_small() -> None:
    sets = simulated(0, evaluated=3, trained=4)
    sides = sets["enrol", "original"], sets["trial", "original"], Cosine()
    for nearest in (0, 1, 5):
        with raises_code("too-few"):
            score_all(*sides, cohort=Cohort(sets["train", "original"], nearest))
    single = Embeddings.of(np.ones((2, SIZE)), ["a", "a"])
    with raises_code("too-few"):
        score_all(*sides, cohort=Cohort(single))


def test_more_pairs_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = simulated(0, evaluated=3)
    monkeypatch.setattr(module, "MAX_PAIRS", 35)
    with raises_code("too-many"):
        score_all(sets["enrol", "original"], sets["trial", "original"], Cosine())


def test_enrolment_vectors_that_cancel_are_refused() -> None:
    enrol = Embeddings.of(
        [[1.0, 2.0], [-1.0, -2.0], [1.0, 0.0]], ["ann", "ann", "bob"], utterances=["a", "b", "c"]
    )
    trial = Embeddings.of([[1.0, 1.0], [2.0, 0.0]], ["ann", "bob"], utterances=["d", "e"])
    pairs = np.array([0, 1])
    listed = TrialList(
        ("ann", "bob"),
        ("d", "e"),
        pairs,
        pairs,
        np.array([True, True]),
        {"ann": ("a", "b"), "bob": ("c",)},
    )
    with raises_code("all-zero") as caught:
        score_all(enrol, trial, Cosine())
    assert "ann" in str(caught.value) and "bob" not in str(caught.value)
    with raises_code("all-zero") as caught:
        score_listed(enrol, trial, Cosine(), listed)
    assert "ann" in str(caught.value) and "bob" not in str(caught.value)
    assert score_all(enrol, trial, Cosine(), over="max").values.shape == (2, 2)


def voices(speakers: int, each: int, seed: int) -> Embeddings:
    names = np.repeat([f"s{i}" for i in range(speakers)], each)
    vectors = np.random.default_rng(seed).normal(size=(len(names), SIZE)).astype(np.float32)
    ids = [f"{name}-{seed}-{k % each}" for k, name in enumerate(names)]
    return Embeddings.of(vectors, names, utterances=ids)


def test_each_pair_of_recordings_is_a_trial() -> None:
    enrol, trial = voices(5, 3, seed=1), voices(5, 2, seed=2)
    table = score_all(enrol, trial, Cosine(), over="utterance")
    assert table.values.shape == (15, 10) and table.models is not None
    assert table.mated.sum() == 5 * 3 * 2
    single = score_all(enrol, trial, Cosine(), over="max")
    for row, name in enumerate(enrol.names):
        rows = table.enrolled == name
        assert table.values[rows].max(axis=0) == pytest.approx(single.values[row])


def test_draws_of_one_recording_are_one_trial() -> None:
    enrol = voices(4, 2, seed=1)
    assert enrol.utterances is not None
    twice = Embeddings.of(
        np.concatenate((enrol.vectors, enrol.vectors)),
        np.tile(enrol.names[enrol.speakers], 2),
        utterances=np.tile(enrol.utterances, 2),
        draws=np.repeat([1, 2], len(enrol)),
    )
    trial = voices(4, 2, seed=2)
    tables = [score_all(voices, trial, Cosine(), over="utterance") for voices in (enrol, twice)]
    order = np.argsort(enrol.utterances)
    assert tables[0].values.shape == tables[1].values.shape == (8, 8)
    assert tables[1].values == pytest.approx(tables[0].values)
    assert tables[1].models is not None and (tables[1].models == enrol.utterances[order]).all()


def test_a_list_says_itself_what_is_compared() -> None:
    enrol, trial = voices(2, 2, seed=1), voices(2, 2, seed=2)
    assert enrol.utterances is not None and trial.utterances is not None
    first = str(enrol.utterances[0])
    pairs = TrialList(
        (first,),
        (str(trial.utterances[0]),),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.ones(1, np.bool_),
        {first: (first,)},
    )
    with raises_code("conflict"):
        score_listed(enrol, trial, Cosine(), pairs, over="utterance")
