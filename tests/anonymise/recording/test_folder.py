"""What a run leaves when it fails: nothing of its own, and all that was there before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sottovoce.anonymise.recording import folder as folder_module
from sottovoce.anonymise.recording.folder import gone_on_failure, new_folder

locks = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks on folders")


def run(path: Path, failure: type[BaseException] | None = None) -> None:
    """Draw a secret if there is none, and maybe fail."""
    with gone_on_failure(path):
        if not path.exists():
            path.write_text("drawn now")
        if failure is not None:
            raise failure


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_file_of_a_run_that_fails_goes_and_an_older_one_stays(
    failure: type[BaseException], tmp_path: Path
) -> None:
    new, older = tmp_path / "new.secret", tmp_path / "older.secret"
    older.write_text("drawn long ago")
    for path in (new, older):
        with pytest.raises(failure):
            run(path, failure)
    assert not new.exists() and older.read_text() == "drawn long ago"
    run(new)
    assert new.read_text() == "drawn now"


# ================================================================================ whole or nothing


def test_a_run_that_is_asked_to_end_leaves_nothing(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def ended() -> None:
        with new_folder(tmp_path / "out") as made:
            (made / "secured.flac").touch()
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    with pytest.raises(SystemExit):
        ended()
    assert list(tmp_path.iterdir()) == [] and signal.getsignal(signal.SIGTERM) == before


RUN = """
import sys, time
from pathlib import Path
from sottovoce.anonymise.recording.folder import new_folder
with new_folder(Path(sys.argv[1])) as made:
    (made / "audio").mkdir()
    (made / "audio" / "secured.flac").touch()
    print(made, flush=True)
    time.sleep(60)
"""


def make(target: Path) -> None:
    with new_folder(target) as made:
        (made / "whole").touch()


@locks
@pytest.mark.parametrize("name", ["out", "another", "out[1]"])
def test_what_a_killed_run_leaves_goes_with_the_next_and_a_living_one_keeps_its_own(
    name: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        made = Path(run.stdout.readline().strip())
        os.utime(made, (0, 0))  # however old it is
        make(tmp_path / "while")
        assert (made / "audio" / "secured.flac").exists()
        run.send_signal(signal.SIGKILL)
    assert (made / "audio" / "secured.flac").exists()
    make(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "while"])


@locks
def test_only_what_is_ours_is_swept(tmp_path: Path) -> None:
    """Names that are nearly so, files, and what a link leads to are left as they are."""
    kept = [".out.old", ".out.12345678", ".out.sottovoce-1234567", "out.sottovoce-12345678"]
    for name in kept:
        (tmp_path / name).mkdir()
    (tmp_path / ".file.sottovoce-12345678").touch()
    (tmp_path / ".link.sottovoce-12345678").symlink_to(tmp_path / ".out.old")
    (tmp_path / ".out.sottovoce-12345678").mkdir()
    make(tmp_path / "out")
    links = [".file.sottovoce-12345678", ".link.sottovoce-12345678"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, *links, "out"])


@locks
def test_a_folder_that_is_swept_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, seen = folder_module._hold, []

    def late(folder: Path) -> int | None:
        seen.append(folder)
        if len(seen) == 1:
            folder.rmdir()
        return hold(folder)

    monkeypatch.setattr(folder_module, "_hold", late)
    make(tmp_path / "out")
    assert len(set(seen)) == 2 and [path.name for path in tmp_path.iterdir()] == ["out"]


@locks
def test_many_runs_at_once_keep_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make, [tmp_path / f"out{number}" for number in range(100)]))
    assert sum(path.name[0] != "." for path in tmp_path.iterdir()) == 100
    assert all((path / "whole").exists() for path in tmp_path.iterdir())


@locks
def test_a_file_system_without_locks_on_folders_is_written_and_not_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(folder: Path) -> int | None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(folder_module, "_hold", unknown)
    (tmp_path / ".out.sottovoce-12345678").mkdir()
    make(tmp_path / "out")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".out.sottovoce-12345678", "out"]
