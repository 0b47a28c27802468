"""Curves over population size as the report draws them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from sottovoce.findings import CurvePoint
from sottovoce.report.reidentification import CURVES, curve_figure, population_axis

SVG = "{http://www.w3.org/2000/svg}"
LINKABILITY = CURVES["linkability"]


def points(*sizes: int, value: float = 0.5) -> list[CurvePoint]:
    return [CurvePoint(1, size, value, 1 / size, value - 0.1, value + 0.1) for size in sizes]


def test_originals_are_drawn_beside_without_intervals() -> None:
    figure = curve_figure(points(20, 40), LINKABILITY, originals=points(20, 40, value=0.9))
    root = ElementTree.fromstring(figure.svg)
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert "1 utterance a conversation, anonymised" in words
    assert "1 utterance a conversation, original" in words
    lines = list(root.iter(f"{SVG}polyline"))
    assert len({line.get("stroke-dasharray") for line in lines}) == len(lines) == 3
    assert len(list(root.iter(f"{SVG}polygon"))) == 1


def test_without_originals_nothing_is_said_of_them() -> None:
    text = curve_figure(points(20, 40), LINKABILITY).svg
    assert "1 utterance a conversation<" in text and "original" not in text


def test_one_population_is_drawn_as_marks() -> None:
    root = ElementTree.fromstring(curve_figure(points(20), LINKABILITY).svg)
    assert not list(root.iter(f"{SVG}polyline"))
    marks = [path for path in root.iter(f"{SVG}path") if path.get("fill-opacity") == "0.6"]
    assert len(marks) == 4  # chance and value, each in the figure and in the legend


@pytest.mark.parametrize(
    ("sizes", "marks"),
    [
        ([20, 40], ["20", "40"]),
        ([20, 23], ["20"]),
        ([7], ["7"]),
        ([10, 20, 1000], ["10", "20", "50", "100", "200", "500", "1,000"]),
    ],
)
def test_the_largest_population_is_marked(sizes: list[int], marks: list[str]) -> None:
    axis = population_axis(sizes)
    assert [mark for _, mark in axis.ticks] == marks
    assert axis.low < axis.high


def test_the_figure_tells_its_title_and_description() -> None:
    figure = curve_figure(points(20, 40), LINKABILITY)
    root = ElementTree.fromstring(figure.svg)
    assert figure.title == root.findtext(f"{SVG}title") == "Linkability over population size"
    assert figure.description == root.findtext(f"{SVG}desc")
