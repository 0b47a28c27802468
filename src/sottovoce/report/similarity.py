"""Showing voice similarity: a table, what it means, who stands out, and the heat map."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from sottovoce.core.errors import first_few
from sottovoce.core.files import write_text
from sottovoce.findings import Similarity
from sottovoce.measure.similarity import READINGS
from sottovoce.report.heatmap import similarity_figure
from sottovoce.report.score_set import WIDTH

MATRICES = {
    "oo": "original with original (OO)",
    "op": "original with anonymised (OP)",
    "pp": "anonymised with anonymised (PP)",
}

STANDS_OUT = 0.1
"""An excess from which a speaker is named: a tenth of the way from unlike to the same."""


def print_similarity(found: Similarity) -> None:
    """Print both numbers, what they are made of, and what has to be said beside them."""
    console = Console()
    console = console if console.is_terminal else Console(width=WIDTH)
    console.print(f"{found.name}\n", style="bold", highlight=False, markup=False)
    console.print(similarity_table(found))
    console.print()
    for line in similarity_remarks(found):
        console.print(f"• {line}", highlight=False, markup=False)


def write_similarity_figure(found: Similarity, directory: Path) -> None:
    """Write the heat map as ``similarity.svg``."""
    write_text(directory / "similarity.svg", similarity_figure(found))


def similarity_table(found: Similarity) -> Table:
    """One row a number: value, interval, ideal, direction."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure")
    table.add_column("value", justify="right", no_wrap=True)
    if found.interval:
        confidence = f"{100 * found.interval.confidence:g} % interval"
        table.add_column(confidence, justify="right", no_wrap=True)
    table.add_column("ideal", justify="right")
    table.add_column("reads", no_wrap=True)
    for name, value in (("deid", found.deid), ("gvd_db", found.gvd_db)):
        reading = READINGS[name]
        ideal = _number(name, reading.ideal)
        table.add_row(reading.label, *_cells(found, name, value), ideal, reading.direction)
    for kind, label in MATRICES.items():
        cells = _cells(found, kind, found.d_diag[kind])
        table.add_row(f"D_diag {label}", *cells, "", "0 = voices not told apart")
    return table


def similarity_remarks(found: Similarity) -> list[str]:
    """What has to be said beside the numbers, in plain words."""
    lines = [f"{reading.label}: {reading.meaning}." for reading in READINGS.values()]
    lines.append(
        f"{len(found.speakers):,} speakers, {found.n_utterances:,} recordings; each matrix rests "
        f"on {found.n_mated:,} mated and {found.n_nonmated:,} non-mated {found.linkage} scores."
    )
    if plan := found.interval:
        lines.append(
            f"Intervals: {plan.replicates:,} resamples of {plan.count:,} speakers, each "
            "calibrated anew."
        )
    lines.append(_who_stands_out(found))
    lines += _left_out(found)
    return lines + [f"{note}." for note in found.notes]


def _who_stands_out(found: Similarity) -> str:
    worst = [(one.speaker, one.value) for one in found.standing_out if one.value >= STANDS_OUT]
    if not worst:
        return (
            "Nobody's anonymised voice is clearly nearer to their own than to other people's "
            f"(excess in OP below {STANDS_OUT:g} for everyone)."
        )
    named = first_few((f"{who} ({value:.2f})" for who, value in worst), len(worst), most=10)
    return (
        f"Still like themselves after anonymisation: {len(worst):,} of {len(found.speakers):,} "
        f"speakers, by how far their similarity in OP exceeds that with others: {named}."
    )


def _left_out(found: Similarity) -> list[str]:
    out = found.excluded
    lines = []
    if out.only_original or out.only_anonymised:
        lines.append(
            f"Left out: {out.only_original:,} recordings that only the original set and "
            f"{out.only_anonymised:,} that only the anonymised set has."
        )
    if out.speakers:
        named = first_few(out.speakers, len(out.speakers))
        lines.append(f"Left out: {len(out.speakers):,} speakers with one recording ({named}).")
    return lines


def _cells(found: Similarity, name: str, value: float | None) -> list[str]:
    cells = [_number(name, value)]
    if found.interval:
        spread = found.range_of(name)
        shown = f"{_number(name, spread.low)} – {_number(name, spread.high)}" if spread else "–"
        cells.append(shown)
    return cells


def _number(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f} dB" if name == "gvd_db" else f"{value:.3f}"
