"""What the documents say is true: their examples run, their links lead somewhere."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from sottovoce.measure.summary import MEASURES

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_run(path: Path) -> None:
    outcome = doctest.testfile(str(path), module_relative=False)
    assert outcome.failed == 0


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if not link.startswith(("http://", "https://")):
            assert (path.parent / link).exists(), link


def test_every_measure_has_a_card() -> None:
    cards = {path.stem for path in (ROOT / "docs" / "measures").glob("*.md")}
    for name in MEASURES:
        assert re.sub(r"_fpr_0\.\d+$", "_fpr", name) in cards, name


def test_every_docstring_example_runs() -> None:
    import importlib
    import pkgutil

    import sottovoce

    for module in pkgutil.walk_packages(sottovoce.__path__, "sottovoce."):
        if module.name.endswith(("__main__", ".compiled")):
            continue
        try:
            imported = importlib.import_module(module.name)
        except ModuleNotFoundError as error:  # what trains needs the extra of that name
            if error.name == "torch":
                continue
            raise
        outcome = doctest.testmod(imported)
        assert outcome.failed == 0, module.name
