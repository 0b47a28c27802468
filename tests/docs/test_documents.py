"""What the documents say is true: their examples run, their links lead somewhere."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sottovoce.cli import app
from sottovoce.measure.catalogue import MEASURES

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


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_have_the_options_shown(path: Path) -> None:
    for line in re.findall(r"^ *(sottovoce .*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        for command in line.split("#")[0].split("&&"):
            assert unknown_options(command.split()[1:]) == set(), command


def unknown_options(words: list[str]) -> set[str]:
    """The options among the words of a command line that the command does not have."""
    command: click.Command = app
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0)) or app
    known = {name for option in command.params for name in option.opts}
    return {word.strip("[]") for word in words if word.strip("[]").startswith("--")} - known


def test_the_example_of_json_is_what_the_command_prints() -> None:
    page = (ROOT / "docs" / "file-formats.md").read_text(encoding="utf-8")
    found = re.search(
        r"`sottovoce (measure --example [^`]+)` prints:\n\n```json\n(.*?)```", page, re.S
    )
    assert found is not None
    output = CliRunner().invoke(app, found[1].split()).stdout
    printed, documented = (
        json.loads(text, parse_float=lambda number: round(float(number), 9))
        for text in (output, found[2])
    )
    assert printed.keys() == documented.keys()
    assert printed["provenance"].keys() == documented["provenance"].keys()
    numbers = [key for key in printed if key != "provenance"]
    assert {key: printed[key] for key in numbers} == {key: documented[key] for key in numbers}


def test_every_measure_has_a_card() -> None:
    cards = {path.stem for path in (ROOT / "docs" / "measures").glob("*.md")}
    for name in MEASURES:
        assert re.sub(r"_0\.\d+$", "", name) in cards, name


def test_tables_of_results_are_those_of_their_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """``benchmarks/results_tables.py`` writes them."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from results_data import read_results
    from results_tables import fill, frontier

    results = read_results(ROOT / "docs" / "results.json")
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert fill(page, results) == page
    figure = (ROOT / "docs" / "images" / "frontier.svg").read_text(encoding="utf-8")
    assert frontier(results) == figure


def test_what_was_not_measured_is_no_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """A D_sys or word error rate that nobody measured is not drawn as 0."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from results_data import Figure, read_results
    from results_tables import _points

    results = read_results(ROOT / "docs" / "results.json")
    for measure in ("eer", "d_sys_corrected"):
        (before,) = (p for p in _points(results, measure) if p[0] == "xvector")
        attack = results.attack("xvector", "semi-informed", "strongest")
        assert attack is not None and before[2] > 0
        with monkeypatch.context() as patch:
            patch.setitem(attack.measures, measure, Figure(None))
            assert "xvector" not in {name for name, *_ in _points(results, measure)}


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
            if error.name in ("torch", "onnx", "dp_accounting"):
                continue
            raise
        outcome = doctest.testmod(imported)
        assert outcome.failed == 0, module.name
