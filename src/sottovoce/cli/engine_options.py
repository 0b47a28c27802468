"""The options of commands whose work can be done on a cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

from sottovoce.core.engine import LOCAL, SCHEMES, Engine, open_engine
from sottovoce.core.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20}
_UNITS |= {"gib": 2**30, "tb": 10**12, "tib": 2**40}


def engine_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--engine``, ``--worker-memory`` and ``--scratch`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``engine`` (str or None), ``worker_memory`` (str
        or None) and ``scratch`` (Path or None), for :func:`engine_of`.
    """
    for option in (
        click.option(
            "--scratch",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Folder that all workers share, for what they are given privately.",
        ),
        click.option(
            "--worker-memory", metavar="SIZE", help="Memory of each worker of --engine dask: 2GB."
        ),
        click.option(
            "--engine",
            metavar="ENGINE",
            help="local; dask: a cluster on this machine, --jobs its workers; or tcp://HOST:PORT.",
        ),
    ):
        command = option(command)
    return command


@contextmanager
def engine_of(
    engine: str | None, jobs: int, worker_memory: str | None, scratch: Path | None
) -> Iterator[Engine]:
    """Open the engine that a user has named; what it says goes to standard error.

    Parameters
    ----------
    engine : str or None
        Value of ``--engine``.
    jobs : int
        Value of ``--jobs``.
    worker_memory : str or None
        Value of ``--worker-memory``.
    scratch : Path or None
        Value of ``--scratch``.

    Yields
    ------
    Engine
    """
    context = click.get_current_context(silent=True)
    quiet = context is not None and bool(context.find_root().params.get("quiet"))
    with open_engine(
        engine or LOCAL,
        jobs=jobs,
        memory=None if worker_memory is None else parse_size(worker_memory),
        scratch=scratch,
        tell=None if quiet else lambda line: click.echo(line, err=True),
    ) as opened:
        yield opened


def engine_workers(engine: str, jobs: int) -> int:
    """Return how many cores an engine works on: those of an existing cluster, or ``--jobs``.

    Parameters
    ----------
    engine : str
        Value of ``--engine``.
    jobs : int
        Value of ``--jobs``.
    """
    if not engine.startswith(SCHEMES):
        return jobs
    from sottovoce.core.dask_engine import DaskEngine

    with open_engine(engine) as opened:
        return opened.threads() if isinstance(opened, DaskEngine) else jobs


def parse_size(text: str) -> int:
    """Read a number of bytes such as ``2GB`` or ``512 MiB``.

    Parameters
    ----------
    text : str
        A number and a unit; bytes without one.

    >>> parse_size("2GB"), parse_size("0.5 GiB")
    (2000000000, 536870912)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if not match or match[2].lower() not in _UNITS or float(match[1]) <= 0:
        raise UsageError(
            f"--worker-memory {text}: write a number and a unit, such as 2GB", code="wrong-shape"
        )
    return int(float(match[1]) * _UNITS[match[2].lower()])
