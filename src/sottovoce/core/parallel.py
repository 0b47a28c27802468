"""Applying a function to many items in a few threads, in order and with bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from sottovoce.core.errors import UsageError

T = TypeVar("T")
R = TypeVar("R")


def map_ahead(
    function: Callable[[T], R], items: Iterable[T], *, workers: int, ahead: int
) -> Iterator[tuple[T, R]]:
    """Apply a function to items in threads.

    Parameters
    ----------
    function : callable
        Takes an item.
    items : iterable
        Drawn only as fast as results are taken.
    workers : int
        Threads, at least 1.
    ahead : int
        At most so many results exist that have not been taken yet; at least 1.

    Yields
    ------
    tuple
        Each item with its result, in the order of the items. An error is raised where the result
        of its item would come.
    """
    if workers < 1 or ahead < 1:
        raise UsageError(
            f"workers={workers}, ahead={ahead}; both must be at least 1", code="out-of-range"
        )
    return _map_ahead(function, items, workers, ahead)


def _map_ahead(
    function: Callable[[T], R], items: Iterable[T], workers: int, ahead: int
) -> Iterator[tuple[T, R]]:
    waiting: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for item in items:
                waiting.append((item, pool.submit(function, item)))
                if len(waiting) == ahead:
                    first, future = waiting.popleft()
                    yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:  # the caller has stopped asking, or an item failed
            for _, future in waiting:
                future.cancel()
