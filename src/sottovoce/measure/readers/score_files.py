"""Score sets with the tables they were read from, and their pairing by the ids of trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import polars as pl

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.remote_files import is_folder, readable
from sottovoce.measure.pairing import PairedScores, pair_sets
from sottovoce.measure.readers import (
    check_inputs,
    parquet_shards,
    read_scores,
    refuse_selection,
)
from sottovoce.measure.readers.tables import IDS, MATED_ROW, check_table, scores_of
from sottovoce.measure.resampling import MIN_TRIALS
from sottovoce.measure.scores import ScoreSource


@dataclass(frozen=True, slots=True, eq=False)
class ScoreFile:
    """A score set and, if it has one that fits in memory, its checked table."""

    path: Path
    source: ScoreSource
    table: pl.DataFrame | None
    where: Mapping[str, str] | None = None
    """Folders of shards that were selected."""


def read_score_file(
    path: Path,
    *,
    trials: Path | None = None,
    utt2spk: Path | None = None,
    where: Mapping[str, str] | None = None,
) -> ScoreFile:
    """Read a score set of any known format, and keep its table.

    Parameters
    ----------
    path : Path
        The file or directory, as :func:`~sottovoce.measure.readers.read_scores` takes it.
    trials : Path, optional
        Trials file of a list of scores.
    utt2spk : Path, optional
        Speakers of a list of scores.
    where : mapping of str to str, optional
        Shards that are read of a directory, as for
        :func:`~sottovoce.measure.readers.read_scores`.
    """
    check_inputs(path, trials, utt2spk)
    folder = is_folder(path)
    if not folder:
        refuse_selection(path, where)
    shards = parquet_shards(path, where) if folder else []
    with readable(path) if not folder else nullcontext(path) as local:
        table = _read_table(local, shards, trials, utt2spk)
    if table is None:
        return ScoreFile(path, read_scores(path, where=where), None, where)
    checked = check_table(table, path)
    return ScoreFile(path, scores_of(checked, path), checked, where)


def _read_table(
    path: Path, shards: list[Path], trials: Path | None, utt2spk: Path | None
) -> pl.DataFrame | None:
    name = path.name.lower()
    if trials is not None:
        from sottovoce.measure.readers.scored_lists import read_joined_lists

        return read_joined_lists(path, trials, utt2spk)
    if name.removesuffix(".gz").endswith((".csv", ".tsv")):
        from sottovoce.measure.readers.delimited import read_csv_table

        return read_csv_table(path)
    if shards or name.endswith(".parquet"):
        from sottovoce.measure.readers.parquet import read_parquet_table

        return read_parquet_table(path, shards or None)
    return None


def pair_files(files: Sequence[ScoreFile], names: Sequence[str]) -> PairedScores:
    """Pair score sets by the ids of their trials, and by speaker.

    Parameters
    ----------
    files : sequence of ScoreFile
        Two or more score sets.
    names : sequence of str
        What to call them, all different.

    Returns
    -------
    PairedScores
        Limited to the trials in all sets, if all have ids and at least 20 trials of each kind, or
        all trials, are common; otherwise paired by :func:`~sottovoce.measure.pair_sets`.

    Raises
    ------
    InputError
        ``mismatch`` for a trial that is mated in one set and non-mated in another.
    """
    tables = [_with_text_ids(file.table) for file in files if file.table is not None]
    if len(tables) < len(files) or not all(set(IDS) <= set(table.columns) for table in tables):
        return pair_sets([file.source for file in files], names=names)
    common = reduce(_common_trials, (table.select(*IDS, MATED_ROW) for table in tables))
    few = min(common[MATED_ROW].sum(), (~common[MATED_ROW]).sum()) < MIN_TRIALS
    if few and common.height < max(table.height for table in tables):
        return pair_sets([file.source for file in files], names=names)
    limited = (table.join(common, on=IDS, how="semi").sort(IDS) for table in tables)
    sets = [scores_of(table, file.path) for table, file in zip(limited, files, strict=True)]
    paired = pair_sets(sets, names=names, same_trials=True)
    return _with_left_out(paired, files, common.height)


def _with_text_ids(table: pl.DataFrame) -> pl.DataFrame:
    """Ids as text, so that tables whose ids have different types can be joined."""
    return table.with_columns(pl.col(name).cast(pl.String) for name in IDS if name in table.columns)


def _common_trials(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Ids and labels of the trials in both sets."""
    both = first.join(second, on=IDS, how="inner", suffix="_other")
    other = both.filter(pl.col(MATED_ROW) != pl.col(f"{MATED_ROW}_other"))
    if not other.is_empty():
        pairs = (" ".join(row) for row in other.select(IDS).head(3).iter_rows())
        raise InputError(
            f"mated in one score set and non-mated in another: {first_few(pairs, other.height)}; "
            "correct the labels",
            code="mismatch",
        )
    return both.select(*IDS, MATED_ROW)


def _with_left_out(paired: PairedScores, files: Sequence[ScoreFile], common: int) -> PairedScores:
    """Add the trials that not all sets have to those that were left out."""
    trials = [len(file.source.mated) + file.source.n_nonmated for file in files]
    missing = [count - common for count in trials]
    warnings = [
        f"{name}: {count:,} of {total:,} trials are not compared, because not all score sets have "
        "them"
        for name, count, total in zip(paired.names, missing, trials, strict=True)
        if count
    ]
    left_out = tuple(map(sum, zip(paired.left_out, missing, strict=True)))
    return replace(paired, left_out=left_out, warnings=(*warnings, *paired.warnings))
