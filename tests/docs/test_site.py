"""The documentation as a site: built without a warning, and opened in a real browser.

Wants Chromium and one package of npm, outside of what git knows:

    npm install --prefix build/browser playwright-core
"""

from __future__ import annotations

import ast
import html
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mkdocs")

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "browser" / "open_site.cjs"
MODULES = Path(os.environ.get("NODE_PATH", ROOT / "build" / "browser" / "node_modules"))
OPENED = ("index.html", "reference/measure.html", "measures/d_sys.html", "architecture.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def opened(site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the browser met: a list of pages, and the number of answers to a search."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None or shutil.which("node") is None:
        pytest.skip("needs Chromium and node: apt-get install chromium nodejs npm")
    if not (MODULES / "playwright-core").is_dir():
        pytest.skip("needs npm install --prefix build/browser playwright-core")
    pictures = tmp_path_factory.mktemp("pictures")
    result = subprocess.run(
        ["node", str(SCRIPT), chromium, str(site), str(pictures), *OPENED],
        env={**os.environ, "NODE_PATH": str(MODULES)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    met: dict[str, Any] = json.loads(result.stdout)
    return met


class Resources(HTMLParser):
    """Gathers what a browser loads with a page: scripts, styles, pictures, fonts."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        link = tag == "link" and named.get("rel") not in ("canonical", "next", "prev")
        address = named.get("href") if link else named.get("src")
        if address:
            self.addresses.append(address)


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        resources = Resources()
        resources.feed(page.read_text(encoding="utf-8"))
        outside = [a for a in resources.addresses if re.match(r"(https?:)?//", a)]
        assert outside == [], page.name


def test_pages_on_extending_show_the_example_plugin(site: Path) -> None:
    for module in (ROOT / "examples" / "plugin" / "src" / "sottovoce_example_plugin").glob("*.py"):
        docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
        first = html.escape(docstring.splitlines()[0], quote=False)
        pages = (page.read_text(encoding="utf-8") for page in (site / "extending").glob("*.html"))
        assert module.stem == "__init__" or any(first in page for page in pages), module.name


def test_no_formula_and_no_role_is_left_as_source(site: Path) -> None:
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        assert "arithmatex" not in text, page.name
        assert not re.search(r":(class|func|meth|mod|data):<code>", text), page.name
        assert ".. math::" not in text, page.name


def test_the_reference_lists_what_packages_export(site: Path) -> None:
    import sottovoce.attack
    import sottovoce.findings
    import sottovoce.measure

    for package in (sottovoce.attack, sottovoce.findings, sottovoce.measure):
        page = site / "reference" / f"{package.__name__.rpartition('.')[2]}.html"
        text = page.read_text(encoding="utf-8")
        for name in package.__all__:
            defined = f"{getattr(getattr(package, name), '__module__', '')}.{name}"
            anchors = (f'id="{package.__name__}.{name}"', f'id="{defined}"')
            assert any(anchor in text for anchor in anchors), name


@pytest.mark.parametrize("defect", ["elsewhere", "console", "missing", "overflow"])
def test_nothing_is_wrong_in_the_browser(opened: dict[str, Any], defect: str) -> None:
    assert {page["page"]: page[defect] for page in opened["pages"] if page[defect]} == {}


def test_the_search_finds_pages(opened: dict[str, Any]) -> None:
    assert opened["answers"] > 3


def test_pages_have_their_content(opened: dict[str, Any]) -> None:
    front, reference, card, architecture = opened["pages"]
    assert "step cache" in architecture["text"]
    assert "sottovoce" in front["heading"]
    assert "Where to go" in front["text"]
    assert "measure_scores" in reference["text"]
    assert card["formulas"] > 5
