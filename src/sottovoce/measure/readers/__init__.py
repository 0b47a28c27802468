"""Reading score sets: one module a format, chosen by the name of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sottovoce.errors import InputError
from sottovoce.measure.readers.kaldi import read_kaldi
from sottovoce.measure.readers.npz import read_npz
from sottovoce.measure.readers.shards import read_directory, read_parquet
from sottovoce.measure.readers.table import read_csv
from sottovoce.measure.scores import ScoreSource
from sottovoce.registry import Registry

READERS: Registry[Callable[[Path], ScoreSource]] = Registry("reader", group="sottovoce.readers")
READERS.add(".npz", read_npz)
READERS.add(".csv", read_csv)
READERS.add(".tsv", read_csv)
READERS.add(".parquet", read_parquet)


def read_scores(
    path: Path | str, *, trials: Path | str | None = None, utt2spk: Path | str | None = None
) -> ScoreSource:
    """Read a score set of any known format.

    With ``trials`` the two files are Kaldi's and are joined by id; otherwise the name decides:
    ``.npz``, ``.csv``, ``.tsv``, ``.parquet`` or a directory of shards.
    """
    path = Path(path)
    for named in (path, trials, utt2spk):
        if named is not None and not Path(named).exists():
            raise InputError(f"{named}: no such file; check the name")
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path}: empty (0 bytes); write it again")
    if trials is not None:
        return read_kaldi(path, Path(trials), Path(utt2spk) if utt2spk is not None else None)
    if path.is_dir():
        return read_directory(path)
    if path.suffix not in READERS:
        raise InputError(
            f"{path}: unknown kind of file; use {', '.join(READERS)}, a directory of shards, or "
            "Kaldi scores with --trials"
        )
    return READERS[path.suffix](path)


__all__ = ["READERS", "read_scores"]
