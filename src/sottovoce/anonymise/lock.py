"""One run at a time into one folder; the lock goes with the process, however it ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sottovoce.errors import InputError

NAME = ".sottovoce.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder, made if it is not there; a second run is refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / NAME).open("a+b")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror}); name another") from None
    with file:
        try:
            _take(file)
        except OSError:
            raise InputError(
                f"{folder}: another run is writing into it; wait for it or name another folder"
            ) from None
        yield


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
