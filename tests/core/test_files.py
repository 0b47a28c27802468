"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sottovoce.core.errors import InputError
from sottovoce.core.files import fingerprint, read_json, write_text


def test_write_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.json"
    write_text(target, "one")
    write_text(target, "two")
    assert target.read_text() == "two" and os.listdir(target.parent) == ["a.json"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.json"
    write_text(target, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        write_text(target, "new")
    assert target.read_text() == "old" and os.listdir(tmp_path) == ["a.json"]


def test_a_folder_is_not_written_over(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder is there"):
        write_text(tmp_path, "text")


def test_fingerprint_of_a_directory_depends_on_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    first = fingerprint(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    second = fingerprint(tmp_path)
    assert first["sha256"] != second["sha256"] and first["bytes"] == second["bytes"] == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("{", "not JSON; do so"), ("[1]", "not a JSON object; do so"), ("", "not JSON")],
)
def test_json_that_is_no_object_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(InputError, match="cannot be read"):
        read_json(path, "do so")
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_json(path, "do so")
