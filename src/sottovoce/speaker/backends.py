"""Linkage functions as one matrix product: the score of a pair is a row times a row.

A back-end turns enrolment models and trials into two tables of the same width whose product holds
all scores; whoever asks for scores multiplies block by block and never holds them all.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import IntArray, Vectors

Counts = IntArray | int
"""On how many utterances each enrolment model rests; one number if all on the same."""


class Backend(Protocol):
    """Scores of enrolment models against trials, higher = more alike."""

    @property
    def name(self) -> str:
        """What to call it in results."""

    def enrol(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare enrolment models, each the mean of ``counts`` utterances."""

    def trial(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare trials for enrolment models made of ``counts`` utterances."""


def steadied(backend: Backend, vectors: Vectors) -> Backend:
    """The same back-end, set up to lose least to rounding on vectors such as these.

    Distances do not depend on where the origin is, but their precision does.
    """
    if isinstance(backend, Euclidean) and backend.centre is None:
        return Euclidean(vectors[:: max(1, len(vectors) // 10_000)].mean(axis=0, dtype=np.float64))
    return backend


class Cosine:
    """Cosine of the angle between two vectors, after taking ``centre`` off both."""

    name = "cosine"

    def __init__(self, centre: NDArray[np.floating] | None = None) -> None:
        self.centre = centre

    def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Centre and bring to length one."""
        moved = vectors if self.centre is None else vectors - self.centre.astype(np.float32)
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        return np.asarray(moved / np.maximum(lengths, np.finfo(np.float32).tiny), np.float32)

    trial = enrol


class Euclidean:
    """Minus the squared distance, which orders pairs as minus the distance does."""

    name = "euclidean"

    def __init__(self, centre: NDArray[np.floating] | None = None) -> None:
        self.centre = centre

    def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Rows (2a, −a², −1) so that times (b, 1, b²) they give −(a − b)²."""
        moved, squares = self._moved(vectors)
        return np.hstack((2 * moved, -squares, -np.ones_like(squares)))

    def trial(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Rows (b, 1, b²)."""
        moved, squares = self._moved(vectors)
        return np.hstack((moved, np.ones_like(squares), squares))

    def _moved(self, vectors: Vectors) -> tuple[Vectors, Vectors]:
        # near the origin the squares cancel with less loss
        moved = vectors if self.centre is None else vectors - self.centre.astype(np.float32)
        return moved, np.einsum("ij,ij->i", moved, moved)[:, None]
