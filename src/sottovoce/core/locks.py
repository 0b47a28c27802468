"""A lock on a folder, so that one run at a time writes into it; it ends with the process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sottovoce.core.errors import InputError

NAME = ".sottovoce.lock"
"""The file in a folder that is locked."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder for the duration of the ``with`` block.

    If the block fails before it has written anything, the folder is left as it was.

    Parameters
    ----------
    folder : Path
        The folder; made if it does not exist.

    Raises
    ------
    InputError
        ``locked`` if another run holds it, ``not-writable``.
    """
    path = folder / NAME
    folder_existed, lock_existed = folder.exists(), path.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror}); name another", code="not-writable"
        ) from None
    with file:
        try:
            lock_descriptor(file.fileno())
            if not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                raise BlockingIOError  # a run that failed has removed this file meanwhile
        except OSError:
            raise InputError(
                f"{folder}: another run is writing into it; wait for it or name another folder",
                code="locked",
            ) from None
        try:
            yield
        except BaseException:
            if not lock_existed:
                _remove_unused(folder, folder_existed)
            raise


def _remove_unused(folder: Path, folder_existed: bool) -> None:
    """Remove the lock if nothing else is in the folder, and the folder if it was made here."""
    with suppress(OSError):
        if [path.name for path in folder.iterdir()] == [NAME]:
            (folder / NAME).unlink()
            if not folder_existed:
                folder.rmdir()


def lock_descriptor(descriptor: int) -> None:
    """Lock an open file, or a directory where the system can, until it is closed.

    Parameters
    ----------
    descriptor : int
        The file descriptor.

    Raises
    ------
    OSError
        If another process holds the lock (BlockingIOError on POSIX), or it cannot be locked.
    """
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
