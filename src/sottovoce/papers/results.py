"""What an item of a paper holds: tables, drawings, remarks, and published numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sottovoce.core.records import Record
from sottovoce.findings import Reidentification
from sottovoce.report.formats import MISSING
from sottovoce.report.svg import Figure
from sottovoce.report.tables import Table, make_table

Cell = str | int | float | None
"""A cell of a table; None for what there is no number for."""


@dataclass(frozen=True, slots=True)
class PaperTable(Record):
    """A table whose numbers are numbers."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    decimals: int = 3
    """Of numbers that are not whole."""

    def to_table(self) -> Table:
        """Return the table as the terminal and pages show it."""
        cells = [[self.cell(cell) for cell in row] for row in self.rows]
        words = [
            column
            for column in range(1, len(self.headings))
            if any(isinstance(row[column], str) for row in self.rows)
        ]
        return make_table(self.caption, self.headings, cells, text=words)

    def cell(self, value: Cell) -> str:
        """Write a cell.

        Parameters
        ----------
        value : str, int, float or None
            The cell.
        """
        if value is None:
            return MISSING
        if isinstance(value, float):
            return f"{round(value, self.decimals) + 0.0:.{self.decimals}f}"
        return f"{value:,}" if isinstance(value, int) else value


def paper_table(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[Cell]], *, decimals: int = 3
) -> PaperTable:
    """Build a table from any sequences.

    Parameters
    ----------
    caption : str
        What it shows.
    headings : sequence of str
        One a column.
    rows : iterable of sequences
        As many cells a row as there are headings.
    decimals : int, default 3
        Of numbers that are not whole.
    """
    return PaperTable(caption, tuple(headings), tuple(map(tuple, rows)), decimals)


@dataclass(frozen=True, slots=True)
class Compared(Record):
    """A number of the document beside ours."""

    quantity: str
    published: float | str
    """As printed; text for a range or a word."""
    ours: float | str | None
    """None where it was not computed."""
    why: str = ""
    """Why the two differ; empty where they agree as printed."""


@dataclass(frozen=True, slots=True)
class PaperResult(Record):
    """Everything that an item found."""

    id: str
    document: str
    title: str
    made_from: str
    """The inputs: the document's, or the data by name and size."""
    quick: bool
    """Whether a part of the data was used."""
    tables: tuple[PaperTable, ...] = ()
    figures: tuple[str, ...] = ()
    """Names of the drawings, which lie beside the result as NAME.svg."""
    compared: tuple[Compared, ...] = ()
    remarks: tuple[str, ...] = ()
    """What has to be known to read it."""
    skipped: tuple[str, ...] = ()
    """Attacks of this item that were left out because the user asked for it."""


@dataclass(frozen=True, slots=True)
class ItemOutput:
    """What the code of an item returns: all that is not known before."""

    made_from: str
    tables: Sequence[PaperTable] = ()
    drawings: Mapping[str, Figure] = field(default_factory=dict)
    """By name, such as ``figure-2``."""
    compared: Sequence[Compared] = ()
    remarks: Sequence[str] = ()
    skipped: Sequence[str] = ()
    """Attacks that were left out because the user asked for it."""


def reidentification_cautions(results: Iterable[Reidentification]) -> list[str]:
    """Return the warnings and notes of re-identification studies, each once.

    Parameters
    ----------
    results : iterable of Reidentification
        The studies of an item.
    """
    studies = list(results)
    warnings = [f"Careful: {warning}." for study in studies for warning in study.warnings]
    notes = [f"{note}." for study in studies for note in study.notes]
    return list(dict.fromkeys([*warnings, *notes]))


def knowledge_remarks(
    quantity: str, curves: Mapping[str, Mapping[str, float]], *, lower_links_more: bool = False
) -> list[str]:
    """Say where an attacker that knows more links less than one that knows less.

    Its figures are then no bound, whatever it is called. An attacker is named once, at the place
    where it lags behind most. Differences that three decimals do not show do not count.

    Parameters
    ----------
    quantity : str
        What the values are, such as ``EER``.
    curves : mapping of str to mapping of str to float
        The values by attacker, in rising order of what it knows, and by place, such as
        ``40 speakers``.
    lower_links_more : bool, default False
        Whether lower values link more, as for error rates and ranks.
    """
    sign = -1 if lower_links_more else 1
    names = list(curves)
    remarks = []
    for i, name in enumerate(names):
        lags = [
            (sign * (round(curves[lesser][place], 3) - round(value, 3)), lesser, place)
            for lesser in names[:i]
            for place, value in curves[name].items()
            if place in curves[lesser]
        ]
        lag, lesser, place = max(lags, default=(0.0, "", ""), key=lambda entry: entry[0])
        if lag > 0:
            remarks.append(
                f"{quantity}, {place}: {curves[name][place]:.3f} ({name}) against "
                f"{curves[lesser][place]:.3f} ({lesser}). The attacker that knows more links less: "
                "its training or enrolment speech did not help it, so its figures are no bound."
            )
    return remarks
