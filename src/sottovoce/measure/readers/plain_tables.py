"""Tables of any columns: CSV, TSV or Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sottovoce.core.errors import InputError, first_few, first_line
from sottovoce.core.files import check_exists


def read_plain_table(path: Path) -> pl.DataFrame:
    """Read a table; blanks around the names of columns do not matter.

    Parameters
    ----------
    path : Path
        ``.parquet``, ``.tsv`` with tabs, or any other name with commas. Columns of text files are
        text.

    Raises
    ------
    InputError
        ``not-found`` or ``unreadable``.
    """
    check_exists(path)
    name = path.name.lower()
    try:
        if name.endswith(".parquet"):
            table = pl.read_parquet(path)
        else:
            separator = "\t" if name.endswith(".tsv") else ","
            table = pl.read_csv(path, separator=separator, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path}: not a readable table ({first_line(error)})", code="unreadable"
        ) from None
    return table.rename({column: column.strip() for column in table.columns})


def require_columns(table: pl.DataFrame, names: Sequence[str], path: Path) -> None:
    """Refuse a table without one of the columns.

    Parameters
    ----------
    table : polars.DataFrame
        The table.
    names : sequence of str
        Columns that it must have.
    path : Path
        Where it comes from, for the message.

    Raises
    ------
    InputError
        With the code ``missing-column``.
    """
    for name in names:
        if name not in table.columns:
            raise InputError(
                f"{path}: no column {name} (has {first_few(table.columns[:8], table.width)}); name "
                "it in the header",
                code="missing-column",
            )
