"""The limit of threads holds for all who want it, and is lifted after the last of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sottovoce.core.blas_threads import one_thread


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """As on a machine with two processors, whatever the environment says."""
    with threadpool_limits(2, user_api="blas"):
        yield


def threads() -> set[int]:
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


def test_matrices_are_multiplied_by_one_thread_inside() -> None:
    assert threads() == {2}
    with one_thread():
        assert threads() == {1}
        assert (np.eye(300) @ np.ones((300, 2)) == 1).all()
    assert threads() == {2}


def test_whoever_leaves_last_lifts_the_limit() -> None:
    """Two attacks at once: the first to end leaves the limit to the other."""
    first, second = ExitStack(), ExitStack()
    first.enter_context(one_thread())
    second.enter_context(one_thread())
    first.close()
    assert threads() == {1}
    second.close()
    assert threads() == {2}


def test_an_error_lifts_the_limit() -> None:
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert threads() == {2}
