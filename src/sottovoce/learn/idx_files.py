"""Folders of images in MNIST's own format: four IDX files, gzipped or not."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np

from sottovoce.core.errors import InputError
from sottovoce.core.types import AnyArray

FILES = {
    "train_images": "train-images-idx3-ubyte",
    "train_labels": "train-labels-idx1-ubyte",
    "test_images": "t10k-images-idx3-ubyte",
    "test_labels": "t10k-labels-idx1-ubyte",
}
"""Names of the files of each array, as MNIST has them; ``.gz`` may follow."""
_UNSIGNED_BYTE = 8


def read_idx_folder(folder: Path) -> dict[str, AnyArray]:
    """Read images and labels to train on and to test with.

    Parameters
    ----------
    folder : Path
        Holds the four files of :data:`FILES`.

    Returns
    -------
    dict of str to array
        Bytes under the names of :data:`FILES`; images are n × rows × columns.

    Raises
    ------
    InputError
        ``unreadable`` if a file is missing, ``damaged`` if it is no IDX file of bytes, or of
        another length than it says.
    """
    return {name: _read_idx(_existing(folder / file)) for name, file in FILES.items()}


def _existing(path: Path) -> Path:
    zipped = path.with_name(f"{path.name}.gz")
    for candidate in (path, zipped):
        if candidate.is_file():
            return candidate
    raise InputError(
        f"{path}: no such file, with or without .gz; a folder of images holds MNIST's four files",
        code="unreadable",
    )


def _read_idx(path: Path) -> AnyArray:
    """Read an IDX file: two zero bytes, type, number of dimensions, their sizes, the values."""
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        zero, kind, dimensions = struct.unpack_from(">HBB", content)
        shape = struct.unpack_from(f">{dimensions}I", content, 4)
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); copy it again", code="damaged"
        ) from None
    values = content[4 + 4 * dimensions :]
    if zero or kind != _UNSIGNED_BYTE or len(values) != math.prod(shape):
        raise InputError(
            f"{path}: not an IDX file of bytes, or cut off; copy it again", code="damaged"
        )
    return np.frombuffer(values, np.uint8).reshape(shape)
