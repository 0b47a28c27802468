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
    """Return the path of Chromium; skip the test where something is missing."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None or shutil.which("node") is None:
        pytest.skip("needs Chromium and node: apt-get install chromium nodejs npm")
    if not all((MODULES / name).is_dir() for name in ("playwright-core", "axe-core")):
        pytest.skip("needs npm install --prefix build/browser playwright-core axe-core")
    return path


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the browser reports of the page in every view."""
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
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("defect", ["requests", "console", "violations", "overflow", "scripts"])
def test_nothing_is_wrong_in_any_view(observed: dict[str, Any], defect: str) -> None:
    assert len(observed["views"]) == 4
    assert {view["view"]: view[defect] for view in observed["views"] if view[defect]} == {}


def test_the_print_shows_folded_attacks(observed: dict[str, Any]) -> None:
    assert observed["printed"]["hidden"] == 0
    assert observed["printed"]["bytes"] > 20_000


def test_the_recordings_play(observed: dict[str, Any]) -> None:
    assert observed["played"] == pytest.approx(6.0, abs=0.1)
