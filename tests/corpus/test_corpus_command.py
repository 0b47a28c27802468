"""``sottovoce corpus`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from signals import noise, write_audio

from sottovoce.cli import run
from sottovoce.cli.corpus import LISTED_DEFECTS

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = ["utterance,path,speaker,gender"]
    for name, gender in (("ann", "F"), ("bob", "M")):
        for i in range(3):
            write_audio(tmp_path / f"{name}{i}.flac", noise())
            rows.append(f"{name}{i},{name}{i}.flac,{name},{gender}")
    (tmp_path / "manifest.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_a_good_corpus(folder: Path, capsys: Capture) -> None:
    for options in ([], ["--decode"]):
        assert run(["corpus", "check", str(folder), *options]) == 0
        assert "6 utterances of 2 speakers, 0.00 hours; no defects" in capsys.readouterr().out
    assert run(["corpus", "info", str(folder)]) == 0
    output = capsys.readouterr().out
    for word in ("2 (f 1, m 1)", "3 to 3, median 3", "16,000 Hz 6"):
        assert word in output


def test_defects_are_listed_with_file_and_line_and_code_1(folder: Path, capsys: Capture) -> None:
    (folder / "ann1.flac").unlink()
    (folder / "bob2.flac").write_bytes(b"")
    assert run(["corpus", "check", str(folder)]) == 1
    output = capsys.readouterr().out
    assert f"{folder / 'manifest.csv'}:3: {folder / 'ann1.flac'}: no such audio file" in output
    assert f"{folder / 'manifest.csv'}:7: " in output and "2 defects" in output
    assert run(["corpus", "info", str(folder)]) == 0
    assert "2 defects, listed by: sottovoce corpus check" in capsys.readouterr().out


def test_json_holds_everything(folder: Path, capsys: Capture) -> None:
    (folder / "ann1.flac").unlink()
    assert run(["corpus", "check", "--json", str(folder)]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["n_defects"] == 1 and data["defects"][0]["where"].endswith("manifest.csv:3")
    assert data["utterances"] == 6 and data["provenance"]["settings"] == {"decode": False}
    assert run(["corpus", "info", str(folder), "--json", str(folder / "out.json")]) == 0
    assert json.loads((folder / "out.json").read_text())["speakers"] == 2


def test_bad_lists_are_defects_too(folder: Path, capsys: Capture) -> None:
    with (folder / "manifest.csv").open("a") as file:
        file.write("ann0,x.wav,ann,F\nu9,y.wav,,F\n")
    assert run(["corpus", "check", str(folder)]) == 1
    output = capsys.readouterr().out
    assert "manifest.csv:8: ann0 again" in output and "manifest.csv:9: no speaker" in output
    assert run(["corpus", "check", str(folder), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["n_defects"] == 2
    assert run(["corpus", "info", str(folder)]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and "(1 more: sottovoce corpus check lists them)" in message


def test_many_defects_are_counted(tmp_path: Path, capsys: Capture) -> None:
    rows = [f"u{i},gone{i}.wav,ann" for i in range(LISTED_DEFECTS + 7)]
    (tmp_path / "manifest.csv").write_text("utterance,path,speaker\n" + "\n".join(rows) + "\n")
    assert run(["corpus", "check", str(tmp_path)]) == 1
    output = capsys.readouterr().out
    assert output.count("no such audio file") == LISTED_DEFECTS and "… and 7 more" in output
    assert "57 defects" in output


@pytest.mark.parametrize("command", ["check", "info"])
def test_what_is_no_corpus_is_one_line_and_code_2(
    tmp_path: Path, command: str, capsys: Capture
) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "x.jsonl").write_bytes(b"")
    for name in ("bare", "x.csv", "x.bin", "x.jsonl", "nowhere"):
        assert run(["corpus", command, str(tmp_path / name)]) == 2, name
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.count("\n") == 1 and name in printed.err


def test_a_wrong_subcommand_is_one_line(capsys: Capture) -> None:
    assert run(["corpus", "chekc"]) == 2
    assert "chekc" in capsys.readouterr().err
