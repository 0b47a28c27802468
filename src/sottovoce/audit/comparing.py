"""What is stored beside what was found again: every difference, by its place."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.core.errors import InputError, first_line

if TYPE_CHECKING:
    import polars as pl

CLOSE = 1e-9
"""Largest relative difference that rounding on another machine may make."""
TRAINED = 1e-6
"""The same for scores of a linkage function that is trained again, of the range of all scores."""
AGAIN = "name an audit, or run it again"
"""What to do about a file that is not what an audit leaves."""


def compare(stored: Any, found: Any, place: str) -> list[str]:
    """Differences between two results, each named by its place."""
    found = json.loads(json.dumps(found))
    return list(_compare(stored, found, place))


def _compare(stored: Any, found: Any, place: str) -> list[str]:
    if isinstance(stored, dict) and isinstance(found, dict):
        names = sorted(set(stored) | set(found))
        missing = [name for name in names if name not in stored or name not in found]
        lines = [f"{place}.{name}: only on one side" for name in missing]
        for name in names:
            if name not in missing:
                lines += _compare(stored[name], found[name], f"{place}.{name}")
        return lines
    if isinstance(stored, list) and isinstance(found, list):
        if len(stored) != len(found):
            return [f"{place}: {len(stored)} stored, {len(found)} found"]
        pairs = zip(stored, found, strict=True)
        return [line for i, pair in enumerate(pairs) for line in _compare(*pair, f"{place}.{i}")]
    if _number(stored) and _number(found):
        same = math.isclose(stored, found, rel_tol=CLOSE, abs_tol=CLOSE)
    else:
        same = type(stored) is type(found) and stored == found
    return [] if same else [f"{place}: stored {stored!r}, found {found!r}"]


def _number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def compare_tables(stored: pl.DataFrame, found: pl.DataFrame, place: str) -> list[str]:
    """Columns of a table that differ, each with how often and where first."""
    if stored.columns != found.columns or stored.height != found.height:
        shape = " × ".join(map(str, stored.shape)), " × ".join(map(str, found.shape))
        return [f"{place}: other rows or columns ({shape[0]} stored, {shape[1]} found)"]
    lines = []
    for name in found.columns:
        wrong = np.flatnonzero(~_same(stored[name], found[name]))
        if len(wrong):
            first = int(wrong[0])
            lines.append(
                f"{place}: {name} differs in {len(wrong):,} of {found.height:,} rows, first in row "
                f"{first + 1}: stored {stored[name][first]!r}, found {found[name][first]!r}"
            )
    return lines


def _same(stored: pl.Series, found: pl.Series) -> Any:
    """Which values agree; numbers up to rounding."""
    import polars as pl

    numeric = found.dtype.is_numeric() and stored.dtype.is_numeric()
    if not numeric and stored.dtype != found.dtype:
        return np.zeros(len(found), bool)
    if not numeric:
        return stored.cast(pl.String).eq_missing(found.cast(pl.String)).to_numpy()
    one, other = (side.cast(pl.Float64).to_numpy() for side in (stored, found))
    slack = CLOSE
    if found.name == "score":
        slack = TRAINED * float(np.ptp(other))
    return np.isclose(one, other, rtol=CLOSE, atol=slack, equal_nan=True)


def read_table(path: Path) -> pl.DataFrame:
    """A Parquet table of an audit."""
    import polars as pl

    try:
        return pl.read_parquet(path)
    except OSError as error:
        why = error.strerror or first_line(error)
        raise InputError(f"{path}: cannot be read ({why}); run the audit again") from None
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path}: not a table ({first_line(error)}); run the audit again"
        ) from None
