"""A folder that appears whole or not at all, and that nobody else can look into before.

Until then it has a private name beside its place, and the run that makes it holds a lock on it. The
lock ends with the process, however that ends: what a killed run has left is told by it from what a
living one is at, and goes with the next run in the same place.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sottovoce.core.errors import InputError

PRIVATE = ".sottovoce-"
"""What private names have between a dot, the name to be and eight letters or digits."""
_OURS = re.compile(rf"\..+{re.escape(PRIVATE)}[a-z0-9_]{{8}}", re.DOTALL)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A private folder that takes the place of ``target`` when it is whole, or goes.

    All times of its files are made one: when a file was written would tell their order.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target}: there already; name a new folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target)
        made, lock = _private(target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror}); name another") from None
    try:
        with _ended_in_order():
            yield made
        for path in made.rglob("*"):
            os.utime(path, (0, 0))
        if target.exists():
            target.rmdir()
        made.rename(target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror}); name another") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def sweep(target: Path) -> None:
    """Remove what runs that were killed outright have left beside ``target``."""
    listed: list[Path] = []
    with suppress(OSError):  # a folder may be written into and yet not be listed
        listed = [path for path in target.parent.iterdir() if _OURS.fullmatch(path.name)]
    for left in listed:
        with suppress(OSError):  # a living one's, or somebody else's
            lock = _hold(left)
            if lock is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)


def refuse_within(target: Path, source: Path) -> None:
    """Refuse a folder inside the one it is made from: it would be taken for a part of it."""
    if source.is_dir() and target.resolve().is_relative_to(source.resolve()):
        raise InputError(f"{target}: within the corpus it is made from; name another folder")


@contextmanager
def gone_on_failure(path: Path) -> Iterator[None]:
    """A file that is made in the course of work goes again if the work fails."""
    there = path.exists()
    try:
        yield
    except BaseException:
        if not there:
            path.unlink(missing_ok=True)
        raise


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let a request to end (SIGTERM) clean up as an error does; in the main thread only."""
    before = None
    with suppress(ValueError):
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _private(target: Path) -> tuple[Path, int | None]:
    """A new folder and its lock; none where the file system knows no locks on folders."""
    while True:
        made = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}{PRIVATE}"))
        try:
            return made, _hold(made)
        except (BlockingIOError, FileNotFoundError):
            continue  # another run took it for left behind, before it was locked
        except OSError:
            return made, None


if sys.platform == "win32":

    def _hold(folder: Path) -> int | None:
        return None

else:
    import fcntl

    def _hold(folder: Path) -> int | None:
        """Lock a folder until what is returned is closed."""
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.stat(folder)  # gone, if the lock had to wait for who removed it
        except OSError:
            os.close(lock)
            raise
        return lock
