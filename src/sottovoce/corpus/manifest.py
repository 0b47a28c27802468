"""``manifest.csv``: one row per utterance, paths relative to the folder it lies in.

The columns are ``utterance`` (or ``utterance_id``), ``path`` and ``speaker``, which are needed,
and ``gender``, ``language``, ``transcript``, ``session``, ``split``, ``start``, ``end`` and
``channel``. Further columns are kept as the utterance's ``extra``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text
from sottovoce.corpus.reading import (
    CorpusBuilder,
    Defects,
    folder_name,
    path_notes,
    place,
    portable_path,
    read_text,
)
from sottovoce.corpus.utterance import Corpus, Utterance

NAME = "manifest.csv"
NEEDED = ("utterance", "path", "speaker")
WORDS = ("gender", "language", "transcript", "session", "split")
NUMBERS = ("start", "end", "channel")
COLUMNS = (*NEEDED, *WORDS, *NUMBERS)
_QUOTING_ADVICE = "and quote cells with commas"
"""A wrong cell is not shown: after a missing quote it may be a piece of a transcript."""

Row = dict[str, str]


def read_manifest(path: Path | str) -> Corpus:
    """Read a manifest.

    Parameters
    ----------
    path : Path or str
        A manifest, or a folder with a ``manifest.csv``.

    Raises
    ------
    DefectsError
        With all rows that cannot be used.
    """
    path = Path(path)
    path = path / NAME if path.is_dir() else path
    builder = CorpusBuilder()
    listed = []
    for line, row in _rows(path, builder.defects):
        builder.add(path, line, partial(manifest_utterance, row, path.parent))
        listed.append((place(path, line), row["path"]))
    name = folder_name(path.parent) if path.name == NAME else path.stem
    return builder.corpus(name, path.parent, path, path_notes(listed))


def _rows(path: Path, defects: Defects) -> Iterator[tuple[int, Row]]:
    """Read rows by column, with the line each begins in; rows of a wrong length are defects."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    header: list[str] | None = None
    begin = 1
    try:
        for cells in reader:
            line, begin = begin, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(path, line, cells)
            elif len(cells) != len(header):
                message = f"{len(cells)} cells for {len(header)} columns; quote cells with commas"
                defects.add(path, line, message)
            else:
                yield line, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InputError(
            f"{place(path, begin)}: not CSV ({error}); correct the quotes", code="malformed-line"
        ) from None
    if header is None:
        raise InputError(f"{path}: empty; its first line must name the columns", code="empty")


def _header(path: Path, line: int, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if "utterance" not in names:
        names = ["utterance" if name == "utterance_id" else name for name in names]
    refuse_bad_columns(names, place(path, line))
    return names


def refuse_bad_columns(names: Sequence[str], where: str) -> None:
    """Refuse a manifest that lacks a column, or whose columns have no or the same names.

    Parameters
    ----------
    names : sequence of str
        Its columns.
    where : str
        What to call the header in messages.

    Raises
    ------
    InputError
        ``missing-column``, ``unnamed-column`` or ``duplicate-column``.
    """
    for name in NEEDED:  # first, since without a header the names are cells, which are not shown
        if name not in names:
            known = ", ".join(column for column in names if column in COLUMNS)
            raise InputError(
                f"{where}: no column {name!r} (has {known or 'none that is known'}); name it in "
                "the header",
                code="missing-column",
            )
    for number, name in enumerate(names, 1):
        if not name:
            raise InputError(
                f"{where}: column {number} has no name; name or remove it", code="unnamed-column"
            )
        if name in names[: number - 1]:
            raise InputError(f"{where}: two columns {name!r}; rename one", code="duplicate-column")


def manifest_utterance(row: Row, folder: Path) -> Utterance:
    """Make an utterance from a row of a manifest.

    Parameters
    ----------
    row : dict of str to str
        Cells by column.
    folder : Path
        Folder that the path is relative to.

    Raises
    ------
    InputError
        For a cell that is missing or is no number.
    """
    for name in NEEDED:
        if not row[name].strip():
            raise InputError(f"no {name}; fill it in or remove the row", code="empty")
    words = {name: row.get(name, "").strip() for name in WORDS if name != "transcript"}
    return Utterance(
        row["utterance"].strip(),
        folder / row["path"],
        row["speaker"].strip(),
        transcript=row.get("transcript", ""),
        **words,
        start=_number(row, "start"),
        end=_number(row, "end"),
        channel=_channel(row),
        extra={name: cell for name, cell in row.items() if name not in COLUMNS},
    )


def _number(row: Row, name: str) -> float | None:
    cell = row.get(name, "").strip()
    try:
        return float(cell) if cell else None
    except ValueError:
        raise InputError(
            f"{name} is no number; give it in seconds, {_QUOTING_ADVICE}", code="wrong-type"
        ) from None


def _channel(row: Row) -> int | None:
    cell = row.get("channel", "").strip()
    try:
        return int(cell) if cell else None
    except ValueError:
        raise InputError(
            f"channel is no whole number; the first is 0, {_QUOTING_ADVICE}", code="wrong-type"
        ) from None


# ======================================================================================== writing


def write_manifest(corpus: Corpus, folder: Path | str) -> Path:
    """Write ``manifest.csv``, whole or not at all.

    Files below the folder are named relative to it, others by absolute paths. A column for
    ``start``, ``end`` or ``channel`` is written only if an utterance has one.

    Parameters
    ----------
    corpus : Corpus
        What is listed.
    folder : Path or str
        Where the manifest is written.

    Returns
    -------
    Path
        The manifest.
    """
    folder = Path(folder)
    extras = sorted({name for utterance in corpus for name in utterance.extra})
    for name in extras:
        if name in COLUMNS or name == "utterance_id" or name != name.strip() or not name:
            raise InputError(
                f"{corpus.name}: extra column {name!r} cannot be written; rename it",
                code="duplicate-column",
            )
    numbers = [
        name
        for name in NUMBERS
        if any(getattr(utterance, name) is not None for utterance in corpus)
    ]
    columns = [*NEEDED, *WORDS, *numbers, *extras]
    rows = [columns, *(_cells(utterance, folder, columns) for utterance in corpus)]
    target = folder / NAME
    write_text(target, "".join(",".join(map(_quoted, row)) + "\n" for row in rows))
    return target


def _cells(utterance: Utterance, folder: Path, columns: list[str]) -> list[str]:
    path = portable_path(utterance.path, folder)
    values = {"utterance": utterance.id, "path": path, "speaker": utterance.speaker}
    values |= {name: getattr(utterance, name) for name in (*WORDS, *NUMBERS)}
    cells = ((values if name in COLUMNS else utterance.extra).get(name) for name in columns)
    return ["" if cell is None else str(cell) for cell in cells]


def _quoted(cell: str) -> str:
    """Quote a cell if needed; unlike Python's writer, also one with a lone carriage return."""
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in '",\r\n') else cell
