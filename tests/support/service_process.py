"""``sottovoce serve`` in a process of its own, on a port of its own, traced if wanted."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

START = """
from sottovoce.serve import connections, exchange
connections.HEAD_SECONDS = connections.STALL_SECONDS = exchange.PAUSE_SECONDS = {wait}
connections.CLOSE_SECONDS = 0.5
from sottovoce.cli import main
main()
"""
"""The command with short waiting times."""
OPEN_FILES = 1024
"""Soft limit of open files, which is what most systems give a process."""
AUDIT_HOOK = """
import os, sys
_trace = os.open({path!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def _hook(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and not isinstance(path, int):
            os.write(_trace, f"{{path}}\\n".encode())
    elif event in ("tempfile.mkstemp", "tempfile.mkdtemp", "os.rename", "os.mkdir"):
        os.write(_trace, f"{{arguments[0]}}\\n".encode())
sys.addaudithook(_hook)
"""
"""Writes down every file that Python code opens for writing, in the web process and in workers."""


@dataclass
class ServiceProcess:
    """A running service."""

    process: subprocess.Popen[str]
    port: int
    log: list[str] = field(default_factory=list)
    reading: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def end(self) -> None:
        """Ask the process to end, and end it if it does not."""
        pids = self.pids()
        traced = "strace" in Path(f"/proc/{pids[0]}/comm").read_text()
        server = pids[1] if traced else pids[0]  # strace would let it go instead of ending it
        os.kill(server, signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            os.kill(server, signal.SIGKILL)
            self.process.wait(20)
        if self.reading is not None:
            self.reading.join(20)
        if self.process.stderr is not None:
            self.process.stderr.close()

    def pids(self) -> list[int]:
        """Return the ids of the web process, the forkserver and all workers."""
        found, unseen = [], [self.process.pid]
        while unseen:
            pid = unseen.pop()
            found.append(pid)
            tasks = Path(f"/proc/{pid}/task").glob("*/children")
            unseen += [int(child) for task in tasks for child in task.read_text().split()]
        return found

    def resident(self) -> dict[int, int]:
        """Return the resident memory of each process in bytes."""
        pages = {pid: Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in self.pids()}
        return {pid: int(count) * resource.getpagesize() for pid, count in pages.items()}

    def written(self) -> int:
        """Return the bytes that its processes caused to be written to a disk."""
        counts = [Path(f"/proc/{pid}/io").read_text() for pid in self.pids()]
        return sum(int(text.partition("\nwrite_bytes: ")[2].split()[0]) for text in counts)

    def deleted_files(self) -> list[str]:
        """Return files without a name that its processes have open; memory files are not files."""
        links = [link for pid in self.pids() for link in Path(f"/proc/{pid}/fd").iterdir()]
        targets = []
        for link in links:
            try:
                targets.append(os.readlink(link))
            except OSError:  # closed meanwhile
                continue
        deleted = [name for name in targets if name.endswith("(deleted)")]
        return [name for name in deleted if not name.startswith("/memfd:")]


@contextmanager
def service_process(
    words: Sequence[str],
    *,
    wait: float = 1.0,
    audit: Path | None = None,
    strace: Path | None = None,
) -> Iterator[ServiceProcess]:
    """Run the command until the context ends.

    Parameters
    ----------
    words : sequence of str
        Options besides the port.
    wait : float
        Seconds that clients are waited for.
    audit, strace : Path, optional
        Files for the names of what is opened for writing, as Python and as the system see it.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory(prefix="sv") as folder:
        if audit is not None:
            hook = AUDIT_HOOK.format(path=str(audit))
            Path(folder, "sitecustomize.py").write_text(hook, encoding="utf-8")
            environment["PYTHONPATH"] = folder
        tracing = ["strace", "-f", "-qq", "-e", "trace=open,openat,creat", "-o", str(strace)]
        python = [sys.executable, "-c", START.format(wait=wait), "serve", "--port", "0", *words]
        process = subprocess.Popen(
            [*(tracing if strace is not None else []), *python],
            stdout=subprocess.DEVNULL,  # that of pytest is a file
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, "TMPDIR": folder},
            preexec_fn=_limit_open_files,
        )
        service = _wait_until_ready(process)
        try:
            yield service
        finally:
            service.end()


def _limit_open_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, hard), hard))


def _wait_until_ready(process: subprocess.Popen[str]) -> ServiceProcess:
    assert process.stderr is not None
    head: list[str] = []
    while not (listening := re.search(r"listening on https?://[\d.]+:(\d+)", "".join(head))):
        line = process.stderr.readline()
        assert line, f"the service did not start: {head}"
        head.append(line)
    service = ServiceProcess(process, int(listening[1]), head)
    service.reading = threading.Thread(target=service.log.extend, args=(process.stderr,))
    service.reading.start()
    return service
