"""The chart writer: readable without colour, without sight and without escaping accidents."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from sottovoce.findings import NotMeasured
from sottovoce.measure import Scores, score_curves
from sottovoce.report.scores import det_figure, ece_figure, histogram_figure
from sottovoce.report.svg import (
    BOTTOM,
    DASHES,
    HEIGHT,
    LABEL_HEIGHT,
    TOP,
    Axis,
    Line,
    line_chart,
)

SVG = "{http://www.w3.org/2000/svg}"


def test_lines_differ_in_dash_pattern_and_names_are_escaped() -> None:
    lines = [Line(f"<{i}> & co", [0, 1], [0, i], i) for i in range(3)]
    figure = line_chart("a < b", "what & why", Axis.nice("x", 0, 1), Axis.nice("y", 0, 3), lines)
    assert (figure.title, figure.description) == ("a < b", "what & why")
    root = ElementTree.fromstring(figure.svg)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "a < b" and root.findtext(f"{SVG}desc") == "what & why"
    dashes = [line.get("stroke-dasharray", "") for line in root.iter(f"{SVG}polyline")]
    assert dashes == list(DASHES[:3])
    assert "<2> & co" in {text.text for text in root.iter(f"{SVG}text")}


def test_labels_of_near_marks_do_not_overlap() -> None:
    near = [0.50, 0.51, 0.52]
    lines = [
        Line(f"mark {i}", [at], [at], i, points=True, labels=(f"label {i}",))
        for i, at in enumerate([*near, 0.1])
    ]
    axes = Axis.nice("x", 0, 1), Axis.nice("y", 0, 1)
    root = ElementTree.fromstring(line_chart("marks", "of four sets", *axes, lines).svg)
    labels = [text for text in root.iter(f"{SVG}text") if (text.text or "").startswith("label")]
    heights = sorted(float(text.get("y", 0)) for text in labels[:3])
    assert len(labels) == 4 and min(np.diff(heights)) >= 12.9


@pytest.mark.parametrize(
    "heights", [[0.5, 0.53, 0.0, 0.01, 0.02], [0.5, 0.51, 0.52, 0.505, 0.515], [1.0, 0.99, 0.98]]
)
def test_labels_stand_in_the_order_of_their_marks_and_within_the_axes(heights: list[float]) -> None:
    """Whatever the order of the lines, and also where there is no room above or below."""
    lines = [
        Line(f"mark {i}", [0.5], [at], i, points=True, labels=(f"label {i}",))
        for i, at in enumerate(heights)
    ]
    axes = Axis.nice("x", 0, 1), Axis.nice("y", 0, 1)
    root = ElementTree.fromstring(line_chart("marks", "of five sets", *axes, lines).svg)
    places = {
        text.text: float(text.get("y", 0))
        for text in root.iter(f"{SVG}text")
        if (text.text or "").startswith("label")
    }
    falling = sorted(range(len(heights)), key=lambda i: -heights[i])
    assert sorted(places, key=lambda label: places[label]) == [f"label {i}" for i in falling]
    assert min(places.values()) >= TOP and max(places.values()) < HEIGHT - BOTTOM
    assert min(np.diff(sorted(places.values()))) >= LABEL_HEIGHT - 0.1


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-10, 10, ["-10", "-5", "0", "5", "10"]),
        (0, 0.006, ["0.000", "0.001", "0.002", "0.003", "0.004", "0.005", "0.006"]),
    ],
)
def test_marks_are_round_numbers(low: float, high: float, marks: list[str]) -> None:
    assert [mark for _, mark in Axis.nice("x", low, high).ticks] == marks


def test_figures_hold_finite_numbers_only() -> None:
    rng = np.random.default_rng(0)
    separated = Scores(rng.normal(9, 1, 100), rng.normal(0, 1, 300), name="separated")
    constant = Scores([1.0] * 30, [1.0] * 30, name="constant")
    sets = {scores.name: score_curves(scores) for scores in (separated, constant)}
    for figure in (ece_figure(sets), ece_figure(sets, over_prior=True), det_figure(sets)):
        ElementTree.fromstring(figure.svg)
        assert "nan" not in figure.svg and "inf" not in figure.svg
    histogram = sets["separated"].histogram
    assert not isinstance(histogram, NotMeasured)
    assert "D_sys = 1.000" in histogram_figure("separated", histogram).svg


def test_the_ece_legend_tells_disclosure_worst_case_and_tag() -> None:
    curves = score_curves(Scores(range(100, 200), range(100), name="open book"))
    assert "open book (0.721, 2.00, C)" in ece_figure({"open book": curves}).svg
