"""Functions in threads: results in order, errors where they belong."""

from __future__ import annotations

import threading
import time

import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.core.parallel import map_ahead


@given(st.lists(st.integers(), max_size=20), st.integers(1, 3), st.integers(1, 5))
def test_results_come_with_their_items_in_order(items: list[int], workers: int, ahead: int) -> None:
    results = list(map_ahead(lambda item: item + 1, items, workers=workers, ahead=ahead))
    assert results == [(item, item + 1) for item in items]


def test_an_error_is_raised_where_its_item_would_come() -> None:
    def invert(item: int) -> float:
        time.sleep(0.002 * (item == 1))  # the faster failure of item 0 comes later in order
        return 1 / item

    results = map_ahead(invert, [1, 2, 0, 3], workers=2, ahead=4)
    assert [next(results), next(results)] == [(1, 1.0), (2, 0.5)]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_only_a_bounded_number_of_results_waits() -> None:
    started: list[int] = []
    lock = threading.Lock()

    def count(item: int) -> None:
        with lock:
            started.append(item)

    results = map_ahead(count, range(30), workers=2, ahead=3)
    for taken in range(1, 11):
        next(results)
        time.sleep(0.005)  # were there no bound, the threads would run on meanwhile
        assert len(started) <= taken + 3
    results.close()  # type: ignore[attr-defined]
    assert len(started) <= 13


def test_at_least_one_thread_and_one_result_ahead() -> None:
    for workers, ahead in ((0, 1), (1, 0)):
        with raises_code("out-of-range"):
            map_ahead(str, [1], workers=workers, ahead=ahead)
