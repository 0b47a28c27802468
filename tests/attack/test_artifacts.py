"""The folder of an attack: whoever reads it links as the attack did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from attack_voices import simulated
from error_codes import raises_code

from sottovoce.attack import ATTACKERS, Attack, AttackSettings, attack, score_all
from sottovoce.attack.artifacts import RECORD, attack_record, read_attack, write_attack
from sottovoce.attack.embedding_store import EmbeddingStore
from sottovoce.cli import run
from sottovoce.core.errors import InputError
from sottovoce.measure import ReidentificationSettings
from sottovoce.measure.reidentification import reidentify

QUICK = ReidentificationSettings(lengths=(1,), populations=(20,), draws=2, confidence=None)


def write(folder: Path, name: str = "semi-informed", **settings: Any) -> Attack:
    """Attack simulated voices and write the files as the command does."""
    sets = simulated()
    result = attack(sets, ATTACKERS[name], AttackSettings(**settings))
    store = EmbeddingStore(folder.parent / "embeddings")
    write_attack(folder, result, attack_record(result, sets), sets, store)
    return result


@pytest.mark.parametrize("linkage", ["cosine", "euclidean", "whitening", "projection", "plda"])
@pytest.mark.parametrize("name", ["ignorant", "semi-informed"])
def test_the_same_scores_to_the_last_digit(name: str, linkage: str, tmp_path: Path) -> None:
    result = write(tmp_path / name, name, linkage=linkage)
    stored = read_attack(tmp_path / name)
    assert stored.notes == () and stored.linkage.name == linkage
    repeated = score_all(stored.enrol, stored.trial, stored.linkage)
    np.testing.assert_array_equal(repeated.values, result.table.values)
    np.testing.assert_array_equal(repeated.enrolled, result.table.enrolled)
    np.testing.assert_array_equal(repeated.trials, result.table.trials)


def test_each_embedding_set_is_stored_once(tmp_path: Path) -> None:
    for name in ATTACKERS:
        write(tmp_path / name, name, linkage="cosine")
    store = tmp_path / "embeddings"
    # original, attacker's and similar: enrolment and training; released: enrolment and trial;
    # original: trial
    assert len(list(store.iterdir())) == 3 * 2 + 2 + 1
    for path in store.iterdir():
        assert EmbeddingStore(store)[path.stem].digest() == path.stem
    assert sorted(path.name for path in (tmp_path / "informed").iterdir()) == [
        "attack.json",
        "scores.parquet",
    ]


def test_reidentification_agrees_with_the_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "semi-informed"
    write(folder, linkage="plda")
    line = ["--lengths", "1", "--populations", "20", "--top", "3", "--draws", "2", "--no-interval"]
    assert run(["reidentify", "--attack", str(folder), *line, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    table = pl.read_parquet(folder / "scores.parquet").with_columns(
        pl.col("score").rank("ordinal", descending=True).over("trial").alias("rank")
    )
    mated = table.filter(pl.col("label") == "mated")
    for curve, k in (("linkability", 1), ("top_k", 3)):
        hits = mated.group_by("trial_speaker").agg((pl.col("rank") <= k).mean().alias("share"))
        assert result[curve][0]["value"] == pytest.approx(hits["share"].mean())
    stored = read_attack(folder)
    files = [str(path) for path in stored.files[:2]]
    assert run(["reidentify", "--enrol", files[0], "--trial", files[1], *line, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["linkability"][0]["value"] < result["linkability"][0]["value"] - 0.1
    assert "cosine without a centre" in plain["notes"][-1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"over": "max"}, "the largest score over recordings"),
        ({"over": "mean"}, "the mean score over recordings"),
        ({"norm": "s-norm"}, "normalised its scores (s-norm)"),
    ],
)
def test_a_difference_in_scoring_is_noted(
    settings: dict[str, Any], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "attack"
    write(folder, linkage="cosine", **settings)
    assert [words in note for note in read_attack(folder).notes] == [True]
    line = ["--lengths", "1", "--populations", "20", "--draws", "2", "--no-interval"]
    assert run(["reidentify", "--attack", str(folder), *line]) == 0
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one attack."""
    folder = tmp_path_factory.mktemp("out") / "semi-informed"
    write(folder, linkage="cosine")
    return folder


def changed(record: dict[str, Any], **changes: Any) -> str:
    return json.dumps({**record, **changes})


def test_damaged_records(stored: Path) -> None:
    path = stored / RECORD
    text = path.read_text("utf-8")
    record = json.loads(text)
    trained, embeddings = record["trained"], record["embeddings"]
    defects = {
        "": ("bad-input", "empty"),
        "{": ("not-json", "not JSON"),
        "[]": ("not-json", "not a JSON object"),
        "{}": ("wrong-shape", "attacker"),
        changed(record, trained=3): ("wrong-shape", "trained"),
        changed(record, settings={"over": 3}): ("wrong-shape", "settings.over"),
        changed(record, manner={}): ("wrong-shape", "manner"),
        changed(record, trials=7): ("mismatch", "7 trials"),
        changed(record, trained={**trained, "name": "nobody"}): ("unknown-name", "'nobody'"),
        changed(record, trained={**trained, "name": ["x"]}): ("wrong-shape", "trained.name"),
        changed(record, trained={**trained, "settings": {"x": 1}}): ("unknown-name", "'cosine'"),
        changed(record, trained={**trained, "name": "whitening", "settings": {"shrinkage": "1"}}): (
            "wrong-shape",
            "trained.settings",
        ),
        changed(record, embeddings={"enrol": embeddings["enrol"]}): ("wrong-shape", "train, trial"),
    }
    for content, (code, words) in defects.items():
        path.write_text(content, "utf-8")
        with pytest.raises(InputError) as caught:
            read_attack(stored)
        assert words in str(caught.value) and str(path) in str(caught.value), content
        assert code in (caught.value.code, "bad-input", "not-json"), content
    path.write_text(text, "utf-8")
    assert read_attack(stored).record.trained.settings == trained["settings"]


def test_embeddings_must_be_those_of_the_record(stored: Path) -> None:
    path = stored / RECORD
    text = path.read_text("utf-8")
    record = json.loads(text)
    for digest, code in (("../secret", "damaged"), ("0" * 64, "not-found")):
        embeddings = {**record["embeddings"], "trial": digest}
        path.write_text(changed(record, embeddings=embeddings), "utf-8")
        with raises_code(code):
            read_attack(stored)
    path.write_text(text, "utf-8")
    store = stored.parent / "embeddings"
    trial, train = (store / f"{record['embeddings'][role]}.npz" for role in ("trial", "train"))
    content = trial.read_bytes()
    trial.write_bytes(train.read_bytes())
    with raises_code("damaged") as caught:
        read_attack(stored)
    assert str(trial) in str(caught.value)
    trial.write_bytes(content)


def test_folders_that_are_not_an_attack(stored: Path, tmp_path: Path) -> None:
    with raises_code("not-an-attack") as caught:
        read_attack(stored.parent)
    assert "semi-informed" in str(caught.value)
    with raises_code("not-an-attack"):
        read_attack(tmp_path)
    with pytest.raises(InputError):
        read_attack(tmp_path / "none")


def test_reidentification_in_python(stored: Path) -> None:
    attacked = read_attack(stored)
    result = reidentify(attacked.enrol, attacked.trial, attacked.linkage, settings=QUICK)
    assert result.linkage == "cosine" and result.linkability[-1].population == 20
