"""The lock of a folder: one run at a time, and nothing left by a run that did nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.core import locks
from sottovoce.core.locks import NAME, locked


def fail(folder: Path, *names: str) -> None:
    """Write these files into a locked folder, then fail."""
    with locked(folder):
        for name in names:
            (folder / name).touch()
        raise RuntimeError


def test_work_that_fails_at_once_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for name in ("mine", "new"):
        with pytest.raises(RuntimeError):
            fail(tmp_path / name)
    assert os.listdir(tmp_path) == ["mine"] and not os.listdir(tmp_path / "mine")


def test_work_that_left_something_keeps_its_folder(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        fail(tmp_path / "new", "half")
    assert sorted(os.listdir(tmp_path / "new")) == [NAME, "half"]
    with pytest.raises(RuntimeError):
        fail(tmp_path / "new")
    assert sorted(os.listdir(tmp_path / "new")) == [NAME, "half"]


def test_a_lock_that_was_removed_meanwhile_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lock(descriptor: int) -> None:
        (tmp_path / NAME).unlink()
        (tmp_path / NAME).touch()

    monkeypatch.setattr(locks, "lock_descriptor", lock)
    with raises_code("locked"), locked(tmp_path):
        pass


def test_a_folder_is_held_once(tmp_path: Path) -> None:
    with locked(tmp_path):
        with raises_code("locked"), locked(tmp_path):
            pass
        assert os.listdir(tmp_path) == [NAME]
    with locked(tmp_path):
        pass
