"""Scores in tables: CSV, TSV and Parquet with columns ``score`` and ``label``.

Labels are mated/nonmated, target/nontarget or 1/0. Optional columns: ``enrol`` and ``trial`` (ids;
a pair may occur once) and ``enrol_speaker`` and ``trial_speaker`` (for resampling by speaker).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from sottovoce.errors import InputError, first_few
from sottovoce.measure.scores import Scores, Speakers

MATED = ("mated", "target", "1", "true")
NONMATED = ("nonmated", "non-mated", "nontarget", "non-target", "0", "false")
SPEAKERS = ("enrol_speaker", "trial_speaker")
IDS = ("enrol", "trial")


def read_csv(path: Path) -> Scores:
    """Read scores from a comma- or (``.tsv``) tab-separated file with a header line."""
    separator = "\t" if path.suffix == ".tsv" else ","
    try:
        table = pl.read_csv(path, separator=separator, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not a readable table ({brief(error)})") from None
    return from_table(table, path, first_line=2)


def from_table(table: pl.DataFrame, path: Path, *, first_line: int) -> Scores:
    """Check a table of scores and split it by label; ``first_line`` numbers its first row."""
    check_columns(table.columns, path)
    table = table.with_row_index("line", offset=first_line)
    values = table.with_columns(
        pl.col("score").cast(pl.Float64, strict=False).alias("value"), mated_label().alias("mated")
    )
    _refuse(values.filter(pl.col("value").is_null()), "score", "is not a number", path)
    _refuse(values.filter(~pl.col("value").is_finite()), "score", "is not finite", path)
    _refuse(
        values.filter(pl.col("mated").is_null()), "label", "is neither mated nor nonmated", path
    )
    _refuse_duplicates(values, path)
    mated, nonmated = values.filter("mated"), values.filter(~pl.col("mated"))
    kind = table.schema["score"]
    dtype = np.float32 if kind == pl.Float32 else np.float64
    return Scores(
        mated["value"].to_numpy().astype(dtype),
        nonmated["value"].to_numpy().astype(dtype),
        speakers=_speakers(mated, nonmated, path),
        name=path.stem,
    )


def mated_label() -> pl.Expr:
    """Whether a row is mated: true, false, or null where the label is neither."""
    label = pl.col("label").cast(pl.String).str.strip_chars().str.to_lowercase()
    return pl.when(label.is_in(MATED)).then(True).when(label.is_in(NONMATED)).then(False)


def check_columns(columns: list[str], path: Path) -> None:
    """Refuse a table without the two columns that are needed."""
    for name in ("score", "label"):
        if name not in columns:
            have = ", ".join(columns[:8])
            raise InputError(f"{path}: no column {name!r} (has {have}); name it in the header")


def brief(error: Exception) -> str:
    """The first words of a library's message."""
    return (str(error).splitlines() or [type(error).__name__])[0][:100]


def _refuse(rows: pl.DataFrame, column: str, complaint: str, path: Path) -> None:
    if rows.is_empty():
        return
    lines = (f"line {line}" for line in rows["line"].head(3))
    raise InputError(
        f"{path}: {column} {complaint} in {first_few(lines, len(rows))}; correct or remove"
    )


def _refuse_duplicates(table: pl.DataFrame, path: Path) -> None:
    if not set(IDS) <= set(table.columns):
        return
    again = table.filter(~pl.struct(IDS).is_first_distinct())
    if again.is_empty():
        return
    lines = (f"line {line}" for line in again["line"].head(3))
    raise InputError(
        f"{path}: the same enrol and trial again in {first_few(lines, len(again))}; "
        "keep one score a pair"
    )


def _speakers(mated: pl.DataFrame, nonmated: pl.DataFrame, path: Path) -> Speakers | None:
    if not set(SPEAKERS) <= set(mated.columns):
        return None
    enrol, trial = SPEAKERS
    _refuse(
        mated.filter(pl.col(enrol) != pl.col(trial)), "label", "is mated for two speakers", path
    )
    _refuse(
        nonmated.filter(pl.col(enrol) == pl.col(trial)),
        "label",
        "is nonmated for one speaker",
        path,
    )
    return Speakers.from_names(
        mated[enrol].to_numpy(), nonmated[enrol].to_numpy(), nonmated[trial].to_numpy()
    )
