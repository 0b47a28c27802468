"""A folder that appears whole or not at all, and that nobody else can look into before."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sottovoce.errors import InputError

STALE = 86_400.0
"""Seconds after which what a killed run left is nobody's any more."""


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A private folder that takes the place of ``target`` when it is whole, or goes.

    All times of its files are made one: when a file was written would tell their order.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target}: there already; name a new folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        made = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
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


def _sweep(target: Path) -> None:
    """Remove what runs that were killed outright have left."""
    for left in target.parent.glob(f".{target.name}.*"):
        with suppress(FileNotFoundError):
            if left.is_dir() and time.time() - left.stat().st_mtime > STALE:
                shutil.rmtree(left, ignore_errors=True)
