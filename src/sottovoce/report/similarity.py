"""Voice similarity for a person: a table, remarks, and the matrices as one heat map.

The heat map has quadrants OO | OP over PO | PP. Its colours run from dark blue over grey to bright
yellow: they get lighter with every step, so they differ in print and for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import first_few
from sottovoce.core.files import write_text
from sottovoce.core.types import FloatArray
from sottovoce.findings import ExcludedRecordings, Similarity, SpeakerSimilarity
from sottovoce.report.formats import MISSING
from sottovoce.report.svg import WIDTH, Figure, make_figure
from sottovoce.report.tables import Column, Table
from sottovoce.report.terminal import Terminal

MATRICES = {
    "oo": "original with original (OO)",
    "op": "original with anonymised (OP)",
    "pp": "anonymised with anonymised (PP)",
}

STANDS_OUT = 0.1
"""An excess from which a speaker is named: a tenth of the way from unlike to the same."""

MOST_NAMED = 10
"""How many of the speakers who stand out are named."""

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

# ------------------------------------------------------------------------ table and remarks


def print_similarity(result: Similarity) -> None:
    """Print both numbers, the dominances behind them, and remarks.

    Parameters
    ----------
    result : Similarity
        Voices before and after anonymisation.
    """
    terminal = Terminal()
    terminal.heading(f"{result.name}\n")
    terminal.table(similarity_table(result))
    terminal.line()
    terminal.bullets(similarity_remarks(result))


def similarity_table(result: Similarity) -> Table:
    """Arrange one row per number: value, interval, ideal, direction.

    Parameters
    ----------
    result : Similarity
        Voices before and after anonymisation.
    """
    columns = [Column("measure", "left"), Column("value", wrap=False)]
    if result.interval:
        heading = f"{100 * result.interval.confidence:g} % interval"
        columns.append(Column(heading, wrap=False))
    columns += [Column("ideal"), Column("reads", "left", wrap=False)]
    rows = []
    for name, value, unit in (("deid", result.deid, ""), ("gvd_db", result.gvd_db, "dB")):
        reading = result.readings[name]
        cells = _cells(result, name, value, unit)
        ideal = _number(reading.ideal, unit)
        rows.append((reading.label, *cells, ideal, reading.direction))
    for matrix, label in MATRICES.items():
        cells = _cells(result, matrix, result.d_diag[matrix])
        rows.append((f"D_diag {label}", *cells, "", "0 = voices not told apart"))
    return Table("All numbers", tuple(columns), tuple(rows))


def _cells(result: Similarity, name: str, value: float | None, unit: str = "") -> list[str]:
    """Return the value and, where intervals were made, its interval."""
    if result.interval is None:
        return [_number(value, unit)]
    ends = result.range_of(name)
    interval = (
        MISSING if ends is None else f"{_number(ends.low, unit)} – {_number(ends.high, unit)}"
    )
    return [_number(value, unit), interval]


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return MISSING
    return f"{value:.2f} {unit}" if unit else f"{value:.3f}"


def similarity_remarks(result: Similarity) -> list[str]:
    """Return what has to be known beside the numbers, in plain words.

    Parameters
    ----------
    result : Similarity
        Voices before and after anonymisation.
    """
    lines = [f"{reading.label}: {reading.meaning}." for reading in result.readings.values()]
    lines.append(
        f"{result.n_speakers:,} speakers, {result.n_utterances:,} recordings; each matrix rests "
        f"on {result.n_mated:,} mated and {result.n_nonmated:,} non-mated {result.linkage} scores."
    )
    if result.interval:
        lines.append(
            f"Intervals: {result.interval.replicates:,} resamples of {result.interval.count:,} "
            "speakers, each calibrated anew."
        )
    lines.append(_standing_out_remark(result))
    lines += _excluded_remarks(result.excluded)
    return lines + [f"{note}." for note in result.notes]


def standing_out(result: Similarity) -> list[SpeakerSimilarity]:
    """Return the speakers whose anonymised voice is clearly nearer to their own, worst first.

    Parameters
    ----------
    result : Similarity
        Voices before and after anonymisation.
    """
    return [speaker for speaker in result.standing_out if speaker.value >= STANDS_OUT]


def _standing_out_remark(result: Similarity) -> str:
    worst = standing_out(result)
    if not worst:
        return (
            "Nobody's anonymised voice is clearly nearer to their own than to other people's "
            f"(excess in OP below {STANDS_OUT:g} for everyone)."
        )
    named = first_few(
        (f"{speaker.speaker} ({speaker.value:.2f})" for speaker in worst),
        len(worst),
        most=MOST_NAMED,
    )
    return (
        f"Still like themselves after anonymisation: {len(worst):,} of {result.n_speakers:,} "
        f"speakers, by how far their similarity in OP exceeds that with others: {named}."
    )


def _excluded_remarks(excluded: ExcludedRecordings) -> list[str]:
    lines = []
    if excluded.only_original or excluded.only_anonymised:
        lines.append(
            f"Left out: {excluded.only_original:,} recordings that only the original set and "
            f"{excluded.only_anonymised:,} that only the anonymised set has."
        )
    if excluded.speakers:
        named = first_few(excluded.speakers, excluded.n_speakers)
        lines.append(f"Left out: {excluded.n_speakers:,} speakers with one recording ({named}).")
    return lines


# ---------------------------------------------------------------------------------- heat map


def write_similarity_figure(result: Similarity, directory: Path) -> None:
    """Write the heat map as ``similarity.svg``.

    Parameters
    ----------
    result : Similarity
        Voices before and after anonymisation.
    directory : Path
        Where the file goes.
    """
    write_text(directory / "similarity.svg", similarity_figure(result).svg)


def similarity_figure(
    result: Similarity,
    *,
    cells: int = MOST_CELLS,
    title: str = "Voice similarity before and after",
) -> Figure:
    """Draw the matrices as one heat map.

    Parameters
    ----------
    result : Similarity
        Voices before and after anonymisation.
    cells : int, default 200
        Cells along one side of a quadrant; with more speakers neighbours are averaged.
    title : str, optional
        Heading of the drawing.
    """
    quadrants = {kind: _averaged(result.matrix(kind), cells) for kind in MATRICES}
    op = quadrants["op"]
    similarities = np.block([[quadrants["oo"], op], [op.T, quadrants["pp"]]])
    return make_figure(
        title,
        _description(result, len(op)),
        HEIGHT,
        [*_cell_paths(similarities), *_frame(), *_names(result.speakers), *_legend()],
    )


def colour(value: float) -> str:
    """Return the colour of a similarity.

    Parameters
    ----------
    value : float
        From 0 to 1.

    Returns
    -------
    str
        Red, green and blue, as ``#rrggbb``.
    """
    channels = np.array(SCALE, float).T
    at = np.linspace(0, 1, len(SCALE))
    return "#" + "".join(f"{round(float(np.interp(value, at, c))):02x}" for c in channels)


def _averaged(matrix: FloatArray, most: int) -> FloatArray:
    """Return means over blocks of neighbouring speakers, if there are too many to be drawn."""
    count = len(matrix)
    if count <= most:
        return matrix
    edges = np.arange(most + 1) * count // most
    sums = np.add.reduceat(np.add.reduceat(matrix, edges[:-1], axis=0), edges[:-1], axis=1)
    sizes = np.diff(edges)
    return np.asarray(sums / np.outer(sizes, sizes))


def _description(result: Similarity, cells: int) -> str:
    count = len(result.speakers)
    deid = "none" if result.deid is None else f"{result.deid:.3f}"
    gvd = "none" if result.gvd_db is None else f"{result.gvd_db:.2f} dB"
    text = (
        f"Similarity of the voices of {count:,} speakers, from 0 (different) over 0.5 (no "
        "evidence) to 1 (the same). Upper left: original with original voices (OO); upper right "
        "and lower left: original with anonymised voices (OP, PO); lower right: anonymised with "
        "anonymised voices (PP). A bright diagonal in OP means that people can be recognised "
        "behind their anonymised voices; one in PP, that these differ from each other. "
        f"DeID = {deid}, G_VD = {gvd}."
    )
    if cells < count:
        text += f" Neighbouring speakers are averaged into {cells} × {cells} cells a quadrant."
    return text


def _cell_paths(similarities: FloatArray) -> list[str]:
    """Draw one path per colour; cells of one colour side by side are one rectangle of it."""
    levels = np.rint(np.clip(similarities, 0, 1) * (LEVELS - 1)).astype(int)
    by_level: dict[int, list[str]] = {}
    for y, row in enumerate(levels):
        for x, width, level in _runs(row):
            by_level.setdefault(level, []).append(f"M{x} {y}h{width}v1h-{width}z")
    place = f"translate({LEFT} {TOP}) scale({SIDE / len(similarities):.6g})"
    parts = [f'<g transform="{place}" shape-rendering="crispEdges">']
    for level, shapes in sorted(by_level.items()):
        parts.append(f'<path fill="{colour(level / (LEVELS - 1))}" d="{"".join(shapes)}"/>')
    return [*parts, "</g>"]


def _runs(row: NDArray[np.int_]) -> Iterator[tuple[int, int, int]]:
    """Return where equal values begin, how many there are, and the value."""
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    lengths = np.diff(starts, append=len(row))
    return zip(starts.tolist(), lengths.tolist(), row[starts].tolist(), strict=True)


def _frame() -> list[str]:
    """Draw the names of axes and quadrants, and the lines between them."""
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


def _names(speakers: Sequence[str]) -> list[str]:
    """Draw the speakers beside rows and under columns, if they are few."""
    if len(speakers) > MOST_NAMES:
        return []
    step = SIDE / (2 * len(speakers))
    parts = [f'<g font-size="{min(11, max(7, round(step - 1)))}" text-anchor="end">']
    for i, name in enumerate((*speakers, *speakers)):
        label = escape(name if len(name) <= 12 else f"{name[:11]}…")
        middle = (i + 0.5) * step
        parts += [
            f'<text x="{LEFT - 6}" y="{TOP + middle + 3:.1f}">{label}</text>',
            f'<text transform="translate({LEFT + middle + 3:.1f} {TOP + SIDE + 6}) rotate(-90)">'
            f"{label}</text>",
        ]
    return [*parts, "</g>"]


def _legend() -> list[str]:
    """Draw the scale of colours."""
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
