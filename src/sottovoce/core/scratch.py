"""The scratch folder of a run on a cluster: private files that the workers read."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.core.errors import InputError

_PREFIX = ".sottovoce-scratch"


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Make a private folder, and remove it at the end.

    What a run that was killed on this machine left behind is removed too.

    Parameters
    ----------
    parent : Path
        Where it is made; all workers must be able to read it.

    Yields
    ------
    Path
        A new folder that only its owner may open.

    Raises
    ------
    InputError
        ``not-writable``.
    """
    host = re.sub(r"[^A-Za-z0-9]+", "_", platform.node())
    _remove_abandoned(parent, host)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        made = tempfile.mkdtemp(dir=parent, prefix=f"{_PREFIX}-{host}-{os.getpid()}-")
    except OSError as error:
        raise InputError(
            f"{parent}: cannot be written ({error.strerror}); name another folder with --scratch",
            code="not-writable",
        ) from None
    folder = Path(made).absolute()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path, host: str) -> None:
    for folder in parent.glob(f"{_PREFIX}-{host}-*"):
        process = folder.name.removeprefix(f"{_PREFIX}-{host}-").partition("-")[0]
        if process.isdigit() and not _runs(int(process)):
            shutil.rmtree(folder, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
