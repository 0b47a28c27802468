"""Tables: one model that both the terminal and the page show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sottovoce.report.formats import MISSING, NumberFormat
from sottovoce.report.html import Markup, element, joined, scrolling


@dataclass(frozen=True, slots=True)
class Lines:
    """A cell of several lines, such as a value with its interval under it."""

    first: str
    smaller: tuple[str, ...]
    """The further lines; the page writes them in small type."""


Cell = str | Lines
"""Text of a cell. A table for the page only may hold :class:`~sottovoce.report.html.Markup`."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its heading."""

    heading: Cell
    align: Literal["left", "right"] = "right"
    """Left for text, right for numbers."""
    wrap: bool = True
    """Whether the terminal may break its lines."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first cell of a row names it."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    row_classes: tuple[str, ...] = ()
    """A class for each row of the page; empty if no row has one."""

    def to_html(self) -> Markup:
        """Return the table as part of a page; it scrolls where it is too wide."""
        classes = self.row_classes or ("",) * len(self.rows)
        body = [
            element("tr", *self._row(row), class_=class_ or None)
            for row, class_ in zip(self.rows, classes, strict=True)
        ]
        headings = [
            element("th", _html(column.heading), scope="col", class_=_class(column))
            for column in self.columns
        ]
        return scrolling(
            self.caption,
            element(
                "table",
                element("caption", self.caption),
                element("thead", element("tr", *headings)),
                element("tbody", *body),
            ),
        )

    def _row(self, row: Sequence[Cell]) -> Iterable[Markup]:
        for number, (cell, column) in enumerate(zip(row, self.columns, strict=True)):
            if number == 0:
                yield element("th", _html(cell), scope="row", class_=_class(column))
            else:
                yield element("td", _html(cell), class_=_class(column))


def make_table(
    caption: str,
    headings: Sequence[Cell],
    rows: Iterable[Sequence[Cell]],
    *,
    text: Sequence[int] = (),
    row_classes: Sequence[str] = (),
) -> Table:
    """Build a table whose first column is text and whose other columns are numbers.

    Parameters
    ----------
    caption : str
        What the table shows.
    headings : sequence of str or Lines
        One a column.
    rows : iterable of sequences of str or Lines
        As many cells a row as there are headings.
    text : sequence of int, optional
        Numbers of further columns of text, from 0.
    row_classes : sequence of str, optional
        A class for each row of the page.
    """
    columns = tuple(
        Column(heading, "left" if number in (0, *text) else "right")
        for number, heading in enumerate(headings)
    )
    return Table(caption, columns, tuple(map(tuple, rows)), tuple(row_classes))


def with_interval(
    value: float | None, low: float | None, high: float | None, write: NumberFormat
) -> Cell:
    """Build a cell with a value and its interval; a dash where there is no value.

    Parameters
    ----------
    value, low, high : float or None
        The number and the ends of its interval.
    write : callable
        Writes one number.
    """
    if value is None:
        return MISSING
    if low is None or high is None:
        return write(value)
    ends = (write(end).removesuffix("\u00a0%") for end in (low, high))
    return Lines(write(value), (" to ".join(ends),))


def _html(cell: Cell) -> Markup | str:
    if isinstance(cell, Lines):
        return joined([cell.first, *(element("small", f" {line}") for line in cell.smaller)])
    return cell


def _class(column: Column) -> str | None:
    return "words" if column.align == "left" else None
