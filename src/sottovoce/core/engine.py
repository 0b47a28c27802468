"""Where long work is done: in threads of this process, or by the workers of a Dask cluster.

An engine applies a function to items. Whatever the engine, the number of its workers, the order in
which they finish and how often work is repeated, results come back in the order of the items, and
the function is the same: so whoever adds them up in that order gets the same bytes.

>>> with open_engine("local", jobs=2) as engine:
...     [result for _, result in engine.map(str.upper, ["a", "b"], label="shouting")]
['A', 'B']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from sottovoce.core.errors import UsageError
from sottovoce.core.parallel import map_ahead
from sottovoce.core.types import AnyArray

T = TypeVar("T")
R = TypeVar("R")

LOCAL, DASK = "local", "dask"
SCHEMES = ("tcp://", "tls://")
"""Beginnings of the address of a scheduler."""
SPEECH_MEMORY = 700_000_000
"""Bytes that a worker needs for a recording: networks, and what is computed of it."""


class Engine(Protocol):
    """Applies functions to items, somewhere."""

    @property
    def remote(self) -> bool:
        """Whether functions run in other processes, so that they and the items are pickled."""

    def map(
        self,
        function: Callable[[T], R],
        items: Iterable[T],
        *,
        label: str,
        group: int = 1,
        private: bool = True,
        memory: int = 0,
    ) -> Iterator[tuple[T, R]]:
        """Apply a function to items; only a bounded number of them is in progress at a time.

        Parameters
        ----------
        function : callable
            Takes an item. For a remote engine a function of a module, or an object of a class of a
            module with ``__call__``: they can be pickled. It returns a small result, or writes a
            file whole or not at all; it may be called again for an item whose worker was lost.
        items : iterable
            Drawn only as fast as results are taken.
        label : str
            What is done, for summaries; shown on dashboards, so it names nobody.
        group : int, default 1
            Items that a worker gets together; set it so that a group takes about a second.
        private : bool, default True
            Whether function or items may hold names, words or anything drawn with a secret. They
            then reach the workers by private files in the scratch folder instead of the cluster's
            messages.
        memory : int, default 0
            Bytes that a worker needs for an item. Workers with less are refused; one with several
            threads works on as many items at a time as it has memory for.

        Yields
        ------
        tuple
            Each item with its result, in the order of the items. An error is raised where the
            result of its item would come.
        """

    def share(self, array: AnyArray) -> SharedArray:
        """Make an array available to functions without sending it along with each of them.

        Parameters
        ----------
        array : array
            A memory-mapped file is referred to by its path, anything else is written once to the
            scratch folder if the engine is remote.
        """


@dataclass(frozen=True, slots=True, eq=False)
class SharedArray:
    """An array that is pickled as a reference to a file, if there is one."""

    array: AnyArray = field(repr=False)
    file: Path | None = None
    offset: int = 0
    """Where the values begin in the file, in bytes."""

    @classmethod
    def mapped(cls, array: AnyArray) -> SharedArray | None:
        """Refer to the file of a memory-mapped array; None for any other array.

        Parameters
        ----------
        array : array
            Refused, in this sense, unless it is the whole of what was mapped, row by row.
        """
        if isinstance(array, np.memmap) and array.filename and array.flags.c_contiguous:
            whole = array.base is None or not isinstance(array.base, np.ndarray)
            if whole:
                return cls(array, Path(array.filename).absolute(), int(array.offset))
        return None

    def __reduce__(self) -> tuple[object, ...]:
        if self.file is None:
            return SharedArray, (np.ascontiguousarray(self.array),)
        shape, dtype = self.array.shape, self.array.dtype.str
        return _map_file, (str(self.file), dtype, shape, self.offset)


def _map_file(path: str, dtype: str, shape: tuple[int, ...], offset: int) -> SharedArray:
    array = np.memmap(path, dtype=dtype, mode="r", shape=shape, offset=offset)
    return SharedArray(array, Path(path), offset)


class LocalEngine:
    """Threads of this process.

    Parameters
    ----------
    workers : int, default 1
        Threads; with one, functions run where they are asked for.
    """

    remote = False

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise UsageError(f"{workers} workers; at least 1 is needed", code="out-of-range")
        self.workers = workers

    def map(
        self,
        function: Callable[[T], R],
        items: Iterable[T],
        *,
        label: str,
        group: int = 1,
        private: bool = True,
        memory: int = 0,
    ) -> Iterator[tuple[T, R]]:
        """Apply a function to items, as :meth:`Engine.map` says; ``function`` may be any callable.

        Parameters
        ----------
        function, items, label, group, private, memory
            As for :meth:`Engine.map`; the last four make no difference here.
        """
        if self.workers == 1:
            return ((item, function(item)) for item in items)
        return map_ahead(function, items, workers=self.workers, ahead=4 * self.workers)

    def share(self, array: AnyArray) -> SharedArray:
        """Return the array itself, wrapped.

        Parameters
        ----------
        array : array
            Any array.
        """
        return SharedArray(array)


HERE: Engine = LocalEngine(1)
"""This thread."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Which engine, and what its workers may use."""

    address: str = LOCAL
    """``local``, ``dask`` for a cluster on this machine, or the address of a scheduler."""
    jobs: int = 2
    """Threads, or workers of a cluster on this machine; an existing cluster has its own."""
    memory: int | None = None
    """Bytes a worker of a cluster on this machine; default an equal share of four fifths."""
    scratch: Path | None = None
    """Folder that all workers can read and write; default the system's folder for temporary files
    for a cluster on this machine, the current folder for another."""

    def check(self) -> None:
        """Refuse what is no engine.

        Raises
        ------
        UsageError
            ``unknown-engine`` or ``out-of-range``.
        """
        if self.address not in (LOCAL, DASK) and not self.address.startswith(SCHEMES):
            raise UsageError(
                f"engine {self.address}: use {LOCAL}, {DASK} or the address of a scheduler, "
                "such as tcp://HOST:8786",
                code="unknown-engine",
            )
        if self.jobs < 1:
            raise UsageError(f"{self.jobs} jobs; at least 1 is needed", code="out-of-range")


@contextmanager
def open_engine(
    address: str = LOCAL,
    *,
    jobs: int = 2,
    memory: int | None = None,
    scratch: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Engine]:
    """Open an engine for the duration of a ``with`` block.

    Parameters
    ----------
    address : str, default "local"
        ``local``, ``dask`` (a cluster on this machine), or the address of a scheduler such as
        ``tcp://HOST:8786``.
    jobs : int, default 2
        Threads, or workers of a cluster on this machine.
    memory : int, optional
        Bytes a worker of a cluster on this machine may use.
    scratch : Path, optional
        Folder that all workers can read and write; see :class:`EngineSettings`.
    tell : callable, optional
        Called with lines for the user: the address of the dashboard, and a summary at the end.

    Yields
    ------
    Engine

    Raises
    ------
    UsageError
        ``unknown-engine`` or ``out-of-range``.
    MissingExtraError
        If Dask is not installed.
    InputError
        ``engine-unreachable`` if no scheduler or worker answers.
    """
    settings = EngineSettings(address, jobs, memory, scratch)
    settings.check()
    if address == LOCAL:
        yield LocalEngine(jobs)
        return
    from sottovoce.core.cluster import open_cluster

    with open_cluster(settings, tell or (lambda line: None)) as engine:
        yield engine
