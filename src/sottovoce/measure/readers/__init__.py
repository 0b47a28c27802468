"""Reading score sets: one module per format, imported when a file of that kind is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists
from sottovoce.core.registry import Registry
from sottovoce.core.remote_files import is_folder, readable
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
    path: Path | str,
    *,
    trials: Path | str | None = None,
    utt2spk: Path | str | None = None,
    where: Mapping[str, str] | None = None,
) -> ScoreSource:
    """Read a score set of any known format.

    With ``trials`` the two files are lists in Kaldi's or VoxCeleb's form, which are joined by id;
    otherwise the ending of the name decides, in capitals or not: ``.npz``, ``.csv``, ``.tsv``,
    ``.csv.gz``, ``.tsv.gz``, ``.parquet``, or a directory of shards.

    Parameters
    ----------
    path : Path or str
        The file or directory, or the address of a remote one (``s3://…``).
    trials : Path or str, optional
        Trials file; the scores are then a list too, whatever the name of the file.
    utt2spk : Path or str, optional
        Kaldi's list of speakers, for intervals by speaker.
    where : mapping of str to str, optional
        Of a directory of shards read only those in folders with these names, ``column=value``.
    """
    path = Path(path)
    check_inputs(path, trials, utt2spk)
    if trials is not None:
        from sottovoce.measure.readers.scored_lists import read_scored_list

        return read_scored_list(path, Path(trials), Path(utt2spk) if utt2spk is not None else None)
    if is_folder(path):
        return _read_directory(path, where)
    refuse_selection(path, where)
    reader = READERS.for_file(path)
    if reader is None:
        raise InputError(
            f"{path}: unknown kind of file; use {', '.join(READERS)}, a directory of shards, or "
            "a list of scores with a trials file",
            code="unknown-format",
        )
    with readable(path) as local:
        return reader(local)


def refuse_selection(path: Path, where: Mapping[str, str] | None) -> None:
    """Refuse a selection of shards where there are none.

    Parameters
    ----------
    path : Path
        A file, or a directory of arrays.
    where : mapping of str to str, optional
        The selection.
    """
    if where:
        raise InputError(
            f"{path}: no directory of Parquet shards, so there are none to select; leave --where "
            "out",
            code="unneeded-selection",
        )


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


def parquet_shards(directory: Path, where: Mapping[str, str] | None = None) -> list[Path]:
    """List the Parquet files of a directory.

    Parameters
    ----------
    directory : Path
        The directory; folders in it that are named ``column=value`` belong to it.
    where : mapping of str to str, optional
        Only shards in folders with these names.
    """
    from sottovoce.core.parquet_files import find_shards

    return find_shards(directory, where)


def _read_directory(path: Path, where: Mapping[str, str] | None) -> ScoreSource:
    if shards := parquet_shards(path, where):
        from sottovoce.measure.readers.parquet import read_parquet

        return read_parquet(path, shards)
    refuse_selection(path, where)
    if (path / "mated.npy").is_file() and (path / "nonmated.npy").is_file():
        from sottovoce.measure.readers.numpy_files import read_npy_pair

        return read_npy_pair(path)
    raise InputError(
        f"{path}: a directory without scores; put *.parquet shards or mated.npy and nonmated.npy "
        "in it, or name a file",
        code="empty",
    )


__all__ = ["READERS", "read_scores"]
