"""Reading speaker embeddings: ``.npz``, ``.parquet``, a directory of arrays, or Kaldi's files.

A directory may hold more vectors than fit into memory: they are memory-mapped. A package adds a
format with an entry point in the group ``sottovoce.embedding_readers``: its name is the ending of
the files, its value a function from a path to :class:`Embeddings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.core.arrays import Arrays, load_arrays, map_array
from sottovoce.core.errors import InputError, first_few, first_line
from sottovoce.core.files import check_exists
from sottovoce.core.registry import Registry
from sottovoce.core.remote_files import is_folder, readable, remote_address
from sottovoce.core.types import AnyArray, Names
from sottovoce.corpus.reading import read_text
from sottovoce.speaker.blocks import blocks_from_arrays
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.kaldi_vectors import is_kaldi, kaldi_files, read_vectors, speakers_of

if TYPE_CHECKING:
    import polars as pl

Reader = Callable[[Path], Embeddings]
READERS: Registry[Reader] = Registry("embedding reader", group="sottovoce.embedding_readers")
"""Readers by the ending of the file name."""


def read_embeddings(
    path: Path | str, *, utt2spk: Path | str | None = None, scp_root: Path | str | None = None
) -> Embeddings:
    """Read embeddings; the format follows from the ending of the name, in capitals or not.

    Parameters
    ----------
    path : Path or str
        ``.npz`` (arrays ``vectors`` and ``speakers``, optional ``utterances``, ``gender`` and, of
        recordings anonymised several times, ``draws``),
        ``.parquet`` (columns ``vector`` and ``speaker``, optional ``utterance`` and ``gender``), a
        directory with ``vectors.npy`` and, for each of the other arrays, a ``.npy`` file or a
        ``.txt`` file with one name per line; or Kaldi's files: an archive ``.ark``, a list
        ``.scp``, a name with ``*`` for the parts of an archive (``xvector.*.ark``), or a directory
        with such parts. A ``.npz`` or ``.parquet`` file may be remote (``s3://…``).
    utt2spk : Path or str, optional
        Lines ``utterance speaker``, for Kaldi's files only, since they hold no speakers. It may
        list further utterances. Not needed for a file whose name starts with ``spk_``: its ids are
        speakers.
    scp_root : Path or str, optional
        Folder that relative paths in a ``.scp`` file start from; by default that of the file.

    Returns
    -------
    Embeddings

    Raises
    ------
    InputError
        Where the file is not of a known format or its content is not as above.
    """
    path = Path(path)
    optional_files = [Path(file) for file in (utt2spk, scp_root) if file is not None]
    for file in ([] if "*" in path.name else [path]) + optional_files:
        check_exists(file)
    if is_kaldi(path):
        return _read_kaldi(
            path,
            None if utt2spk is None else Path(utt2spk),
            None if scp_root is None else Path(scp_root),
        )
    if utt2spk is not None:
        raise _unneeded_utt2spk(utt2spk, str(path))
    if is_folder(path):
        return _read_directory(path)
    reader = READERS.for_file(path)
    if reader is None:
        raise InputError(
            f"{path}: unknown kind of file; use {', '.join(READERS)}, .ark or .scp with utt2spk, "
            "or a directory with vectors.npy",
            code="unknown-format",
        )
    with readable(path) as local:
        return reader(local)


def read_sets(
    paths: Sequence[Path], *, utt2spk: Path | None = None, scp_root: Path | None = None
) -> list[Embeddings]:
    """Read several sets of embeddings.

    Parameters
    ----------
    paths : sequence of Path
        As for :func:`read_embeddings`.
    utt2spk : Path, optional
        Speakers of the utterances of all Kaldi's files among them.
    scp_root : Path, optional
        Folder that relative paths in all ``.scp`` files start from.
    """
    if utt2spk is not None and not any(is_kaldi(path) for path in paths):
        raise _unneeded_utt2spk(utt2spk, ", ".join(map(str, paths)))
    return [
        read_embeddings(path, utt2spk=utt2spk if is_kaldi(path) else None, scp_root=scp_root)
        for path in paths
    ]


def embedding_files(paths: Sequence[Path], *, scp_root: Path | None = None) -> list[Path]:
    """Return all files and directories that sets of embeddings are read from.

    Parameters
    ----------
    paths : sequence of Path
        As for :func:`read_embeddings`.
    scp_root : Path, optional
        As for :func:`read_sets`.
    """
    return [
        file
        for path in paths
        for file in (kaldi_files(path, root=scp_root) if is_kaldi(path) else [path])
    ]


def _unneeded_utt2spk(utt2spk: Path | str, files: str) -> InputError:
    return InputError(
        f"{utt2spk}: goes with Kaldi's files (.ark, .scp); leave it out for {files}",
        code="unneeded-utt2spk",
    )


def _read_kaldi(path: Path, utt2spk: Path | None, scp_root: Path | None) -> Embeddings:
    entries = read_vectors(path, root=scp_root)
    _single_dimension(sorted({len(vector) for _, vector in entries}), path)
    ids = [name for name, _ in entries]
    arrays: Arrays = {
        "vectors": np.array([vector for _, vector in entries]),
        "speakers": np.array(speakers_of(ids, path, utt2spk), np.str_),
        "utterances": np.array(ids, np.str_),
    }
    return _embeddings(path, arrays)


def _embeddings(path: Path, arrays: Arrays) -> Embeddings:
    return Embeddings.of(
        arrays["vectors"],
        arrays["speakers"],
        utterances=arrays.get("utterances"),
        gender=arrays.get("gender"),
        draws=arrays.get("draws"),
        blocks=blocks_from_arrays(arrays, str(path)),
        name=path.stem,
        origin=str(path),
    )


# ================================================================================= NumPy, Parquet

_SAVE = "np.savez(file, vectors=…, speakers=…)"
_SAVE_NPY = "np.save"


def _read_npz(path: Path) -> Embeddings:
    optional = ("utterances", "gender", "draws", "blocks", "block_dimensions")
    arrays = load_arrays(path, ("vectors", "speakers"), optional, save=_SAVE)
    return _embeddings(path, arrays)


def _read_parquet(path: Path) -> Embeddings:
    import polars as pl

    try:
        frame = pl.scan_parquet(path)
        columns = frame.collect_schema().names()
        for name in ("vector", "speaker"):
            if name not in columns:
                raise InputError(
                    f"{path}: no column {name!r} (has {', '.join(columns[:8])}); rename it",
                    code="missing-column",
                )
        array_names = {"speaker": "speakers", "utterance": "utterances", "gender": "gender"}
        present = [column for column in array_names if column in columns]
        table = frame.select("vector", *present).collect()
        arrays: Arrays = {
            array_names[name]: _column_of_names(table[name], path) for name in present
        }
        return _embeddings(path, {"vectors": _column_of_vectors(table["vector"], path), **arrays})
    except pl.exceptions.DuplicateError as error:
        raise InputError(
            f"{path}: two columns of the same name ({first_line(error)}); keep one",
            code="duplicate-column",
        ) from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path}: not readable as Parquet ({first_line(error)})", code="damaged"
        ) from None


READERS.add(".npz", _read_npz)
READERS.add(".parquet", _read_parquet)


def _column_of_vectors(column: pl.Series, path: Path) -> AnyArray:
    import polars as pl

    if not isinstance(column.dtype, pl.List | pl.Array) or not column.dtype.inner.is_numeric():
        raise InputError(
            f"{path}: 'vector' holds {column.dtype}; make it lists of float32", code="wrong-type"
        )
    _refuse_missing(column, path)
    if isinstance(column.dtype, pl.List):
        lengths = column.list.len().unique().sort().to_list()
        column = column.list.to_array(_single_dimension(lengths, path))
    return column.to_numpy()


def _column_of_names(column: pl.Series, path: Path) -> Names:
    import polars as pl

    if not (column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum)):
        raise InputError(
            f"{path}: {column.name!r} holds {column.dtype}; names are text or whole numbers",
            code="wrong-type",
        )
    _refuse_missing(column, path)
    return np.array(column.cast(pl.String).to_list(), np.str_)


def _refuse_missing(column: pl.Series, path: Path) -> None:
    if count := column.null_count():
        raise InputError(
            f"{path}: {column.name!r} is missing in {count:,} rows; fill or remove them",
            code="missing-value",
        )


def _single_dimension(lengths: list[int], path: Path) -> int:
    """Return the only length of all vectors; ``lengths`` are the different ones."""
    if not lengths:
        raise InputError(f"{path}: no vectors; write the file again", code="empty")
    if len(lengths) > 1:
        listed = first_few(map(str, lengths), len(lengths))
        raise InputError(
            f"{path}: vectors of different dimensions ({listed}); use one encoder for all",
            code="mixed-lengths",
        )
    return lengths[0]


# ====================================================================================== directory


def _read_directory(path: Path) -> Embeddings:
    if remote_address(path):
        raise InputError(
            f"{path}: a remote directory cannot be memory-mapped; name a .npz or .parquet file",
            code="unsupported",
        )
    if not (path / "vectors.npy").is_file():
        raise InputError(
            f"{path}: a directory without vectors.npy; put it there or name a file",
            code="missing-array",
        )
    check_exists(path / "vectors.npy")
    vectors = map_array(path / "vectors.npy", save=_SAVE_NPY)
    arrays: Arrays = {"vectors": vectors}
    count = vectors.shape[0] if vectors.ndim else 0
    for column in ("speakers", "utterances", "gender"):
        names = _names_in_directory(path, column, count)
        if names is not None:
            arrays[column] = names
    if "speakers" not in arrays:
        raise InputError(
            f"{path}: neither speakers.npy nor speakers.txt; add the speaker of each vector",
            code="missing-array",
        )
    return _embeddings(path, arrays)


def _names_in_directory(path: Path, column: str, count: int) -> AnyArray | None:
    """Read the names of ``count`` vectors; blank lines after the last one do not matter."""
    binary, text = path / f"{column}.npy", path / f"{column}.txt"
    if binary.is_file() and text.is_file():
        raise InputError(f"{path}: both {binary.name} and {text.name}; keep one", code="ambiguous")
    if binary.is_file():
        check_exists(binary)
        return np.array(map_array(binary, save=_SAVE_NPY))
    if text.is_file():
        lines = read_text(text).removesuffix("\n").split("\n")
        while len(lines) > count and not lines[-1].strip():
            lines.pop()
        return np.array([line.strip() for line in lines], np.str_)
    return None
