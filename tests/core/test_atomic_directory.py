"""What a run leaves when it fails: nothing of its own, and everything that existed before."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.core import atomic_directory as module
from sottovoce.core.atomic_directory import atomic_directory, delete_on_failure, refuse_inside

needs_locks = pytest.mark.skipif(
    sys.platform == "win32", reason="directories cannot be locked on Windows"
)


def run(path: Path, failure: type[BaseException] | None = None) -> None:
    """Create a file if there is none, then fail if requested."""
    with delete_on_failure(path):
        if not path.exists():
            path.write_text("new")
        if failure is not None:
            raise failure


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_delete_on_failure_deletes_a_new_file_and_keeps_an_older_one(
    failure: type[BaseException], tmp_path: Path
) -> None:
    new, older = tmp_path / "new.secret", tmp_path / "older.secret"
    older.write_text("older")
    for path in (new, older):
        with pytest.raises(failure):
            run(path, failure)
    assert not new.exists() and older.read_text() == "older"
    run(new)
    assert new.read_text() == "new"


# ============================================================================ complete or nothing


def write(target: Path) -> None:
    with atomic_directory(target) as temporary:
        (temporary / "file").touch()


def test_a_target_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty")
    (tmp_path / "file").touch()
    for name in ("empty", "file"):
        with raises_code("exists"):
            write(tmp_path / name)
    with raises_code("not-writable"):
        write(tmp_path / "file" / "below")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file"]


@pytest.mark.parametrize(("complete", "expected"), [(True, ["old"]), (False, ["file"])])
def test_an_existing_directory_is_kept_or_replaced(
    complete: bool, expected: list[str], tmp_path: Path
) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").touch()
    with atomic_directory(target, keep_existing=lambda path: complete) as temporary:
        (temporary / "file").touch()
        assert [path.name for path in target.iterdir()] == ["old"]
    assert [path.name for path in target.iterdir()] == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(sys.platform == "win32", reason="no permissions of this kind")
def test_permissions_and_modification_times(tmp_path: Path) -> None:
    for mode, expected in ((0o777, 0o755), (0o700, 0o700)):
        target = tmp_path / f"{mode:o}"
        before = os.umask(0o022)
        try:
            with atomic_directory(target, mode=mode, equal_mtimes=True) as temporary:
                assert stat.S_IMODE(temporary.stat().st_mode) == 0o700
                (temporary / "file").touch()
        finally:
            os.umask(before)
        assert stat.S_IMODE(target.stat().st_mode) == expected
        assert (target / "file").stat().st_mtime == 0


def test_a_target_inside_its_source_is_refused(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "out", tmp_path / "x" / ".." / "out"):
        with raises_code("nested"):
            refuse_inside(target, tmp_path)
    refuse_inside(tmp_path / "out", tmp_path / "in")


def test_a_run_that_is_asked_to_end_leaves_nothing(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def ended() -> None:
        with atomic_directory(tmp_path / "out") as temporary:
            (temporary / "secured.flac").touch()
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    with pytest.raises(SystemExit):
        ended()
    assert list(tmp_path.iterdir()) == [] and signal.getsignal(signal.SIGTERM) == before


# ==================================================================== what killed runs leave behind

RUN = """
import sys, time
from pathlib import Path
from sottovoce.core.atomic_directory import atomic_directory
with atomic_directory(Path(sys.argv[1])) as temporary:
    (temporary / "audio").mkdir()
    (temporary / "audio" / "secured.flac").touch()
    print(temporary, flush=True)
    time.sleep(60)
"""


@needs_locks
@pytest.mark.parametrize("name", ["out", "another", "out[1]"])
def test_leftovers_of_a_killed_run_are_deleted_and_those_of_a_running_one_are_not(
    name: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        temporary = Path(process.stdout.readline().strip())
        os.utime(temporary, (0, 0))  # however old it is
        write(tmp_path / "while")
        assert (temporary / "audio" / "secured.flac").exists()
        process.send_signal(signal.SIGKILL)
    assert (temporary / "audio" / "secured.flac").exists()
    write(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "while"])


@needs_locks
def test_only_temporary_directories_are_deleted(tmp_path: Path) -> None:
    """Directories of similar names, files, and the targets of links stay."""
    others = [".out.old", ".out.12345678", ".out.sottovoce-1234567", "out.sottovoce-12345678"]
    for name in others:
        (tmp_path / name).mkdir()
    (tmp_path / ".file.sottovoce-12345678").touch()
    (tmp_path / ".link.sottovoce-12345678").symlink_to(tmp_path / ".out.old")
    (tmp_path / ".out.sottovoce-12345678").mkdir()
    write(tmp_path / "out")
    links = [".file.sottovoce-12345678", ".link.sottovoce-12345678"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, *links, "out"])


@needs_locks
def test_a_directory_that_is_deleted_before_it_is_locked_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, locked = module._lock_directory, []

    def late(folder: Path) -> int | None:
        locked.append(folder)
        if len(locked) == 1:
            folder.rmdir()
        return lock(folder)

    monkeypatch.setattr(module, "_lock_directory", late)
    write(tmp_path / "out")
    assert len(set(locked)) == 2 and [path.name for path in tmp_path.iterdir()] == ["out"]


@needs_locks
def test_many_runs_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, [tmp_path / f"out{number}" for number in range(100)]))
    assert sum(path.name[0] != "." for path in tmp_path.iterdir()) == 100
    assert all((path / "file").exists() for path in tmp_path.iterdir())


@needs_locks
def test_without_locks_on_directories_nothing_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(folder: Path) -> int | None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(module, "_lock_directory", unsupported)
    (tmp_path / ".out.sottovoce-12345678").mkdir()
    write(tmp_path / "out")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".out.sottovoce-12345678", "out"]
