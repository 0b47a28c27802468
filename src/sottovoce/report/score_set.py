"""Showing score sets: printed tables and a directory of figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sottovoce.errors import SottovoceError
from sottovoce.files import write_text
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.summary import ScoreSummary
from sottovoce.measure.tally import Tally
from sottovoce.report.figures import det_figure, ece_figure, histogram_figure
from sottovoce.report.tables import compare_table, remarks, summary_table

WIDTH = 110
"""Columns of a table that does not go to a terminal."""


def print_summary(summary: ScoreSummary) -> None:
    """Print the table of one score set and what has to be said beside it."""
    console = console_for()
    console.print(f"{summary.name}\n", style="bold", highlight=False, markup=False)
    console.print(summary_table(summary))
    console.print()
    for line in remarks(summary):
        console.print(f"• {line}", highlight=False, markup=False)


def print_comparison(summaries: Sequence[ScoreSummary]) -> None:
    """Print several score sets in one table."""
    console_for().print(compare_table(summaries))


def write_figures(sources: Sequence[ScoreSource], directory: Path) -> None:
    """Write ECE profiles, DET curves and a histogram a set as SVG files."""
    named = [(source.name, Tally.of(source)) for source in sources]
    write_text(directory / "ece_log_odds.svg", ece_figure(named))
    write_text(directory / "ece_prior.svg", ece_figure(named, over_prior=True))
    write_text(directory / "det.svg", det_figure(named))
    for source in sources:
        name = "histogram.svg" if len(sources) == 1 else f"histogram_{source.name}.svg"
        try:
            figure = histogram_figure(source)
        except SottovoceError as error:
            console_for(stderr=True).print(
                f"no histogram of {source.name}: {error}", highlight=False, markup=False
            )
            continue
        write_text(directory / name, figure)


def console_for(*, stderr: bool = False, width: int = WIDTH) -> Console:
    """The terminal, or a page of fixed width where there is none."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=width)
