"""Settings of the service: where it listens and which limits it keeps."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean

MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Settings:
    """Address and limits of the service; wrong values are refused with their option.

    >>> Settings().loopback, Settings(host="0.0.0.0", token="x7").loopback
    (True, False)
    """

    host: str = "127.0.0.1"
    """Name or address to listen on."""
    port: int = 5000
    """Port to listen on; 0 takes any free port."""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Number of worker processes."""
    queue: int = 64
    """Number of requests that may wait for a worker; further ones are answered with 429."""
    seconds: float = 60.0
    """Time limit for receiving a request, and again for computing its answer."""
    connections: int = 512
    """Connections open at once. Beyond it the one that has sent nothing for longest is closed."""
    max_bytes: int = 32 * MEGABYTE
    """Largest size of a request."""
    upload_bytes: int = 512 * MEGABYTE
    """Bytes of all requests in memory together; requests beyond it are answered with 429."""
    worker_bytes: int = 3072 * MEGABYTE
    """Memory limit of a worker; a job that needs more is refused."""
    token: str | None = field(default=None, repr=False)
    """Token that clients must send; None lets every client in."""
    insecure: bool = False
    """Whether other machines may use the service without a token."""
    certificate: Path | None = None
    """Certificate chain (PEM) for TLS; None for a service without encryption."""
    key: Path | None = None
    """Private key (PEM) of the certificate; None if it is in the same file."""
    audits: Path | None = None
    """Folder of audits whose reports are shown."""
    pools: Mapping[str, Path] = field(default_factory=dict)
    """Pools of voices by the name that clients choose them by."""

    def __post_init__(self) -> None:
        self._check_limits()
        self._check_access()
        if self.audits is not None and not self.audits.is_dir():
            raise UsageError(
                f"--audits {self.audits}: not a folder; name a folder that holds audits",
                code="not-found",
            )

    def _check_limits(self) -> None:
        if self.workers < 1:
            raise _out_of_range(f"--workers {self.workers}; use 1 or more")
        if self.max_bytes < 1:
            raise _out_of_range(f"--max-mb {_megabytes(self.max_bytes)}; use 1 or more")
        if self.worker_bytes < 512 * MEGABYTE:
            raise _out_of_range(f"--memory-mb {_megabytes(self.worker_bytes)}; use 512 or more")
        if self.queue < 0:
            raise _out_of_range(f"--queue {self.queue}; use 0 or more")
        if not self.seconds > 0:
            raise _out_of_range(f"--seconds {self.seconds:g}; use more than 0")
        least = self.workers + self.queue + 1
        if self.connections < least:
            raise _out_of_range(
                f"--connections {self.connections}; use {least} or more, one for every request "
                "that is computed or waits"
            )
        if self.upload_bytes < self.max_bytes:
            raise _out_of_range(
                f"--uploads-mb {_megabytes(self.upload_bytes)}; use {_megabytes(self.max_bytes)} "
                "or more, the value of --max-mb"
            )

    def _check_access(self) -> None:
        if self.token is not None and not (self.token.isascii() and self.token.strip()):
            raise UsageError(
                "the token is empty or not ASCII; use letters and digits", code="wrong-token"
            )
        if not (self.loopback or self.token or self.insecure):
            raise UsageError(
                f"{self.host} can be reached from other machines: name a --token-file, or say "
                "--insecure to let everybody in",
                code="insecure",
            )
        if self.key is not None and self.certificate is None:
            raise UsageError(
                f"--certificate-key {self.key}: needs a certificate; name --certificate too",
                code="bad-usage",
            )

    def pool(self, name: str) -> str:
        """Return the path of a pool of voices.

        Parameters
        ----------
        name : str
            The name that a client chose.

        Raises
        ------
        UsageError
            If no pool has that name (``unknown-name``), or there are none (``not-allowed``).
        """
        if not self.pools:
            raise UsageError(
                "no pools of voices can be chosen here; the service must be started with --pool "
                "NAME=FILE",
                code="not-allowed",
            )
        if name not in self.pools:
            raise UsageError(did_you_mean("pool", name, list(self.pools)), code="unknown-name")
        return str(self.pools[name])

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return is_loopback(self.host)


def _megabytes(size: int) -> str:
    """A number of bytes as the options have it."""
    return f"{size / MEGABYTE:g}"


def _out_of_range(message: str) -> UsageError:
    return UsageError(message, code="out-of-range")


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine only.

    Parameters
    ----------
    host : str
        ``localhost`` or an IP address; an IPv6 address may be in brackets.
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
