"""Uploads as files without a file: readers get a path, and nothing reaches a disk.

On Linux the path leads to memory that ends with its process, however that ends. Elsewhere it is a
temporary file that is removed after use.
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.errors import InputError, SottovoceError


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
