"""The page in a real browser: every part used with real files, at two widths and two themes.

Wants what the tests of the report's page want:

    npm install --prefix build/browser playwright-core axe-core
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_service import Service, clip

from sottovoce.corpus.builtin import builtin_corpus
from sottovoce.corpus.manifest import read_manifest

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("drive_page.cjs")
STATIC = ROOT / "src" / "sottovoce" / "serve" / "static"
MODULES = Path(os.environ.get("NODE_PATH", ROOT / "build" / "browser" / "node_modules"))


def browser() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None or shutil.which("node") is None:
        pytest.skip("needs Chromium and node: apt-get install chromium nodejs npm")
    if not all((MODULES / one).is_dir() for one in ("playwright-core", "axe-core")):
        pytest.skip("needs npm install --prefix build/browser playwright-core axe-core")
    return found


def spoken(folder: Path) -> tuple[Path, str]:
    """A recording with its text, or without where words cannot be aligned."""
    try:
        import pocketsphinx  # noqa: F401
    except ImportError:
        path = folder / "clip.wav"
        path.write_bytes(clip())
        return path, ""
    one = read_manifest(builtin_corpus(folder, speakers=2, utterances=2)).utterances[0]
    return Path(one.path), one.transcript


@pytest.fixture(scope="module")
def seen(service: Service, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    chromium = browser()
    folder = tmp_path_factory.mktemp("page")
    sound, transcript = spoken(folder)
    rng = np.random.default_rng(0)
    scores = folder / "scores.npz"
    np.savez(scores, mated=rng.normal(1, 1, 100), nonmated=rng.normal(0, 1, 300))
    pictures = os.environ.get("PICTURES")
    words = [chromium, service.url, str(sound), transcript, str(scores)]
    done = subprocess.run(
        ["node", str(SCRIPT), *words, *([pictures] if pictures else [])],
        env={**os.environ, "NODE_PATH": str(MODULES)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture
def used(seen: list[dict[str, Any]]) -> dict[str, Any]:
    """The view in which everything was tried."""
    return seen[0]


def refusals(one: dict[str, Any]) -> list[str]:
    """Chromium writes a line for every answer that is an error; those are not the page's."""
    return [line for line in one["console"] if "the server responded with a status" not in line]


def test_nothing_is_wrong_in_any_view(seen: list[dict[str, Any]]) -> None:
    assert len(seen) == 2
    for one in seen:
        assert (one["foreign"], refusals(one), one["violations"]) == ([], [], []), one["view"]
        assert one["overflow"] <= 0


def test_a_voice_is_heard_and_seen(used: dict[str, Any]) -> None:
    assert used["noClip"] == "choose, drop or record a clip first"
    assert re.fullmatch(r"Done: \d+\.\d s\.", used["voice"])
    assert used["played"] > 0.5
    waves, tones = used["drawn"][:2], used["drawn"][2:]
    assert min(waves) >= 2 and min(tones) > 20
    assert used["recorded"].startswith("Done")


def test_private_words_are_marked_and_replaced(used: dict[str, Any]) -> None:
    assert {"Ann LeePER", "BerlinLOC"} <= set(used["marks"])
    assert "[PER]" in used["replaced"] and "Ann" not in used["replaced"]


def test_a_recording_is_masked(used: dict[str, Any]) -> None:
    pytest.importorskip("pocketsphinx")
    assert re.fullmatch(r"\d+ words? masked\.", used["recording"])


def test_scores_are_measured(used: dict[str, Any]) -> None:
    assert used["measure"].startswith("Measured.")
    assert any(re.match(r"EER\d+\.\d %", row) for row in used["rows"])


def test_every_control_is_reached_with_the_keyboard(used: dict[str, Any]) -> None:
    wanted = set(re.findall(r'<(?:input|select|textarea|button) id="([\w-]+)"', page()))
    assert wanted - {"token"} <= set(used["tabbed"])


def page() -> str:
    return (STATIC / "index.html").read_text(encoding="utf-8")


def test_every_control_is_explained() -> None:
    for name in re.findall(r'<(?:input|select|textarea) id="([\w-]+)"', page()):
        assert f'for="{name}"' in page()
        assert f'<small id="{name}-help">' in page()


def test_the_page_has_no_script_or_style_of_its_own() -> None:
    assert not re.search(r"<script>|<style|\son\w+=|style=|https?://", page())
