"""The command ``reassemble`` on texts that are too small for some of its measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.cli import run

LINES = "the old man went home by the road\nthe dog went to the old man and home\n"


@pytest.mark.parametrize("interval", [[], ["--no-interval"]])
def test_a_measure_of_too_few_slices_is_a_dash_with_its_reason(
    interval: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(LINES * 5)  # two slices a line: 10 mated scores
    command = ["reassemble", str(text), "--train", str(text), "--words", "4", *interval]
    assert run(command) == 0
    lines = capsys.readouterr().out.splitlines()
    (mutual,) = (line for line in lines if line.startswith("mutual: "))
    assert mutual.startswith("mutual: D_sys –, without chance –, EER ")
    reasons = [line for line in lines if line.startswith("  10 mated scores; D_sys needs 20")]
    assert len(reasons) == 2  # once for each score, mutual and joint
