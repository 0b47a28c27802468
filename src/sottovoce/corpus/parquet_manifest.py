"""``manifest.parquet``: the columns of ``manifest.csv`` for corpora of many millions of utterances.

It is a file, or a folder of shards whose folders may be named ``column=value``. It is read in
batches of rows; only rows that are selected become utterances, and shards whose folders a selection
rules out are not opened. So a part of a very large corpus can be worked on at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.core.errors import InputError, first_line
from sottovoce.corpus.manifest import manifest_utterance, refuse_bad_columns
from sottovoce.corpus.reading import CorpusBuilder, folder_name, path_notes, place
from sottovoce.corpus.utterance import Corpus

if TYPE_CHECKING:
    import polars as pl

NAME = "manifest.parquet"
BATCH = 1 << 16
"""Rows that are held in memory together."""
_ROW = "\0row"


def is_parquet_manifest(path: Path) -> bool:
    """Tell whether a path is a manifest in Parquet, or a folder with one.

    Parameters
    ----------
    path : Path
        A file or folder that exists.
    """
    return path.suffix.lower() == ".parquet" or (path / NAME).exists()


def read_parquet_manifest(path: Path | str, where: Mapping[str, str] | None = None) -> Corpus:
    """Read the utterances of a manifest in Parquet, or some of them.

    Parameters
    ----------
    path : Path or str
        The manifest, or the folder it lies in, which paths of recordings are relative to.
    where : mapping of str to str, optional
        Values of columns that utterances must have.

    Raises
    ------
    DefectsError
        With all rows that cannot be used.
    InputError
        ``missing-column``, ``unknown-name`` for a selection by no column, ``empty`` or
        ``unreadable``.
    """
    import polars as pl

    path = Path(path)
    path = path if path.suffix.lower() == ".parquet" else path / NAME
    builder, listed = CorpusBuilder(), []
    try:
        for batch in _selected(path, where or {}).collect_batches(chunk_size=BATCH):
            text = batch.with_columns(pl.all().cast(pl.String).fill_null(""))
            for row in text.iter_rows(named=True):
                number = int(row.pop(_ROW))
                builder.add(path, number, partial(manifest_utterance, row, path.parent))
                listed.append((place(path, number), row["path"]))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path}: not readable as Parquet ({first_line(error)})", code="unreadable"
        ) from None
    name = folder_name(path.parent) if path.name == NAME else path.stem
    return builder.corpus(name, path.parent, path, path_notes(listed))


def _selected(path: Path, where: Mapping[str, str]) -> pl.LazyFrame:
    """The rows that have the values, with their numbers from 1."""
    import polars as pl

    from sottovoce.core.parquet_files import find_shards, partition_of, scan_files

    files = find_shards(path) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{path}: a folder without *.parquet; put shards there", code="empty")
    by_folder = {name for file in files if file != path for name in partition_of(file, path)}
    pruning = {name: value for name, value in where.items() if name in by_folder}
    frame = scan_files(find_shards(path, pruning) if pruning else files, path)
    columns = frame.collect_schema().names()
    if "utterance" not in columns and "utterance_id" in columns:
        frame = frame.rename({"utterance_id": "utterance"})
        columns = frame.collect_schema().names()
    refuse_bad_columns(columns, str(path))
    for name in where:
        if name not in columns:
            raise InputError(
                f"{path}: no column {name!r} to select by (has {', '.join(columns[:12])})",
                code="unknown-name",
            )
    conditions = [pl.col(name).cast(pl.String) == value for name, value in where.items()]
    numbered = frame.with_row_index(_ROW, offset=1)
    return numbered.filter(conditions) if conditions else numbered
