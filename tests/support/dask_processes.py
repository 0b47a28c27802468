"""A Dask scheduler and workers as processes of their own, whose logs can be read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sottovoce.core.cluster import KEPT_MEMORY

ENVIRONMENT = {
    "DASK_LOGGING__DISTRIBUTED": "debug",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "10",
    **{name: str(value) for name, value in KEPT_MEMORY.items()},
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "500ms",
    "DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE": "False",
    "POLARS_MAX_THREADS": "1",
}


class Processes:
    """A scheduler and its workers, which write to files in a folder."""

    def __init__(self, folder: Path, port: int, workers: int, memory: str) -> None:
        self.folder, self.port, self.memory = folder, port, memory
        self.logs: list[Path] = []
        self.scheduler = self._start_scheduler()
        self.workers = [self._start_worker() for _ in range(workers)]

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def kill_worker_process(self, after: float = 0.0) -> bool:
        """Kill -9 one process that has computed for so many seconds; its nanny starts another."""
        for nanny in self.workers:
            children = [child for child in _children(nanny.pid) if _cpu_seconds(child) >= after]
            if children:
                os.kill(children[-1], signal.SIGKILL)
                return True
        return False

    def restart_dead_workers(self) -> None:
        """Start nannies anew that have ended, as a supervisor would."""
        for number, nanny in enumerate(self.workers):
            if nanny.poll() is not None:
                self.workers[number] = self._start_worker()

    def restart_scheduler(self) -> None:
        """Kill -9 the scheduler, and start it and the workers anew, as a supervisor would."""
        self.scheduler.kill()
        self.scheduler.wait()
        self._stop(self.workers)
        self.scheduler = self._start_scheduler()
        self.workers = [self._start_worker() for _ in self.workers]

    def close(self) -> None:
        self._stop(self.workers)
        self._stop([self.scheduler])

    def _stop(self, processes: list[subprocess.Popen[bytes]]) -> None:
        for process in processes:
            for child in _children(process.pid):
                _kill(child)
            process.kill()
            process.wait()

    def _start_scheduler(self) -> subprocess.Popen[bytes]:
        return self._start(
            "distributed.cli.dask_scheduler",
            "--host=127.0.0.1",
            f"--port={self.port}",
            f"--dashboard-address=127.0.0.1:{self.port + 1}",
        )

    def _start_worker(self) -> subprocess.Popen[bytes]:
        return self._start(
            "distributed.cli.dask_worker",
            self.address,
            "--nthreads=1",
            "--nworkers=1",
            f"--memory-limit={self.memory}",
            f"--local-directory={self.folder}",
            "--no-dashboard",
        )

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"process-{len(self.logs)}.log"
        self.logs.append(log)
        with log.open("wb") as output:
            return subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | ENVIRONMENT,
            )


@contextmanager
def dask_processes(
    folder: Path, port: int, *, workers: int = 1, memory: str = "2GB"
) -> Iterator[Processes]:
    processes = Processes(folder, port, workers, memory)
    try:
        yield processes
    finally:
        processes.close()


def _children(pid: int) -> list[int]:
    """Processes that any thread of a process has started to compute."""
    listed: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            listed += map(int, file.read_text().split())
    return [child for child in listed if b"spawn_main" in _command(child)]


def _cpu_seconds(pid: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        time.sleep(0)
