"""One run at a time into one folder; the lock goes with the process, however it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sottovoce.core.errors import InputError

NAME = ".sottovoce.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder, made if it is not there; a second run is refused.

    If the work fails before it left anything, the folder is as it was.
    """
    path = folder / NAME
    there, held = folder.exists(), path.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror}); name another", code="not-writable"
        ) from None
    with file:
        try:
            _take(file)
            if not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                raise BlockingIOError  # the run that failed has removed this one
        except OSError:
            raise InputError(
                f"{folder}: another run is writing into it; wait for it or name another folder",
                code="locked",
            ) from None
        try:
            yield
        except BaseException:
            if not held:
                _remove_empty(folder, there)
            raise


def _remove_empty(folder: Path, there: bool) -> None:
    """Remove the lock if nothing else is in the folder, and a folder that was not there."""
    with suppress(OSError):
        if [path.name for path in folder.iterdir()] == [NAME]:
            (folder / NAME).unlink()
            if not there:
                folder.rmdir()


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
