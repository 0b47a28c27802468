"""Loading NumPy's ``.npz`` and ``.npy`` files; pickled objects are never loaded."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sottovoce.core.errors import InputError, first_line
from sottovoce.core.types import AnyArray, Names

Arrays = dict[str, AnyArray]
"""Arrays by name."""

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
    EOFError,
    MemoryError,
    OSError,
    OverflowError,
    RuntimeError,
)
"""What NumPy raises, besides ValueError, on content that is not what the header says."""


def load_arrays(
    path: Path, needed: Sequence[str], optional: Sequence[str] = (), *, save: str
) -> Arrays:
    """Load arrays of a ``.npz`` file.

    Parameters
    ----------
    path : Path
        The file.
    needed : sequence of str
        Names of arrays that it must have.
    optional : sequence of str, optional
        Names of arrays that are loaded if it has them.
    save : str
        The call that writes such a file, for messages.

    Raises
    ------
    InputError
        ``unknown-format``, ``damaged``, ``pickled``, ``missing-array`` or ``duplicate-array``.
    """
    try:
        with path.open("rb") as file:  # np.load would leave it open on an error
            if file.read(2) != b"PK":
                raise InputError(
                    f"{path}: not a .npz archive; write it with {save}", code="unknown-format"
                )
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                names = list(archive.files)
                arrays = {name: archive[name] for name in (*needed, *optional) if name in names}
    except _DAMAGE as error:
        raise _damaged(path, error) from None
    except ValueError as error:
        raise _not_loaded(path, error, save) from None
    for name in arrays:
        if names.count(name) > 1:
            raise InputError(f"{path}: two arrays named {name!r}; keep one", code="duplicate-array")
    for name in needed:
        if name not in arrays:
            raise InputError(
                f"{path}: no array {name!r} (has {', '.join(names) or 'nothing'}); use {save}",
                code="missing-array",
            )
    return arrays


def map_array(path: Path, *, save: str) -> AnyArray:
    """Map a ``.npy`` file into memory; parts of it are read when they are used.

    Parameters
    ----------
    path : Path
        The file.
    save : str
        The call that writes such a file, for messages.

    Raises
    ------
    InputError
        ``unknown-format``, ``damaged`` or ``pickled``.
    """
    try:
        with path.open("rb") as file:
            if file.read(6) != b"\x93NUMPY":
                raise InputError(
                    f"{path}: not a .npy array; write it with {save}", code="unknown-format"
                )
        mapped: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
    except _DAMAGE as error:
        raise _damaged(path, error) from None
    except ValueError as error:
        raise _not_loaded(path, error, save) from None
    return mapped


def _not_loaded(path: Path, error: ValueError, save: str) -> InputError:
    if any(word in str(error).lower() for word in ("pickle", "python objects")):
        return InputError(
            f"{path}: holds Python objects, which are never loaded; save plain arrays: {save}",
            code="pickled",
        )
    return _damaged(path, error)


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path}: damaged or cut off ({first_line(error)}); write it again", code="damaged"
    )


def names_as_text(names: AnyArray, source: str) -> Names:
    """Convert names to text.

    Parameters
    ----------
    names : array
        Text, numbers, or bytes in UTF-8.
    source : str
        Where they come from, for messages.

    Raises
    ------
    InputError
        ``not-utf8``.
    """
    if names.dtype.kind != "S":
        return names.astype(np.str_)
    try:
        return np.char.decode(names, "utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"{source}: names are not UTF-8; save them as text", code="not-utf8"
        ) from None
