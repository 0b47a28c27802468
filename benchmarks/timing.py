"""What the benchmarks share: CPU time and rows of the table."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HEAD = "| what | ours | peer | its time | ratio | aim |\n|---|---|---|---|---|---|"


def cpu(work: Callable[[], Any], repeats: int = 3) -> float:
    """Least CPU seconds of ``work``."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def row(what: str, ours: float, peer_name: str, peer: float, ratio: str, limit: str) -> None:
    print(f"| {what} | {ours:.3f} s | {peer_name} | {peer:.3f} s | {ratio} | {limit} |", flush=True)


def peak_mib() -> float:
    """Highest resident memory of this process in MiB, since it started its program.

    ``ru_maxrss`` is no measure of it: on Linux a process inherits that of its parent.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise OSError("/proc/self/status has no VmHWM")


def cpu_of_command(command: list[str], repeats: int = 5) -> float:
    """Least CPU seconds of a program, from its start to its end; its output is dropped."""
    drop = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    best = float("inf")
    for _ in range(repeats):
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=drop)
        _, status, usage = os.wait4(pid, 0)
        if status:
            raise RuntimeError(f"{command} failed")
        best = min(best, usage.ru_utime + usage.ru_stime)
    return best


def child(script: str, work: str, folder: Path, repeats: int = 3) -> tuple[float, float]:
    """CPU seconds and peak memory of a part in a process of its own (the least and the most)."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, script, work, str(folder)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, peak = map(float, out.split())
        runs.append((seconds, peak))
    return min(seconds for seconds, _ in runs), max(peak for _, peak in runs)


def report_child(work: Callable[[], Any]) -> None:
    """Print what :func:`child` reads."""
    seconds = cpu(work, 1)
    print(seconds, peak_mib())
