"""The engine that runs work on the workers of a Dask cluster.

Groups of items are submitted a bounded number at a time and taken in their order. The client keeps
every group until its result is there, so a worker that is lost, and even a scheduler that is
started anew, costs repeated work only.
"""

from __future__ import annotations

import io
import logging
import pickle
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sottovoce.core.engine import SharedArray
from sottovoce.core.engine_summary import EngineSummary
from sottovoce.core.errors import InputError, UsageError, first_line
from sottovoce.core.remote_files import remote_address
from sottovoce.core.remote_work import (
    Outcome,
    Payload,
    Task,
    forget_functions,
    installed_versions,
    run_task,
)
from sottovoce.core.types import AnyArray

T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 120.0
"""Seconds to wait for workers, and for a scheduler that was lost."""
CONNECTING = 20.0
"""Seconds to wait for a scheduler at the start."""
IN_FLIGHT = 6
"""Groups in progress or finished but not taken, a thread of the workers."""
RECOUNT = 2.0
"""Seconds after which the threads of the workers are counted again."""
RESUBMISSIONS = 2
"""How often a group is submitted again after the scheduler has given it up."""
RECONNECTIONS = 10
"""How often a scheduler may be lost while a group is waited for."""
LARGEST_MESSAGE = 1 << 18
"""Bytes of a function that are sent with each of its groups, if a file can be had instead."""


@dataclass(slots=True)
class _Group:
    """Items that were submitted together."""

    items: tuple[Any, ...]
    task: Task
    future: Any = None
    """None if the scheduler was lost when it was submitted."""
    client: Any = None
    """The client that the future belongs to."""
    resubmitted: int = 0
    reconnected: int = 0


class _WorkPickler(pickle.Pickler):
    """Pickles relative paths as absolute ones: workers may have another current folder."""

    def reducer_override(self, value: object) -> Any:
        if isinstance(value, Path) and not value.is_absolute() and not remote_address(value):
            return Path, (str(value.absolute()),)
        return NotImplemented


class DaskEngine:
    """A client of a Dask cluster.

    Parameters
    ----------
    address : str
        Of the scheduler.
    scratch : Path
        Private folder that the workers can read.
    same_machine : bool, default False
        Whether they surely can: large work then goes through it even if it is not private.

    Raises
    ------
    InputError
        ``engine-unreachable`` if no scheduler answers.
    """

    remote = True

    def __init__(self, address: str, scratch: Path, *, same_machine: bool = False) -> None:
        self.address = address
        self.same_machine = same_machine
        self.scratch = scratch
        self.summary = EngineSummary()
        self._run = uuid.uuid4().hex[:8]
        self._numbers = count()
        self._thread_count, self._counted_at = 0, -RECOUNT
        # tracebacks of a lost scheduler; it is waited for, or the run ends with one line
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self._client = self._connect(CONNECTING)
        self._wait_for_workers(PATIENCE)

    def introduction(self) -> str:
        """Return a line on the cluster: its workers, their memory and the dashboard's address."""
        workers = self._workers()
        limits = [worker["memory_limit"] for worker in workers if worker["memory_limit"]]
        memory = f" with {min(limits) / 1e9:.1f} GB each" if limits else ""
        noun = "worker" if len(workers) == 1 else "workers"
        return (
            f"{len(workers)} {noun}{memory}, {self.threads()} threads, at {self.address}; "
            f"dashboard: {self._client.dashboard_link}"
        )

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
        """Apply a function to items on the workers, as :meth:`.engine.Engine.map` says.

        Parameters
        ----------
        function, items, label, group, private, memory
            As for :meth:`.engine.Engine.map`.
        """
        self._check_memory(memory)
        payload = self._payload(function, private)
        groups = self._groups(items, payload, group, private, memory)
        waiting: deque[_Group] = deque()
        try:
            while True:
                for following in islice(groups, max(0, self._window() - len(waiting))):
                    waiting.append(following)
                    self._submit(following, label)
                if not waiting:
                    return
                outcome = self._result(waiting, label)
                finished = waiting.popleft()
                finished.task.items.remove()
                self.summary.add(label, outcome, finished.task.items.size)
                if outcome.failure is not None:
                    raise outcome.failure.error()
                yield from zip(finished.items, outcome.results, strict=True)
        finally:
            payload.remove()
            for abandoned in waiting:
                abandoned.task.items.remove()
                with suppress(Exception):  # the scheduler may be lost
                    abandoned.future.cancel()

    def share(self, array: AnyArray) -> SharedArray:
        """Refer to a memory-mapped file, or write the array to the scratch folder.

        Parameters
        ----------
        array : array
            Any array.
        """
        mapped = SharedArray.mapped(array)
        if mapped is not None:
            return mapped
        file = self.scratch / f"array-{next(self._numbers)}.npy"
        np.save(file, np.ascontiguousarray(array))
        file.chmod(0o600)
        mapped = SharedArray.mapped(np.load(file, mmap_mode="r"))
        assert mapped is not None  # noqa: S101 - np.load has just mapped the whole file
        return mapped

    def threads(self) -> int:
        """Return how many threads the workers have together."""
        return sum(int(worker["nthreads"]) for worker in self._workers())

    def close(self) -> None:
        """Leave the cluster; its workers forget the functions, secrets and voices of this run."""
        with suppress(Exception):  # the scheduler, or a worker, may be lost
            self._client.run(forget_functions, self._run, on_error="ignore")
        self._close_client(self._client)

    # ------------------------------------------------------------------------------- submitting

    def _payload(self, content: object, private: bool) -> Payload:
        buffer = io.BytesIO()
        try:
            _WorkPickler(buffer, protocol=5).dump(content)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UsageError(
                f"the engine {self.address} cannot send this work ({first_line(error)}); use "
                "--engine local",
                code="not-picklable",
            ) from None
        in_file = private or (self.same_machine and buffer.tell() > LARGEST_MESSAGE)
        file = self.scratch / f"work-{next(self._numbers)}" if in_file else None
        try:
            return Payload(buffer.getvalue(), file)
        except OSError as error:
            raise InputError(
                f"{file}: cannot be written ({error.strerror}); free some space or name another "
                "folder with --scratch",
                code="not-writable",
            ) from None

    def _groups(
        self, items: Iterable[Any], function: Payload, size: int, private: bool, memory: int
    ) -> Iterator[_Group]:
        remaining = iter(items)
        while chosen := tuple(islice(remaining, size)):
            payload = self._payload(chosen, private)
            number = next(self._numbers)
            task = Task(self._run, number, function, payload, installed_versions(), memory)
            yield _Group(chosen, task)

    def _submit(self, group: _Group, label: str) -> None:
        from distributed.client import ClosedClientError

        word = "".join(letter if letter.isalnum() else "_" for letter in label)
        key = f"{word}-{self._run}{group.task.number:08d}{next(self._numbers):08d}"
        group.client = self._client
        try:
            group.future = self._client.submit(run_task, group.task, key=key, pure=False)
        except (ClosedClientError, OSError, RuntimeError, ValueError):
            group.future = None  # the scheduler is lost; noticed by _result

    def _submit_to_current_client(self, waiting: deque[_Group], label: str) -> None:
        """Submit again what was submitted before the scheduler was lost."""
        for group in waiting:
            if group.client is not self._client:
                self._submit(group, label)

    def _window(self) -> int:
        """How many groups may be in progress; workers that come or go are noticed after a while."""
        if time.monotonic() > self._counted_at + RECOUNT:
            self._thread_count = self.threads() or self._thread_count
            self._counted_at = time.monotonic()
        return IN_FLIGHT * max(1, self._thread_count)

    # --------------------------------------------------------------------------------- waiting

    def _result(self, waiting: deque[_Group], label: str) -> Outcome:
        """The outcome of the first group, however many workers or schedulers are lost meanwhile."""
        from distributed import KilledWorker
        from distributed.client import ClosedClientError, FutureCancelledError
        from distributed.comm import CommClosedError

        first = waiting[0]
        alone_since: float | None = None
        while True:
            if first.client is not self._client:  # work inside of this one has connected anew
                self._submit_to_current_client(waiting, label)
            if first.future is None:
                self._reconnect(waiting, label)
                continue
            try:
                outcome: Outcome = first.future.result(timeout=5)
                return outcome
            except KilledWorker:
                self._submit_again(first, label)
            except (ClosedClientError, FutureCancelledError, CommClosedError):
                self._reconnect(waiting, label)
            except TimeoutError:
                if self._client.status != "running":
                    self._reconnect(waiting, label)
                elif any(worker.get("status") != "paused" for worker in self._workers()):
                    alone_since = None
                else:
                    alone_since = alone_since or time.monotonic()
                    if time.monotonic() - alone_since > PATIENCE:
                        raise self._without_workers() from None

    def _submit_again(self, group: _Group, label: str) -> None:
        """Give a group that several workers were lost over another chance."""
        if group.resubmitted == RESUBMISSIONS:
            limits = [worker["memory_limit"] for worker in self._workers()]
            memory = f" of {min(limits) / 1e6:,.0f} MB" if limits and min(limits) else ""
            raise InputError(
                f"{label}: group {group.task.number} ended every worker{memory} that tried it, "
                "probably for lack of memory; give the workers more (--worker-memory) and run it "
                "again",
                code="workers-lost",
            )
        group.resubmitted += 1
        self.summary.resubmitted += 1
        self._submit(group, label)

    def _reconnect(self, waiting: deque[_Group], label: str) -> None:
        """Wait for the scheduler, and submit again whatever it had not finished."""
        waiting[0].reconnected += 1
        if waiting[0].reconnected > RECONNECTIONS:
            raise InputError(
                f"{self.address}: the scheduler was lost {RECONNECTIONS} times over one part of "
                "the work; give it more memory and run the same command again: what is finished "
                "is kept",
                code="engine-unreachable",
            )
        self._close_client(self._client)
        self._client = self._connect(PATIENCE)
        with suppress(OSError):  # the scheduler is lost again, which _result will notice
            self._wait_for_workers(PATIENCE)
        self.summary.reconnected += 1
        self._submit_to_current_client(waiting, label)

    def _connect(self, patience: float) -> Any:
        from distributed import Client

        deadline = time.monotonic() + patience
        while True:
            try:
                return Client(
                    self.address,
                    timeout=5,
                    set_as_default=False,
                    name="sottovoce",
                    direct_to_workers=self.same_machine,  # else results are copied once more
                )
            except (OSError, TimeoutError, ValueError) as error:
                if time.monotonic() > deadline or isinstance(error, ValueError):
                    raise InputError(
                        f"{self.address}: no scheduler answers; start it and run the same command "
                        "again: what is finished is kept",
                        code="engine-unreachable",
                    ) from None
                time.sleep(0.5)
            except TypeError as error:  # Dask has no settings of certificates
                raise InputError(
                    f"{self.address}: {first_line(error)}; name certificate, key and authority in "
                    "the settings of Dask (distributed.comm.tls)",
                    code="engine-unreachable",
                ) from None

    def _wait_for_workers(self, patience: float) -> None:
        try:
            self._client.wait_for_workers(1, timeout=patience)
        except TimeoutError:
            raise self._without_workers() from None

    def _without_workers(self) -> InputError:
        return InputError(
            f"{self.address}: no worker for {PATIENCE:.0f} s; start some and run the same command "
            "again: what is finished is kept",
            code="engine-unreachable",
        )

    def _check_memory(self, needed: int) -> None:
        limits = [worker["memory_limit"] for worker in self._workers() if worker["memory_limit"]]
        if limits and min(limits) < needed:
            raise InputError(
                f"{self.address}: a worker has {min(limits) / 1e6:,.0f} MB, and this needs "
                f"{needed / 1e6:,.0f} MB; give the workers more (--worker-memory)",
                code="too-little-memory",
            )

    def _workers(self) -> list[dict[str, Any]]:
        try:
            info = self._client.scheduler_info(n_workers=-1)
        except (OSError, RuntimeError, ValueError):  # the scheduler is lost
            return []
        return list(info.get("workers", {}).values())

    def _close_client(self, client: Any) -> None:
        with suppress(Exception):
            client.close(timeout=2)
