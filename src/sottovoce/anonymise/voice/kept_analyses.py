"""Analyses of recordings, kept in memory while the same recordings are anonymised again and again.

A study anonymises its recordings with many settings and draws. F0, content and speaker vectors
depend on neither, and take two thirds of the time of ``xvector``. They are kept only inside of
:func:`keep_analyses`: a service must not hold what it was sent.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from sottovoce.core.types import RealArray

A = TypeVar("A", bound=RealArray)

MEMORY = 256 << 20
"""Bytes that are kept at most: the content of an hour and a half of speech."""


class KeptAnalyses:
    """Results of analyses by the samples that they were computed from.

    Once the memory is full, nothing more is kept. A study passes over its recordings in turn, so
    dropping the oldest results instead would drop each of them just before it is needed.

    Parameters
    ----------
    memory : int
        Bytes that are kept at most.
    """

    def __init__(self, memory: int) -> None:
        self._free = memory
        self._results: dict[tuple[str, bytes], RealArray] = {}
        self._lock = threading.Lock()

    def get(self, kind: str, samples: RealArray, compute: Callable[[], A]) -> A:
        """Return a kept result, or compute it.

        Parameters
        ----------
        kind : str
            What is computed, with everything that it depends on besides the samples.
        samples : ndarray
            The recording.
        compute : callable
            Computes the result.

        Returns
        -------
        ndarray
            A copy, which the caller may change.
        """
        key = (kind, hashlib.blake2b(np.ascontiguousarray(samples).data, digest_size=16).digest())
        kept = self._results.get(key)
        if kept is not None:
            return kept.copy()  # type: ignore[return-value]  # of the type that compute returns
        result = compute()
        with self._lock:
            if key not in self._results and result.nbytes <= self._free:
                self._free -= result.nbytes
                self._results[key] = result.copy()
        return result


class _Current:
    """The analyses that are kept while at least one block is open."""

    def __init__(self) -> None:
        self.kept: KeptAnalyses | None = None
        self._open = 0
        self._lock = threading.Lock()

    def enter(self, memory: int) -> None:
        with self._lock:
            self._open += 1
            self.kept = self.kept or KeptAnalyses(memory)

    def leave(self) -> None:
        with self._lock:
            self._open -= 1
            if not self._open:
                self.kept = None


_CURRENT = _Current()


@contextmanager
def keep_analyses(memory: int = MEMORY) -> Iterator[None]:
    """Keep analyses of all threads of this process until the end of the block.

    Parameters
    ----------
    memory : int, default 256 MiB
        Bytes that are kept at most. Blocks inside of others, and those of several threads, share
        the memory of the first; everything is dropped when the last of them ends.
    """
    _CURRENT.enter(memory)
    try:
        yield
    finally:
        _CURRENT.leave()


def analysis(kind: str, samples: RealArray, compute: Callable[[], A]) -> A:
    """Compute an analysis of a recording, or return the kept one.

    Parameters
    ----------
    kind : str
        What is computed, with everything that it depends on besides the samples.
    samples : ndarray
        The recording.
    compute : callable
        Computes the result.
    """
    kept = _CURRENT.kept
    return compute() if kept is None else kept.get(kind, samples, compute)
