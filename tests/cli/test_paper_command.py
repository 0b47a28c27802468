"""``sottovoce paper``: attacks that are left out, and the command that a page quotes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from sottovoce.cli import run
from sottovoce.cli.paper import command

FAST = "001-table-1"


@pytest.mark.parametrize("name", ["no such attack", "baseline"])
@pytest.mark.parametrize("more", [[], ["001-figure-3"], ["--list"]])
def test_what_cannot_be_left_out_is_refused(
    name: str, more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["paper", FAST, *more, "--skip", name, "--out", str(tmp_path / "out")]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_vectors_of_one_name_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Results tell vectors apart by the names of their files."""
    words = ["paper", FAST, "--out", str(tmp_path / "out")]
    for place in ("small", "large"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "glove.txt").write_text("word 1 2\n")
        words += ["--vectors", str(tmp_path / place / "glove.txt")]
    assert run(words) == 2
    assert "glove.txt: the name of two files; rename one" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_command_on_the_page_gives_the_same_page(tmp_path: Path) -> None:
    for name in ("a.txt", "b c.txt"):
        (tmp_path / name).write_text("word 1 2\n")
    page = tmp_path / "papers.md"
    words = ["paper", FAST, "001-figure-3", "--finished", "--out", str(tmp_path / "out")]
    words += ["--vectors", str(tmp_path / "a.txt"), "--vectors", str(tmp_path / "b c.txt")]
    words += ["--skip", "xvector, ignorant", "--skip", "mcadams, ignorant", "--seed", "7"]
    assert run([*words, "--page", str(page)]) == 0
    line = next(line for line in page.read_text().splitlines() if line.startswith("sottovoce"))
    assert str(tmp_path) not in line
    params = command.make_context("paper", shlex.split(line)[2:]).params
    assert params["names"] == (FAST, "001-figure-3")
    assert params["vectors"] == (Path("a.txt"), Path("b c.txt"))
    assert params["skip"] == ("xvector, ignorant", "mcadams, ignorant")
    assert params["seed"] == 7 and params["corpus"] == "builtin" and not params["quick"]
