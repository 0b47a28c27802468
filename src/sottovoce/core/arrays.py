"""Loading NumPy's ``.npz`` and ``.npy`` files: never a pickle, every fault one line."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, first_line

Arrays = dict[str, NDArray[Any]]

DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
    EOFError,
    MemoryError,
    OSError,
    OverflowError,
    RuntimeError,
)
"""What the loader raises on bytes that are not what their header says, beside ValueError."""


def load_arrays(
    path: Path, needed: Sequence[str], others: Sequence[str] = (), *, save: str
) -> Arrays:
    """Load the ``needed`` arrays of a ``.npz`` file and, of the ``others``, those it has.

    ``save`` is the call that writes such a file, for messages.
    """
    try:
        with path.open("rb") as file:  # np.load would leave it open on an error
            if file.read(2) != b"PK":
                raise InputError(f"{path}: not a .npz archive; write it with {save}")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                found = list(archive.files)
                arrays = {name: archive[name] for name in (*needed, *others) if name in found}
    except DAMAGE as error:
        raise InputError(_damaged(path, error)) from None
    except ValueError as error:
        raise InputError(_reason(path, error, save)) from None
    for name in needed:
        if name not in arrays:
            have = ", ".join(found) or "nothing"
            raise InputError(f"{path}: no array {name!r} (has {have}); use {save}")
    return arrays


def map_array(path: Path, *, save: str) -> NDArray[Any]:
    """Map a ``.npy`` file into memory, to be read where it is looked at."""
    try:
        with path.open("rb") as file:
            if file.read(6) != b"\x93NUMPY":
                raise InputError(f"{path}: not a .npy array; write it with {save}")
        mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except DAMAGE as error:
        raise InputError(_damaged(path, error)) from None
    except ValueError as error:
        raise InputError(_reason(path, error, save)) from None
    return mapped


def _reason(path: Path, error: ValueError, save: str) -> str:
    if any(word in str(error).lower() for word in ("pickle", "python objects")):
        return f"{path}: holds Python objects, which are never loaded; save plain arrays: {save}"
    return _damaged(path, error)


def _damaged(path: Path, error: Exception) -> str:
    return f"{path}: damaged or cut off ({first_line(error)}); write it again"


def as_text(names: NDArray[Any], where: str) -> NDArray[np.str_]:
    """Names as text, whether they are text, numbers or bytes in UTF-8."""
    if names.dtype.kind != "S":
        return names.astype(np.str_)
    try:
        return np.char.decode(names, "utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{where}: names are not UTF-8; save them as text") from None
