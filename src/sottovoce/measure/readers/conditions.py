"""Score sets divided by condition: a column of the table, or of a metadata file.

A trial has two sides. It belongs to a condition if both sides do; a trial between a woman and a man
is of neither gender. A side whose condition varies, such as a model of one speaker enrolled in
several sessions, takes the condition of the other side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.remote_files import is_folder
from sottovoce.findings import LeftOutTrials
from sottovoce.measure.pairing import PairedScores
from sottovoce.measure.readers import parquet_shards
from sottovoce.measure.readers.parquet import scan_parquet, stream_scores
from sottovoce.measure.readers.plain_tables import read_plain_table
from sottovoce.measure.readers.score_files import ScoreFile, pair_files
from sottovoce.measure.readers.tables import IDS, MATED_ROW, SPEAKERS, mated_label, scores_of
from sottovoce.measure.scores import ScoreSource

CONDITION = "\0condition"
"""Column of the condition of a trial; null where it has none."""
_SIDES = ("\0enrol_condition", "\0trial_condition")
_VARIES = "\0varies"
"""Stands for several conditions of one speaker."""
_MIXED = "\0mixed"
"""Stands for two different conditions."""
MAX_CONDITIONS = 100
"""More conditions than this are taken for a mistake, such as a column of ids."""


@dataclass(frozen=True, slots=True, eq=False)
class ConditionFiles:
    """A score set divided by condition."""

    conditions: Mapping[str, ScoreFile]
    """In alphabetical order; only those with mated and non-mated trials."""
    left_out: LeftOutTrials

    @property
    def sources(self) -> dict[str, ScoreSource]:
        """The scores of each condition."""
        return {name: file.source for name, file in self.conditions.items()}


def divide_file(file: ScoreFile, column: str, metadata: Path | None = None) -> ConditionFiles:
    """Divide a score set by condition.

    Parameters
    ----------
    file : ScoreFile
        A score set with a table; a large one in Parquet is streamed.
    column : str
        Column of the table (of the trial, or ``enrol_…`` and ``trial_…`` for both sides), or of the
        metadata.
    metadata : Path, optional
        A table with the column and one named ``speaker`` or ``utterance``, such as a
        ``manifest.csv``.

    Raises
    ------
    InputError
        ``missing-column`` for a table without the column, or a score set without a table;
        ``out-of-range`` for more than 100 conditions.
    """
    if file.table is None:
        return _divide_stream(file, column, metadata)
    table = with_condition(file.table.lazy(), column, metadata, file.path).collect()
    kinds = table.group_by(CONDITION, MATED_ROW).len()
    names, left_out = _names(kinds, column, file.path)
    parts = {name: table.filter(pl.col(CONDITION) == name) for name in names}
    files = {
        name: ScoreFile(file.path, scores_of(part, file.path), part) for name, part in parts.items()
    }
    return ConditionFiles(files, left_out)


def _divide_stream(file: ScoreFile, column: str, metadata: Path | None) -> ConditionFiles:
    """Divide Parquet files that are too large for memory; nothing but counts is held of them."""
    folder = is_folder(file.path)
    shards = parquet_shards(file.path, file.where) if folder else [file.path]
    if not shards or shards[0].suffix.lower() != ".parquet":
        raise InputError(
            f"{file.path}: has no columns; --by needs a table (.csv, .tsv, .parquet) or a list "
            "with --trials",
            code="missing-column",
        )
    frame, _ = scan_parquet(file.path, shards)
    frame = with_condition(
        frame.with_columns(mated_label().alias(MATED_ROW)), column, metadata, file.path
    )
    kinds = frame.group_by(CONDITION, MATED_ROW).len().collect(engine="streaming")
    names, left_out = _names(kinds, column, file.path)
    files = {}
    for name in names:
        rows = int(kinds.filter(pl.col(CONDITION) == name)["len"].sum())
        part = frame.filter(pl.col(CONDITION) == name)
        files[name] = ScoreFile(file.path, stream_scores(file.path, shards, part, rows), None)
    return ConditionFiles(files, left_out)


def _names(kinds: pl.DataFrame, column: str, path: Path) -> tuple[list[str], LeftOutTrials]:
    """Conditions with trials of both kinds, and how many trials are in none."""
    mixed = int(kinds.filter(pl.col(CONDITION) == _MIXED)["len"].sum())
    unknown = int(kinds.filter(pl.col(CONDITION).is_null())["len"].sum())
    known = kinds.filter(pl.col(CONDITION) != _MIXED)
    sides = known.group_by(CONDITION).agg(pl.col(MATED_ROW).n_unique(), pl.col("len").sum())
    if sides.height > MAX_CONDITIONS:
        raise InputError(
            f"{path}: {sides.height:,} values of {column!r}; at most {MAX_CONDITIONS} conditions "
            "are compared: choose another column",
            code="out-of-range",
        )
    both = sides.filter(pl.col(MATED_ROW) == 2)
    one_sided = int(sides["len"].sum()) - int(both["len"].sum())
    return sorted(both[CONDITION].to_list()), LeftOutTrials(mixed, unknown + one_sided)


def pair_conditions(
    files: Sequence[ConditionFiles], names: Sequence[str]
) -> dict[str, PairedScores]:
    """Pair score sets within each condition that all of them have.

    Parameters
    ----------
    files : sequence of ConditionFiles
        Two or more score sets.
    names : sequence of str
        What to call them, all different.
    """
    common = set.intersection(*(set(file.conditions) for file in files))
    return {
        condition: pair_files([file.conditions[condition] for file in files], names)
        for condition in sorted(common)
    }


# --------------------------------------------------------------------- the condition of a trial


def with_condition(
    frame: pl.LazyFrame, column: str, metadata: Path | None, path: Path
) -> pl.LazyFrame:
    """Add the condition of each trial to a table.

    Parameters
    ----------
    frame : polars.LazyFrame
        Table of scores.
    column : str
        Of the table, or of the metadata.
    metadata : Path or None
        Table of speakers or utterances.
    path : Path
        Of the scores, for messages.
    """
    columns = frame.collect_schema().names()
    if metadata is not None:
        frame = _with_sides(frame, columns, read_metadata(metadata, column), path)
        return frame.with_columns(_of_both_sides(*_SIDES).alias(CONDITION))
    sides = [f"{side}_{column}" for side in IDS]
    if set(sides) <= set(columns):
        return frame.with_columns(_of_both_sides(*sides).alias(CONDITION))
    if column not in columns:
        have = [name for name in columns if "\0" not in name]
        raise InputError(
            f"{path}: no column {column!r} (has {first_few(have[:8], len(have))}); name one, or "
            "give --metadata with the speakers or utterances",
            code="missing-column",
        )
    return frame.with_columns(_text(column).alias(CONDITION))


def _text(column: str) -> pl.Expr:
    """Values as text without blanks around them; null where there is nothing."""
    text = pl.col(column).cast(pl.String).str.strip_chars()
    return pl.when(text != "").then(text)


def _of_both_sides(enrol: str, trial: str) -> pl.Expr:
    first, second = _text(enrol), _text(trial)
    return (
        pl.when(first == _VARIES)
        .then(pl.when(second != _VARIES).then(second))
        .when(second == _VARIES)
        .then(first)
        .when(first == second)
        .then(first)
        .when(first.is_not_null() & second.is_not_null())
        .then(pl.lit(_MIXED))
    )


def read_metadata(path: Path, column: str) -> pl.DataFrame:
    """Read which speakers or utterances have which condition.

    Parameters
    ----------
    path : Path
        A table (.csv, .tsv, .parquet) with the column and one named ``speaker`` or ``utterance``.
    column : str
        The column of the conditions.

    Returns
    -------
    polars.DataFrame
        Columns ``key`` (a speaker or an utterance, once each) and ``condition``. A speaker with
        several conditions varies.
    """
    table = read_plain_table(path)
    keys = [name for name in ("utterance", "speaker") if name in table.columns]
    if column not in table.columns or not keys:
        wanted = column if keys else "speaker or utterance"
        raise InputError(
            f"{path}: no column {wanted} (has {first_few(table.columns[:8], table.width)})",
            code="missing-column",
        )
    parts = [_conditions(table, key, column) for key in keys]
    return pl.concat(parts).unique("key", keep="first", maintain_order=True)


def _conditions(table: pl.DataFrame, key: str, column: str) -> pl.DataFrame:
    """The condition of each utterance or speaker; those that have several vary."""
    pairs = table.select(key=_text(key), condition=_text(column)).drop_nulls()
    several = pl.col("condition").n_unique() > 1
    condition = pl.when(several).then(pl.lit(_VARIES)).otherwise(pl.col("condition").first())
    return pairs.group_by("key", maintain_order=True).agg(condition=condition)


def _with_sides(
    frame: pl.LazyFrame, columns: Sequence[str], metadata: pl.DataFrame, path: Path
) -> pl.LazyFrame:
    """Add the condition of both sides: by utterance, else by speaker."""
    known = metadata.lazy()
    for side, speaker, target in zip(IDS, SPEAKERS, _SIDES, strict=True):
        keys = [name for name in (side, speaker) if name in columns]
        if not keys:
            raise InputError(
                f"{path}: neither {side} nor {speaker}; --metadata needs the utterances or the "
                "speakers of the trials",
                code="missing-column",
            )
        targets = []
        for key in keys:
            name = f"{target}_{key}"
            renamed = known.rename({"key": f"\0{key}", "condition": name})
            frame = frame.with_columns(_text(key).alias(f"\0{key}")).join(
                renamed, on=f"\0{key}", how="left", maintain_order="left"
            )
            targets.append(name)
        frame = frame.with_columns(pl.coalesce(targets).alias(target))
    return frame
