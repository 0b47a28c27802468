"""Voice similarity matrices as one heat map, with quadrants OO | OP over PO | PP.

The colours run from dark blue over grey to bright yellow: they get lighter with every step, so
they can be told apart in print and by colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import FloatArray
from sottovoce.findings import Similarity
from sottovoce.report.svg import WIDTH, opening

LEFT, TOP, SIDE, BOTTOM = 116, 78, 552, 96
HEIGHT = TOP + SIDE + BOTTOM

SCALE = ((0, 32, 76), (64, 76, 107), (124, 123, 120), (187, 175, 112), (254, 232, 56))
"""Red, green and blue at 0, ¼, ½, ¾ and 1."""

LEVELS = 64
"""Different colours in a figure."""

MOST_NAMES = 30
"""With more speakers than this their names would not be readable."""

MOST_CELLS = 200
"""Cells along one side of a quadrant; with more speakers neighbours are averaged."""


def similarity_figure(found: Similarity) -> str:
    """The heat map of one comparison of voices before and after anonymisation."""
    matrices = {kind: found.matrix(kind) for kind in found.matrices}
    return matrices_figure(matrices, found.speakers, found.deid, found.gvd_db)


def matrices_figure(
    matrices: Mapping[str, FloatArray],
    speakers: Sequence[str],
    deid: float | None,
    gvd_db: float | None,
    *,
    cells: int = MOST_CELLS,
) -> str:
    """The heat map of matrices ``oo``, ``op`` and ``pp``, with the two numbers made of them.

    Neighbouring speakers are averaged where a quadrant would have more than ``cells`` a side.
    """
    quadrants = {kind: _thinned(matrix, cells) for kind, matrix in matrices.items()}
    op = quadrants["op"]
    whole = np.block([[quadrants["oo"], op], [op.T, quadrants["pp"]]])
    return "\n".join(
        [
            *opening(
                "Voice similarity before and after",
                _words(len(speakers), len(op), deid, gvd_db),
                HEIGHT,
            ),
            *_cells(whole),
            *_frame(),
            *_names(tuple(speakers)),
            *_legend(),
            "</svg>\n",
        ]
    )


def colour(value: float) -> str:
    """The colour of a similarity between 0 and 1."""
    channels = np.array(SCALE, float).T
    at = np.linspace(0, 1, len(SCALE))
    return "#" + "".join(f"{round(float(np.interp(value, at, c))):02x}" for c in channels)


def _thinned(matrix: FloatArray, most: int) -> FloatArray:
    """Means over blocks of neighbouring speakers, if there are too many speakers to be drawn."""
    count = len(matrix)
    if count <= most:
        return matrix
    edges = np.arange(most + 1) * count // most
    sums = np.add.reduceat(np.add.reduceat(matrix, edges[:-1], axis=0), edges[:-1], axis=1)
    sizes = np.diff(edges)
    return np.asarray(sums / np.outer(sizes, sizes))


def _words(count: int, cells: int, deid: float | None, gvd_db: float | None) -> str:
    numbers = ", ".join(
        f"{name} = {'none' if value is None else f'{value:.{digits}f}{unit}'}"
        for name, value, digits, unit in (
            ("DeID", deid, 3, ""),
            ("G_VD", gvd_db, 2, " dB"),
        )
    )
    text = (
        f"Similarity of the voices of {count:,} speakers, from 0 (different) over 0.5 (no "
        "evidence) to 1 (the same). Upper left: original with original voices (OO); upper right "
        "and lower left: original with anonymised voices (OP, PO); lower right: anonymised with "
        "anonymised voices (PP). A bright diagonal in OP means that people can be recognised "
        f"behind their anonymised voices; one in PP, that these differ from each other. {numbers}."
    )
    if cells < count:
        text += f" Neighbouring speakers are averaged into {cells} × {cells} cells a quadrant."
    return text


def _cells(whole: FloatArray) -> list[str]:
    """One path a colour; cells of one colour side by side are one rectangle of it."""
    levels = np.rint(np.clip(whole, 0, 1) * (LEVELS - 1)).astype(int)
    by_level: dict[int, list[str]] = {}
    for y, row in enumerate(levels):
        for x, width, level in _runs(row):
            by_level.setdefault(level, []).append(f"M{x} {y}h{width}v1h-{width}z")
    place = f"translate({LEFT} {TOP}) scale({SIDE / len(whole):.6g})"
    parts = [f'<g transform="{place}" shape-rendering="crispEdges">']
    for level, shapes in sorted(by_level.items()):
        parts.append(f'<path fill="{colour(level / (LEVELS - 1))}" d="{"".join(shapes)}"/>')
    return [*parts, "</g>"]


def _runs(row: NDArray[np.int_]) -> Iterator[tuple[int, int, int]]:
    """Where equal values begin, how many there are, and the value."""
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    lengths = np.diff(starts, append=len(row))
    return zip(starts.tolist(), lengths.tolist(), row[starts].tolist(), strict=True)


def _frame() -> list[str]:
    """Names of the axes and quadrants, and the lines between them."""
    half = SIDE / 2
    parts = [
        f'<path d="M{LEFT + half} {TOP}v{SIDE}M{LEFT} {TOP + half}h{SIDE}" stroke="#fff" '
        'stroke-width="3"/>',
        f'<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#222"/>',
    ]
    for i, side in enumerate(("original", "anonymised")):
        middle = (i + 0.5) * half
        parts += [
            f'<text x="{LEFT + middle}" y="{TOP - 12}" text-anchor="middle">{side}</text>',
            f'<text transform="translate(20 {TOP + middle}) rotate(-90)" text-anchor="middle">'
            f"{side}</text>",
        ]
    for name, across, down in (("OO", 0, 0), ("OP", 1, 0), ("PO", 0, 1), ("PP", 1, 1)):
        x, y = LEFT + (across + 1) * half - 10, TOP + down * half + 22
        parts.append(
            f'<text x="{x}" y="{y}" text-anchor="end" font-weight="600" fill="#fff" '
            f'stroke="#222" stroke-width="3" paint-order="stroke">{name}</text>'
        )
    return parts


def _names(speakers: tuple[str, ...]) -> list[str]:
    """The speakers beside rows and under columns, if they are few."""
    if len(speakers) > MOST_NAMES:
        return []
    step = SIDE / (2 * len(speakers))
    parts = [f'<g font-size="{min(11, max(7, round(step - 1)))}" text-anchor="end">']
    for i, name in enumerate(2 * speakers):
        label = escape(name if len(name) <= 12 else f"{name[:11]}…")
        middle = (i + 0.5) * step
        parts += [
            f'<text x="{LEFT - 6}" y="{TOP + middle + 3:.1f}">{label}</text>',
            f'<text transform="translate({LEFT + middle + 3:.1f} {TOP + SIDE + 6}) rotate(-90)">'
            f"{label}</text>",
        ]
    return [*parts, "</g>"]


def _legend() -> list[str]:
    """The scale of colours, with what its ends and its middle mean."""
    x, step = LEFT + SIDE + 18, SIDE / LEVELS
    parts = ['<g shape-rendering="crispEdges">']
    for level in range(LEVELS):
        y = TOP + SIDE - (level + 1) * step
        parts.append(
            f'<rect x="{x}" y="{y:.2f}" width="16" height="{step + 0.5:.2f}" '
            f'fill="{colour(level / (LEVELS - 1))}"/>'
        )
    parts.append("</g>")
    for mark in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = TOP + SIDE * (1 - mark)
        parts.append(f'<text x="{x + 22}" y="{y + 4:.1f}">{mark:g}</text>')
    return [
        *parts,
        f'<text x="{WIDTH - 6}" y="{TOP - 12}" text-anchor="end">similarity</text>',
    ]
