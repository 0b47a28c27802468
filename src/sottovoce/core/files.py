"""Writing files whole or not at all, and telling whether a file is there and which it was."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from sottovoce.core.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write ``text`` in UTF-8 with ``\\n`` at line ends, as :func:`write_bytes` writes."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` under a temporary name beside ``path`` and rename it: never half a file."""
    try:
        if path.is_dir():
            raise InputError(f"{path}: a folder is there; name a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, 0o666 & ~current_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); name another") from None


def current_umask() -> int:
    """Return the umask of the process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_there(path: Path) -> None:
    """Refuse a path where nothing is, or an empty file."""
    try:
        empty = path.is_file() and path.stat().st_size == 0
        there = path.exists()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    if not there:
        raise InputError(f"{path}: no such file; check the name")
    if empty:
        raise InputError(f"{path}: empty (0 bytes); write it again")


def read_json(path: Path, advice: str) -> dict[str, Any]:
    """The object in a JSON file; ``advice`` is what to do if there is none."""
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {advice}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not JSON; {advice}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: not a JSON object; {advice}")
    return found


def fingerprint(path: Path) -> dict[str, str | int]:
    """Name, size and SHA-256 of a file; of a directory, over its files in order of name."""
    files = sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]
    digest, size = hashlib.sha256(), 0
    for one in files:
        if path.is_dir():
            digest.update(one.name.encode() + b"\0")
        with one.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
                size += len(block)
    return {"name": path.name, "bytes": size, "sha256": digest.hexdigest()}
