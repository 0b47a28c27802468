"""Scores of listed pairs: equal to the definition and to attacks, leaks refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from error_codes import raises_code

from sottovoce.attack.score import score_all, score_listed
from sottovoce.cli import run
from sottovoce.corpus import Corpus, Utterance
from sottovoce.corpus.trials import read_trials
from sottovoce.measure import measure_scores
from sottovoce.measure.readers import read_scores
from sottovoce.speaker import Cosine, Embeddings, Plda
from sottovoce.speaker.linkage import LINKAGES, make_linkage
from sottovoce.speaker.trial_scoring import match_trials, score_recordings, score_trials

SPEAKERS = [f"s{i}" for i in range(6)]


def embeddings(
    seed: int, *, prefix: str = "s", session: str = "a", recordings: int = 3, speakers: int = 6
) -> Embeddings:
    """Some speakers with three recordings each, around a point for each speaker."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99 if prefix == "s" else seed + 5).normal(size=(speakers, 8))
    names = [f"{prefix}{i}" for i in range(speakers) for _ in range(recordings)]
    ids = [f"{name}/{session}{k % recordings}" for k, name in enumerate(names)]
    vectors = np.repeat(centres, recordings, axis=0) + rng.normal(
        0, 0.5, (speakers * recordings, 8)
    )
    return Embeddings.of(vectors.astype(np.float32), names, utterances=ids, name=session)


ENROL, TRIAL = embeddings(0), embeddings(1, session="b")
TRAIN = embeddings(2, prefix="other", speakers=16)


def write(path: Path, lines: list[tuple[str, str, bool]], *, ending: str = "") -> Path:
    path.write_text("".join(f"{int(m)} {e}{ending} {t}{ending}\n" for e, t, m in lines))
    return path


def all_pairs(enrol: list[str]) -> list[tuple[str, str, bool]]:
    assert TRIAL.utterances is not None
    return [(e, t, e.split("/")[0] == t.split("/")[0]) for e in enrol for t in TRIAL.utterances]


def scores_of(path: Path, enrol: Embeddings, trial: Embeddings, linkage: Any) -> list[float]:
    listed = match_trials(read_trials(path), enrol, trial)
    return [score for pairs in score_trials(listed, linkage) for score in pairs.scores.tolist()]


@pytest.mark.parametrize("block", [1, 7, 10_000])
@pytest.mark.parametrize("ending", ["", ".wav"])
def test_cosine_of_every_pair(
    block: int, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.speaker.trial_scoring.PAIRS", block)
    assert ENROL.utterances is not None and TRIAL.utterances is not None
    pairs = all_pairs(ENROL.utterances.tolist())[::3]
    path = write(tmp_path / "list", pairs, ending=ending)
    rows = {name: ENROL.vectors[i] for i, name in enumerate(ENROL.utterances.tolist())}
    columns = {name: TRIAL.vectors[i] for i, name in enumerate(TRIAL.utterances.tolist())}
    expected = [
        float(rows[e] @ columns[t] / np.linalg.norm(rows[e]) / np.linalg.norm(columns[t]))
        for e, t, _ in pairs
    ]
    assert scores_of(path, ENROL, TRIAL, Cosine()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", list(LINKAGES))
def test_models_of_speakers_equal_those_of_attacks(name: str, tmp_path: Path) -> None:
    """Averages of different numbers of recordings, with every linkage function."""
    keep = np.array([i for i in range(len(ENROL)) if i not in (1, 2, 4)])
    enrol = ENROL.rows(keep)
    linkage = make_linkage(name, TRAIN, like=enrol)
    path = write(tmp_path / "list", all_pairs(SPEAKERS))
    assert enrol.utterances is not None and TRIAL.utterances is not None
    utterances = [
        Utterance(utterance, Path("x"), utterance.split("/")[0], split=split)
        for ids, split in ((enrol.utterances, "enrol"), (TRIAL.utterances, "trial"))
        for utterance in ids.tolist()
    ]
    trials = read_trials(path, Corpus("c", Path(), tuple(utterances)))
    table = score_listed(enrol, TRIAL, linkage, trials)
    expected = table.values[trials.enrol, trials.trial].tolist()
    assert scores_of(path, enrol, TRIAL, linkage) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_one_set_for_both_sides(tmp_path: Path) -> None:
    """As for VoxCeleb: pairs of recordings, or a speaker without its tried recordings."""
    pairs = [("s0/a0", "s0/a1", True), ("s0/a0", "s1/a1", False), ("s1", "s1/a1", True)]
    path = write(tmp_path / "list", pairs)
    assert ENROL.utterances is not None
    scores = scores_of(path, ENROL, ENROL, Cosine())
    others = [i for i, name in enumerate(ENROL.utterances) if name in ("s1/a0", "s1/a2")]
    model = ENROL.vectors[others].mean(axis=0)
    tried = ENROL.vectors[ENROL.utterances.tolist().index("s1/a1")]
    cosine = float(model @ tried / np.linalg.norm(model) / np.linalg.norm(tried))
    assert scores[2] == pytest.approx(cosine, abs=1e-6)


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ([("s0/a0", "s0/a0", True)], "not-disjoint"),
        ([("s0/a0", "s0/a9", True)], "not-found"),
        ([("s9", "s0/a1", True)], "not-found"),
        ([("s0/a0", "s1/a1", True)], "mismatch"),
        ([("s0", "s0/a1", False)], "mismatch"),
        ([("s0", f"s0/a{i}", True) for i in range(3)], "too-few"),
    ],
)
def test_bad_lists(pairs: list[tuple[str, str, bool]], code: str, tmp_path: Path) -> None:
    with raises_code(code):
        scores_of(write(tmp_path / "list", pairs), ENROL, ENROL, Cosine())


def test_a_copied_recording_under_another_id_is_itself(tmp_path: Path) -> None:
    assert TRIAL.utterances is not None
    copied = np.array(TRIAL.vectors)
    copied[0] = ENROL.vectors[1]
    trial = Embeddings.of(copied, TRIAL.names[TRIAL.speakers], utterances=TRIAL.utterances)
    with raises_code("not-disjoint"):
        scores_of(write(tmp_path / "l", [("s0/a1", "s0/b0", True)]), ENROL, trial, Cosine())
    path = write(tmp_path / "l", [("s0", "s0/b0", True), ("s0/a0", "s0/b0", True)])
    model = (ENROL.vectors[0] + ENROL.vectors[2]) / 2
    cosine = model @ copied[0] / np.linalg.norm(model) / np.linalg.norm(copied[0])
    assert scores_of(path, ENROL, trial, Cosine())[0] == pytest.approx(float(cosine), abs=1e-6)


def test_sets_that_do_not_fit(tmp_path: Path) -> None:
    path = write(tmp_path / "list", [("s0/a0", "s0/b0", True)])
    with raises_code("missing-ids"):
        match_trials(read_trials(path), ENROL, Embeddings.of(TRIAL.vectors, TRIAL.speakers))
    with raises_code("mismatch"):
        match_trials(read_trials(path), ENROL, Embeddings.of([[1.0]], ["x"], utterances=["u"]))


# ------------------------------------------------------------------------------------- command


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, content in (("e", ENROL), ("t", TRIAL), ("train", TRAIN)):
        content.write(tmp_path / f"{name}.npz")
    write(tmp_path / "list", all_pairs(SPEAKERS))
    arguments = {"enrol": "e.npz", "trial": "t.npz", "trials": "list"}
    return [word for key, name in arguments.items() for word in (f"--{key}", str(tmp_path / name))]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".txt", ".tsv.gz"])
@pytest.mark.parametrize("linkage", ["cosine", "plda"])
def test_command(
    ending: str,
    linkage: str,
    files: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sottovoce.speaker.trial_scoring.PAIRS", 10)
    target = tmp_path / f"scores{ending}"
    options = ["--linkage", linkage, "--train", str(tmp_path / "train.npz")]
    assert run(["score", *files, "--out", str(target), *options, "--json", "-"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert (described["n_mated"], described["n_nonmated"]) == (18, 90)
    assert described["linkage"] == linkage and len(described["provenance"]["inputs"]) == 4
    trials = tmp_path / "list" if ending == ".txt" else None
    scores = read_scores(target, trials=trials)
    assert len(scores.mated) == 18 and scores.n_nonmated == 90
    assert measure_scores(scores, interval=None).measures["eer"].value < 0.2  # type: ignore[operator]
    if trials is None:
        assert scores.speakers is not None and scores.speakers.count == 6
    function = Plda.fit(TRAIN) if linkage == "plda" else make_linkage("cosine", TRAIN, like=ENROL)
    expected = scores_of(tmp_path / "list", ENROL, TRIAL, function)
    mated = [s for s, (_, _, m) in zip(expected, all_pairs(SPEAKERS), strict=True) if m]
    assert scores.mated.tolist() == pytest.approx(mated, rel=1e-6)


@pytest.mark.parametrize("shared", ["speaker", "vector"])
def test_training_on_the_scored_speakers_is_refused(
    shared: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = TRAIN.names[TRAIN.speakers].tolist()
    vectors = np.array(TRAIN.vectors)
    if shared == "speaker":
        names[0] = "s3"
    else:
        vectors[0] = TRIAL.vectors[5]
    Embeddings.of(vectors, names).write(tmp_path / "train.npz")
    target = tmp_path / "scores.csv"
    options = ["--linkage", "whitening", "--train", str(tmp_path / "train.npz")]
    assert run(["score", *files, "--out", str(target), *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and not target.exists()


def test_kaldi_archives_and_lists(files: list[str], tmp_path: Path) -> None:
    """The same scores from .npz and from text archives."""
    speakers = tmp_path / "utt2spk"
    lines = []
    for name, content in (("e", ENROL), ("t", TRIAL)):
        assert content.utterances is not None
        ids = content.utterances.tolist()
        vectors = [" ".join(map(repr, vector.tolist())) for vector in content.vectors]
        archive = "".join(f"{i} [ {v} ]\n" for i, v in zip(ids, vectors, strict=True))
        (tmp_path / f"{name}.ark").write_text(archive)
        who = content.names[content.speakers].tolist()
        lines += [f"{i} {s}\n" for i, s in zip(ids, who, strict=True)]
    speakers.write_text("".join(lines))
    assert run(["score", *files, "--out", str(tmp_path / "a.csv")]) == 0
    words = [word.replace(".npz", ".ark") for word in files]
    options = ["--out", str(tmp_path / "b.csv"), "--utt2spk", str(speakers)]
    assert run(["score", *words, *options]) == 0
    first, second = (pl.read_csv(tmp_path / name) for name in ("a.csv", "b.csv"))
    assert first.equals(second)


def test_bad_targets(files: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["score", *files, "--out", str(tmp_path / "scores.npz")]) == 2
    assert "unknown kind of file" in capsys.readouterr().err


# ======================================================================== all pairs of recordings


@pytest.mark.parametrize("block", [1, 7, 10_000])
@pytest.mark.parametrize("name", ["cosine", "plda"])
def test_all_pairs_equal_the_definition(
    block: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.speaker.trial_scoring.PAIRS", block)
    linkage = make_linkage(name, TRAIN, like=ENROL, **({"lda": 4} if name == "plda" else {}))
    pairs = {
        (int(i), int(j)): score
        for batch in score_recordings(ENROL, TRIAL, linkage)
        for i, j, score in zip(batch.enrol, batch.trial, batch.scores, strict=True)
    }
    assert len(pairs) == len(ENROL) * len(TRIAL)
    for (i, j), score in pairs.items():
        left = linkage.enrol(ENROL.vectors[i : i + 1], np.ones(1, np.int64))
        right = linkage.trial(TRIAL.vectors[j : j + 1], np.ones(1, np.int64))
        assert score == pytest.approx(float((left @ right.T).item()), abs=1e-4)


def test_each_pair_of_one_set_is_compared_once() -> None:
    batches = list(score_recordings(ENROL, ENROL, Cosine()))
    pairs = [
        (int(i), int(j)) for batch in batches for i, j in zip(batch.enrol, batch.trial, strict=True)
    ]
    assert all(i < j for i, j in pairs)
    assert len(set(pairs)) == len(pairs) == len(ENROL) * (len(ENROL) - 1) // 2


def test_the_command_scores_all_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for embeddings_set, name in ((ENROL, "e"), (TRIAL, "t")):
        embeddings_set.write(tmp_path / f"{name}.npz")
    files = ["--enrol", str(tmp_path / "e.npz"), "--trial", str(tmp_path / "t.npz")]
    assert run(["score", *files, "--out", str(tmp_path / "s.parquet"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["n_mated"], result["n_nonmated"]) == (6 * 9, 6 * 5 * 9)
    table = pl.read_parquet(tmp_path / "s.parquet")
    mated = table["enrol_speaker"] == table["trial_speaker"]
    assert ((table["label"] == "mated") == mated).all()
    attack = score_all(ENROL, TRIAL, Cosine(), over="utterance")
    assert attack.values.ravel() == pytest.approx(table["score"].to_numpy(), abs=1e-6)
