"""Comparison of stored results with recomputed ones: every difference by its place."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, first_line
from sottovoce.core.records import Json, to_json

if TYPE_CHECKING:
    import polars as pl

TOLERANCE = 1e-9
"""Largest relative difference that rounding on another machine may make."""
SCORE_TOLERANCE = 1e-6
"""The same for scores of a linkage function that is trained again, of the range of all scores."""


def compare(stored: object, recomputed: object, place: str) -> list[str]:
    """Describe the differences between two results.

    Parameters
    ----------
    stored : object
        A record, or anything that :func:`~sottovoce.core.records.to_json` takes.
    recomputed : object
        The same, as it should be.
    place : str
        Where the result is; the place of a difference starts with it.
    """
    return _compare(to_json(stored), to_json(recomputed), place)


def _compare(stored: Json, recomputed: Json, place: str) -> list[str]:
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        names = sorted(set(stored) | set(recomputed))
        missing = [name for name in names if name not in stored or name not in recomputed]
        lines = [f"{place}.{name}: only on one side" for name in missing]
        for name in names:
            if name not in missing:
                lines += _compare(stored[name], recomputed[name], f"{place}.{name}")
        return lines
    if isinstance(stored, list) and isinstance(recomputed, list):
        if len(stored) != len(recomputed):
            return [f"{place}: {len(stored)} stored, {len(recomputed)} recomputed"]
        pairs = zip(stored, recomputed, strict=True)
        return [line for i, pair in enumerate(pairs) for line in _compare(*pair, f"{place}.{i}")]
    if _is_number(stored) and _is_number(recomputed):
        same = math.isclose(float(stored), float(recomputed), rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    else:
        same = type(stored) is type(recomputed) and stored == recomputed
    return [] if same else [f"{place}: stored {stored!r}, recomputed {recomputed!r}"]


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, float | int) and not isinstance(value, bool)


def compare_tables(stored: pl.DataFrame, recomputed: pl.DataFrame, place: str) -> list[str]:
    """Describe the columns of a table that differ, with how often and where first.

    Parameters
    ----------
    stored : polars.DataFrame
        The table as stored.
    recomputed : polars.DataFrame
        The table as it should be.
    place : str
        Name of its file.
    """
    if stored.columns != recomputed.columns or stored.height != recomputed.height:
        shapes = [" × ".join(map(str, table.shape)) for table in (stored, recomputed)]
        return [f"{place}: other rows or columns ({shapes[0]} stored, {shapes[1]} recomputed)"]
    lines = []
    for name in recomputed.columns:
        different = np.flatnonzero(~_equal(stored[name], recomputed[name]))
        if len(different):
            first = int(different[0])
            lines.append(
                f"{place}: {name} differs in {len(different):,} of {recomputed.height:,} rows, "
                f"first in row {first + 1}: stored {stored[name][first]!r}, recomputed "
                f"{recomputed[name][first]!r}"
            )
    return lines


def _equal(stored: pl.Series, recomputed: pl.Series) -> NDArray[np.bool_]:
    """Which values agree; numbers up to rounding."""
    import polars as pl

    numeric = recomputed.dtype.is_numeric() and stored.dtype.is_numeric()
    if not numeric and stored.dtype != recomputed.dtype:
        return np.zeros(len(recomputed), np.bool_)
    if not numeric:
        same = stored.cast(pl.String).eq_missing(recomputed.cast(pl.String))
        return np.asarray(same.to_numpy(), np.bool_)
    left, right = (series.cast(pl.Float64).to_numpy() for series in (stored, recomputed))
    tolerance = TOLERANCE
    if recomputed.name == "score":
        tolerance = SCORE_TOLERANCE * float(np.ptp(right))
    close = np.isclose(left, right, rtol=TOLERANCE, atol=tolerance, equal_nan=True)
    return np.asarray(close, np.bool_)


def read_table(path: Path) -> pl.DataFrame:
    """Read a Parquet table of an audit.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    InputError
        ``unreadable`` or ``damaged``.
    """
    import polars as pl

    try:
        with path.open("rb") as file:
            return pl.read_parquet(file)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); run the audit again", code="unreadable"
        ) from None
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path}: not a table ({first_line(error)}); run the audit again", code="damaged"
        ) from None
