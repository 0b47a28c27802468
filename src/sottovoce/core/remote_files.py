"""Files in object stores and on other file systems that fsspec opens: ``s3://``, ``gs://`` …

A remote file is named by a path like any other; ``Path`` takes a slash away from its address, which
:func:`remote_address` puts back. Remote files are fetched whole into a private folder of this
process and read there, so that there is one way to read a format. A few gigabytes are kept for the
next pass over them; a file that has changed since is fetched anew.
"""

from __future__ import annotations

import atexit
import hashlib
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from sottovoce.core.errors import InputError, MissingExtraError, SottovoceError, first_line
from sottovoce.core.scratch import scratch_folder

KEPT_BYTES = 4_000_000_000
"""Of fetched files that are kept for another pass."""
KEPT_FILES = 16
"""Fetched files that are kept in any case: threads may be reading them."""

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)


def remote_address(path: Path | str) -> str | None:
    """Return the address of a remote file or folder; None for a local path.

    Parameters
    ----------
    path : Path or str
        A local path, or an address such as ``s3://bucket/scores``.

    >>> remote_address(Path("s3://bucket/scores")), remote_address("C:/scores")
    ('s3://bucket/scores', None)
    """
    match = _ADDRESS.fullmatch(str(path))
    if match is None:
        return None
    root = "/" if match[1] in ("file", "local") else ""
    return f"{match[1]}://{root}{match[2]}"


def is_folder(path: Path) -> bool:
    """Tell whether there is a folder, here or at a remote address.

    Parameters
    ----------
    path : Path
        A local path or a remote address.
    """
    if remote_address(path) is None:
        return path.is_dir()
    with _remote(path) as (files, name):
        return bool(files.isdir(name))


def exists(path: Path) -> bool:
    """Tell whether there is a file or folder, here or at a remote address.

    Parameters
    ----------
    path : Path
        A local path or a remote address.
    """
    if remote_address(path) is None:
        return path.exists()
    with _remote(path) as (files, name):
        return bool(files.exists(name))


def files_below(folder: Path, sign: str) -> list[Path]:
    """List the files of a folder, and of folders below it whose names hold a sign; sorted.

    Parameters
    ----------
    folder : Path
        A local path or a remote address.
    sign : str
        Other folders are not looked into.
    """
    if remote_address(folder) is None:
        entries = list(folder.iterdir())
        below = (files_below(path, sign) for path in entries if sign in path.name and path.is_dir())
        here = [path for path in entries if path.is_file()]
        return sorted([*here, *(file for files in below for file in files)])
    with _remote(folder) as (files, name):
        names = [PurePosixPath(file).relative_to(name) for file in files.find(name)]
    return sorted(folder / file for file in names if all(sign in part for part in file.parts[:-1]))


def local_file(path: Path) -> Path:
    """Return a local file as it is, and fetch a remote one.

    Parameters
    ----------
    path : Path
        A local path or a remote address.

    Returns
    -------
    Path
        The file itself, or a private copy of the same name that lasts as long as this process, or
        until many others were fetched.

    Raises
    ------
    InputError
        ``not-found`` or ``unreadable``.
    """
    address = remote_address(path)
    return path if address is None else _FETCHED.get(path, address)


@contextmanager
def readable(path: Path) -> Iterator[Path]:
    """Give a local file to read; errors name the address that it was fetched from.

    Parameters
    ----------
    path : Path
        A local path or a remote address.

    Yields
    ------
    Path
    """
    local = local_file(path)
    try:
        yield local
    except SottovoceError as error:
        if local is path:
            raise
        message = str(error).replace(str(local), str(remote_address(path)))
        raise InputError(message, code=error.code) from None


class _FetchedFiles:
    """Private copies of remote files; the oldest go when there are too many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._folder: Path | None = None
        self._sizes: dict[Path, int] = {}
        """In the order in which they were used."""

    def get(self, path: Path, address: str) -> Path:
        with self._lock:
            if self._folder is None:
                atexit.register(self._stack.close)
                self._folder = self._stack.enter_context(
                    scratch_folder(Path(tempfile.gettempdir()))
                )
            state = f"{address} {_state(path)}"
            digest = hashlib.sha256(state.encode()).hexdigest()[:16]
            copy = self._folder / digest / path.name
            size = self._sizes.pop(copy, None)
            self._sizes[copy] = _fetch(path, copy) if size is None else size
            self._make_room()
            return copy

    def _make_room(self) -> None:
        oldest = iter(list(self._sizes)[:-KEPT_FILES])
        while sum(self._sizes.values()) > KEPT_BYTES:
            copy = next(oldest, None)
            if copy is None:
                return
            copy.unlink(missing_ok=True)
            del self._sizes[copy]


_FETCHED = _FetchedFiles()


def _state(path: Path) -> str:
    """What changes with the content of a remote file, such as its size and time of change."""
    with _remote(path) as (files, name):
        files.invalidate_cache()
        return str(files.ukey(name))


def _fetch(path: Path, copy: Path) -> int:
    with _remote(path) as (files, name):
        copy.parent.mkdir(mode=0o700, exist_ok=True)
        files.get_file(name, str(copy))
    return copy.stat().st_size


@contextmanager
def _remote(path: Path) -> Iterator[tuple[Any, str]]:
    """The file system of an address and the name there; its errors as ours."""
    address = str(remote_address(path))
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError(address, "scale") from None
    try:
        yield fsspec.core.url_to_fs(address)
    except FileNotFoundError:
        raise InputError(f"{address}: no such file; check the name", code="not-found") from None
    except SottovoceError:
        raise
    except Exception as error:  # every file system has errors of its own
        raise InputError(
            f"{address}: cannot be read ({first_line(error)}); check the address, the rights and "
            "that the package for it is installed",
            code="unreadable",
        ) from None
