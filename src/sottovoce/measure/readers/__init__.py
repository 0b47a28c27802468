"""Reading score sets: one module per format, imported when a file of that kind is read."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists
from sottovoce.core.registry import Registry
from sottovoce.measure.scores import ScoreSource

Reader = Callable[[Path], ScoreSource]

READERS: Registry[Reader] = Registry("reader", group="sottovoce.readers")
"""Readers of score files by the ending of the file name."""


def _add(suffix: str, module: str, function: str) -> None:
    def read(path: Path) -> ScoreSource:
        reader: Reader = getattr(import_module(f"{__name__}.{module}"), function)
        return reader(path)

    READERS.add(suffix, read)


_add(".npz", "numpy_files", "read_npz")
_add(".csv", "delimited", "read_csv")
_add(".tsv", "delimited", "read_csv")
_add(".parquet", "parquet", "read_parquet")
_add(".csv.gz", "delimited", "read_csv")
_add(".tsv.gz", "delimited", "read_csv")


def read_scores(
    path: Path | str, *, trials: Path | str | None = None, utt2spk: Path | str | None = None
) -> ScoreSource:
    """Read a score set of any known format.

    With ``trials`` the two files are lists in Kaldi's or VoxCeleb's form, which are joined by id;
    otherwise the ending of the name decides, in capitals or not: ``.npz``, ``.csv``, ``.tsv``,
    ``.csv.gz``, ``.tsv.gz``, ``.parquet``, or a directory of shards.

    Parameters
    ----------
    path : Path or str
        The file or directory.
    trials : Path or str, optional
        Trials file; the scores are then a list too, whatever the name of the file.
    utt2spk : Path or str, optional
        Kaldi's list of speakers, for intervals by speaker.
    """
    path = Path(path)
    check_inputs(path, trials, utt2spk)
    if trials is not None:
        from sottovoce.measure.readers.scored_lists import read_scored_list

        return read_scored_list(path, Path(trials), Path(utt2spk) if utt2spk is not None else None)
    if path.is_dir():
        return _read_directory(path)
    reader = READERS.for_file(path)
    if reader is None:
        raise InputError(
            f"{path}: unknown kind of file; use {', '.join(READERS)}, a directory of shards, or "
            "a list of scores with a trials file",
            code="unknown-format",
        )
    return reader(path)


def check_inputs(path: Path, trials: Path | str | None, utt2spk: Path | str | None) -> None:
    """Refuse files that are not there, and speakers without a trials file.

    Parameters
    ----------
    path : Path
        The scores.
    trials : Path or str or None
        Trials file of a list of scores.
    utt2spk : Path or str or None
        Its speakers.
    """
    for named in (path, trials, utt2spk):
        if named is not None:
            check_exists(Path(named))
    if utt2spk is not None and trials is None:
        raise InputError(
            f"{utt2spk}: speakers go with lists of scores; name their trials file too",
            code="missing-trials",
        )


def parquet_shards(directory: Path) -> list[Path]:
    """List the Parquet files of a directory.

    Parameters
    ----------
    directory : Path
        The directory.
    """
    return sorted(file for file in directory.glob("*") if file.suffix.lower() == ".parquet")


def _read_directory(path: Path) -> ScoreSource:
    if shards := parquet_shards(path):
        from sottovoce.measure.readers.parquet import read_parquet

        return read_parquet(path, shards)
    if (path / "mated.npy").is_file() and (path / "nonmated.npy").is_file():
        from sottovoce.measure.readers.numpy_files import read_npy_pair

        return read_npy_pair(path)
    raise InputError(
        f"{path}: a directory without scores; put *.parquet shards or mated.npy and nonmated.npy "
        "in it, or name a file",
        code="empty",
    )


__all__ = ["READERS", "read_scores"]
