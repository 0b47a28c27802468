"""Counting scores on and between cuts, exactly and without sorting most of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.core.types import RealArray
from sottovoce.measure.scores import CHUNK, LARGEST, check_finite

PIECE = 1 << 18
"""Scores handled at a time."""
BUCKETS = 1 << 18
"""Equal parts of the range of the cuts: few hold a cut, and their counts fit in cache."""


def make_edges(low: float, high: float, bins: int) -> NDArray[np.float64]:
    """Make the edges of equal bins, all distinct.

    Parameters
    ----------
    low, high : float
        The range of all scores.
    bins : int
        How many bins, at least 1.
    """
    edges = np.linspace(low, high, bins + 1)
    if not np.all(np.diff(edges) > 0):
        raise InputError(
            f"scores from {low:g} to {high:g} are too close together for {bins} bins; "
            "rescale the scores or ask for fewer bins",
            code="too-close",
        )
    return edges


def make_cuts(scores: RealArray, edges: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Collect the distinct scores, and the inner histogram edges if there are any, in order.

    Parameters
    ----------
    scores : array of float32 or float64
        Scores of one class.
    edges : array of float64, optional
        Histogram edges.
    """
    return cut_and_count(scores, edges)[0]


def cut_and_count(
    scores: RealArray, edges: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make the cuts of one class, as :func:`make_cuts` does, and count that class on them.

    Parameters
    ----------
    scores : array of float32 or float64
        Scores of one class.
    edges : array of float64, optional
        Histogram edges.

    Returns
    -------
    cuts : array of float64, k
        Rising.
    cells : array of int64, 2k+1
        Scores in each cell; those between the cuts are empty.
    """
    ordered = np.sort(scores)
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts = np.diff(first, append=len(ordered))
    cuts = ordered[first].astype(np.float64)
    if edges is not None:
        inner = edges[1:-1]
        places = np.searchsorted(cuts, inner)
        new = cuts[np.minimum(places, len(cuts) - 1)] != inner
        cuts = np.insert(cuts, places[new], inner[new])
        counts = np.insert(counts, places[new], 0)
    cells = np.zeros(2 * len(cuts) + 1, np.int64)
    cells[1::2] = counts
    return cuts, cells


def count_on(cuts: NDArray[np.float64], scores: RealArray) -> NDArray[np.int64]:
    """Count how many scores fall in each of the 2k+1 cells made by k cuts.

    Parameters
    ----------
    cuts : array of float64, k
        Rising.
    scores : array of float32 or float64
        In any order.
    """
    counter = CellCounter(cuts, scores.dtype)
    counter.add(scores)
    return counter.cells()


class CellCounter:
    """Counts scores, chunk after chunk, in the 2k+1 cells made by k cuts.

    Parameters
    ----------
    cuts : array of float64, k
        Rising.
    dtype : dtype
        Of the scores, float32 or float64.

    Notes
    -----
    The range of the cuts is divided into equal buckets. The bucket of a score never falls as the
    score rises (every rounding on the way is monotone), so a score in a bucket without cuts needs
    only be counted; the others are collected, sorted, and the cuts looked up in them. This is exact
    for any scores, and needs memory for the buckets and one collection.
    """

    def __init__(self, cuts: NDArray[np.float64], dtype: np.dtype[np.floating]) -> None:
        self._cuts = _rounded_up(cuts, dtype)
        self._exact = self._cuts == cuts
        limits = np.finfo(dtype)
        low, high = np.clip(self._cuts[[0, -1]].astype(np.float64), limits.min, limits.max)
        width = min(float(high) / 2 - float(low) / 2, float(limits.max) / 2) * 2
        scale = min(BUCKETS / width, float(limits.max)) if width else 1.0
        self._low, self._scale, self._one = np.array([low, scale, 1.0]).astype(dtype)
        self._buffer, self._index = np.empty(PIECE, dtype), np.empty(PIECE, np.int64)
        pieces = range(0, len(cuts), PIECE)
        self._bucket_of_cut = np.concatenate(
            [self._buckets(self._cuts[i : i + PIECE]).copy() for i in pieces]
        )
        self._has_cut = np.zeros(BUCKETS + 3, bool)
        self._has_cut[self._bucket_of_cut] = True
        self._in_bucket = np.zeros(BUCKETS + 3, np.int64)
        self._collected: list[RealArray] = []
        self._below, self._at = np.zeros((2, len(cuts)), np.int64)

    def add(self, scores: RealArray) -> None:
        """Count some more scores.

        Parameters
        ----------
        scores : array of the counter's type
            In any order; refused if not finite.
        """
        for start in range(0, len(scores), PIECE):
            piece = scores[start : start + PIECE]
            if not -LARGEST <= float(piece.min()) <= float(piece.max()) <= LARGEST:
                check_finite(piece, "scores")
            bucket = self._buckets(piece)
            self._in_bucket += np.bincount(bucket, minlength=BUCKETS + 3)
            self._collected.append(piece[self._has_cut[bucket]])
            if sum(map(len, self._collected)) >= max(CHUNK, 8 * len(self._cuts)):
                self._look_up()

    def cells(self) -> NDArray[np.int64]:
        """Counts of all scores so far in each cell."""
        self._look_up()
        alone = np.cumsum(np.where(self._has_cut, 0, self._in_bucket))
        below = self._below + alone[self._bucket_of_cut]
        cells = np.empty(2 * len(below) + 1, np.int64)
        cells[1::2] = self._at
        upto = below + self._at
        cells[0] = below[0]
        cells[2:-1:2] = below[1:] - upto[:-1]
        cells[-1] = self._in_bucket.sum() - upto[-1]
        return cells

    def _buckets(self, scores: RealArray) -> NDArray[np.int64]:
        """The bucket of each score: 0 below all cuts, the last one above them."""
        place, index = self._buffer[: len(scores)], self._index[: len(scores)]
        with np.errstate(over="ignore"):  # infinity where the scores are wider than the type
            np.subtract(scores, self._low, out=place)
            place *= self._scale
            place += self._one
        np.clip(place, 0, BUCKETS + 2, out=place)
        np.copyto(index, place, casting="unsafe")
        return index

    def _look_up(self) -> None:
        """Look the cuts up in the scores collected from buckets that hold cuts."""
        collected = np.concatenate(self._collected) if self._collected else self._cuts[:0]
        self._collected = []
        if not len(collected):
            return
        collected.sort()
        left = np.searchsorted(collected, self._cuts)
        self._below += left
        hit = np.flatnonzero(collected[np.minimum(left, len(collected) - 1)] == self._cuts)
        hit = hit[self._exact[hit] & (left[hit] < len(collected))]
        self._at[hit] += np.searchsorted(collected, self._cuts[hit], side="right") - left[hit]


class CellCounts:
    """Counts in the cells made by some cuts that add; pickled as whole numbers.

    Parameters
    ----------
    cuts : array of float64, k
        Rising.
    dtype : dtype
        Of the scores, float32 or float64.
    """

    def __init__(self, cuts: NDArray[np.float64], dtype: np.dtype[np.floating]) -> None:
        self._cuts, self._dtype = cuts, dtype
        self._counter: CellCounter | None = None
        self._cells: NDArray[np.int64] | None = None

    def __getstate__(self) -> dict[str, object]:
        empty = self._counter is None and self._cells is None
        return {
            "_cuts": self._cuts,
            "_dtype": self._dtype,
            "_counter": None,
            "_cells": None if empty else self.cells(),
        }

    def count(self, scores: RealArray) -> None:
        """Count some more scores.

        Parameters
        ----------
        scores : array
            In any order; refused if not finite.
        """
        if self._counter is None:
            self._counter = CellCounter(self._cuts, self._dtype)
        self._counter.add(scores)

    def add(self, other: CellCounts) -> None:
        """Add counts on the same cuts.

        Parameters
        ----------
        other : CellCounts
            Of other scores.
        """
        if other._counter is not None or other._cells is not None:
            mine = 0 if self._cells is None else self._cells
            self._cells = mine + other.cells()

    def cells(self) -> NDArray[np.int64]:
        """Counts of all scores so far in each cell."""
        cells = np.zeros(2 * len(self._cuts) + 1, np.int64)
        if self._cells is not None:
            cells += self._cells
        if self._counter is not None:
            cells += self._counter.cells()
        return cells


def _rounded_up(cuts: NDArray[np.float64], dtype: np.dtype[np.floating]) -> RealArray:
    """Round cuts up to ``dtype``: s >= cut is the same question before and after for such an s.

    Otherwise numpy would widen every chunk of float32 scores to look double cuts up in it.
    """
    with np.errstate(over="ignore"):  # infinity where a cut is above all numbers of this type
        rounded = cuts.astype(dtype)
        short = rounded < cuts
        rounded[short] = np.nextafter(rounded[short], np.array(np.inf, dtype))
    return rounded
