"""One thread for matrix products, where there are many small ones.

Libraries of linear algebra give each product to as many threads as there are processors. Threads
that share a product of a few hundred numbers wait for each other most of the time, all the more if
several attacks are made at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits


class _Limit:
    """The limit of this process, and how many parts of the program want it at the moment."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limits: threadpool_limits | None = None

    def begin(self) -> None:
        """Set the limit if nobody has."""
        with self._lock:
            self._users += 1
            if self._limits is None:
                self._limits = threadpool_limits(1, user_api="blas")

    def end(self) -> None:
        """Lift the limit if nobody else wants it."""
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._limits is not None:
                self._limits.restore_original_limits()
                self._limits = None


_LIMIT = _Limit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute matrix products with one thread until the last user of this function has left it.

    The limit holds for the whole process: another thread that multiplies large matrices meanwhile
    is slowed down, and gets the same result.
    """
    _LIMIT.begin()
    try:
        yield
    finally:
        _LIMIT.end()
