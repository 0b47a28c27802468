"""Worker processes: one job each at a time, replaced when they are lost or take too long.

A request and its answer are a line of JSON and bytes; nothing is pickled. A worker that is killed,
by anybody, costs the one request it was at.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from sottovoce.serve.settings import Settings

PRELOADED = "sottovoce.serve.jobs"
"""Imported once, in the process that all workers are forked from."""
BEGUN = b"begun"
"""What a worker says when it has all of a job: if it is lost before, another can do it."""


class Answer(NamedTuple):
    """What a job gives back."""

    kind: str
    """Its media type."""
    body: bytes


class RefusedError(Exception):
    """The input's fault, in one line."""


class FaultError(Exception):
    """A fault of the program; only its kind is told."""


class LostError(Exception):
    """The worker died at its work."""


class SlowError(Exception):
    """The job took too long and was ended."""


def work(connection: Connection, memory: int) -> None:
    """Answer jobs within so many bytes of memory until the other side is gone."""
    from sottovoce.serve.jobs import answer

    _limit(memory)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which ends us
    while True:
        try:
            asked = json.loads(connection.recv_bytes())
            files = [connection.recv_bytes() for _ in range(asked["files"])]
            connection.send_bytes(BEGUN)
            status, kind, body = answer(asked["job"], files, asked["parameters"])
            connection.send_bytes(json.dumps([status, kind]).encode())
            connection.send_bytes(body)
        except (EOFError, BrokenPipeError):
            return


def _limit(memory: int) -> None:
    """Let allocations beyond fail, where the system can do so: the job is refused, others go on."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = memory if most == resource.RLIM_INFINITY else min(memory, most)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


class Worker:
    """One process, started when it is first asked."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        methods = multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context(
            "forkserver" if "forkserver" in methods else "spawn"
        )
        self._process: Any = None
        self._connection: Connection | None = None
        self._ended = False

    @property
    def pid(self) -> int | None:
        """Its process, if started."""
        return None if self._process is None else self._process.pid

    def ask(self, job: str, files: Sequence[bytes], parameters: dict[str, Any]) -> Answer:
        """Do one job there; blocks."""
        asked = {"job": job, "files": len(files), "parameters": parameters}
        parts = [json.dumps(asked).encode(), *files]
        try:
            connection = self._begun(parts) or self._begun(parts)
            if connection is None:
                raise EOFError
            status, kind = json.loads(connection.recv_bytes())
            body = connection.recv_bytes()
        except (EOFError, OSError):
            self._clear()
            raise LostError from None
        if status == "done":
            return Answer(kind, body)
        raise {"refused": RefusedError, "fault": FaultError}[status](body.decode())

    def _begun(self, parts: Sequence[bytes]) -> Connection | None:
        """The process with the job, if it took it on: one that died while idle does not."""
        connection = self._ready()
        try:
            for part in parts:
                connection.send_bytes(part)
            connection.recv_bytes()
        except (EOFError, OSError):
            if self._ended:
                raise
            self._clear()
            return None
        return connection

    def _ready(self) -> Connection:
        if self._process is not None and self._process.exitcode is not None:
            self._clear()  # it died while idle: nobody's request is lost
        if self._connection is None:
            ours, theirs = self._context.Pipe()
            process = self._context.Process(target=work, args=(theirs, self._memory), daemon=True)
            process.start()
            theirs.close()
            self._process, self._connection = process, ours
        if self._ended:  # while it was being started
            raise EOFError
        return self._connection

    def _clear(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._connection = None

    def end(self) -> None:
        """End it now, whatever it is at; the thread that waits for its answer clears up."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()


class Workers:
    """All workers of a service."""

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.seconds
        self._memory = settings.worker_bytes
        self._all = {Worker(self._memory) for _ in range(settings.workers)}
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(settings.workers, "worker")

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [worker.pid for worker in self._all if worker.pid is not None]

    async def start(self) -> None:
        """Start all, so that the first requests do not wait for it."""
        multiprocessing.set_forkserver_preload([PRELOADED])
        loop = asyncio.get_running_loop()
        await asyncio.gather(
            *(loop.run_in_executor(self._threads, one.ask, "warm", (), {}) for one in self._all)
        )
        for worker in self._all:
            self._free.put_nowait(worker)

    async def run(self, job: str, files: Sequence[bytes], parameters: dict[str, Any]) -> Answer:
        """Do a job when a worker is free; if we are cancelled, the worker is ended."""
        worker = await self._free.get()
        asked = self._threads.submit(worker.ask, job, files, parameters)
        try:
            answer = await asyncio.wait_for(asyncio.wrap_future(asked), self._seconds)
        except (RefusedError, FaultError):
            self._free.put_nowait(worker)
            raise
        except BaseException as error:
            asked.cancel()
            self._replace(worker)
            if isinstance(error, TimeoutError):
                raise SlowError from None
            raise
        self._free.put_nowait(worker)
        return answer

    def _replace(self, worker: Worker) -> None:
        self._all.remove(worker)
        new = Worker(self._memory)
        self._all.add(new)
        self._free.put_nowait(new)
        worker.end()

    def close(self) -> None:
        """End all workers."""
        for worker in self._all:
            worker.end()
        self._threads.shutdown(wait=False, cancel_futures=True)
