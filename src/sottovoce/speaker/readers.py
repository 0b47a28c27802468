"""Reading speaker embeddings: ``.npz``, ``.parquet``, Kaldi's ``.ark`` or a directory of arrays.

A directory may hold more vectors than memory: they are mapped, and read where they are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import load_arrays, map_array
from sottovoce.core.errors import InputError, first_few, first_line
from sottovoce.core.files import check_exists
from sottovoce.core.registry import Registry
from sottovoce.corpus.kaldi import read_utt2spk
from sottovoce.speaker.embeddings import Embeddings

if TYPE_CHECKING:
    import polars as pl

Reader = Callable[[Path], Embeddings]
READERS: Registry[Reader] = Registry("embedding reader", group="sottovoce.embedding_readers")


def read_embeddings(path: Path | str, *, utt2spk: Path | str | None = None) -> Embeddings:
    """Read embeddings of any known format, told by the ending of the name.

    ``utt2spk`` (lines ``utterance speaker``) goes with Kaldi archives, which hold no speakers.
    """
    path = Path(path)
    for named in (path, utt2spk):
        if named is not None:
            check_exists(Path(named))
    if _is_archive(path):
        if utt2spk is None:
            raise InputError(f"{path}: an archive holds no speakers; name its utt2spk file too")
        return read_ark(path, Path(utt2spk))
    if utt2spk is not None:
        raise InputError(f"{utt2spk}: goes with Kaldi archives (.ark); leave it out for {path}")
    if path.is_dir():
        return read_directory(path)
    if path.suffix not in READERS:
        raise InputError(
            f"{path}: unknown kind of file; use {', '.join(READERS)}, .ark with utt2spk, or a "
            "directory with vectors.npy"
        )
    return READERS[path.suffix](path)


def read_sets(paths: Sequence[Path], *, utt2spk: Path | None = None) -> list[Embeddings]:
    """Read several sets; ``utt2spk`` goes to the Kaldi archives among them, and to nothing else."""
    if utt2spk is not None and not any(_is_archive(path) for path in paths):
        named = ", ".join(map(str, paths))
        raise InputError(f"{utt2spk}: goes with Kaldi archives (.ark); leave it out for {named}")
    return [read_embeddings(one, utt2spk=utt2spk if _is_archive(one) else None) for one in paths]


def _is_archive(path: Path) -> bool:
    return path.suffix == ".ark" and path.is_file()


# ================================================================================= NumPy, Parquet

_SAVE = "np.savez(file, vectors=…, speakers=…)"
_SAVE_NPY = "np.save"


def read_npz(path: Path) -> Embeddings:
    """Arrays ``vectors`` (n × d) and ``speakers``; ``utterances`` and ``gender`` if there."""
    arrays = load_arrays(path, ("vectors", "speakers"), ("utterances", "gender"), save=_SAVE)
    return _named(path, arrays)


def read_parquet(path: Path) -> Embeddings:
    """Columns ``vector`` (lists) and ``speaker``; ``utterance`` and ``gender`` if there."""
    import polars as pl

    try:
        frame = pl.scan_parquet(path)
        columns = frame.collect_schema().names()
        for name in ("vector", "speaker"):
            if name not in columns:
                have = ", ".join(columns[:8])
                raise InputError(f"{path}: no column {name!r} (has {have}); name it so")
        known = {"speaker": "speakers", "utterance": "utterances", "gender": "gender"}
        names = [name for name in known if name in columns]
        table = frame.select("vector", *names).collect()
        arrays = {known[name]: _column_of_names(table[name], path) for name in names}
        return _named(path, {"vectors": _column_of_vectors(table["vector"], path), **arrays})
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not readable as Parquet ({first_line(error)})") from None


READERS.add(".npz", read_npz)
READERS.add(".parquet", read_parquet)


def _column_of_vectors(column: pl.Series, path: Path) -> NDArray[Any]:
    import polars as pl

    if not isinstance(column.dtype, pl.List | pl.Array):
        raise InputError(f"{path}: 'vector' holds {column.dtype}; make it lists of float32")
    if not column.dtype.inner.is_numeric():
        raise InputError(f"{path}: 'vector' holds lists of {column.dtype.inner}; make it float32")
    _refuse_missing(column, path)
    if isinstance(column.dtype, pl.List):
        lengths = column.list.len().unique().sort().to_list()
        if len(lengths) > 1:
            raise InputError(f"{path}: {_mixed(lengths)}")
        if not lengths:
            raise InputError(f"{path}: no vectors; write it again")
        column = column.list.to_array(lengths[0])
    return column.to_numpy()


def _column_of_names(column: pl.Series, path: Path) -> NDArray[Any]:
    import polars as pl

    if not (column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum)):
        raise InputError(f"{path}: {column.name!r} holds {column.dtype}; names are text or numbers")
    _refuse_missing(column, path)
    return np.array(column.cast(pl.String).to_list(), np.str_)


def _refuse_missing(column: pl.Series, path: Path) -> None:
    if count := column.null_count():
        raise InputError(f"{path}: {column.name!r} is missing in {count:,} rows; fill or remove")


def _mixed(lengths: list[int]) -> str:
    few = first_few(map(str, lengths), len(lengths))
    return f"vectors of different dimensions ({few}); use one encoder for all"


def _named(path: Path, arrays: dict[str, NDArray[Any]]) -> Embeddings:
    return Embeddings.of(
        arrays["vectors"],
        arrays["speakers"],
        utterances=arrays.get("utterances"),
        gender=arrays.get("gender"),
        name=path.stem,
        origin=str(path),
    )


# ====================================================================================== directory


def read_directory(path: Path) -> Embeddings:
    """``vectors.npy``, mapped, with names in ``.npy`` files or one a line in ``.txt`` files."""
    if not (path / "vectors.npy").is_file():
        raise InputError(f"{path}: a directory without vectors.npy; put it there or name a file")
    check_exists(path / "vectors.npy")
    arrays = {"vectors": map_array(path / "vectors.npy", save=_SAVE_NPY)}
    for what in ("speakers", "utterances", "gender"):
        names = _names_beside(path, what)
        if names is not None:
            arrays[what] = names
    if "speakers" not in arrays:
        raise InputError(f"{path}: neither speakers.npy nor speakers.txt; say who speaks")
    return _named(path, arrays)


def _names_beside(path: Path, what: str) -> NDArray[Any] | None:
    """Names for the vectors of a directory, if it has them."""
    binary, text = path / f"{what}.npy", path / f"{what}.txt"
    if binary.is_file() and text.is_file():
        raise InputError(f"{path}: both {binary.name} and {text.name}; keep one")
    if binary.is_file():
        check_exists(binary)
        return np.array(map_array(binary, save=_SAVE_NPY))
    if text.is_file():
        check_exists(text)
        return np.array([line.strip() for line in _lines(text)], np.str_)
    return None


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a readable text file ({first_line(error)})") from None
    return text.removesuffix("\n").split("\n")


# ========================================================================================== Kaldi

_BINARY: dict[bytes, np.dtype[Any]] = {b"FV ": np.dtype("<f4"), b"DV ": np.dtype("<f8")}
_ID = re.compile(rb"\s*(\S+)[ \t]")


def read_ark(path: Path, utt2spk: Path) -> Embeddings:
    """A Kaldi archive of vectors, text or binary, with the speakers of all its utterances.

    ``utt2spk`` may name further utterances, as that of a whole corpus does.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    ids, vectors = [], []
    for utterance, vector in _entries(data, path):
        ids.append(utterance)
        vectors.append(vector)
    lengths = sorted({len(vector) for vector in vectors})
    if not lengths:
        raise InputError(f"{path}: no vectors; write the archive again")
    if len(lengths) > 1:
        raise InputError(f"{path}: {_mixed(lengths)}")
    speaker_of = read_utt2spk(utt2spk)
    unknown = [one for one in ids if one not in speaker_of]
    if unknown:
        listed = first_few(unknown, len(unknown))
        raise InputError(f"{path}: no speaker in {utt2spk} for {listed}; add them there")
    arrays = {
        "vectors": np.array(vectors),
        "speakers": np.array([speaker_of[one] for one in ids], np.str_),
        "utterances": np.array(ids, np.str_),
    }
    return _named(path, arrays)


def _entries(data: bytes, path: Path) -> Iterator[tuple[str, NDArray[np.floating]]]:
    """Utterances and their vectors: ``id [ 1 2 ]`` or ``id ␀BFV ␄``, dimension, numbers."""
    at = 0
    end = len(data.rstrip())  # of text; the numbers of a binary vector may look like blanks
    while at < end:
        found = _ID.match(data, at)
        try:
            utterance = found[1].decode("utf-8") if found else ""
        except UnicodeDecodeError:
            utterance = ""
        if not found or not utterance.isprintable() or not utterance:
            raise InputError(f"{path}: no utterance id at byte {at:,}; not an archive of vectors")
        read = _binary_vector if data.startswith(b"\0B", found.end()) else _text_vector
        vector, at = read(data, found.end(), f"{path}: {utterance}")
        yield utterance, vector


def _binary_vector(data: bytes, at: int, where: str) -> tuple[NDArray[np.floating], int]:
    kind, size, start = data[at + 2 : at + 5], data[at + 5 : at + 6], at + 10
    if kind not in _BINARY or size != b"\4":
        raise InputError(f"{where}: not a vector of floats or doubles; copy it with copy-vector")
    count = int.from_bytes(data[at + 6 : start], "little", signed=True)
    end = start + count * _BINARY[kind].itemsize
    if count < 1 or end > len(data):
        raise InputError(f"{where}: cut off; write the archive again")
    return np.frombuffer(data, _BINARY[kind], count, start), end


def _text_vector(data: bytes, at: int, where: str) -> tuple[NDArray[np.floating], int]:
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    words = data[at:end].split()
    if len(words) < 3 or words[0] != b"[" or words[-1] != b"]":
        raise InputError(f"{where}: not a vector '[ 1 2 … ]' on one line; write the archive again")
    try:
        return np.array([float(word) for word in words[1:-1]]), end + 1
    except ValueError:
        raise InputError(f"{where}: not all numbers between [ and ]; write it again") from None
