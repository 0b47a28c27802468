"""Score tables as text: CSV and TSV with a header line, plain or compressed with gzip."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from sottovoce.core.errors import InputError, first_line
from sottovoce.measure.readers.tables import LINE, check_columns, from_table
from sottovoce.measure.scores import Scores


def read_csv(path: Path) -> Scores:
    """Read scores from a comma- or (``.tsv``) tab-separated file with a header line.

    Parameters
    ----------
    path : Path
        The file; see :func:`read_csv_table`.
    """
    return from_table(read_csv_table(path), path)


def read_csv_table(path: Path) -> pl.DataFrame:
    """Read a comma- or (``.tsv``) tab-separated file with a header line, unchecked.

    Blanks around names in the header and around values do not matter, nor do lines without
    content. A file whose name ends in ``.gz`` is decompressed.

    Parameters
    ----------
    path : Path
        The file.
    """
    name = path.name.lower()
    separator = "\t" if name.removesuffix(".gz").endswith(".tsv") else ","
    try:
        _check_compression(path, compressed=name.endswith(".gz"))
        table = pl.read_csv(path, separator=separator, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path}: not a readable table ({first_line(error)})", code="unreadable"
        ) from None
    names = [_DUPLICATED.sub("", column).strip() for column in table.columns]
    check_columns(names, path)
    unique = {name for name in names if names.count(name) == 1}
    table = table.rename(
        {column: name for column, name in zip(table.columns, names, strict=True) if name in unique}
    )
    return _without_blank_lines(table.with_row_index(LINE, offset=2))


_DUPLICATED = re.compile(r"_duplicated_\d+$")
"""What polars appends to a name that the header holds already."""
COMPRESSED = (b"\x1f\x8b", b"x\x01", b"x\x9c", b"x\xda", b"\x28\xb5\x2f\xfd")
"""How gzip, zlib and Zstandard files start, all of which polars would decompress by itself."""


def _check_compression(path: Path, *, compressed: bool) -> None:
    """Refuse content that contradicts the name, so that only ``.gz`` files grow when read."""
    with path.open("rb") as file:
        start = file.read(4)
    if compressed and not start.startswith(COMPRESSED[0]):
        raise InputError(
            f"{path}: not compressed with gzip; name it without .gz", code="unknown-format"
        )
    if not compressed and start.startswith(COMPRESSED):
        raise InputError(
            f"{path}: compressed; compress it with gzip and name it .csv.gz or .tsv.gz",
            code="unknown-format",
        )


def _without_blank_lines(table: pl.DataFrame) -> pl.DataFrame:
    """Leave out rows without any content; of such a row the score or the label is null."""
    if not (table["score"].null_count() or table["label"].null_count()):
        return table
    blank = pl.exclude(LINE).str.strip_chars().fill_null("") == ""
    return table.filter(~pl.all_horizontal(blank))
