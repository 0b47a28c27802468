"""The heat map of similarity matrices: complete, bounded and readable without colour."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from audit_case import similarity_of
from numpy.typing import NDArray

from sottovoce.findings import Similarity
from sottovoce.report.similarity import LEVELS, SCALE, colour, similarity_figure

RUN = r"M(\d+) (\d+)h(\d+)v1h-(\d+)"
SVG = "{http://www.w3.org/2000/svg}"


def similarity(count: int, *, prefix: str = "s", gvd_db: float | None = -1.0) -> Similarity:
    rng = np.random.default_rng(0)
    matrices = {kind: rng.random((count, count)) for kind in ("oo", "op", "pp")}
    names = tuple(f"{prefix}{i:03}" for i in range(count))
    return similarity_of(matrices, names, gvd_db=gvd_db)


def drawn_colours(text: str) -> NDArray[np.str_]:
    """Read the colour of every cell back from the figure."""
    cells = {}
    (scaled,) = [g for g in ElementTree.fromstring(text) if "scale" in g.get("transform", "")]
    for path in scaled:
        for run in path.get("d", "").split("z")[:-1]:
            x, y, width, back = map(int, re.fullmatch(RUN, run).groups())  # type: ignore[union-attr]
            assert width == back
            for i in range(width):
                assert (y, x + i) not in cells
                cells[y, x + i] = path.get("fill", "")
    side = 1 + max(y for y, _ in cells)
    return np.array([[cells[y, x] for x in range(side)] for y in range(side)])


def test_quadrants_are_in_their_places() -> None:
    result = similarity(5)
    cells = drawn_colours(similarity_figure(result).svg)
    assert cells.shape == (10, 10)
    m = {kind: result.matrix(kind) for kind in result.matrices}
    quadrants = np.block([[m["oo"], m["op"]], [m["op"].T, m["pp"]]])
    levels = np.rint(quadrants * (LEVELS - 1)) / (LEVELS - 1)
    assert cells.tolist() == [[colour(v) for v in row] for row in levels]


def test_colours_get_lighter_all_the_way() -> None:
    shades = [colour(v) for v in np.linspace(0, 1, LEVELS)]
    assert len(set(shades)) == LEVELS
    light = [luminance(shade) for shade in shades]
    assert all(b > a for a, b in pairwise(light))
    ends = tuple("#" + "".join(f"{c:02x}" for c in SCALE[i]) for i in (0, -1))
    assert (shades[0], shades[-1]) == ends


def luminance(shade: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = np.array([int(shade[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_title_description_and_quadrant_labels() -> None:
    root = ElementTree.fromstring(similarity_figure(similarity(4, prefix="<&", gvd_db=None)).svg)
    assert root.get("role") == "img" and root.findtext(f"{SVG}title")
    description = root.findtext(f"{SVG}desc") or ""
    assert "DeID = 0.500" in description and "G_VD = none" in description
    assert "averaged" not in description
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"OO", "OP", "PO", "PP", "original", "anonymised", "0.5"} <= set(words)
    assert words.count("<&002") == 4  # twice on each side


@pytest.mark.parametrize(("count", "shown"), [(30, True), (31, False)])
def test_names_are_drawn_where_they_can_be_read(count: int, shown: bool) -> None:
    assert (">s000<" in similarity_figure(similarity(count)).svg) is shown


def test_long_names_are_cut() -> None:
    text = similarity_figure(similarity(3, prefix="a-very-long-name-of-")).svg
    assert ">a-very-long…<" in text and "name-of-000" not in text


def test_many_speakers_are_averaged_and_the_figure_says_so() -> None:
    result = similarity(410)
    text = similarity_figure(result).svg
    assert len(text) < 3_000_000
    cells = drawn_colours(text)
    assert cells.shape == (400, 400)
    assert "averaged into 200 × 200 cells" in text
    block = result.matrix("oo")[:2, :2].mean()
    assert cells[0, 0] == colour(round(block * (LEVELS - 1)) / (LEVELS - 1))
