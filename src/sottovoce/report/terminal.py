"""Tables and remarks in the terminal."""

from __future__ import annotations

from collections.abc import Iterable

import rich.table
from rich.console import Console
from rich.measure import Measurement
from rich.text import Text

from sottovoce.report.tables import Cell, Lines, Table

WIDTH = 110
"""Columns of output that does not go to a terminal."""

WIDEST = 160
"""Columns up to which a table is wider than its terminal rather than cut."""


class Terminal:
    """Prints tables and remarks; text of users is never read as markup or control characters.

    Parameters
    ----------
    stderr : bool, default False
        Print to the standard error stream.
    width : int, default 110
        Columns where the output does not go to a terminal.
    """

    def __init__(self, *, stderr: bool = False, width: int = WIDTH) -> None:
        # names of users' files and columns may hold ":word:", which is no picture
        console = _Console(stderr=stderr, emoji=False)
        if not console.is_terminal:
            console = _Console(stderr=stderr, emoji=False, width=width)
        self._console = console

    def heading(self, text: str) -> None:
        """Print a line in bold.

        Parameters
        ----------
        text : str
            The line.
        """
        self._console.print(text, style="bold", highlight=False, markup=False)

    def line(self, text: str = "") -> None:
        """Print a line, broken where it is too long.

        Parameters
        ----------
        text : str, default ""
            The line.
        """
        self._console.print(text, highlight=False, markup=False)

    def bullets(self, lines: Iterable[str]) -> None:
        """Print remarks.

        Parameters
        ----------
        lines : iterable of str
            One remark each.
        """
        for line in lines:
            self.line(f"• {line}")

    def table(self, table: Table) -> None:
        """Print a table, wider than the terminal if its numbers would be cut otherwise.

        Parameters
        ----------
        table : Table
            Cells that are plain text.
        """
        content = _rich_table(table)
        console = self._console
        width = console.width
        wide = console.options.update(max_width=WIDEST)
        console.width = max(width, Measurement.get(console, wide, content).maximum)
        try:
            console.print(content)
        finally:
            console.width = width


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let the command line handle it: the reader of our output has gone."""
        raise BrokenPipeError


def _rich_table(table: Table) -> rich.table.Table:
    content = rich.table.Table(box=None, pad_edge=False, header_style="bold")
    for column in table.columns:
        content.add_column(
            _text(column.heading),
            justify=column.align,
            no_wrap=not column.wrap,
            overflow="fold" if column.wrap else "ellipsis",
        )
    for row in table.rows:
        content.add_row(*map(_text, row))
    return content


def _text(cell: Cell) -> Text:
    lines = (cell.first, *cell.smaller) if isinstance(cell, Lines) else (cell,)
    return Text("\n".join(_printable(line) for line in lines))


def _printable(text: str) -> str:
    """Replace control characters, which a name of a user may hold."""
    return "".join(
        character if character.isprintable() or character == "\u00a0" else "?" for character in text
    )
