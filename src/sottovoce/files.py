"""Writing files whole or not at all, and telling which file was read."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from sottovoce.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write ``text`` under a temporary name beside ``path`` and rename it: never half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); name another") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


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
