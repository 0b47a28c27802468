"""Files: writing them whole or not at all, reading JSON objects, and fingerprints."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sottovoce.core import remote_files
from sottovoce.core.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all; line ends stay as they are.

    Parameters
    ----------
    path : Path
        The file; an existing one is replaced, and missing folders are made.
    text : str
        Its content.
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all: under a temporary name beside it, then renamed.

    Parameters
    ----------
    path : Path
        The file; an existing one is replaced, and missing folders are made.
    data : bytes
        Its content.

    Raises
    ------
    InputError
        ``not-writable``; the existing file is unchanged.
    """
    with atomic_file(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def atomic_file(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Write a file piece by piece, whole or not at all.

    Parameters
    ----------
    path : Path
        The file; an existing one is replaced, and missing folders are made.
    mode : int, default 0o666
        Permissions of the finished file, less the umask of the process; before, they are 0o600.

    Yields
    ------
    Path
        An empty file beside it to write to. It is renamed on success and deleted on failure.

    Raises
    ------
    InputError
        ``not-writable``; the existing file is unchanged.
    """
    try:
        if path.is_dir():
            raise InputError(f"{path}: a folder is there; name a file", code="not-writable")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        try:
            yield Path(temporary)
            os.chmod(temporary, mode & ~current_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}); name another", code="not-writable"
        ) from None


def current_umask() -> int:
    """Return the umask of the process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def without_ending(path: Path) -> Path:
    """Remove the ending of a file name, and a ``.gz`` after it.

    Parameters
    ----------
    path : Path
        A file.

    >>> without_ending(Path("a/scores.csv.gz")).name, without_ending(Path("v1.2.npz")).name
    ('scores', 'v1.2')
    """
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).with_suffix("")


def check_exists(path: Path) -> None:
    """Refuse a path where there is nothing, or an empty file.

    Parameters
    ----------
    path : Path
        A file or folder, or the address of a remote one.

    Raises
    ------
    InputError
        ``not-found``, ``empty`` or ``unreadable``.
    """
    try:
        empty = path.is_file() and path.stat().st_size == 0
        exists = remote_files.exists(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None
    if not exists:
        raise InputError(f"{path}: no such file; check the name", code="not-found")
    if empty:
        raise InputError(f"{path}: empty (0 bytes); write it again", code="empty")


def read_json(path: Path, advice: str) -> dict[str, Any]:
    """Read a JSON object from a file.

    Parameters
    ----------
    path : Path
        The file.
    advice : str
        What to do about a file that cannot be used, the end of the error's message.

    Raises
    ------
    InputError
        ``unreadable``, ``not-json``, or ``wrong-type`` if it holds something else than an object.
    """
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); {advice}", code="unreadable"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not JSON; {advice}", code="not-json") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: not a JSON object; {advice}", code="wrong-type")
    return value


def fingerprint(path: Path) -> dict[str, str | int]:
    """Return the name, size in bytes and SHA-256 of a file or folder.

    Parameters
    ----------
    path : Path
        A file, which may be a remote one; or a folder, of which the names and contents of its
        files count, by name.

    Returns
    -------
    dict
        ``name``, ``bytes`` and ``sha256``.
    """
    path = remote_files.local_file(path)
    files = remote_files.files_below(path, "=") if path.is_dir() else [path]
    digest, size = hashlib.sha256(), 0
    for file_path in files:
        if path.is_dir():
            digest.update(file_path.relative_to(path).as_posix().encode() + b"\0")
        with file_path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
                size += len(block)
    return {"name": path.name, "bytes": size, "sha256": digest.hexdigest()}
