"""What the benchmarks share: CPU time and rows of the table."""

from __future__ import annotations

import time
from collections.abc import Callable
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
