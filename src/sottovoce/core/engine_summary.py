"""Where the time of a run on a cluster went, what was moved, and what was repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sottovoce.core.remote_work import Outcome


@dataclass(slots=True)
class StageSummary:
    """The work of one kind."""

    groups: int = 0
    cpu: float = 0.0
    """Seconds of processor time on all workers."""
    wall: float = 0.0
    """Seconds of all workers."""
    sent: int = 0
    """Bytes of the items."""
    received: int = 0
    """Bytes of the results, about."""


@dataclass(slots=True)
class EngineSummary:
    """What an engine has done so far."""

    stages: dict[str, StageSummary] = field(default_factory=dict)
    by_worker: dict[str, float] = field(default_factory=dict)
    """Seconds of processor time by worker process."""
    resubmitted: int = 0
    """Groups that were submitted again after several workers were lost over them."""
    reconnected: int = 0
    """How often the scheduler was lost and found again."""
    memory: int = 0
    """Most bytes that a worker process has held."""

    def add(self, label: str, outcome: Outcome, sent: int) -> None:
        """Count a finished group.

        Parameters
        ----------
        label : str
            Kind of work.
        outcome : Outcome
            What came back.
        sent : int
            Bytes of its items.
        """
        from dask.sizeof import sizeof

        stage = self.stages.setdefault(label, StageSummary())
        stage.groups += 1
        stage.cpu += outcome.cpu
        stage.wall += outcome.wall
        stage.sent += sent
        stage.received += sizeof(outcome.results)
        self.memory = max(self.memory, outcome.memory)
        self.by_worker[outcome.worker] = self.by_worker.get(outcome.worker, 0.0) + outcome.cpu

    def lines(self) -> Iterator[str]:
        """Generate the summary for a person, a line per kind of work."""
        for label, stage in self.stages.items():
            moved = (stage.sent + stage.received) / 1e6
            yield (
                f"{label}: {stage.cpu:,.1f} CPU s in {stage.groups:,} groups, {moved:,.1f} MB moved"
            )
        if self.by_worker:
            shares = ", ".join(f"{cpu:,.0f} s" for cpu in sorted(self.by_worker.values())[::-1][:8])
            more = len(self.by_worker) - 8
            also = f" and {more} more" if more > 0 else ""
            yield (
                f"CPU time of {len(self.by_worker)} worker processes: {shares}{also}; "
                f"the largest held {self.memory / 1e9:,.2f} GB"
            )
        if self.resubmitted or self.reconnected:
            yield (
                f"repeated: {self.resubmitted} groups after lost workers; the scheduler was lost "
                f"{self.reconnected} times"
            )
