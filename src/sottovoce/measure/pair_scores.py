"""Scores of all ordered pairs of recordings, a block at a time, and what is kept of them.

A score set over n recordings has n(n − 1) scores. Of these only the mated ones are held; the rest
leaves counts: how many scores of each pair of speakers fall on each step of the calibration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.core.types import FloatArray, IntArray, Progress, Vectors
from sottovoce.measure.calibration import (
    Blocks,
    Calibration,
    block_llrs,
    calibration_of,
    laplace_blocks,
    pool,
)
from sottovoce.measure.counting import make_cuts
from sottovoce.measure.tally import Tally
from sottovoce.speaker import LinkageFunction

Scores32 = NDArray[np.float32]

BLOCK_SCORES = 1 << 22
"""Scores of one product; the mated scores are held besides, and twice as many non-mated ones."""

TABLE = 1 << 25
"""Entries of a table of counts; with many speakers neighbouring steps are counted together."""

FEWEST_CELLS, MOST_RESAMPLES = 16, 64


class PairScores:
    """All scores of one table of vectors against another, rows grouped by speaker.

    Products are made in double precision and rounded to single: equal pairs then have equal scores
    wherever they stand in a block, which a product in single precision does not promise.
    """

    def __init__(
        self,
        enrol: Vectors,
        trial: Vectors,
        speakers: IntArray,
        linkage: LinkageFunction,
        progress: Progress,
    ) -> None:
        self.speakers = speakers
        self.starts = np.flatnonzero(np.diff(speakers, prepend=-1))
        with np.errstate(over="ignore", invalid="ignore"):
            self.enrol = linkage.enrol(enrol, 1).astype(np.float64)
            self.trial = np.ascontiguousarray(linkage.trial(trial, 1).T, dtype=np.float64)
        if not (np.isfinite(self.enrol).all() and np.isfinite(self.trial).all()):
            raise InputError(
                f"{linkage.name}: vectors too large for finite scores; rescale them",
                code="out-of-range",
            )
        self.mated = np.concatenate([self._mated(*segment) for segment in self._segments()])
        self._progress, self._done = progress, 0

    @property
    def pairs(self) -> IntArray:
        """How many pairs of recordings there are of each pair of speakers."""
        counts = np.bincount(self.speakers)
        return np.asarray(np.outer(counts, counts) - np.diag(counts))

    def _segments(self) -> Iterator[tuple[int, int]]:
        ends = np.append(self.starts[1:], len(self.speakers))
        return zip(self.starts.tolist(), ends.tolist(), strict=True)

    def _mated(self, start: int, end: int) -> Scores32:
        """The scores of one speaker's recordings, without those of a recording with itself."""
        scores = (self.enrol[start:end] @ self.trial[:, start:end]).astype(np.float32)
        return scores[~np.eye(end - start, dtype=bool)]

    def scores(self) -> Iterator[tuple[slice, Scores32]]:
        """Go through the scores by rows; two passes are the whole work."""
        count = len(self.speakers)
        size = max(1, BLOCK_SCORES // count)
        for start in range(0, count, size):
            rows = slice(start, start + size)
            yield rows, (self.enrol[rows] @ self.trial).astype(np.float32)
            self._done += 1
            self._progress(self._done, 2 * -(-count // size))

    def nonmated(self) -> Iterator[Scores32]:
        """Go through the scores of different speakers.

        In chunks that outnumber the mated scores, since every one of these is sought in each chunk.
        """
        held: list[Scores32] = []
        for rows, scores in self.scores():
            held.append(scores[self.speakers[rows, None] != self.speakers])
            if sum(map(len, held)) >= 2 * len(self.mated):
                yield np.concatenate(held)
                held = []
        if held:
            yield np.concatenate(held)

    def calibrate(self) -> Calibration:
        """Oracle calibration with Laplace's rule."""
        tally = Tally.on(make_cuts(self.mated), self.mated, self.nonmated())
        return calibration_of(tally, laplace=True)


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerPairs:
    """What is kept of a set of scores, by pair of speakers."""

    similarity: FloatArray
    """S(i, j) = sigmoid(mean LLR over the pairs of recordings of speakers i and j)."""
    counts: NDArray[np.float32] | None
    """Scores of speakers i and j on each step of the calibration, or on each few steps."""


def speaker_pairs(scores: PairScores, *, counted: bool) -> SpeakerPairs:
    """Calibrate a set of scores and sum it up by pair of speakers.

    Parameters
    ----------
    scores : PairScores
        All scores of one table of vectors against another.
    counted : bool
        Whether to keep the counts that resamples need.
    """
    calibration = scores.calibrate()
    find = _Steps(calibration.starts)
    count, steps = len(scores.starts), len(calibration.starts)
    cells = min(steps, max(FEWEST_CELLS, TABLE // count**2)) if counted else 0
    cell_of = np.arange(steps) * cells // steps
    sums = np.zeros((count, count))
    counts = np.zeros((count, count, cells), np.float32)
    for rows, block in scores.scores():
        step = find(block)
        who, here = scores.speakers[rows], np.arange(len(block))
        diagonal_cells = (here, rows.start + here)  # a recording with itself is no pair
        llrs = calibration.llrs[step]
        llrs[diagonal_cells] = 0.0
        np.add.at(sums, who, np.add.reduceat(llrs, scores.starts, axis=1))
        if counted:
            counts[who[0] : who[-1] + 1] += _count(
                cell_of[step], who, scores.speakers, diagonal_cells, cells
            )
    return SpeakerPairs(
        np.asarray(scipy.special.expit(sums / scores.pairs)), counts if counted else None
    )


class _Steps:
    """Finds the step of many scores: on an even grid, most cells of which lie on one step.

    Going from score to cell never turns two scores round, rounded or not, so only scores in a cell
    that holds the start of a step have to be looked up.
    """

    def __init__(self, starts: FloatArray, cells: int = 1 << 14) -> None:
        exact = starts[1:].astype(np.float32)  # mated scores, which are single precision
        self.starts, self.cells = exact, cells
        self.low = exact[0] if len(exact) else np.float32(0)
        span = float(exact[-1]) - float(self.low) if len(exact) else 0.0
        self.scale = np.float32(min((cells - 1) / span, 1e30) if span > 0 else 1.0)
        places = self._place(exact)
        self.step = np.searchsorted(places, np.arange(cells), side="left")
        self.holds_start = np.bincount(places, minlength=cells) > 0

    def _place(self, scores: Scores32) -> NDArray[np.int32]:
        with np.errstate(over="ignore"):  # what overflows is clipped
            scaled = (scores - self.low) * self.scale
        return np.clip(scaled, 0, self.cells - 1, out=scaled).astype(np.int32)

    def __call__(self, scores: Scores32) -> IntArray:
        place = self._place(scores)
        step = self.step[place]
        look = np.nonzero(self.holds_start[place])
        step[look] = np.searchsorted(self.starts, scores[look], side="right")
        return step


def _count(
    cell: IntArray,
    enrol: IntArray,
    trial: IntArray,
    diagonal_cells: tuple[IntArray, IntArray],
    cells: int,
) -> IntArray:
    """Scores by enrolment speaker (those of this block), trial speaker and cell."""
    shape = (enrol[-1] - enrol[0] + 1, trial[-1] + 1, cells)
    place = ((enrol[:, None] - enrol[0]) * shape[1] + trial) * cells + cell
    counts = np.bincount(place.ravel(), minlength=int(np.prod(shape)))
    np.subtract.at(counts, place[diagonal_cells], 1)
    return counts.reshape(shape)


def dominance(matrix: FloatArray, weights: FloatArray) -> float:
    """Compute the mean of the diagonal less the mean of the rest: D_diag before its absolute value.

    An element of the diagonal counts w_i times, one off it w_i·w_j times.

    Parameters
    ----------
    matrix : array of float64, n × n
        Similarities.
    weights : array of float64, n
        How often each speaker counts.
    """
    diagonal, squares, total = np.diag(matrix), weights**2, weights.sum()
    rest = weights @ matrix @ weights - squares @ diagonal
    return float(weights @ diagonal / total - rest / (total**2 - squares.sum()))


def resampled_dominance(
    counts: NDArray[np.float32], weights: FloatArray, progress: Progress
) -> FloatArray:
    """Compute the dominance of each resample, calibrated anew.

    Parameters
    ----------
    counts : array of float32, n × n × cells
        Scores of each pair of speakers on each cell of the calibration.
    weights : array of float64, resamples × n
        How often each speaker is drawn.
    progress : callable
        Called with the resamples done and to do.
    """
    n, _, cells = counts.shape
    size = max(1, min(MOST_RESAMPLES, (1 << 24) // (n * max(n, cells))))
    by_pair = counts.reshape(n * n, cells)
    pairs = by_pair.sum(axis=1, dtype=np.float64)[:, None]
    diagonal = counts[np.arange(n), np.arange(n)].astype(np.float64)
    draws = np.empty(len(weights))
    for start in range(0, len(weights), size):
        some = weights[start : start + size]
        narrow = some.astype(np.float32)
        all_pairs = np.einsum(
            "rjc,rj->rc", (narrow @ counts.reshape(n, -1)).reshape(len(some), n, cells), narrow
        )
        mated, nonmated = some @ diagonal, all_pairs - some**2 @ diagonal
        llrs = np.array([_step_llrs(*counts_of) for counts_of in zip(mated, nonmated, strict=True)])
        matrices = scipy.special.expit(by_pair @ llrs.T.astype(np.float32) / pairs)
        for i, w in enumerate(some):
            draws[start + i] = dominance(matrices[:, i].reshape(n, n), w)
        progress(start + len(some), len(weights))
    return draws


def _step_llrs(mated: FloatArray, nonmated: FloatArray) -> FloatArray:
    """The LLR of each step after PAV and Laplace's rule on weighted counts."""
    nonmated = np.maximum(np.rint(nonmated), 0)  # whole numbers, but for rounding in float32
    blocks: Blocks = laplace_blocks(pool(mated, nonmated))
    llrs = block_llrs(blocks, mated.sum(), nonmated.sum())
    block = np.searchsorted(blocks.first, np.arange(len(mated)), side="right") - 1
    return llrs[np.maximum(block, 0)]
