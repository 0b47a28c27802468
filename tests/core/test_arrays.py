"""Arrays from files: never a pickle, and every defect has its code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.arrays import load_arrays, map_array, names_as_text

SAVE = "np.savez(file, a=…)"


def test_needed_and_optional_arrays(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(3), b=np.ones(2), c=np.zeros(1))
    arrays = load_arrays(path, ("a",), ("b", "missing"), save=SAVE)
    assert set(arrays) == {"a", "b"} and arrays["a"].tolist() == [0, 1, 2]
    with raises_code("missing-array") as caught:
        load_arrays(path, ("a", "d"), save=SAVE)
    assert "'d' (has a, b, c)" in str(caught.value)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.save(tmp_path / "x.npy", np.arange(3))
    (tmp_path / "x.npy").rename(path)
    with raises_code("unknown-format"):
        load_arrays(path, ("a",), save=SAVE)
    np.savez(path, a=np.arange(3))
    with raises_code("unknown-format"):
        map_array(path, save=SAVE)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_damaged_files_are_refused(tmp_path: Path, share: float) -> None:
    archive, array = tmp_path / "x.npz", tmp_path / "x.npy"
    np.savez(archive, a=np.arange(1000))
    np.save(array, np.arange(1000))
    for path in (archive, array):
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
    with raises_code("damaged") as caught:
        load_arrays(archive, ("a",), save=SAVE)
    assert str(archive) in str(caught.value)
    with raises_code("damaged") as caught:
        map_array(array, save=SAVE)
    assert str(array) in str(caught.value)


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    objects = np.array([{}, []], dtype=object)
    np.savez(tmp_path / "x.npz", a=objects)
    np.save(tmp_path / "x.npy", objects)
    with raises_code("pickled"):
        load_arrays(tmp_path / "x.npz", ("a",), save=SAVE)
    with raises_code("pickled"):
        map_array(tmp_path / "x.npy", save=SAVE)


def test_an_array_is_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    mapped = map_array(tmp_path / "x.npy", save=SAVE)
    assert isinstance(mapped, np.memmap) and mapped[1, 2] == 5


def test_names_become_text() -> None:
    assert names_as_text(np.array([7, 10]), "x").tolist() == ["7", "10"]
    assert names_as_text(np.array(["ä".encode(), b"b"]), "x").tolist() == ["ä", "b"]
    with raises_code("not-utf8"):
        names_as_text(np.array([b"\xff"]), "x")
