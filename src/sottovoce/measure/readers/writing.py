"""Writing scores: tables as ``.parquet``, ``.csv`` or ``.tsv``, and lists in Kaldi's form."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

import polars as pl
from polars.io.plugins import register_io_source

from sottovoce.core.errors import InputError
from sottovoce.core.files import atomic_file
from sottovoce.measure.readers.tables import IDS

Batches = Iterable[pl.DataFrame]
"""Rows of one table, some at a time."""


def check_score_target(path: Path, columns: Iterable[str]) -> None:
    """Refuse a file that :func:`write_score_table` could not write, before anything is computed.

    Parameters
    ----------
    path : Path
        The file.
    columns : iterable of str
        Columns of the table.

    Raises
    ------
    InputError
        ``unknown-format`` for an unknown ending, ``missing-ids`` for a list of pairs without ids.
    """
    if _writer(path) is None:
        raise InputError(
            f"{path}: unknown kind of file; use {', '.join(WRITERS)} (.txt: lines of "
            "'enrol trial score')",
            code="unknown-format",
        )
    if path.suffix.lower() == ".txt" and not set(IDS) <= set(columns):
        raise InputError(
            f"{path}: a list needs the ids of both sides of each pair, and these scores have none; "
            "write .csv or .parquet",
            code="missing-ids",
        )


def write_score_table(batches: Batches, path: Path) -> None:
    """Write scores, whole or not at all, without holding all of them in memory.

    Parameters
    ----------
    batches : iterable of polars.DataFrame
        Rows with the columns of a score table, the same columns in each; at least one.
    path : Path
        ``.parquet``, ``.csv``, ``.tsv`` (also with ``.gz``) or ``.txt``, a list of lines
        ``enrol trial score``.

    Raises
    ------
    InputError
        As :func:`check_score_target`, or ``not-writable``.
    """
    rows = iter(batches)
    first = next(rows)
    check_score_target(path, first.columns)
    write = _writer(path)
    assert write is not None  # noqa: S101
    with atomic_file(path) as temporary:
        write(_chained(first, rows), temporary)


def _chained(first: pl.DataFrame, others: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    yield first
    yield from others


def _write_parquet(batches: Iterator[pl.DataFrame], path: Path) -> None:
    first = next(batches)

    def source(*_: object) -> Iterator[pl.DataFrame]:
        return _chained(first, batches)

    register_io_source(source, schema=first.schema).sink_parquet(path, maintain_order=True)


def _write_text(
    batches: Iterator[pl.DataFrame],
    path: Path,
    *,
    separator: str = ",",
    compressed: bool = False,
    columns: list[str] | None = None,
) -> None:
    """Write rows as text: all columns with a header, or some columns without one."""
    header = columns is None
    with _opened(path, compressed=compressed) as file:
        for batch in batches:
            chosen = batch if columns is None else batch.select(columns)
            chosen.write_csv(
                file,
                separator=separator,
                include_header=header,
                quote_style="necessary" if columns is None else "never",
            )
            header = False


def _opened(path: Path, *, compressed: bool) -> IO[bytes]:
    return gzip.open(path, "wb", compresslevel=6) if compressed else path.open("wb")  # type: ignore[return-value]


def _text_writer(
    separator: str, *, compressed: bool = False, columns: list[str] | None = None
) -> Callable[[Iterator[pl.DataFrame], Path], None]:
    def write(batches: Iterator[pl.DataFrame], path: Path) -> None:
        _write_text(batches, path, separator=separator, compressed=compressed, columns=columns)

    return write


WRITERS: dict[str, Callable[[Iterator[pl.DataFrame], Path], None]] = {
    ".parquet": _write_parquet,
    ".csv": _text_writer(","),
    ".tsv": _text_writer("\t"),
    ".csv.gz": _text_writer(",", compressed=True),
    ".tsv.gz": _text_writer("\t", compressed=True),
    ".txt": _text_writer(" ", columns=[*IDS, "score"]),
}
"""How to write a file, by the ending of its name."""


def _writer(path: Path) -> Callable[[Iterator[pl.DataFrame], Path], None] | None:
    endings = [ending for ending in WRITERS if path.name.lower().endswith(ending)]
    return WRITERS[max(endings, key=len)] if endings else None
