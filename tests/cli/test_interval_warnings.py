"""The commands warn in every situation in which intervals hold the truth too seldom.

The situations are the marked rows of the tables in docs/intervals.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.cli import run

SPEAKERS, TRIALS = 20, 10


@pytest.fixture
def exposed_few() -> dict[str, Any]:
    """Scores of 20 speakers of whom one in ten is much more exposed than the others."""
    rng = np.random.default_rng(0)
    ease = rng.normal(0, 0.5, SPEAKERS)
    exposed = np.where(rng.random(SPEAKERS) < 0.1, 4.0, 0.0)
    who = np.repeat(np.arange(SPEAKERS), TRIALS)
    enrol, trial = np.where(~np.eye(SPEAKERS, dtype=bool))
    return {
        "mated": (ease + exposed)[who] + 0.87 * rng.normal(size=len(who)),
        "nonmated": 0.35 * (ease[enrol] + ease[trial]) + 0.9 * rng.normal(size=len(enrol)),
        "mated_speaker": who,
        "nonmated_enrol_speaker": enrol,
        "nonmated_trial_speaker": trial,
    }


def measured(
    path: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[str, list[str]]:
    """What ``measure`` prints, on one line, and the codes of its warnings."""
    words = ["measure", str(path), "--resamples", "40", *options]
    assert run(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert run([*words, "--json", "-"]) == 0
    return shown, json.loads(capsys.readouterr().out)["warning_codes"]


def test_one_speaker_in_ten_exposed_among_twenty(
    exposed_few: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "scores.npz", **exposed_few)
    shown, codes = measured(tmp_path / "scores.npz", capsys)
    assert codes == ["few-speakers"]
    assert "mated trials of 20 speakers only" in shown
    assert "Cllr_min and D_ECE" in shown


def test_speakers_withheld(
    exposed_few: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = ("mated", "nonmated")
    np.savez(tmp_path / "scores.npz", **{kind: exposed_few[kind] for kind in kinds})
    shown, codes = measured(tmp_path / "scores.npz", capsys)
    assert codes == ["speakers-unknown"]
    assert "too narrow unless no two trials share a speaker" in shown
    assert "error rates at a threshold" in shown


def test_differences_warn_alike(
    exposed_few: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "a.npz", tmp_path / "b.npz"]
    names = np.array([f"s{number:02d}" for number in range(SPEAKERS)])
    named = {
        key: names[values] if key.endswith("speaker") else values
        for key, values in exposed_few.items()
    }
    for path, shift in zip(paths, (0.0, 0.5), strict=True):
        np.savez(path, **{**named, "mated": named["mated"] + shift})
    words = ["compare", *map(str, paths), "--resamples", "40", "--only", "eer", "--json", "-"]
    assert run(words) == 0
    (warning,) = json.loads(capsys.readouterr().out)["comparison"]["warnings"]
    assert "mated trials of 20 speakers only" in warning
    assert "differences between equal systems" in warning


def test_worst_rank_disclosure_of_few_voices_that_are_found_nearly_always(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    voices = rng.normal(size=(SPEAKERS, 16))
    who = np.repeat(np.arange(SPEAKERS), TRIALS)
    names = np.array([f"s{number:02d}" for number in who])
    for side in ("enrol", "trial"):
        vectors = (voices[who] + rng.normal(size=(len(who), 16))).astype(np.float32)
        np.savez(tmp_path / f"{side}.npz", vectors=vectors, speakers=names)
    words = ["reidentify", "--enrol", str(tmp_path / "enrol.npz")]
    words += ["--trial", str(tmp_path / "trial.npz"), "--lengths", "1", "--json", "-"]
    assert run(words) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["warning_codes"] == ["few-speakers"]
    (warning,) = printed["warnings"]
    assert "worst rank disclosure" in warning
    assert "shares such as Linkability" in warning
