"""Tables in ``.csv`` and ``.tsv`` files: the cells of named columns are texts.

Delimiters, quotation marks, line ends and the cells of other columns are kept as they are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sottovoce.anonymise.text.anonymised_text import AnonymisedText
from sottovoce.anonymise.text.files.blocks import Block, bad_line, verbatim
from sottovoce.anonymise.text.files.input_file import InputFile
from sottovoce.anonymise.text.files.marked_text import MarkedText
from sottovoce.anonymise.text.files.options import ReadingOptions
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.registry import did_you_mean

DELIMITERS = (",", ";", "\t", "|")
"""What may stand between the cells of a ``.csv`` file."""
MAX_NAMED = 20
"""Columns that an error names."""
_DOUBLED = re.compile('""')


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table."""

    number: int
    """Number of its first line, from 1."""
    cells: list[str]
    """Its cells as they are written."""
    ending: str


class TableReader:
    """A table with a header, or without one if that is said.

    Parameters
    ----------
    options : ReadingOptions
        Which columns are searched, and whether there is a header.
    delimiters : sequence of str
        What may stand between cells; the header shows which one it is.
    """

    left_out: Sequence[str] = ()

    def __init__(self, options: ReadingOptions, delimiters: Sequence[str] = DELIMITERS) -> None:
        self._options = options
        self._delimiters = delimiters
        self.not_searched: Sequence[str] = ()

    def blocks(self, file: InputFile) -> Iterator[Block]:
        """Read the rows.

        Parameters
        ----------
        file : InputFile
            The file.
        """
        delimiter = self._find_delimiter(file)
        rows = _rows(file, delimiter)
        first = next(rows)
        columns = self._find_columns(file, [_value(cell) for cell in first.cells])
        if self._options.header:
            yield verbatim(delimiter.join(first.cells) + first.ending)
        else:
            yield self._block(first, columns, delimiter)
        for row in rows:
            if row.cells == [""]:
                yield verbatim(row.ending)
            elif len(row.cells) != len(first.cells):
                expected = f"{len(row.cells)} cells, but the first row has {len(first.cells)}"
                raise bad_line(file, row.number, f"{expected}; quote cells that hold {delimiter!r}")
            else:
                yield self._block(row, columns, delimiter)

    def _find_delimiter(self, file: InputFile) -> str:
        """Choose the delimiter by the header, or that which splits the first row most often."""
        line = next(file.universal_lines(), "").rstrip("\r\n")
        if self._options.header and self._options.columns:
            for delimiter in self._delimiters:
                if set(self._options.columns) <= set(_split_line(line, delimiter)):
                    return delimiter
        return max(self._delimiters, key=lambda delimiter: len(_split_line(line, delimiter)))

    def _find_columns(self, file: InputFile, first: list[str]) -> dict[int, str]:
        """Return the index and name of the columns to search."""
        header = self._options.header
        names = first if header else [str(i + 1) for i in range(len(first))]
        shown = ", ".join(names[:MAX_NAMED]) + (" …" if len(names) > MAX_NAMED else "")
        if not self._options.columns:
            say = f"it has {shown}" if header else f"numbers from 1 to {len(names)}"
            raise UsageError(
                f"{file.name}: a table; name the columns to search with --columns ({say})",
                code="missing-option",
            )
        for name in self._options.columns:
            if name not in names:
                advice = "" if header else "; without a header name columns by number"
                raise InputError(
                    f"{file.name}: {did_you_mean('column', name, names[:MAX_NAMED])}{advice}",
                    code="unknown-name",
                )
        chosen = {i: name for i, name in enumerate(names) if name in self._options.columns}
        self.not_searched = [name for i, name in enumerate(names) if i not in chosen]
        return chosen

    def _block(self, row: _Row, columns: dict[int, str], delimiter: str) -> Block:
        marked = {i: _parse_cell(row.cells[i]) for i in columns}

        def write(results: Sequence[AnonymisedText]) -> str:
            cells = list(row.cells)
            for (i, cell), result in zip(marked.items(), results, strict=True):
                if any(span.replacement is not None for span in result.spans):
                    cells[i] = _new_cell(cells[i], cell, result, delimiter)
            return delimiter.join(cells) + row.ending

        texts = [SourceText(marked[i].text, id=f"{row.number}:{columns[i]}") for i in columns]
        return Block(texts, write)


def _parse_cell(cell: str) -> MarkedText:
    if not _is_quoted(cell):
        return MarkedText(cell, ())
    return MarkedText.parse(cell[1:-1], _DOUBLED, lambda mark: '"')


def _is_quoted(cell: str) -> bool:
    return len(cell) > 1 and cell.startswith('"') and cell.endswith('"')


def _value(cell: str) -> str:
    """Return a cell without the quotation marks around it."""
    return cell[1:-1].replace('""', '"').strip() if _is_quoted(cell) else cell.strip()


def _new_cell(old: str, marked: MarkedText, result: AnonymisedText, delimiter: str) -> str:
    """Write a cell with new words; it gets quotation marks if it needs them."""
    if _is_quoted(old):
        return '"' + marked.restore(result, _double_quotes) + '"'
    marks = [mark for mark in (delimiter, '"', "\n", "\r") if mark not in old]
    needs_quotes = any(mark in result.text for mark in marks)
    return '"' + _double_quotes(result.text) + '"' if needs_quotes else result.text


def _double_quotes(text: str) -> str:
    return text.replace('"', '""')


def _split_line(line: str, delimiter: str) -> list[str]:
    """Return the values of a line, for the choice of a delimiter."""
    return [value.strip() for value in next(csv.reader([line], delimiter=delimiter), [])]


def _split_ending(text: str) -> tuple[str, str]:
    body = text.rstrip("\r\n")
    return body, text[len(body) :]


def _rows(file: InputFile, delimiter: str) -> Iterator[_Row]:
    """Read the rows; a quoted cell may hold line ends."""
    lines = enumerate(file.universal_lines(), 1)
    for number, line in lines:
        if '"' in line:
            yield _QuotedRow(file, delimiter, lines, number, line).read()
        else:
            body, ending = _split_ending(line)
            yield _Row(number, body.split(delimiter), ending)


class _QuotedRow:
    """Reads a row with quotation marks, and further lines as long as one is open."""

    def __init__(
        self,
        file: InputFile,
        delimiter: str,
        lines: Iterator[tuple[int, str]],
        number: int,
        line: str,
    ) -> None:
        self._file, self._delimiter, self._lines = file, delimiter, lines
        self._number, self._text = number, line
        self._plain = re.compile(f"[^{re.escape(delimiter)}\r\n]*")

    def read(self) -> _Row:
        """Return the row."""
        cells, position = [], 0
        while True:
            end = self._cell_end(position)
            cells.append(self._text[position:end])
            if self._text[end : end + 1] != self._delimiter:
                return _Row(self._number, cells, self._text[end:])
            position = end + 1

    def _cell_end(self, start: int) -> int:
        """Return where the cell ends that starts at a character."""
        if self._text[start : start + 1] == '"':
            end = self._closing_mark(start + 1) + 1
            if self._text[end : end + 1] in (self._delimiter, "\r", "\n", ""):
                return end
            if self._delimiter != "\t" or "\n" in self._text[start:end]:
                expected = "a cell goes on after its closing quotation mark; double marks inside"
                raise bad_line(self._file, self._number, expected)
        match = self._plain.match(self._text, start)
        return start if match is None else match.end()

    def _closing_mark(self, position: int) -> int:
        """Return where the quotation mark is that closes a cell; doubled ones are skipped."""
        while True:
            mark = self._text.find('"', position)
            if mark < 0:
                position = len(self._text)
                self._read_on()
            elif self._text[mark + 1 : mark + 2] == '"':
                position = mark + 2
            else:
                return mark

    def _read_on(self) -> None:
        _, line = next(self._lines, (0, ""))
        if not line:
            raise bad_line(self._file, self._number, "a quotation mark is not closed")
        self._text += line
        self._file.check_length(self._text)
