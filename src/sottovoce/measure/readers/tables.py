"""Score tables: columns ``score`` and ``label``, checked once for every format that has them.

Labels are those of :mod:`sottovoce.core.trial_labels`. Optional columns: ``enrol`` and ``trial``
(ids; a pair may occur once) and ``enrol_speaker`` and ``trial_speaker`` (for resampling by
speaker).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import without_ending
from sottovoce.core.trial_labels import MATED, NONMATED
from sottovoce.measure.scores import Scores, Speakers, check_exact

SPEAKERS = ("enrol_speaker", "trial_speaker")
IDS = ("enrol", "trial")
USED = ("score", "label", *IDS, *SPEAKERS)
LINE, VALUE, MATED_ROW = "\0line", "\0value", "\0mated"
"""Columns of our own, under names no header can have."""

BAD_LABEL = "label is neither mated nor nonmated"


def from_table(table: pl.DataFrame, path: Path) -> Scores:
    """Check a table of scores and split it by label.

    Parameters
    ----------
    table : polars.DataFrame
        Columns ``score`` and ``label``; optionally ids and speakers.
    path : Path
        Where it comes from, for messages.
    """
    return scores_of(check_table(table, path), path)


def check_table(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Check a table of scores; add the columns ``VALUE`` and ``MATED_ROW``.

    Messages give the line in the column ``LINE``; without one, rows count from 1.

    Parameters
    ----------
    table : polars.DataFrame
        Columns ``score`` and ``label``; optionally ids and speakers.
    path : Path
        Where it comes from, for messages.
    """
    check_columns(table.columns, path)
    kind = table.schema["score"]
    if not (kind.is_numeric() or kind == pl.String):
        raise InputError(
            f"{path}: column 'score' holds {kind} values; scores must be real numbers",
            code="wrong-type",
        )
    if kind.is_integer() and table["score"].len() > table["score"].null_count():
        low, high = table.select(pl.col("score").min(), high=pl.col("score").max()).row(0)
        check_exact(low, high, f"{path}: column 'score'")
    if LINE not in table.columns:
        table = table.with_row_index(LINE, offset=1)
    score = pl.col("score").str.strip_chars() if kind == pl.String else pl.col("score")
    values = table.with_columns(
        score.cast(pl.Float64, strict=False).alias(VALUE), mated_label().alias(MATED_ROW)
    )
    refuse(
        values.filter(pl.col(VALUE).is_null()), "score is not a number", path, code="not-a-number"
    )
    refuse(
        values.filter(~pl.col(VALUE).is_finite()), "score is not finite", path, code="not-finite"
    )
    refuse(values.filter(pl.col(MATED_ROW).is_null()), BAD_LABEL, path, code="bad-label")
    if set(IDS) <= set(table.columns) and not all_distinct(values, IDS):
        repeated = values.filter(~pl.struct(IDS).is_first_distinct())
        refuse(repeated, "the same enrol and trial again", path, code="duplicate-id")
    return values


def all_distinct(table: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Tell whether no two rows agree in some columns.

    Rows of different hashes are different, which settles nearly all cases at a tenth of the time.

    Parameters
    ----------
    table : polars.DataFrame
        Any table.
    columns : sequence of str
        Names of its columns.
    """
    rows = pl.struct(columns)
    if table.select(rows.hash().n_unique()).item() == table.height:
        return True
    return bool(table.select(rows.is_first_distinct().all()).item())


def scores_of(table: pl.DataFrame, path: Path) -> Scores:
    """Split a table by label.

    Parameters
    ----------
    table : polars.DataFrame
        Rows of what :func:`check_table` returns.
    path : Path
        Where it comes from, for messages.
    """
    used = table.select(VALUE, MATED_ROW, LINE, *(set(SPEAKERS) & set(table.columns)))
    mated, nonmated = used.filter(MATED_ROW), used.filter(~pl.col(MATED_ROW))
    dtype = np.float32 if table.schema["score"] == pl.Float32 else np.float64
    return Scores(
        mated[VALUE].to_numpy().astype(dtype),
        nonmated[VALUE].to_numpy().astype(dtype),
        speakers=_speakers(mated, nonmated, path),
        name=without_ending(path).name,
        origin=str(path),
    )


def mated_label(column: str = "label") -> pl.Expr:
    """Whether a row is mated: true, false, or null where the label is neither.

    Parameters
    ----------
    column : str, default "label"
        The column of the labels.
    """
    label = pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase()
    return pl.when(label.is_in(MATED)).then(True).when(label.is_in(NONMATED)).then(False)


def check_columns(columns: list[str], path: Path) -> None:
    """Refuse a table without the two columns that are needed, or with two of the same name.

    Parameters
    ----------
    columns : list of str
        Names of the columns.
    path : Path
        Where the table comes from, for messages.
    """
    for name in ("score", "label"):
        if name not in columns:
            have = ", ".join(
                column if column == column.strip() else repr(column) for column in columns[:8]
            )
            raise InputError(
                f"{path}: no column {name!r} (has {have}); name it in the header",
                code="missing-column",
            )
    for name in USED:
        if columns.count(name) > 1:
            raise InputError(
                f"{path}: two columns named {name!r}; keep one", code="duplicate-column"
            )


def refuse(rows: pl.DataFrame, complaint: str, path: Path, *, code: str) -> None:
    """Refuse the table if there are defective rows, naming the first lines.

    Parameters
    ----------
    rows : polars.DataFrame
        The defective rows.
    complaint : str
        What is wrong with them.
    path : Path
        Where the table comes from.
    code : str
        Code of the error.
    """
    if not rows.is_empty():
        lines = (f"line {line}" for line in rows[LINE].head(3))
        where = first_few(lines, len(rows))
        raise InputError(f"{path}: {complaint} in {where}; correct or remove", code=code)


def _speakers(mated: pl.DataFrame, nonmated: pl.DataFrame, path: Path) -> Speakers | None:
    given = [name for name in SPEAKERS if name in mated.columns]
    if not given:
        return None
    if len(given) == 1:
        raise InputError(
            f"{path}: only one of {' and '.join(SPEAKERS)}; give both or neither",
            code="missing-column",
        )
    enrol, trial = (pl.col(name).cast(pl.String).str.strip_chars() for name in SPEAKERS)
    for rows in (mated, nonmated):
        unnamed = enrol.is_null() | trial.is_null() | (enrol == "") | (trial == "")
        refuse(rows.filter(unnamed), "speaker is missing", path, code="missing-name")
    refuse(mated.filter(enrol != trial), "label is mated for two speakers", path, code="bad-label")
    refuse(
        nonmated.filter(enrol == trial), "label is nonmated for one speaker", path, code="bad-label"
    )
    return Speakers.from_names(
        mated.select(enrol).to_series().to_numpy(),
        nonmated.select(enrol).to_series().to_numpy(),
        nonmated.select(trial).to_series().to_numpy(),
    )
