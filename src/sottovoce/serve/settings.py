"""What the service is told at its start."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path

from sottovoce.core.errors import UsageError

MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the service listens and what it takes on.

    >>> Settings().loopback, Settings(host="0.0.0.0").loopback
    (True, False)
    """

    host: str = "127.0.0.1"
    port: int = 5000
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Processes that compute."""
    queue: int = 64
    """Requests that may wait for a worker; further ones are turned away."""
    seconds: float = 60.0
    """Time a request may take to arrive, and again to be computed."""
    max_bytes: int = 32 * MEGABYTE
    """Size of a request."""
    worker_bytes: int = 3072 * MEGABYTE
    """Memory that a worker may take; work that needs more is refused."""
    token: str | None = field(default=None, repr=False)
    """What clients must bring, if anything."""
    audits: Path | None = None
    """A folder of audits whose reports are shown."""

    def __post_init__(self) -> None:
        for name in ("workers", "max_bytes"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} {getattr(self, name)}; use 1 or more")
        if self.worker_bytes < 512 * MEGABYTE:
            raise UsageError(f"worker_bytes {self.worker_bytes:,}; use 512 MiB or more")
        if self.queue < 0:
            raise UsageError(f"queue {self.queue}; use 0 or more")
        if not self.seconds > 0:
            raise UsageError(f"seconds {self.seconds:g}; use more than 0")
        if self.token is not None and not (self.token.isascii() and self.token.strip()):
            raise UsageError("a token that is empty or not ASCII; use letters and digits")
        if self.audits is not None and not self.audits.is_dir():
            raise UsageError(f"audits {self.audits}: no folder; name one that holds audits")

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a name or address stands for this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
