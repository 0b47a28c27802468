"""Showing score sets: printed tables and a directory of figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from sottovoce.core.errors import SottovoceError
from sottovoce.core.files import write_text
from sottovoce.findings import ScoreSummary
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.report.figures import det_figure, ece_figure, histogram_figure
from sottovoce.report.tables import compare_remarks, compare_table, remarks, summary_table

WIDTH = 110
"""Columns of a table that does not go to a terminal."""


def print_summary(summary: ScoreSummary) -> None:
    """Print the table of one score set and what has to be said beside it."""
    console = console_for()
    console.print(f"{summary.name}\n", style="bold", highlight=False, markup=False)
    console.print(summary_table(summary))
    _bullets(console, remarks(summary))


def print_comparison(summaries: Sequence[ScoreSummary]) -> None:
    """Print several score sets in one table."""
    console = console_for()
    console.print(compare_table(summaries))
    _bullets(console, compare_remarks(summaries))


def _bullets(console: Console, lines: Sequence[str]) -> None:
    console.print()
    for line in lines:
        console.print(f"• {line}", highlight=False, markup=False)


def write_figures(sources: Mapping[str, ScoreSource], directory: Path) -> None:
    """Write ECE profiles, DET curves and a histogram a set as SVG files."""
    named = [(name, Tally.of(source)) for name, source in sources.items()]
    write_text(directory / "ece_log_odds.svg", ece_figure(named))
    write_text(directory / "ece_prior.svg", ece_figure(named, over_prior=True))
    write_text(directory / "det.svg", det_figure(named))
    for name, source in sources.items():
        file = "histogram.svg" if len(sources) == 1 else f"histogram_{name}.svg"
        try:
            figure = histogram_figure(name, source)
        except SottovoceError as error:
            line = f"no histogram of {name}: {error}"
            console_for(stderr=True).print(line, highlight=False, markup=False)
            continue
        write_text(directory / file, figure)


WIDEST = 160
"""Columns up to which a table is wider than its terminal rather than cut."""


class _Console(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        """As rich does, but no figure of a table is cut because the terminal is narrow."""
        own = self.width
        if len(objects) == 1 and isinstance(objects[0], Table):
            wide = self.options.update(max_width=WIDEST)
            self.width = max(own, Measurement.get(self, wide, objects[0]).maximum)
        super().print(*objects, **options)
        self.width = own

    def on_broken_pipe(self) -> None:
        """Leave it to the command line: the reader of our output has gone."""
        raise BrokenPipeError


def console_for(*, stderr: bool = False, width: int = WIDTH) -> Console:
    """The terminal, or a page of fixed width where there is none."""
    console = _Console(stderr=stderr)
    return console if console.is_terminal else _Console(stderr=stderr, width=width)
