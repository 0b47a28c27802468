"""Uploads as files without a file: readers get a path, and nothing reaches a disk.

On Linux the path leads to memory that ends with its process, however that ends. Elsewhere it is a
temporary file that is removed after use.
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.core.errors import InputError, SottovoceError

MOST_UNPACKED = 1 << 29
"""Bytes of all arrays of a .npz file together."""
MOST_CELLS = 1 << 26
"""Cells of a .parquet table: as much, in numbers of 8 bytes."""
MOST_COLUMNS = 1000
"""Columns of a .csv table."""


@contextmanager
def as_path(data: bytes, what: str) -> Iterator[Path]:
    """A path under which ``data`` can be read; errors call it ``what``."""
    if not data:
        raise InputError(f"{what}: empty (0 bytes); send its content as the body")
    with _file(data) as path:
        try:
            yield path
        except SottovoceError as error:
            raise InputError(str(error).replace(str(path), what)) from None


@contextmanager
def _file(data: bytes) -> Iterator[Path]:
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("upload"), "wb") as file:
            file.write(data)
            file.flush()
            yield Path(f"/proc/self/fd/{file.fileno()}")
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "upload")
            path.write_bytes(data)
            yield path


def table_kind(data: bytes) -> str:
    """The ending that a file of scores or embeddings should have, told by its content.

    >>> table_kind(b"PAR1...."), table_kind(b"score,label")
    ('.parquet', '.csv')
    """
    if data.startswith(b"PK\x03\x04"):
        return ".npz"
    return ".parquet" if data.startswith(b"PAR1") else ".csv"


def refuse_swelling(data: bytes, what: str) -> None:
    """Refuse a table that is small as it came and would be huge in memory."""
    kind = table_kind(data)
    found, most, unit = {".npz": _unpacked, ".parquet": _cells, ".csv": _columns}[kind](data)
    if found > most:
        raise InputError(f"{what}: {found:,} {unit}; at most {most:,} are taken: send less")


def _unpacked(data: bytes) -> tuple[int, int, str]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # no more than is said here is ever read of an entry
            size = sum(one.file_size for one in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        size = 0  # its reader says what is wrong
    return size, MOST_UNPACKED, "bytes when unpacked"


def _cells(data: bytes) -> tuple[int, int, str]:
    import polars as pl

    try:
        table = pl.scan_parquet(io.BytesIO(data))
        rows = table.select(pl.len()).collect().item()
        kinds = table.collect_schema().dtypes()
    except (pl.exceptions.PolarsError, OSError):
        return 0, MOST_CELLS, "cells"
    wide = sum(one.size if isinstance(one, pl.Array) else 1 for one in kinds)
    return rows * wide, MOST_CELLS, "cells"


def _columns(data: bytes) -> tuple[int, int, str]:
    head = data.partition(b"\n")[0]
    return 1 + max(head.count(b","), head.count(b"\t")), MOST_COLUMNS, "columns"


def with_commas(data: bytes) -> bytes:
    """A table with tabs between its columns as one with commas; any other as it is.

    Readers tell the two by the ending of a name, which an upload does not have.

    >>> with_commas(b"score\\tlabel\\n1,5\\t0\\n")
    b'score,label\\n"1,5",0\\n'
    """
    if b"\t" not in data.partition(b"\n")[0]:
        return data
    written = io.StringIO()
    try:
        rows = csv.reader(io.StringIO(data.decode(), newline=""), delimiter="\t")
        csv.writer(written, lineterminator="\n").writerows(rows)
    except (UnicodeDecodeError, csv.Error):
        return data
    return written.getvalue().encode()
