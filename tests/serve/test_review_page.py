"""The review of masks in a real browser: by mouse, by keyboard, saved, loaded and replayed.

Needs what the other tests of the page need:

    npm install --prefix build/browser playwright-core axe-core

With PICTURES=FOLDER it also writes pictures at 400 and 1400 px.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from live_service import Service
from test_page import MODULES, browser, spoken

SCRIPT = Path(__file__).with_name("drive_review.cjs")


@pytest.fixture(scope="module")
def results(service: Service, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Everything that the driver reports, from one run of the browser."""
    chromium = browser()
    folder = tmp_path_factory.mktemp("review")
    sound, transcript = spoken(folder)
    inputs = {"address": service.url, "clip": str(sound), "transcript": transcript}
    (folder / "inputs.json").write_text(json.dumps(inputs), encoding="utf-8")
    done = subprocess.run(
        ["node", str(SCRIPT), chromium, folder / "inputs.json", os.environ.get("PICTURES", "")],
        env={**os.environ, "NODE_PATH": str(MODULES)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def test_nothing_goes_wrong_and_all_fits_and_is_accessible(results: dict[str, Any]) -> None:
    assert results["problems"] == []
    assert len(results["looks"]) >= 3
    wrong = {n: v for n, v in results["looks"].items() if v["violations"] or v["overflow"] > 0}
    assert wrong == {}


def test_a_text_is_reviewed_by_mouse(results: dict[str, Any]) -> None:
    text = results["textByMouse"]
    assert text["proposed"].startswith("My name is [PER], I live in [LOC] 🙂 and the gizmo is")
    assert "Marked as person, 2 places." in text["state"] and "Not applied yet" in text["state"]
    assert text["pressed"] == ["Ann Leeperson", "gizmoperson", "gizmoperson"]
    assert text["decided"] == ("My name is [PER], I live in Berlin 🙂 and the [PER] is a [PER].")
    assert text["replayed"] == text["decided"], "a saved file replays what was decided"
    assert "released" in text["table"].lower()


def test_saved_decisions_hold_places_and_no_words(results: dict[str, Any]) -> None:
    saved = results["textByMouse"]["saved"]
    assert saved["name"] == "decisions.json"
    content = json.loads(saved["content"])
    assert (content["format"], content["version"]) == ("sottovoce decisions", 1)
    (document,) = content["documents"]
    assert len(document["sha256"]) == 64
    by_person = [each for each in document["decisions"] if each["by"] == "person"]
    assert [each["mask"] for each in by_person] == [False, True, True]
    for word in ("berlin", "gizmo", "ann"):
        assert word not in saved["content"].lower()


def test_decisions_on_another_text_are_refused(results: dict[str, Any]) -> None:
    refused = results["textByMouse"]["refused"].lower()
    assert "review" in refused or "other texts" in refused


def test_nothing_masked_warns_before_it_is_saved(results: dict[str, Any]) -> None:
    text = results["textByMouse"]
    assert text["empty"].startswith("0 private values found")
    assert text["warning"].startswith("Nothing is masked.")
    assert text["asked"] == "Nothing is masked: copy all the same?"
    assert text["copied"] == "This is another text about nothing at all."
    if "unmasked" in results:
        recording = results["unmasked"]
        assert recording["warning"].startswith("Nothing is masked.")
        assert recording["asked"] == "Nothing is masked: save all the same?"
        assert recording["name"].endswith("-masked.wav")


def test_a_text_is_reviewed_with_keys_alone(results: dict[str, Any]) -> None:
    text = results["textByKeyboard"]
    assert text["first"] == "My"
    assert text["taken"] == ["blue", "gizmo"] and text["ring"] == "solid"
    assert text["marked"] == "blue gizmoperson" and text["released"] == "Berlinreleased"
    assert text["decided"] == "My name is [PER] from Berlin, the big [PER] said so."


@pytest.mark.parametrize("view", ["textByKeyboard", "recordingByMouse"])
def test_every_control_of_a_review_is_reached_and_explained(
    results: dict[str, Any], view: str
) -> None:
    if view not in results:
        pytest.skip("needs the extra align")
    keys = results[view]["keys"]
    kinds = ("missed", "unnamed", "unexplained", "unseen")
    assert {kind: keys[kind] for kind in kinds} == {kind: [] for kind in kinds}


def test_a_recording_is_reviewed_by_mouse(results: dict[str, Any]) -> None:
    if "recordingByMouse" not in results:
        pytest.skip("needs the extra align")
    recording = results["recordingByMouse"]
    start, end = recording["dragged"]
    assert 0 < start < end < 1 and recording["shown"] == 1
    assert "1 released by you" in recording["state"] and "Not applied yet" in recording["state"]
    assert recording["released"] in recording["text"]
    assert recording["removed"] == 0
    assert recording["sameBytes"] is True, "replayed decisions give the same bytes"
    (document,) = json.loads(recording["file"])["documents"]
    assert document["stretches"] == [{"start": start, "end": end, "kind": "PER", "by": "person"}]


def test_a_recording_is_reviewed_with_keys_alone(results: dict[str, Any]) -> None:
    if "recordingByKeyboard" not in results:
        pytest.skip("needs the extra align")
    recording = results["recordingByKeyboard"]
    assert recording["marked"] == pytest.approx([0.25, 0.45])
    assert recording["both"] == pytest.approx([0.25, 0.45, 0.0, 0.25])
    assert recording["spans"][0] == 0.0, "both stretches are masked as one from the start"
