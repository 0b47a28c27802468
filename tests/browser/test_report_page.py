"""The report in a real browser: offline, silent, accessible, at two widths, two themes, in print.

Wants Chromium and two packages of npm, outside of what git knows:

    npm install --prefix build/browser playwright-core axe-core
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from audit_case import findings_in

from sottovoce.report.audit import render

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("open_page.cjs")
MODULES = Path(os.environ.get("NODE_PATH", ROOT / "build" / "browser" / "node_modules"))


def browser() -> str:
    """Chromium's path; skips where something is lacking."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None or shutil.which("node") is None:
        pytest.skip("needs Chromium and node: apt-get install chromium nodejs npm")
    if not all((MODULES / one).is_dir() for one in ("playwright-core", "axe-core")):
        pytest.skip("needs npm install --prefix build/browser playwright-core axe-core")
    return found


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the browser met, in every view."""
    chromium = browser()
    folder = tmp_path_factory.mktemp("page")
    page = folder / "report.html"
    page.write_text(render(findings_in(folder, synthetic=True), folder), encoding="utf-8")
    done = subprocess.run(
        ["node", str(SCRIPT), chromium, str(page)],
        env={**os.environ, "NODE_PATH": str(MODULES)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("what", ["requests", "console", "violations", "overflow", "scripts"])
def test_nothing_is_wrong_in_any_view(seen: dict[str, Any], what: str) -> None:
    assert len(seen["views"]) == 4
    assert {one["view"]: one[what] for one in seen["views"] if one[what]} == {}


def test_the_print_shows_folded_attacks(seen: dict[str, Any]) -> None:
    assert seen["printed"]["hidden"] == 0
    assert seen["printed"]["bytes"] > 20_000


def test_the_recordings_play(seen: dict[str, Any]) -> None:
    assert seen["played"] == pytest.approx(6.0, abs=0.1)
