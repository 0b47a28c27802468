"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.core.files import check_exists, fingerprint, read_json, write_text


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
    with raises_code("not-writable") as caught:
        write_text(target, "new")
    assert "No space left" in str(caught.value)
    assert target.read_text() == "old" and os.listdir(tmp_path) == ["a.json"]


def test_a_folder_is_not_written_over(tmp_path: Path) -> None:
    with raises_code("not-writable"):
        write_text(tmp_path, "text")


def test_what_does_not_exist_or_is_empty_is_refused(tmp_path: Path) -> None:
    check_exists(tmp_path)
    with raises_code("not-found"):
        check_exists(tmp_path / "a")
    (tmp_path / "a").touch()
    with raises_code("empty"):
        check_exists(tmp_path / "a")
    os.symlink("loop", tmp_path / "loop")
    with raises_code("not-found"):
        check_exists(tmp_path / "loop")
    with raises_code("unreadable"):
        check_exists(tmp_path / ("a" * 300))


def test_fingerprint_of_a_directory_depends_on_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    first = fingerprint(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    second = fingerprint(tmp_path)
    assert first["sha256"] != second["sha256"] and first["bytes"] == second["bytes"] == 1


@pytest.mark.parametrize(
    ("text", "code"), [("{", "not-json"), ("[1]", "wrong-type"), ("", "not-json")]
)
def test_json_that_is_no_object_is_refused(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "a.json"
    with raises_code("unreadable"):
        read_json(path, "do so")
    path.write_text(text)
    with raises_code(code) as caught:
        read_json(path, "do so")
    assert str(path) in str(caught.value) and str(caught.value).endswith("; do so")
