"""Tables in Parquet shards, here or remote, in folders that may be named after their content.

In ``scores/method=mcadams/gender=f/0.parquet`` the names of the folders are columns: all rows below
have this method and gender. Shards whose folders a selection rules out are not opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.remote_files import files_below, local_file, remote_address

Partition = Mapping[str, str]
"""Columns and values that the folders of a shard name."""


def partition_of(file: Path, root: Path) -> dict[str, str]:
    """Return the columns that the folders of a shard name.

    Parameters
    ----------
    file : Path
        A shard.
    root : Path
        The folder of all shards.

    >>> partition_of(Path("scores/method=dar/0.parquet"), Path("scores"))
    {'method': 'dar'}
    """
    folders = file.relative_to(root).parts[:-1]
    return {name: unquote(value) for name, _, value in (part.partition("=") for part in folders)}


def find_shards(root: Path, selection: Partition | None = None) -> list[Path]:
    """List the Parquet files of a folder, and of those below it that are named ``column=value``.

    Parameters
    ----------
    root : Path
        A local folder or a remote address.
    selection : mapping of str to str, optional
        Values of columns that folders name; other shards are left out.

    Raises
    ------
    InputError
        ``unknown-name`` for a column that no folder names, ``empty`` if nothing is selected.
    """
    shards = [file for file in files_below(root, "=") if file.suffix.lower() == ".parquet"]
    if not selection:
        return shards
    partitions = {file: partition_of(file, root) for file in shards}
    named = sorted({name for partition in partitions.values() for name in partition})
    for column, value in selection.items():
        if column not in named:
            raise InputError(
                f"{root}: no folders {column}=… (has {', '.join(named) or 'none'}); select by "
                "these",
                code="unknown-name",
            )
        known = sorted({partition.get(column, "") for partition in partitions.values()})
        partitions = {f: p for f, p in partitions.items() if p.get(column) == value}
        if not partitions:
            raise InputError(
                f"{root}: no shards with {column}={value}; there are "
                f"{first_few(known, len(known), most=8)}",
                code="empty",
            )
    return list(partitions)


def scan_file(file: Path) -> pl.LazyFrame:
    """Open one Parquet file; a remote one is fetched now.

    Parameters
    ----------
    file : Path
        A local path or a remote address.
    """
    return pl.scan_parquet(local_file(file))


def scan_shard(file: Path, partition: Partition) -> pl.LazyFrame:
    """Open one Parquet file with the columns that its folders name; a remote one is fetched now.

    Parameters
    ----------
    file : Path
        A local path or a remote address.
    partition : mapping of str to str
        Result of :func:`partition_of`.
    """
    return scan_file(file).with_columns(_literals(partition))


def scan_files(files: Sequence[Path], root: Path) -> pl.LazyFrame:
    """Open Parquet files as one table, with the columns that their folders name.

    Parameters
    ----------
    files : sequence of Path
        Local paths or remote addresses; remote files are fetched one by one when rows are read.
    root : Path
        The folder of all files, or the only file.
    """
    plain = all(file.parent in (root, root.parent) for file in files)
    if plain and not any(remote_address(file) for file in files):
        return pl.scan_parquet(list(files))
    schema = scan_file(files[0]).collect_schema()
    partitions = {file: partition_of(file, root) if file != root else {} for file in files}
    return pl.concat([_deferred(file, schema, partition) for file, partition in partitions.items()])


def count_rows(file: Path) -> int:
    """Count the rows of a Parquet file.

    Parameters
    ----------
    file : Path
        A local path or a remote address.
    """
    return int(scan_file(file).select(pl.len()).collect().item())


def _literals(partition: Partition) -> list[pl.Expr]:
    """Columns of one value each."""
    return [pl.lit(value).alias(name) for name, value in partition.items()]


def _deferred(file: Path, schema: pl.Schema, partition: Partition) -> pl.LazyFrame:
    """A table that is fetched when it is read, with further columns of one value each."""
    stored = schema.names()
    literals = _literals(partition)

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        frame = scan_file(file)
        if n_rows is not None:
            frame = frame.head(n_rows)
        wanted = [*stored, *partition] if columns is None else columns
        asked = set() if predicate is None else set(predicate.meta.root_names())
        early = predicate if predicate is not None and asked.isdisjoint(partition) else None
        if early is not None:
            frame = frame.filter(early)
        needed = [name for name in stored if name in asked or name in wanted] or stored[:1]
        for batch in frame.select(needed).collect_batches(maintain_order=True, chunk_size=size):
            chosen = batch.with_columns(literals)
            if predicate is not None and early is None:
                chosen = chosen.filter(predicate)
            yield chosen.select(wanted)

    columns = {**schema, **dict.fromkeys(partition, pl.String())}
    return pl.io.plugins.register_io_source(read, schema=columns)
