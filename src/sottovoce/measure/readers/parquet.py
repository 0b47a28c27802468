"""Score tables in Parquet: one file, or shards that may be larger than memory.

Large sets are streamed: mated scores are held in memory, non-mated ones read a batch at a time.
Shards whose row groups hold one label each (as they do when one class is written at a time) are
read fastest. They may be remote, and lie in folders that are named ``column=value``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from sottovoce.core.errors import InputError, first_line
from sottovoce.core.parquet_files import count_rows, partition_of, scan_files, scan_shard
from sottovoce.core.remote_files import remote_address
from sottovoce.core.types import RealArray
from sottovoce.measure.readers.tables import LINE, check_columns, from_table, mated_label, refuse
from sottovoce.measure.score_stream import ScorePart, ScoreStream
from sottovoce.measure.scores import CHUNK, ScoreSource, as_scores, check_finite

IN_MEMORY = 20_000_000
"""Tables of more rows than this are streamed, and resampled by trial only."""
PART_ROWS = 1 << 22
"""Rows of a part of a file that is counted by itself; fixed, so that sums are the same on any
engine."""

END_ROWS = 1000
"""First and last rows of a shard that are looked at for spellings of labels."""

Label = str | int | bool
"""A spelling of mated or nonmated."""


def read_parquet(path: Path, shards: list[Path] | None = None) -> ScoreSource:
    """Read one Parquet file or several shards: into memory if they fit, as a stream if not.

    Parameters
    ----------
    path : Path
        The file, or the directory of the shards.
    shards : list of Path, optional
        The files of a directory.
    """
    files = shards or [path]
    with _parquet_errors(path):
        frame, rows = scan_parquet(path, files)
        if rows <= IN_MEMORY:
            return from_table(frame.collect(), path)
        return stream_scores(path, files, frame, rows, in_parts=True)


def read_parquet_table(path: Path, shards: list[Path] | None = None) -> pl.DataFrame | None:
    """Read one Parquet file or several shards as one table, unchecked; None if it is too large.

    Parameters
    ----------
    path : Path
        The file, or the directory of the shards.
    shards : list of Path, optional
        The files of a directory.
    """
    with _parquet_errors(path):
        frame, rows = scan_parquet(path, shards or [path])
        return frame.collect() if rows <= IN_MEMORY else None


def scan_parquet(path: Path, files: list[Path]) -> tuple[pl.LazyFrame, int]:
    """Open Parquet files without reading their rows, and count these.

    Parameters
    ----------
    path : Path
        The file, or the directory of the shards, for messages.
    files : list of Path
        The file, or the shards.
    """
    frame = scan_files(files, path)
    check_columns(frame.collect_schema().names(), path)
    return frame, sum(map(count_rows, files))


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    """Turn errors of polars into errors that name the file."""
    try:
        yield
    except pl.exceptions.DuplicateError as error:
        raise InputError(
            f"{path}: two columns of the same name ({first_line(error)}); keep one",
            code="duplicate-column",
        ) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(
            f"{path}: not readable as Parquet ({first_line(error)})", code="unreadable"
        ) from None


def stream_scores(
    path: Path, files: list[Path], frame: pl.LazyFrame, rows: int, *, in_parts: bool = False
) -> ScoreStream:
    """Read the mated scores of a table, and the others when they are asked for.

    Parameters
    ----------
    path : Path
        The file, or the directory of the shards, for messages.
    files : list of Path
        The file, or the shards.
    frame : polars.LazyFrame
        The rows, from these files: all of them, or a selection.
    rows : int
        How many rows there are.
    in_parts : bool, default False
        Divide the files into parts, which an engine may count at the same time; only where
        ``frame`` has all rows.
    """
    mated_labels, nonmated_labels = _spellings(path, files, frame)
    rows_of_mated = frame.filter(_has_label(mated_labels)).select("score").collect()
    mated = as_scores(rows_of_mated["score"].to_numpy(), f"{path}: mated")
    refuse_bad_scores = partial(_refuse_bad_scores, path, frame)
    try:
        check_finite(mated, f"{path}: mated")
    except InputError:
        refuse_bad_scores()
        raise
    parts: tuple[ScorePart, ...] = (
        tuple(_parts(path, files, nonmated_labels))
        if in_parts
        else (partial(_selected_chunks, path, frame.filter(_has_label(nonmated_labels))),)
    )
    return ScoreStream(
        path.stem,
        str(path),
        mated,
        rows - len(mated),
        parts=parts,
        refuse_bad_scores=refuse_bad_scores,
    )


@dataclass(frozen=True, slots=True)
class ParquetPart:
    """Non-mated scores of some rows of a file, read where they are counted."""

    file: Path
    first: int
    labels: tuple[Label, ...]
    """Spellings of ``nonmated``."""
    partition: tuple[tuple[str, str], ...] = ()
    """Columns and values that the folders of the file name."""

    def __call__(self) -> Iterator[RealArray]:
        """Read the scores, in the order of the rows."""
        try:
            rows = scan_shard(self.file, dict(self.partition)).slice(self.first, PART_ROWS)
            scores = rows.filter(_has_label(self.labels)).select("score").collect()["score"]
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise InputError(
                f"{self.file}: damaged Parquet ({first_line(error)}); write it again",
                code="damaged",
            ) from None
        for start in range(0, len(scores), CHUNK):
            yield as_scores(scores[start : start + CHUNK].to_numpy(), f"{self.file}: nonmated")


def _selected_chunks(path: Path, selected: pl.LazyFrame) -> Iterator[RealArray]:
    """Read the scores of selected rows in their order, in chunks of a fixed size."""
    left: RealArray | None = None
    try:
        batches = selected.select("score").collect_batches(maintain_order=True, chunk_size=CHUNK)
        for batch in batches:
            if not batch.height:
                continue
            scores = as_scores(batch["score"].to_numpy(), f"{path}: nonmated")
            scores = scores if left is None else np.concatenate([left, scores])
            whole = len(scores) - len(scores) % CHUNK
            for start in range(0, whole, CHUNK):
                yield scores[start : start + CHUNK]
            left = scores[whole:]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(
            f"{path}: damaged Parquet ({first_line(error)}); write it again", code="damaged"
        ) from None
    if left is not None and len(left):
        yield left


def _parts(path: Path, files: list[Path], labels: tuple[Label, ...]) -> Iterator[ParquetPart]:
    for file in files:
        partition = tuple(partition_of(file, path).items())
        place = file if remote_address(file) else file.absolute()
        for first in range(0, count_rows(file), PART_ROWS):
            yield ParquetPart(place, first, labels, partition)


def _has_label(labels: tuple[Label, ...]) -> pl.Expr:
    """Rows with one of some labels.

    Asking for one label by equality is nearly free where row groups hold one label each: the
    reader skips those whose statistics rule it out. So labels are compared with the spellings that
    occur, not with all that are known.
    """
    label = pl.col("label")
    return label == labels[0] if len(labels) == 1 else label.is_in(labels)


def _refuse_bad_scores(path: Path, frame: pl.LazyFrame) -> None:
    """Read the scores again to name the rows, counted over all shards, that cannot be used."""
    score = pl.col("score")
    bad = (
        frame.select("score")
        .with_row_index(LINE, offset=1)
        .filter(score.is_null() | ~score.is_finite())
        .collect(engine="streaming")
        .sort(LINE)
    )
    refuse(bad.filter(score.is_null()), "score is not a number", path, code="not-a-number")
    refuse(bad, "score is not finite", path, code="not-finite")


def _spellings(
    path: Path, files: list[Path], frame: pl.LazyFrame
) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """How mated and how non-mated rows are labelled."""
    kinds = _distinct_labels(path, files, frame).with_columns(mated_label().alias("mated"))
    unknown = kinds.filter(pl.col("mated").is_null())["label"].to_list()
    if unknown:
        raise InputError(
            f"{path}: label {unknown[0]!r} is neither mated nor nonmated; correct it",
            code="bad-label",
        )
    sides = []
    for side, word in ((True, "mated"), (False, "nonmated")):
        spellings = sorted(set(kinds.filter(pl.col("mated") == side)["label"].to_list()))
        if not spellings:
            raise InputError(
                f"{path}: no scores labelled {word}; add trials of this kind", code="empty"
            )
        sides.append(tuple(spellings))
    return sides[0], sides[1]


def _distinct_labels(path: Path, files: list[Path], frame: pl.LazyFrame) -> pl.DataFrame:
    """All labels that occur, or some of them with the first that is neither mated nor nonmated.

    The first and last rows of each shard tell most spellings. Asking for any other label is nearly
    free, because the reader skips row groups whose statistics rule one out; each one that is found
    is left out of the next search.
    """
    label = pl.col("label")
    shards = (scan_shard(file, partition_of(file, path)) for file in files)
    ends = [end for shard in shards for end in _ends(shard.select("label"))]
    seen = pl.concat(ends).unique()
    while True:
        known = seen.filter(mated_label().is_not_null())["label"].to_list()
        other = label.is_null() | ~label.is_in(known)
        found = frame.filter(other).select("label").head(1).collect(engine="streaming")
        seen = pl.concat([seen, found]).unique()
        if not len(found) or found.select(mated_label().is_null()).to_series().any():
            return seen


def _ends(rows: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    yield rows.head(END_ROWS).collect()
    yield rows.tail(END_ROWS).collect()
