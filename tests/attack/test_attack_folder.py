"""What an attack leaves: whoever reads it links as the attack did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from attack_voices import simulated

from sottovoce.attack import ATTACKERS, Attack, Manner, attack, score_all
from sottovoce.attack.folder import RECORD, read_attack, write_voices
from sottovoce.cli import run
from sottovoce.core.errors import InputError
from sottovoce.measure.reidentification import reidentify
from sottovoce.measure.reidentification_settings import ReidentificationSettings

QUICK = ReidentificationSettings(lengths=(1,), populations=(20,), draws=2, confidence=None)


def leave(folder: Path, name: str = "semi-informed", **manner: Any) -> Attack:
    """Attack simulated voices and leave the files as the command does."""
    material, attacker = simulated(), ATTACKERS[name]
    found = attack(material, attacker, Manner(**manner))
    write_voices(folder, material, attacker)
    found.table.write(folder / "scores.parquet")
    (folder / RECORD).write_text(json.dumps(found.to_dict()), "utf-8")
    return found


@pytest.mark.parametrize("linkage", ["cosine", "euclidean", "whitening", "projection", "plda"])
@pytest.mark.parametrize("name", ["ignorant", "semi-informed"])
def test_the_same_scores_to_the_last_digit(name: str, linkage: str, tmp_path: Path) -> None:
    found = leave(tmp_path, name, linkage=linkage)
    left = read_attack(tmp_path)
    assert left.notes == () and left.linkage.name == linkage
    again = score_all(left.enrol, left.trial, left.linkage)
    np.testing.assert_array_equal(again.values, found.table.values)
    np.testing.assert_array_equal(again.enrolled, found.table.enrolled)
    np.testing.assert_array_equal(again.trials, found.table.trials)


def test_reidentification_finds_what_the_scores_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(tmp_path, linkage="plda")
    line = ["--lengths", "1", "--populations", "20", "--top", "3", "--draws", "2", "--no-interval"]
    assert run(["reidentify", "--attack", str(tmp_path), *line, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    table = pl.read_parquet(tmp_path / "scores.parquet").with_columns(
        pl.col("score").rank("ordinal", descending=True).over("trial").alias("rank")
    )
    own = table.filter(pl.col("label") == "mated")
    for curve, k in (("linkability", 1), ("top_k", 3)):
        hits = own.group_by("trial_speaker").agg((pl.col("rank") <= k).mean().alias("share"))
        assert found[curve][0]["value"] == pytest.approx(hits["share"].mean())
    files = [str(tmp_path / f"{side}.npz") for side in ("enrol", "trial")]
    assert run(["reidentify", "--enrol", files[0], "--trial", files[1], *line, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["linkability"][0]["value"] < found["linkability"][0]["value"] - 0.1
    assert "cosine without a centre" in plain["notes"][-1]


@pytest.mark.parametrize(
    ("manner", "words"),
    [
        ({"over": "max"}, "the largest score over recordings"),
        ({"over": "mean"}, "the mean score over recordings"),
        ({"norm": "s-norm"}, "normalised its scores (s-norm)"),
    ],
)
def test_what_is_not_the_same_is_noted(
    manner: dict[str, Any], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(tmp_path, linkage="cosine", **manner)
    assert [words in note for note in read_attack(tmp_path).notes] == [True]
    line = ["--lengths", "1", "--populations", "20", "--draws", "2", "--no-interval"]
    assert run(["reidentify", "--attack", str(tmp_path), *line]) == 0
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one attack."""
    folder = tmp_path_factory.mktemp("out") / "semi-informed"
    leave(folder, linkage="cosine")
    return folder


def changed(record: dict[str, Any], **changes: Any) -> str:
    return json.dumps({**record, **changes})


def test_records_that_are_no_records(left: Path) -> None:
    path = left / RECORD
    text = path.read_text("utf-8")
    record = json.loads(text)
    trained = record["trained"]
    bad = {
        "": "empty",
        "{": "not JSON; run the attack again",
        "[]": "not a JSON object; run the attack again",
        "{}": "not the record of an attack",
        changed(record, trained=3): "not the record of an attack",
        changed(record, manner={}): "not the record of an attack",
        changed(record, trials=7): "tells of 20 speakers, 7 trials and 96 training vectors",
        changed(record, trained={**trained, "name": "nobody"}): "no linkage function 'nobody'",
        changed(record, trained={**trained, "name": ["x"]}): "no linkage function",
        changed(record, trained={**trained, "settings": {"x": 1}}): "'cosine' with such settings",
        changed(
            record, trained={**trained, "name": "whitening", "settings": {"shrinkage": "1"}}
        ): "'whitening' with such settings",
    }
    for content, words in bad.items():
        path.write_text(content, "utf-8")
        with pytest.raises(InputError) as caught:
            read_attack(left)
        assert words in str(caught.value) and str(path) in str(caught.value), content
    path.write_text(text, "utf-8")
    settings = read_attack(left).settings
    assert settings == trained["settings"]


def test_folders_that_are_not_an_attack(left: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name the folder of one attacker in it: semi-informed"):
        read_attack(left.parent)
    with pytest.raises(InputError, match=r"no attack\.json; .*OUT/ATTACKER"):
        read_attack(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_attack(tmp_path / "none")
    leave(tmp_path / "old", linkage="cosine")
    (tmp_path / "old" / "train.npz").unlink()
    with pytest.raises(InputError, match=r"train\.npz: no such file; run sottovoce attack again"):
        read_attack(tmp_path / "old")


def test_a_study_in_python(left: Path) -> None:
    found = read_attack(left)
    study = reidentify(found.enrol, found.trial, found.linkage, settings=QUICK)
    assert study.linkage == "cosine" and study.linkability[0].population == 20
