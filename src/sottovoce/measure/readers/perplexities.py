"""Log-perplexities of candidates for a secret, from any framework that trains models."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import check_exists
from sottovoce.core.types import FloatArray
from sottovoce.measure.readers.plain_tables import read_plain_table, require_columns

COLUMNS = ("canary", "candidate", "log_perplexity", "inserted")
_TRUE, _FALSE = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no", "")


@dataclass(frozen=True, slots=True, eq=False)
class CanaryPerplexities:
    """Log-perplexities of all scored candidates of a canary."""

    canary: str
    values: FloatArray
    secret: int
    """Which of them is the secret that was inserted."""


def read_perplexities(path: Path) -> list[CanaryPerplexities]:
    """Read a table with one row per candidate: canary, candidate, log_perplexity, inserted.

    Parameters
    ----------
    path : Path
        ``.csv``, ``.tsv``, ``.parquet``, or ``.npz`` with an array for each column.

    Returns
    -------
    list of CanaryPerplexities
        In the order of their first rows.

    Raises
    ------
    InputError
        ``missing-column``, ``not-a-number``, ``not-finite``, ``bad-label``, ``duplicate-id`` for a
        candidate that occurs twice, ``not-one-secret`` for a canary without a secret or with
        several.
    """
    table = _read_arrays(path) if path.suffix == ".npz" else read_plain_table(path)
    require_columns(table, COLUMNS, path)
    table = table.select(
        pl.col("canary", "candidate").cast(pl.String).str.strip_chars(),
        log_perplexity=pl.col("log_perplexity").cast(pl.Float64, strict=False),
        inserted=_truth("inserted"),
    ).with_row_index("line", offset=2)
    _refuse(table.filter(pl.col("log_perplexity").is_null()), "no number", "not-a-number", path)
    endless = table.filter(~pl.col("log_perplexity").is_finite())
    _refuse(endless, "a log-perplexity that is not finite", "not-finite", path)
    _refuse(table.filter(pl.col("inserted").is_null()), "neither true nor false", "bad-label", path)
    twice = table.filter(pl.struct("canary", "candidate").is_duplicated())
    _refuse(twice, "a candidate that occurs twice", "duplicate-id", path)
    if table.is_empty():
        raise InputError(f"{path}: no rows; list the candidates", code="empty")
    return [
        _canary(str(name[0]), rows, path)
        for name, rows in table.group_by("canary", maintain_order=True)
    ]


def _read_arrays(path: Path) -> pl.DataFrame:
    check_exists(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name].ravel() for name in COLUMNS if name in file.files}
            return pl.DataFrame(arrays)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, pl.exceptions.PolarsError):
        raise InputError(
            f"{path}: not an .npz file with arrays of one length; save it with numpy.savez",
            code="damaged",
        ) from None


def _truth(column: str) -> pl.Expr:
    word = pl.col(column).cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase()
    return pl.when(word.is_in(_TRUE)).then(True).when(word.is_in(_FALSE)).then(False)


def _canary(name: str, rows: pl.DataFrame, path: Path) -> CanaryPerplexities:
    secrets = np.flatnonzero(rows["inserted"].to_numpy())
    if len(secrets) != 1:
        raise InputError(
            f"{path}: canary {name!r} has {len(secrets)} candidates with inserted=true; exactly "
            "one is the secret",
            code="not-one-secret",
        )
    return CanaryPerplexities(name, rows["log_perplexity"].to_numpy(), int(secrets[0]))


def _refuse(rows: pl.DataFrame, complaint: str, code: str, path: Path) -> None:
    if not rows.is_empty():
        lines = (f"line {line}" for line in rows["line"].head(3))
        raise InputError(f"{path}: {complaint} in {first_few(lines, len(rows))}", code=code)
