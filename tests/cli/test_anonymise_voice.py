"""``sottovoce anonymise voice`` and ``destroy``: files, folders, secrets, errors of one line."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import write_audio

from sottovoce.cli import run
from sottovoce.core.locks import locked
from sottovoce.corpus import open_corpus


def noise(path: Path, rate: int = 16000, channels: int = 1, seconds: float = 0.3) -> Path:
    rng = np.random.default_rng(len(path.name))
    return write_audio(path, rng.normal(0, 0.1, (int(rate * seconds), channels)), rate)


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
    assert "--secret FILE" in capsys.readouterr().err


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


@pytest.fixture
def mishaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Recordings that cannot be changed, and folders that are not to be written into."""
    monkeypatch.chdir(tmp_path)
    for name, samples in (
        ("silence", np.zeros(16000)),
        ("sample", np.ones(1)),
        ("six", np.ones((16000, 6)) / 2),
    ):
        soundfile.write(f"{name}.wav", samples, 16000)
    Path("text.wav").write_text("not audio")
    noise(Path("good.wav"))
    noise(Path("flat/a.wav"))
    Path("bad").mkdir()
    soundfile.write("bad/a.wav", np.zeros(16000), 16000)
    Path("stranger").mkdir()
    Path("stranger/thesis.txt").write_text("years of work")
    Path("man.csv").write_text("utterance,path,speaker\na,good.wav,ann\n")
    Path("plain").write_text("a file")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["silence.wav", "new/s.wav"], "silence"),
        (["sample.wav", "s.wav"], "0.05 s"),
        (["text.wav", "s.wav"], "not audio"),
        (["six.wav", "s.wav"], "6 channels"),
        (["good.wav", "plain/s.wav", "--secret", "key"], "cannot be written"),
        (["flat", "stranger"], "something else in it"),
        (["flat", "."], "something else in it"),
        (["man.csv", "oman"], "within the corpus"),
        (["bad", "out"], "1 of 1 recordings cannot be anonymised"),
        (["bad", "out", "--skip-bad"], "no recording could be anonymised"),
        (["bad", "out", "--rename", "--secret", "new/key"], "cannot be anonymised"),
        (["flat", "out", "--secret", "plain/key"], "plain/key: cannot be written"),
        (["good.wav", "plain.wav", "--secret", "plain/key"], "plain/key: cannot be written"),
    ],
)
def test_what_cannot_be_done_leaves_neither_secret_nor_folder(
    words: list[str], message: str, mishaps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = everything(mishaps.parent)
    assert run(["anonymise", "voice", *words]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert everything(mishaps.parent) == before


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_secret_stays_with_what_was_drawn_with_it(
    mishaps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noise(Path("bad/b.wav"))
    assert run(["anonymise", "voice", "bad", "out"]) == 2
    assert Path("out.secret").is_file() and Path("out/b.wav").is_file()
    assert run(["anonymise", "voice", "bad", "out", "--skip-bad"]) == 0
    printed = capsys.readouterr()
    assert "1 recording changed by mcadams in out, 1 of them by an earlier run" in printed.out


def test_a_run_that_is_refused_the_folder_leaves_no_secret(mishaps: Path) -> None:
    assert run(["anonymise", "voice", "flat", "out"]) == 0
    before = everything(mishaps)
    with locked(Path("out")):
        assert run(["anonymise", "voice", "flat", "out", "--secret", "other.secret"]) == 2
    assert everything(mishaps) == before


def test_nothing_is_written_over(mishaps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["anonymise", "voice", "good.wav", "out.wav"]
    assert run(words) == 0
    before, secret = Path("out.wav").read_bytes(), Path("out.wav.secret").read_bytes()
    for again in (words, [*words[:-1], "silence.wav"], [*words, "--secret", "key"]):
        capsys.readouterr()
        assert run(again) == 2
        error = capsys.readouterr().err
        assert "there already; name another" in error and error.count("\n") == 1
    assert Path("out.wav").read_bytes() == before
    assert Path("out.wav.secret").read_bytes() == secret
    assert not soundfile.read("silence.wav")[0].any() and not Path("key").exists()


def test_a_link_to_nothing_is_a_bad_recording(
    mishaps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("flat/b.wav").symlink_to("gone.wav")
    assert run(["anonymise", "voice", "flat", "out"]) == 2
    assert "flat/b.wav: a link to nothing" in capsys.readouterr().err
    assert run(["anonymise", "voice", "flat", "out", "--skip-bad"]) == 0
    assert "left out flat/b.wav: a link to nothing" in capsys.readouterr().err


def test_files_that_differ_in_their_endings_are_speakers_of_their_own(mishaps: Path) -> None:
    noise(Path("flat/a.flac"))
    noise(Path("flat/b.wav"))
    assert run(["anonymise", "voice", "flat", "out"]) == 0
    assert open_corpus("out").speakers == ("a.flac", "a.wav", "b.wav")


def test_destroying_what_is_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = noise(tmp_path / "a.wav")
    assert run(["anonymise", "destroy", str(path)]) == 2
    assert path.is_file() and "not a secret" in capsys.readouterr().err
