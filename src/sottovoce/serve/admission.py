"""Who may come in: places for requests that are computed or wait, and memory for uploads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.serve.settings import Settings


class BusyError(Exception):
    """All places, or all memory for uploads, are taken."""


class Admission:
    """Places and memory that are in use.

    A request takes a place when it has arrived in full, so that slow uploads keep nobody from a
    worker.

    Parameters
    ----------
    settings : Settings
        Number of workers, length of the queue, and memory for uploads.

    Examples
    --------
    >>> admission = Admission(Settings(workers=1, queue=0))
    >>> with admission.place():
    ...     admission.full
    True
    """

    def __init__(self, settings: Settings) -> None:
        self._places = settings.workers + settings.queue
        self._most_bytes = settings.upload_bytes
        self.active = 0
        """Number of requests that are being computed or wait for a worker."""
        self.held_bytes = 0
        """Bytes of all requests that are in memory."""

    @property
    def full(self) -> bool:
        """Whether no place is left."""
        return self.active >= self._places

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place while the context lasts.

        Raises
        ------
        BusyError
            If no place is left.
        """
        if self.full:
            raise BusyError
        self.active += 1
        try:
            yield
        finally:
            self.active -= 1

    def hold(self, count: int) -> None:
        """Account for bytes of a request that arrived.

        Parameters
        ----------
        count : int
            Number of bytes; :meth:`release` gives them back.

        Raises
        ------
        BusyError
            If there is no memory left for them; they are not counted then.
        """
        if self.held_bytes + count > self._most_bytes:
            raise BusyError
        self.held_bytes += count

    def release(self, count: int) -> None:
        """Account for bytes of a request that are no longer in memory.

        Parameters
        ----------
        count : int
            Number of bytes.
        """
        self.held_bytes -= count
