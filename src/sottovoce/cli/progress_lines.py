"""Progress where standard error is no terminal: a line now and then, in a log for example."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

INTERVAL = 20.0
"""Seconds between two lines, and before the first one: a short run prints none."""


def _write(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@dataclass
class ProgressLines:
    """Prints the stage, the share that is done and the time left."""

    write: Callable[[str], None] = _write
    clock: Callable[[], float] = time.monotonic
    _last: float = field(init=False)
    _stage: str | None = None
    _stage_start: float = 0.0
    _printed: bool = False

    def __post_init__(self) -> None:
        self._last = self.clock()

    def show(self, name: str, done: int, total: int) -> None:
        """Print a line if the last one is long ago, or a stage begins in a long run.

        Parameters
        ----------
        name : str
            Name of the stage; what follows `` · `` may change within a stage.
        done, total : int
            Finished steps of the stage, and all of its steps.
        """
        now = self.clock()
        stage = name.partition(" · ")[0]
        began = stage != self._stage
        if began:
            self._stage, self._stage_start = stage, now
        if now - self._last >= INTERVAL or (began and self._printed):
            self._last, self._printed = now, True
            self.write(_line(name, done, total, now - self._stage_start))


def _line(name: str, done: int, total: int, seconds: float) -> str:
    """Write a stage with its share and, after a while, the time left."""
    share = done / total if total > 0 else 0.0
    line = f"{name}: {100 * share:.0f} %"
    if 0 < share < 1 and seconds >= 1:
        left = round(seconds * (1 - share) / share)
        line += f", about {left // 3600}:{left // 60 % 60:02d}:{left % 60:02d} left"
    return line
