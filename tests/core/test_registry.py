"""Registries: objects of this package and of others, and names that do not exist."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.core import registry as registry_module
from sottovoce.core.errors import UsageError
from sottovoce.core.registry import Registry, did_you_mean


@pytest.fixture
def colours(monkeypatch: pytest.MonkeyPatch) -> Registry[str]:
    """Two colours of this package; another brings one more, and one whose name is taken."""
    foreign = [
        EntryPoint("digits", "string:digits", "test.colours"),
        EntryPoint("red", "string:hexdigits", "test.colours"),
    ]

    def entry_points(*, group: str) -> list[EntryPoint]:
        return foreign if group == "test.colours" else []

    monkeypatch.setattr(registry_module, "entry_points", entry_points)
    registry: Registry[str] = Registry("colour", group="test.colours")
    registry.add("red", "#f00")
    registry.add("green", "#0f0")
    return registry


def test_adding_gives_the_thing_back(colours: Registry[str]) -> None:
    assert colours.add("blue", "#00f") == "#00f"
    assert colours["blue"] == "#00f"


def test_files_are_found_by_their_ending_in_capitals_or_not() -> None:
    registry: Registry[str] = Registry("reader", group="test.none")
    for ending in (".gz", ".csv.gz", ".csv", ".Odd"):
        registry.add(ending, ending)
    assert registry.for_file(Path("a/B.CSV")) == ".csv"
    assert registry.for_file(Path("b.Csv.Gz")) == ".csv.gz"
    assert registry.for_file(Path("b.tsv.gz")) == ".gz"
    assert registry.for_file(Path("b.odd")) == ".Odd"
    assert registry.for_file(Path("csv")) is None
    assert registry.for_file(Path("b.csv.txt")) is None


def test_a_name_is_taken_once(colours: Registry[str]) -> None:
    with raises_code("exists", UsageError) as caught:
        colours.add("red", "#e00")
    assert "colour 'red'" in str(caught.value)
    assert colours["red"] == "#f00"


def test_other_packages_add_by_entry_point(colours: Registry[str]) -> None:
    assert colours["digits"] == "0123456789"


def test_own_names_come_first(colours: Registry[str]) -> None:
    assert colours["red"] == "#f00"
    assert list(colours) == ["red", "green", "digits"]


def test_membership(colours: Registry[str]) -> None:
    assert "red" in colours
    assert "digits" in colours
    assert "gren" not in colours
    assert 3 not in colours


def test_a_near_name_is_suggested(colours: Registry[str]) -> None:
    with raises_code("unknown-name", UsageError) as caught:
        colours["gren"]
    assert str(caught.value) == "no colour is called 'gren'; did you mean 'green'?"
    with raises_code("unknown-name", UsageError) as caught:
        colours["digit"]
    assert "'digits'" in str(caught.value)


def test_far_off_names_get_the_whole_list(colours: Registry[str]) -> None:
    with raises_code("unknown-name", UsageError) as caught:
        colours["xyz"]
    assert str(caught.value).endswith("digits, green, red")


def test_did_you_mean_takes_the_nearest() -> None:
    known = ["min_cllr", "cllr", "eer", "rocch_eer"]
    assert did_you_mean("measure", "mincllr", known).endswith("did you mean 'min_cllr'?")
    assert did_you_mean("measure", "err", known).endswith("did you mean 'eer'?")


def test_no_entry_points_are_looked_up_on_import() -> None:
    registry: Registry[str] = Registry("object", group="no.such.group")
    assert list(registry) == []
    with raises_code("unknown-name", UsageError):
        registry["anything"]
