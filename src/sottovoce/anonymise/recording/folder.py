"""A folder that appears whole or not at all, and that nobody else can look into before."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.errors import InputError


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A private folder that takes the place of ``target`` when it is whole, or goes.

    All times of its files are made one: when a file was written would tell their order.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target}: there already; name a new folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror}); name another") from None
    try:
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
