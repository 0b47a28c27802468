"""What happens on a worker of a cluster: versions are checked, work is loaded, run and timed.

A task is an opaque object: whatever Dask prints, logs or shows of it is a number. Errors are
returned as values, because Dask logs the arguments and the message of what a task raises. Work that
may hold names or words lies in a private file of the scratch folder. Its SHA-256 comes with the
task, so nothing is unpickled that the client of this run has not written.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import resource
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sottovoce.core import errors
from sottovoce.core.errors import InputError, SottovoceError

PACKAGES = (
    "sottovoce",
    "dask",
    "distributed",
    "numpy",
    "scipy",
    "polars",
    "onnxruntime",
    "soundfile",
    "soxr",
    "pyworld-prebuilt",
)
"""Packages whose versions results depend on; workers must have those of the client."""

Versions = tuple[tuple[str, str], ...]


@cache
def installed_versions() -> Versions:
    """Return the versions of Python and of :data:`PACKAGES` in this process."""
    python = ".".join(platform.python_version_tuple()[:2])
    return (("python", python), *((name, _version(name)) for name in PACKAGES))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


class Payload:
    """Pickled work, inline or in a private file; its ``repr`` says nothing about it.

    Parameters
    ----------
    content : bytes
        Pickled by the client.
    file : Path, optional
        Where to put it; without one it travels inline.
    """

    __slots__ = ("digest", "file", "inline", "size")

    def __init__(self, content: bytes, file: Path | None = None) -> None:
        self.digest = hashlib.sha256(content).hexdigest()
        self.size = len(content)
        self.file = None if file is None else str(file)
        self.inline = content if file is None else None
        if file is not None:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as output:
                output.write(content)

    def __repr__(self) -> str:
        return "Payload()"

    def remove(self) -> None:
        """Delete the file, if there is one."""
        if self.file is not None:
            Path(self.file).unlink(missing_ok=True)

    def load(self) -> Any:
        """Unpickle the work.

        Raises
        ------
        InputError
            ``scratch-unreachable`` if the file cannot be read here, ``damaged`` if it is not what
            the client wrote.
        """
        content = self.inline
        if content is None:
            content = self._read()
        if hashlib.sha256(content).hexdigest() != self.digest:
            raise InputError(
                f"{self.file}: not what the client of this run has written; run it again",
                code="damaged",
            )
        return pickle.loads(content)  # noqa: S301 - the digest came with the task itself

    def _read(self) -> bytes:
        path = Path(str(self.file))
        try:
            return path.read_bytes()
        except OSError as error:
            raise InputError(
                f"{path}: a worker on {platform.node()} cannot read it ({error.strerror}); name a "
                "folder that all workers share with --scratch",
                code="scratch-unreachable",
            ) from None


@dataclass(frozen=True, slots=True, repr=False)
class Task:
    """A group of items for one worker."""

    run: str
    """Of which client: functions are not shared between runs."""
    number: int
    function: Payload
    items: Payload
    versions: Versions
    memory: int = 0
    """Bytes that an item needs."""

    def __repr__(self) -> str:
        return f"Task({self.number})"


@dataclass(frozen=True, slots=True, repr=False)
class Failure:
    """An error of a task, in parts that can be sent."""

    kind: str
    """Class in :mod:`sottovoce.core.errors`, or of Python."""
    message: str
    code: str = ""
    trace: str = ""
    """Where it happened, for errors that are faults of the program."""

    @classmethod
    def of(cls, error: Exception) -> Failure:
        """Take an error apart.

        Parameters
        ----------
        error : Exception
            What a task raised.
        """
        if isinstance(error, SottovoceError):
            return cls(type(error).__name__, str(error), error.code)
        return cls(type(error).__name__, str(error), trace=traceback.format_exc())

    def error(self) -> Exception:
        """Put the error together again."""
        if self.code:
            kind = getattr(errors, self.kind, InputError)
            known = kind if kind is not errors.MissingExtraError else SottovoceError
            return known(self.message, code=self.code)
        if self.kind == "MemoryError":
            return MemoryError(self.message)
        return RuntimeError(f"{self.kind} on a worker: {self.message}\n{self.trace}")


@dataclass(frozen=True, slots=True, repr=False)
class Outcome:
    """What a task gives back: a result per item or a failure, and what it took."""

    results: tuple[Any, ...]
    failure: Failure | None
    cpu: float
    """Seconds of processor time."""
    wall: float
    """Seconds."""
    worker: str
    """Host and process."""
    memory: int = 0
    """Most bytes that the process has held so far."""


def run_task(task: Task) -> Outcome:
    """Apply the function of a task to its items; errors are returned, not raised.

    Parameters
    ----------
    task : Task
        Made by the client.
    """
    cpu, wall = time.process_time(), time.perf_counter()
    results: tuple[Any, ...] = ()
    failure = None
    try:
        check_versions(task.versions)
        with _ROOM.taken(task.memory, _memory_limit()):
            function = _load_function(task.run, task.function)
            results = tuple(function(item) for item in task.items.load())
    except Exception as error:
        failure = Failure.of(error)
    return Outcome(
        results,
        failure,
        time.process_time() - cpu,
        time.perf_counter() - wall,
        f"{platform.node()}:{os.getpid()}",
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


class _Room:
    """Memory of this process that tasks share: threads wait until there is room for theirs."""

    def __init__(self) -> None:
        self._used = 0
        self._freed = threading.Condition()

    @contextmanager
    def taken(self, size: int, limit: int | None) -> Iterator[None]:
        """Wait for room, and keep it; a task that is alone always has it."""
        with self._freed:
            self._freed.wait_for(lambda: not self._used or not limit or self._used + size <= limit)
            self._used += size
        try:
            yield
        finally:
            with self._freed:
                self._used -= size
                self._freed.notify_all()


_ROOM = _Room()


def _memory_limit() -> int | None:
    """Bytes that the worker of this thread may use; None without a limit or a worker."""
    from distributed import get_worker

    try:
        limit: int | None = get_worker().memory_manager.memory_limit
    except ValueError:
        return None
    return limit


def check_versions(expected: Versions) -> None:
    """Refuse to work with other versions than the client's.

    Parameters
    ----------
    expected : tuple of (str, str)
        :func:`installed_versions` of the client.

    Raises
    ------
    InputError
        ``version-mismatch``, with the packages that differ.
    """
    here = dict(installed_versions())
    differing = [
        f"{name} {here.get(name, 'none')} instead of {wanted}"
        for name, wanted in expected
        if here.get(name) != wanted
    ]
    if differing:
        raise InputError(
            f"a worker on {platform.node()} has {', '.join(differing)}; install the same versions "
            "there as here, since results may depend on them",
            code="version-mismatch",
        )


KEPT_FUNCTIONS = 8
"""Kinds of work alternate: between two attacks of an audit the speech of the next anonymiser is
learnt, made, embedded in several representations and transcribed."""
_FUNCTIONS: dict[tuple[str, str], Callable[[Any], Any]] = {}
"""The functions that this process used last, by run and digest: networks are loaded, and linkage
functions trained, once."""
_LOADING = threading.Lock()


def _load_function(run: str, payload: Payload) -> Callable[[Any], Any]:
    key = (run, payload.digest)
    with _LOADING:
        function = _FUNCTIONS.pop(key, None) or payload.load()
        _FUNCTIONS[key] = function  # the last one used is the last one in the table
        for oldest in list(_FUNCTIONS)[:-KEPT_FUNCTIONS]:
            del _FUNCTIONS[oldest]
    return function


def forget_functions(run: str) -> None:
    """Drop the functions of a run, which hold secrets and voices, from a worker that goes on.

    Parameters
    ----------
    run : str
        The run that has ended.
    """
    with _LOADING:
        for key in [key for key in _FUNCTIONS if key[0] == run]:
            del _FUNCTIONS[key]
