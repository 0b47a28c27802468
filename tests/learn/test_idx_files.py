"""Images in MNIST's own format."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.learn.idx_files import FILES, read_idx_folder


def idx(array: NDArray[np.uint8]) -> bytes:
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return header + array.tobytes()


def write_folder(folder: Path) -> dict[str, NDArray[np.uint8]]:
    rng = np.random.default_rng(0)
    arrays = {
        name: rng.integers(0, 256, (7, 28, 28) if "images" in name else 7, np.uint8)
        for name in FILES
    }
    for i, (name, file) in enumerate(FILES.items()):
        content = idx(arrays[name])
        if i % 2:
            (folder / file).write_bytes(content)
        else:
            (folder / f"{file}.gz").write_bytes(gzip.compress(content))
    return arrays


def test_arrays_are_those_that_were_written(tmp_path: Path) -> None:
    written = write_folder(tmp_path)
    read = read_idx_folder(tmp_path)
    assert read.keys() == written.keys()
    assert all(np.array_equal(read[name], written[name]) for name in written)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (tmp_path / FILES["test_labels"]).unlink()
    with raises_code("unreadable", InputError) as caught:
        read_idx_folder(tmp_path)
    assert FILES["test_labels"] in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x00\x08",
        idx(np.zeros(7, np.uint8))[:-1],
        b"\x00\x00\x0d" + idx(np.zeros(7, np.uint8))[3:],
        b"\x01\x00" + idx(np.zeros(7, np.uint8))[2:],
    ],
)
def test_damaged_files(tmp_path: Path, content: bytes) -> None:
    write_folder(tmp_path)
    (tmp_path / FILES["train_labels"]).write_bytes(content)
    with raises_code("damaged", InputError):
        read_idx_folder(tmp_path)


def test_a_damaged_archive(tmp_path: Path) -> None:
    write_folder(tmp_path)
    path = tmp_path / f"{FILES['train_images']}.gz"
    path.write_bytes(path.read_bytes()[:40])
    with raises_code("damaged", InputError):
        read_idx_folder(tmp_path)
