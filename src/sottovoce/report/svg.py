"""A small writer of line charts as SVG: no script, no fonts to fetch, readable without colour.

Each line has its own dash pattern besides its colour (Okabe and Ito's palette, safe for colour-
blind readers), and each chart a title and a description for those who do not see it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 74, 74, 48, 62
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("", "8 4", "2 3", "10 3 2 3", "4 2", "14 4", "1 2")
LETTER, LABEL_HEIGHT = 6.5, 13
"""Of labels, in pixels: about the width of a letter, and the least distance between two lines."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its title and description."""

    title: str
    description: str
    """What it shows, for those who do not see it."""
    svg: str
    """The whole SVG document; title and description are in it too."""
    parts: tuple[str, ...]
    """The elements of the drawing, so that it can become a part of another."""
    height: int
    """In pixels; the width is :data:`WIDTH`."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of an axis, its label, and where its marks are."""

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    """Position and text of each mark."""

    @classmethod
    def nice(cls, label: str, low: float, high: float, *, about: int = 6) -> Axis:
        """Build an axis with marks at round numbers.

        Parameters
        ----------
        label : str
            What the axis shows.
        low, high : float
            Its ends.
        about : int, default 6
            Roughly how many marks it has.
        """
        step = _round_step((high - low) / about)
        first = math.ceil(low / step - 1e-9)
        last = math.floor(high / step + 1e-9)
        places = max(0, -math.floor(math.log10(step) + 1e-9))
        ticks = tuple((i * step, f"{i * step:.{places}f}") for i in range(first, last + 1))
        return cls(label, low, high, ticks)


def _round_step(rough: float) -> float:
    scale = 10.0 ** math.floor(math.log10(rough))
    return next((s * scale for s in (1, 2, 5, 10) if s * scale >= rough), 10 * scale)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line of a chart."""

    name: str
    """Its text in the legend."""
    x: ArrayLike
    y: ArrayLike
    style: int
    """Number of its colour and dash pattern."""
    fill: bool = False
    """Whether the area under it is shaded."""
    right: bool = False
    """Whether it is read on the right-hand axis."""
    points: bool = False
    """Whether it is drawn as separate marks instead of a line."""
    labels: tuple[str, ...] = ()
    """Written beside the marks."""
    band: bool = False
    """Whether y holds pairs (low, high) between which is shaded; bands have no legend."""


def line_chart(
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    lines: Sequence[Line],
    *,
    right: Axis | None = None,
) -> Figure:
    """Draw lines over one x axis and one or two y axes.

    Parameters
    ----------
    title : str
        Heading of the chart.
    description : str
        What it shows, for those who do not see it.
    x, y : Axis
        The axes; points beyond their ends are drawn at the ends.
    lines : sequence of Line
        Drawn in this order.
    right : Axis, optional
        A second y axis on the right-hand side.
    """
    listed = [line for line in lines if not line.band]
    parts = [*grid(x, y)]
    if right is not None:
        parts += _right_axis(right)
    places: list[tuple[float, float, str]] = []
    for line in lines:
        upwards = right if line.right and right is not None else y
        parts += _draw(line, x, upwards)
        places += zip(*_places(line, x, upwards), line.labels, strict=False)
    parts += _mark_labels(places)
    for i, line in enumerate(listed):
        parts += _legend(line, HEIGHT + 20 * i)
    return make_figure(title, description, HEIGHT + 20 * len(listed), parts)


def make_figure(title: str, description: str, height: int, parts: Iterable[str]) -> Figure:
    """Put parts of a drawing on a white ground under a heading.

    Parameters
    ----------
    title : str
        Heading of the drawing.
    description : str
        What it shows, for those who do not see it.
    height : int
        In pixels; the width is :data:`WIDTH`.
    parts : iterable of str
        SVG elements.
    """
    heading = f'<text x="{LEFT}" y="28" font-size="16" font-weight="600">{escape(title)}</text>'
    drawn = (heading, *parts)
    start = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'width="{WIDTH}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#222">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    svg = "\n".join([*start, *drawn, "</svg>\n"])
    return Figure(title, description, svg, drawn, height)


def arrange(title: str, description: str, figures: Sequence[Figure], *, columns: int) -> Figure:
    """Arrange drawings in a grid, row by row.

    Parameters
    ----------
    title : str
        Heading of the whole.
    description : str
        What the whole shows; those of the drawings follow it.
    figures : sequence of Figure
        The panels; they are scaled to the width of a column.
    columns : int
        Panels a row.
    """
    scale = 1 / columns
    top, parts = 44.0, []
    for first in range(0, len(figures), columns):
        row = figures[first : first + columns]
        for column, figure in enumerate(row):
            place = f"translate({column * WIDTH * scale:.1f} {top:.1f}) scale({scale:.6g})"
            parts += [f'<g transform="{place}">', *figure.parts, "</g>"]
        top += scale * max(figure.height for figure in row)
    texts = (f"{figure.title}: {figure.description}" for figure in figures)
    return make_figure(title, " ".join([description, *texts]), round(top), parts)


def at_x(axis: Axis, value: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return where values of a horizontal axis lie, in pixels.

    Parameters
    ----------
    axis : Axis
        The axis.
    value : float or array
        The values.
    """
    return LEFT + (np.asarray(value) - axis.low) / (axis.high - axis.low) * (WIDTH - LEFT - RIGHT)


def at_y(axis: Axis, value: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return where values of a vertical axis lie, in pixels.

    Parameters
    ----------
    axis : Axis
        The axis.
    value : float or array
        The values.
    """
    share = (np.asarray(value) - axis.low) / (axis.high - axis.low)
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def grid(x: Axis, y: Axis) -> list[str]:
    """Draw two axes with their marks, labels and grid lines.

    Parameters
    ----------
    x, y : Axis
        The axes.
    """
    bottom, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = ['<g stroke="#ddd">']
    parts += [f'<path d="M{at_x(x, t):.1f} {TOP}V{bottom}"/>' for t, _ in x.ticks]
    parts += [f'<path d="M{LEFT} {at_y(y, t):.1f}H{end}"/>' for t, _ in y.ticks]
    parts += [f'</g><path d="M{LEFT} {TOP}V{bottom}H{end}" fill="none" stroke="#222"/>']
    parts += [
        f'<text x="{at_x(x, t):.1f}" y="{bottom + 18}" text-anchor="middle">{escape(mark)}</text>'
        for t, mark in x.ticks
    ]
    parts += [
        f'<text x="{LEFT - 8}" y="{at_y(y, t) + 4:.1f}" text-anchor="end">{escape(mark)}</text>'
        for t, mark in y.ticks
    ]
    middle_x, middle_y = (LEFT + end) / 2, (TOP + bottom) / 2
    return [
        *parts,
        f'<text x="{middle_x}" y="{bottom + 42}" text-anchor="middle">{escape(x.label)}</text>',
        f'<text transform="translate(20 {middle_y}) rotate(-90)" text-anchor="middle">'
        f"{escape(y.label)}</text>",
    ]


def _right_axis(axis: Axis) -> list[str]:
    end, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    marks = [
        f'<text x="{end + 8}" y="{at_y(axis, t) + 4:.1f}">{escape(mark)}</text>'
        for t, mark in axis.ticks
    ]
    return [
        f'<path d="M{end} {TOP}V{bottom}" stroke="#222"/>',
        *marks,
        f'<text transform="translate({WIDTH - 16} {(TOP + bottom) / 2}) rotate(90)" '
        f'text-anchor="middle">{escape(axis.label)}</text>',
    ]


def _places(line: Line, x: Axis, y: Axis) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where the points of a line are drawn; those beyond an axis at its end."""
    across = at_x(x, np.clip(np.asarray(line.x, float), x.low, x.high))
    return across, at_y(y, np.clip(np.asarray(line.y, float), y.low, y.high))


def _draw(line: Line, x: Axis, y: Axis) -> list[str]:
    across, up = _places(line, x, y)
    if line.band:
        return [_band(line, across, up)]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True))
    colour, dash = _style(line)
    if line.points:
        return [_mark(line, a, b) for a, b in zip(across, up, strict=True)]
    parts = []
    if line.fill:
        base = f"{at_y(y, y.low):.1f}"
        area = f"{across[0]:.1f},{base} {points} {across[-1]:.1f},{base}"
        parts.append(f'<polygon points="{area}" fill="{colour}" fill-opacity="0.15"/>')
    return [
        *parts,
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>',
    ]


def _band(line: Line, across: NDArray[np.float64], up: NDArray[np.float64]) -> str:
    low, high = up.T
    edge = [*zip(across, high, strict=True), *zip(across[::-1], low[::-1], strict=True)]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in edge)
    return f'<polygon points="{points}" fill="{_style(line)[0]}" fill-opacity="0.12"/>'


def _mark(line: Line, x: float, y: float) -> str:
    """A mark whose shape tells its set without colour."""
    shapes = (
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
        "m-4-4h8v8h-8z",
        "m0-5l5 8h-10z",
        "m0-5l5 5l-5 5l-5-5z",
    )
    colour, _ = _style(line)
    shape = shapes[line.style % len(shapes)]
    return f'<path d="M{x:.1f} {y:.1f}{shape}" fill="{colour}" fill-opacity="0.6"/>'


def _mark_labels(places: Iterable[tuple[float, float, str]]) -> list[str]:
    """Write beside marks, on the side where there is more room, in the order of the marks."""
    parts: list[str] = []
    marks = sorted(places, key=lambda place: place[1])
    sides = [(-7, "end") if x > WIDTH * 0.6 else (7, "start") for x, _, _ in marks]
    heights = _label_heights(
        [max(TOP, y - 5) for _, y, _ in marks],
        [
            _extent(x + side, anchor, label)
            for (x, _, label), (side, anchor) in zip(marks, sides, strict=True)
        ],
    )
    for (x, _, label), (side, anchor), height in zip(marks, sides, heights, strict=True):
        place = f'x="{x + side:.1f}" y="{height:.1f}" text-anchor="{anchor}"'
        parts.append(f'<text {place} font-size="12">{escape(label)}</text>')
    return parts


def _extent(x: float, anchor: str, label: str) -> tuple[float, float]:
    """Left and right end of a label."""
    width = LETTER * len(label)
    return (x - width, x) if anchor == "end" else (x, x + width)


def _label_heights(wanted: Sequence[float], extents: Sequence[tuple[float, float]]) -> list[float]:
    """Heights of labels from above down, lower than wanted where they would overlap.

    Where there is no room below, those above make room.
    """
    heights, last = list(wanted), len(wanted)
    near = [
        {j for j in range(last) if extents[j][0] < right and left < extents[j][1]}
        for left, right in extents
    ]
    for i in range(last):
        above = [heights[j] + LABEL_HEIGHT for j in near[i] if j < i]
        heights[i] = max([heights[i], *above])
    for i in reversed(range(last)):
        below = [heights[j] - LABEL_HEIGHT for j in near[i] if j > i]
        heights[i] = min([heights[i], HEIGHT - BOTTOM - 3, *below])
    return heights


def _style(line: Line) -> tuple[str, str]:
    dash = DASHES[line.style % len(DASHES)]
    return COLOURS[line.style % len(COLOURS)], f' stroke-dasharray="{dash}"' if dash else ""


def _legend(line: Line, y: float) -> list[str]:
    colour, dash = _style(line)
    text = f'<text x="{LEFT + 50}" y="{y + 4}">{escape(line.name)}</text>'
    if line.points:
        return [_mark(line, LEFT + 20, y), text]
    return [
        f'<path d="M{LEFT} {y}h40" stroke="{colour}" stroke-width="2"{dash}/>',
        text,
    ]
