"""Without a terminal, long work prints a line now and then; short work and a quiet run none."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sottovoce.cli import app
from sottovoce.cli.options import stage_bar
from sottovoce.cli.progress_lines import INTERVAL, ProgressLines


def lines_of(steps: list[tuple[float, str, int, int]]) -> list[str]:
    """Return the lines for steps at given times."""
    lines: list[str] = []
    times = iter([0.0, *(step[0] for step in steps)])
    progress = ProgressLines(lines.append, lambda: next(times))
    for _, name, done, total in steps:
        progress.show(name, done, total)
    return lines


def test_a_line_after_a_while_and_at_the_next_stage() -> None:
    steps = [(1.0, "first", 0, 10), (11.0, "first", 2, 10), (1 + INTERVAL, "first · x", 4, 10)]
    assert lines_of(steps) == ["first · x: 40 %, about 0:00:30 left"]
    steps += [(22.0, "second", 0, 5), (23.0, "second", 1, 5), (42.0, "second", 5, 5)]
    assert lines_of(steps)[1:] == ["second: 0 %", "second: 100 %"]


def test_short_work_is_silent() -> None:
    assert lines_of([(1.0, "first", 0, 2), (2.0, "second", 2, 2), (19.0, "third", 0, 0)]) == []


def test_a_quiet_run_is_silent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sottovoce.cli.progress_lines.INTERVAL", 0.0)
    (tmp_path / "a.txt").write_text("call ann at nine pm\n")
    args = ["anonymise", "text", str(tmp_path / "a.txt")]
    shown = CliRunner().invoke(app, [*args, str(tmp_path / "b")], catch_exceptions=False)
    assert "searching: 100 %" in shown.stderr
    silent = CliRunner().invoke(app, ["--quiet", *args, str(tmp_path / "c")])
    assert silent.exit_code == 0 and silent.stderr == ""


def test_lines_take_the_place_of_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sottovoce.cli.progress_lines.INTERVAL", 0.0)
    with stage_bar() as show:
        show("searching", 1, 4)
    shown = capsys.readouterr()
    assert shown.err == "searching: 25 %\n" and shown.out == ""
