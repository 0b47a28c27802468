"""Scores larger than memory: Parquet shards, or ``mated.npy`` and ``nonmated.npy``.

The mated scores are held in memory, the non-mated ones are read again each time they are asked
for, a batch at a time. A Parquet shard has the columns ``score`` and ``label``; shards whose row
groups hold one label each (as they do when written one class at a time) are read fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from sottovoce.errors import InputError
from sottovoce.measure.readers.table import brief, check_columns, from_table, mated_label
from sottovoce.measure.scores import CHUNK, FloatArray, ScoreSource, as_scores, check_finite

IN_MEMORY = 20_000_000
"""Tables of more rows than this are streamed, and resampled by trial only."""


@dataclass(frozen=True, slots=True, eq=False)
class Shards:
    """A set of scores of which only the mated ones are in memory."""

    name: str
    mated: FloatArray
    n_nonmated: int
    low: float
    high: float
    chunks: Callable[[], Iterator[FloatArray]]
    speakers: None = None

    def nonmated_chunks(self) -> Iterator[FloatArray]:
        """Read the non-mated scores once more."""
        return self.chunks()


def read_directory(path: Path) -> ScoreSource:
    """Read a directory of Parquet shards, or of ``mated.npy`` and ``nonmated.npy``."""
    shards = sorted(path.glob("*.parquet"))
    if shards:
        return read_parquet(path, shards)
    if (path / "mated.npy").is_file() and (path / "nonmated.npy").is_file():
        return read_npy(path)
    raise InputError(
        f"{path}: a directory without scores; put *.parquet shards or mated.npy and nonmated.npy "
        "in it, or name a file"
    )


def read_parquet(path: Path, shards: list[Path] | None = None) -> ScoreSource:
    """Read one Parquet file or several shards: into memory if they fit, as a stream if not."""
    files = shards or [path]
    try:
        frame = pl.scan_parquet(files)
        columns = frame.collect_schema().names()
        check_columns(columns, path)
        rows = frame.select(pl.len()).collect().item()
        if rows <= IN_MEMORY:
            return from_table(frame.collect(), path, first_line=1)
        return _stream(path, files, frame)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not readable as Parquet ({brief(error)})") from None


def _stream(path: Path, files: list[Path], frame: pl.LazyFrame) -> Shards:
    kinds = frame.group_by("label").len().collect(engine="streaming")
    kinds = kinds.with_columns(mated_label().alias("mated"))
    unknown = kinds.filter(pl.col("mated").is_null())["label"].to_list()
    if unknown:
        raise InputError(f"{path}: label {unknown[0]!r} is neither mated nor nonmated; correct it")
    sides = {side: kinds.filter(pl.col("mated") == side) for side in (True, False)}
    for side, word in ((True, "mated"), (False, "nonmated")):
        if sides[side].is_empty():
            raise InputError(f"{path}: no scores labelled {word}; add trials of this kind")
    is_mated, is_nonmated = (
        pl.col("label").is_in(sides[side]["label"].to_list()) for side in (True, False)
    )
    mated = frame.filter(is_mated).select("score").collect(engine="streaming")
    count = int(sides[False]["len"].sum())
    scores = as_scores(mated["score"].to_numpy(), f"{path}: mated")
    low, high = check_finite(scores, f"{path}: mated")
    low, high = _range(files, low, high)
    for end in (low, high):
        if not np.isfinite(end):
            raise InputError(f"{path}: a non-mated score is {end}; remove or recompute it")

    def chunks() -> Iterator[FloatArray]:
        wanted = frame.filter(is_nonmated).select("score")
        for batch in wanted.collect_batches(maintain_order=False, chunk_size=CHUNK):
            yield as_scores(batch["score"].to_numpy(), f"{path}: nonmated")

    return Shards(path.stem, scores, count, low, high, chunks)


def _range(files: list[Path], low: float, high: float) -> tuple[float, float]:
    """Widen a range to that of all scores.

    Asking only for scores outside the range so far lets the reader skip every row group whose
    statistics show it has none: after the first shard next to nothing is decoded.
    """
    score = pl.col("score")
    for file in files:
        outside = pl.scan_parquet(file).filter((score < low) | (score > high))
        ends = outside.select(score.min().alias("low"), score.max().alias("high"))
        found = ends.collect(engine="streaming").row(0)
        if found[0] is not None:
            low, high = min(low, found[0]), max(high, found[1])
    return low, high


def read_npy(path: Path) -> Shards:
    """Read ``mated.npy`` into memory and stream ``nonmated.npy``."""
    try:
        mated = as_scores(np.load(path / "mated.npy", allow_pickle=False), f"{path}: mated")
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{path / 'mated.npy'}: not a readable array ({brief(error)})") from None
    low, high = check_finite(mated, f"{path}: mated")
    count = 0
    for chunk in npy_chunks(path / "nonmated.npy"):
        ends = check_finite(chunk, f"{path}: nonmated")
        low, high, count = min(low, ends[0]), max(high, ends[1]), count + len(chunk)
    if not count:
        raise InputError(f"{path / 'nonmated.npy'}: no scores; at least 1 is needed")
    return Shards(path.name, mated, count, low, high, lambda: npy_chunks(path / "nonmated.npy"))


def npy_chunks(path: Path) -> Iterator[FloatArray]:
    """Read a flat ``.npy`` file a chunk at a time into one small buffer.

    Not memory-mapped: mapped pages would count as this process's memory.
    """
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            header = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else (np.lib.format.read_array_header_2_0)
            )
            shape, _, dtype = header(file)
            if len(shape) != 1 or dtype.kind not in "fiu":
                raise InputError(f"{path}: {dtype} of shape {shape}; needs a flat array of numbers")
            buffer = np.empty(min(CHUNK, max(shape[0], 1)), dtype)
            left = shape[0]
            while left:
                part = buffer[: min(CHUNK, left)]
                if file.readinto(part.data.cast("B")) != part.nbytes:
                    raise InputError(
                        f"{path}: cut off, {left:,} scores are missing; write it again"
                    )
                left -= len(part)
                yield as_scores(part, str(path))
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: not a readable array ({brief(error)})") from None
