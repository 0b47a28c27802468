"""Write a directory completely or not at all.

The files are written into a temporary directory beside the target, which only its owner may enter.
It is renamed to the target on success and deleted on failure. The process holds a lock on it that
ends with the process, however that ends: so the next run in the same place can tell the leftovers
of a killed run, which it deletes, from the directory of a run that is still at work.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.files import current_umask
from sottovoce.core.locks import lock_descriptor

INFIX = ".sottovoce-"
"""Between the target's name and the random end of a temporary directory's name."""
_TEMPORARY = re.compile(rf"\..+{re.escape(INFIX)}[a-z0-9_]{{8}}", re.DOTALL)


@contextmanager
def atomic_directory(
    target: Path,
    *,
    mode: int = 0o777,
    equal_mtimes: bool = False,
    keep_existing: Callable[[Path], bool] | None = None,
    advice: str = "name another",
) -> Iterator[Path]:
    """Yield a temporary directory that becomes ``target`` on success and is deleted on failure.

    A request to end the process (SIGTERM) counts as a failure.

    Parameters
    ----------
    target : Path
        The directory to be written; its parents are created.
    mode : int, default 0o777
        Permissions of the finished directory, less the umask of the process. Those of the
        temporary directory are 0o700.
    equal_mtimes : bool, default False
        Set the modification times of all files to the same value, so that they do not reveal the
        order in which the files were written.
    keep_existing : callable, optional
        Allows a target that exists. Called with the target when the new directory is complete: if
        it returns true, the existing directory stays and the new one is deleted, otherwise the
        existing directory is replaced. By default a target that is not empty is refused.
    advice : str, default "name another"
        What to do if the directory cannot be written: the end of the error message.

    Yields
    ------
    Path
        The temporary directory.

    Raises
    ------
    InputError
        ``exists`` if the target is not empty, ``not-writable`` if the directory cannot be written.
    """
    try:
        if keep_existing is None:
            _refuse_existing(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        temporary, lock = _make_temporary(target)
    except OSError as error:
        raise _not_writable(target, error, advice) from None
    try:
        with _exit_on_sigterm():
            yield temporary
        if equal_mtimes:
            reset_mtimes(temporary)
        temporary.chmod(mode & ~current_umask())
        _move_into_place(temporary, target, keep_existing)
    except OSError as error:
        raise _not_writable(target, error, advice) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_leftovers(parent: Path) -> None:
    """Delete the temporary directories that killed runs have left in ``parent``.

    Those of runs that are still at work are locked and stay. Where directories cannot be locked
    (on Windows, and on some file systems) nothing is deleted.

    Parameters
    ----------
    parent : Path
        The directory in which targets are written.
    """
    candidates: list[Path] = []
    with suppress(OSError):  # a directory can be writable and yet not readable
        candidates = [path for path in parent.iterdir() if _TEMPORARY.fullmatch(path.name)]
    for path in candidates:
        with suppress(OSError):  # locked by a run at work, or owned by somebody else
            lock = _lock_directory(path)
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def reset_mtimes(folder: Path) -> None:
    """Give all files of a folder the same times, so that these do not reveal the writing order.

    Parameters
    ----------
    folder : Path
        The folder; the files of its subfolders and the subfolders themselves are included.
    """
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))


def refuse_inside(target: Path, source: Path) -> None:
    """Refuse a target inside the directory it is made from: it would become part of its source.

    Parameters
    ----------
    target : Path
        The directory or file to be written.
    source : Path
        The directory, such as the root of a corpus, that is read.

    Raises
    ------
    InputError
        ``nested`` if the target is the source or inside it.
    """
    if target.resolve().is_relative_to(source.resolve()):
        raise InputError(
            f"{target}: within the corpus it is made from; name another folder", code="nested"
        )


@contextmanager
def delete_on_failure(path: Path) -> Iterator[None]:
    """Delete a file that was created inside the ``with`` block if the block fails.

    Parameters
    ----------
    path : Path
        The file; one that existed before stays in any case.
    """
    existed = path.exists()
    try:
        yield
    except BaseException:
        if not existed:
            path.unlink(missing_ok=True)
        raise


def _refuse_existing(target: Path) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target}: exists and is not empty; name a new folder", code="exists")


def _not_writable(target: Path, error: OSError, advice: str) -> InputError:
    reason = error.strerror or type(error).__name__
    return InputError(f"{target}: cannot be written ({reason}); {advice}", code="not-writable")


def _move_into_place(
    temporary: Path, target: Path, keep_existing: Callable[[Path], bool] | None
) -> None:
    if keep_existing is None:
        if target.exists():
            target.rmdir()
        temporary.rename(target)
    elif not (target.exists() and keep_existing(target)):
        _replace(temporary, target, keep_existing)


def _replace(temporary: Path, target: Path, keep_existing: Callable[[Path], bool]) -> None:
    """Put the temporary directory in the place of an existing one, which is deleted."""
    aside, lock = _make_temporary(target)
    try:
        if target.exists():
            target.rename(aside)  # an empty directory may be replaced
        temporary.rename(target)
    except OSError:
        if not keep_existing(target):  # another process may have put its own there just now
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into :class:`SystemExit`, so that clean-up runs; in the main thread only."""
    handler = None
    with suppress(ValueError):
        handler = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGTERM, handler)


def _make_temporary(target: Path) -> tuple[Path, int | None]:
    """Make a temporary directory; the lock is None where directories cannot be locked."""
    while True:
        path = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}{INFIX}"))
        try:
            return path, _lock_directory(path)
        except (BlockingIOError, FileNotFoundError):
            continue  # another run took it for a leftover before it was locked
        except OSError:
            return path, None


if sys.platform == "win32":

    def _lock_directory(folder: Path) -> int | None:
        return None

else:

    def _lock_directory(folder: Path) -> int | None:
        """Lock a directory until the returned file descriptor is closed."""
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            lock_descriptor(lock)
            os.stat(folder)  # fails if another run deleted it before it was locked
        except OSError:
            os.close(lock)
            raise
        return lock
