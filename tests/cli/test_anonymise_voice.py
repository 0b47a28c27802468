"""``sottovoce anonymise voice`` and ``destroy``: files, folders, secrets, errors of one line."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path

import numpy as np
import pytest
import soundfile

from sottovoce.cli import run
from sottovoce.corpus import open_corpus


def noise(path: Path, rate: int = 16000, channels: int = 1, seconds: float = 0.3) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(len(path.name))
    soundfile.write(path, rng.normal(0, 0.1, (int(rate * seconds), channels)), rate)
    return path


def test_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = noise(tmp_path / "in.wav", 44100, channels=2)
    out = tmp_path / "new" / "out.flac"
    assert run(["anonymise", "voice", str(source), str(out), "--json", "-"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["method"] == "mcadams"
    secret = tmp_path / "new" / "out.flac.secret"
    assert str(secret) in printed.err and "destroy" in printed.err
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    audio, rate = soundfile.read(out)
    assert rate == 44100 and audio.shape == (13230,)
    again = tmp_path / "again.flac"
    assert run(["anonymise", "voice", str(source), str(again), "--secret", str(secret)]) == 0
    np.testing.assert_array_equal(soundfile.read(again)[0], audio)
    assert run(["anonymise", "voice", str(source), str(tmp_path / "third.flac")]) == 0
    assert not np.array_equal(soundfile.read(tmp_path / "third.flac")[0], audio)
    assert run(["anonymise", "destroy", str(secret)]) == 0
    assert not secret.exists()


def test_the_command_that_destroys_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = noise(tmp_path / "in.wav")
    assert run(["anonymise", "voice", str(source), str(tmp_path / "für Zoë.wav")]) == 0
    _, told = capsys.readouterr().err.split("destroy it: sottovoce ")
    assert run(shlex.split(told)) == 0
    assert not (tmp_path / "für Zoë.wav.secret").exists()


def test_into_the_folder_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise(tmp_path / "in" / "a.wav")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    assert run(["anonymise", "voice", str(tmp_path / "in"), "."]) == 0
    assert (tmp_path / "out.secret").exists() and (tmp_path / "out" / "manifest.csv").exists()


def test_a_secret_is_not_put_beside_the_root(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noise(tmp_path / "in" / "a.wav")
    assert run(["anonymise", "voice", str(tmp_path / "in"), "/"]) == 2
    assert "/: nothing is beside it" in capsys.readouterr().err


def test_a_folder_of_audio_and_a_public_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.wav", "b.flac"):
        noise(tmp_path / "in" / name)
    words = ["anonymise", "voice", str(tmp_path / "in")]
    settings = ["--reproducible", "3", "--set", "coefficient=speaker"]
    assert run([*words, str(tmp_path / "out"), *settings]) == 0
    assert "public seed 3" in capsys.readouterr().err
    assert (tmp_path / "out" / "a.wav").is_file() and (tmp_path / "out" / "b.flac").is_file()
    assert not (tmp_path / "out.secret").exists()
    assert open_corpus(tmp_path / "out").speakers == ("a", "b")
    record = json.loads((tmp_path / "out" / "anonymisation.json").read_text())
    assert record["reproducible_seed"] == 3 and record["settings"]["coefficient"] == "speaker"
    assert run([*words, str(tmp_path / "one"), "--speaker", "ann", *settings]) == 0
    assert open_corpus(tmp_path / "one").speakers == ("ann",)


def test_the_list_explains_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["anonymise", "voice", "--list"]) == 0
    printed = capsys.readouterr().out
    for word in ("mcadams: ", "keeps", "leaks", "--set coefficient=utterance"):
        assert word in printed
    assert run(["anonymise", "voice", "--list", "--json"]) == 0
    methods = json.loads(capsys.readouterr().out)["methods"]
    mcadams = next(one for one in methods if one["name"] == "mcadams")
    assert mcadams["settings"]["low"] == {
        "default": 0.5,
        "range": "0.3 to 1.5",
        "help": "Lowest coefficient that is drawn.",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name what to anonymise"),
        (["IN"], "name what to anonymise"),
        (["absent", "OUT"], "no such file"),
        (["IN", "OUT", "--jobs", "0"], "--jobs 0"),
        (["IN", "OUT", "--method", "mcadam"], "did you mean 'mcadams'"),
        (["IN", "OUT", "--set", "coefficient"], "KEY=VALUE"),
        (["IN", "OUT", "--set", "coeficient=1"], "did you mean 'coefficient'"),
        (["IN", "OUT", "--set", "coefficient=7"], "use 0.3 to 1.5"),
        (["IN", "OUT", "--split", "trial"], "no splits"),
        (["IN", "OUT.wav"], "name a folder"),
        (["IN/a.wav", "OUT"], "ends in .flac or .wav"),
        (["IN/a.wav", "IN/a.wav"], "the recording itself"),
        (["IN", "OUT", "--secret", "OUT/key"], "apart"),
        (["IN", "OUT", "--secret", "IN/a.wav"], "not a secret"),
        (["IN", "OUT", "--secret", "key", "--reproducible", "1"], "choose one"),
    ],
)
def test_wrong_use_is_one_line_and_leaves_nothing(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    noise(Path("IN/a.wav"))
    assert run(["anonymise", "voice", *words]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["IN"]


def test_destroying_what_is_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = noise(tmp_path / "a.wav")
    assert run(["anonymise", "destroy", str(path)]) == 2
    assert path.is_file() and "not a secret" in capsys.readouterr().err
