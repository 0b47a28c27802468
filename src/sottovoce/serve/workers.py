"""Worker processes: each does one job at a time, and is replaced when it dies or takes too long.

Messages are JSON and bytes (:mod:`sottovoce.serve.messages`). A worker that is killed loses only
the request that it was computing.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import signal
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess

from sottovoce.core.errors import InputError
from sottovoce.serve.messages import Job, WarmUp, decode_job, decode_reply_header, encode_job
from sottovoce.serve.settings import Settings

PRELOADED = "sottovoce.serve.jobs"
"""Imported once, in the process that all workers are forked from."""
STARTED = b"started"
"""Sent by a worker when it has received a whole job. A worker that dies before has not begun, so
the job can be given to another one."""


@dataclass(frozen=True, slots=True)
class Document:
    """Result of a job."""

    media_type: str
    body: bytes


class RefusedError(Exception):
    """The input or a parameter is wrong.

    Parameters
    ----------
    message : str
        One line for the client.
    code : str
        Error code, as in :mod:`sottovoce.core.errors`.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class FaultError(Exception):
    """The program failed; the message is only the name of the exception's class."""


class WorkerLostError(Exception):
    """The worker died while it computed the job."""


class JobTimeoutError(Exception):
    """The job took too long, and its worker was ended."""


def start_preloading() -> None:
    """Start the process that workers are forked from, which then imports the jobs.

    Workers start it when they need it. Calling this early lets it import the jobs while the web
    process imports its own modules.

    Raises
    ------
    InputError
        With the code ``path-too-long`` if the folder for temporary files has too long a name for
        the socket of that process, about 100 characters.
    """
    multiprocessing.set_forkserver_preload([PRELOADED])
    if "forkserver" in multiprocessing.get_all_start_methods():
        try:
            forkserver.ensure_running()
        except OSError:
            raise InputError(
                f"{tempfile.gettempdir()}: no socket can be made in it, its name may be too long; "
                "set TMPDIR to a folder with a short name",
                code="path-too-long",
            ) from None


def work(connection: Connection, memory_limit: int) -> None:
    """Main loop of a worker process: answer jobs until the other side closes the connection.

    Parameters
    ----------
    connection : Connection
        Pipe to the web process.
    memory_limit : int
        Bytes of data that this process may allocate.
    """
    from sottovoce.serve.jobs import answer

    forbid_core_dumps()
    _limit_memory(memory_limit)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the web process, which ends us
    while True:
        try:
            job, count = decode_job(connection.recv_bytes())
            files = [connection.recv_bytes() for _ in range(count)]
            connection.send_bytes(STARTED)
            reply = answer(job, files)
            connection.send_bytes(json.dumps(reply.header.to_dict()).encode())
            connection.send_bytes(reply.body)
        except (EOFError, BrokenPipeError):
            return


def forbid_core_dumps() -> None:
    """Keep the system from writing the memory of this process to a disk if it crashes."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_memory(memory_limit: int) -> None:
    """Make larger allocations fail, where the system can: the job is refused, the worker lives."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    _, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
    unlimited = hard_limit == resource.RLIM_INFINITY
    limit = memory_limit if unlimited else min(memory_limit, hard_limit)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard_limit))


def _process_context() -> ForkServerContext | SpawnContext:
    if "forkserver" in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("forkserver")
    return multiprocessing.get_context("spawn")


class Worker:
    """One worker process, started with its first job.

    Parameters
    ----------
    memory_limit : int
        Bytes of data that the process may allocate.
    """

    def __init__(self, memory_limit: int) -> None:
        self._memory_limit = memory_limit
        self._context = _process_context()
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._ended = False

    @property
    def pid(self) -> int | None:
        """Id of the process, if it was started."""
        return None if self._process is None else self._process.pid

    def run(self, job: Job, files: Sequence[bytes]) -> Document:
        """Do one job in the worker process; blocks until it is done.

        Parameters
        ----------
        job : Job
            What to do.
        files : sequence of bytes
            The uploads that the job needs.

        Raises
        ------
        RefusedError
            If the input is wrong.
        FaultError
            If the program failed.
        WorkerLostError
            If the process died or could not be started.
        """
        messages = encode_job(job, files)
        try:
            connection = self._send(messages) or self._send(messages)
            if connection is None:
                raise EOFError
            header = decode_reply_header(connection.recv_bytes())
            body = connection.recv_bytes()
        except (EOFError, OSError):
            self._discard_process()
            raise WorkerLostError from None
        if header.status == "refused":
            raise RefusedError(body.decode(), header.code)
        if header.status == "fault":
            raise FaultError(body.decode())
        return Document(header.media_type, body)

    def _send(self, messages: Sequence[bytes]) -> Connection | None:
        """Send a job; None if the process had died while idle and did not receive it."""
        connection = self._connect()
        try:
            for message in messages:
                connection.send_bytes(message)
            connection.recv_bytes()
        except (EOFError, OSError):
            if self._ended:
                raise
            self._discard_process()
            return None
        return connection

    def _connect(self) -> Connection:
        if self._process is not None and self._process.exitcode is not None:
            self._discard_process()  # it died while idle: no request is lost
        if self._connection is None:
            connection, worker_end = self._context.Pipe()
            process = self._context.Process(
                target=work, args=(worker_end, self._memory_limit), daemon=True
            )
            process.start()
            worker_end.close()
            self._process, self._connection = process, connection
        if self._ended:  # by another thread, while the process was being started
            raise EOFError
        return self._connection

    def _discard_process(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._connection = None

    def end(self) -> None:
        """Kill the process, even in a job; the thread that waits for its reply cleans up."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()


class Workers:
    """All workers of a service.

    Parameters
    ----------
    settings : Settings
        Number of workers, time limit and memory limit.
    """

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.seconds
        self._memory_limit = settings.worker_bytes
        self._all = {Worker(self._memory_limit) for _ in range(settings.workers)}
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(settings.workers, "worker")

    @property
    def pids(self) -> list[int]:
        """Ids of the worker processes that were started."""
        return [worker.pid for worker in self._all if worker.pid is not None]

    async def start(self) -> None:
        """Start all workers, so that the first requests need not wait for it."""
        start_preloading()
        loop = asyncio.get_running_loop()
        await asyncio.gather(
            *(loop.run_in_executor(self._threads, worker.run, WarmUp(), ()) for worker in self._all)
        )
        for worker in self._all:
            self._free.put_nowait(worker)

    async def run(self, job: Job, files: Sequence[bytes]) -> Document:
        """Do a job as soon as a worker is free; cancelling this ends the worker.

        Parameters
        ----------
        job : Job
            What to do.
        files : sequence of bytes
            The uploads that the job needs.

        Raises
        ------
        RefusedError, FaultError, WorkerLostError
            As in :meth:`Worker.run`.
        JobTimeoutError
            If the job took longer than the time limit for each of its parts.
        """
        worker = await self._free.get()
        future = self._threads.submit(worker.run, job, files)
        try:
            document = await asyncio.wait_for(
                asyncio.wrap_future(future), self._seconds * job.parts
            )
        except (RefusedError, FaultError):
            self._free.put_nowait(worker)
            raise
        except BaseException as error:
            future.cancel()
            self._replace(worker)
            if isinstance(error, TimeoutError):
                raise JobTimeoutError from None
            raise
        self._free.put_nowait(worker)
        return document

    def _replace(self, worker: Worker) -> None:
        self._all.remove(worker)
        new_worker = Worker(self._memory_limit)
        self._all.add(new_worker)
        self._free.put_nowait(new_worker)
        worker.end()

    def close(self) -> None:
        """End all workers."""
        for worker in self._all:
            worker.end()
        self._threads.shutdown(wait=False, cancel_futures=True)
