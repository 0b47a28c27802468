"""A function over many items in a few threads: in order, and never far ahead of who asks."""

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
    """Each item with its result, in the order of the items.

    At most ``ahead`` results exist that have not been taken yet, so memory is bounded; items are
    drawn no faster than that either. An error is raised where its item would come.
    """
    if workers < 1 or ahead < 1:
        raise UsageError(f"workers={workers}, ahead={ahead}; both must be at least 1")
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
        finally:  # whoever asked has had enough, or an item failed
            for _, future in waiting:
                future.cancel()
