"""How far a number could be off: resamples of speakers, or of trials when speakers are unknown.

Trials that share a speaker rise and fall together, so the honest resample draws speakers: speaker
a appears w_a times, a mated trial of a counts w_a times and a non-mated trial of a and b counts
w_a·w_b times. Only the weights change from one resample to the next, so each is a weighted tally
on the same cuts: a sparse matrix product, whatever the number of trials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.measure.cost import Cost, bits
from sottovoce.measure.scores import FloatArray, IntArray, Scores, ScoreSource, Speakers
from sottovoce.measure.tally import Tally

Method = Literal["centred", "reflected", "range"]

BATCH = 32
"""Resamples drawn at a time: a row of weights is then two cache lines."""

MIN_SPEAKERS = 5
"""With fewer speakers than this a resample of speakers says nothing; trials are drawn instead."""

_DENSE_PAIRS = 1 << 17
_BLOCK_TRIALS = 1 << 12


@dataclass(frozen=True, slots=True)
class Interval:
    """A range that holds the true value with the stated confidence."""

    low: float
    high: float


def by_speaker(source: ScoreSource) -> bool:
    """Whether speakers are known and are enough to be resampled."""
    return source.speakers is not None and source.speakers.count >= MIN_SPEAKERS


def resample(
    source: ScoreSource, tally: Tally, *, replicates: int, rng: np.random.Generator
) -> Iterator[Tally]:
    """Draw weighted tallies: by speaker where speakers are known, by trial otherwise."""
    if isinstance(source, Scores) and source.speakers is not None and by_speaker(source):
        yield from _by_speaker(source, source.speakers, tally, replicates, rng)
    else:
        yield from _by_trial(tally, replicates, rng)


def interval_of(
    value: float,
    draws: NDArray[np.float64],
    confidence: float,
    *,
    method: Method = "centred",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """An interval from a value and its resamples; always holds the value itself.

    A resample repeats scores, and a fit to it (PAV) finds more evidence than there is, just as the
    fit to the sample did. ``reflected`` takes that excess off twice, once for each: right for what
    PAV feeds. ``centred`` takes off the resamples' own excess only: right for what has none, and
    for histograms, whose excess is reported as the chance level. ``range`` takes off nothing: for
    a maximum, whose resamples have no such law. docs/intervals.md has the measured coverage.
    """
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "reflected":
        low, high = 2 * value - high, 2 * value - low
    elif method == "centred":
        low, high = (np.array([low, high]) - draws.mean() + value).tolist()
    low, high = np.clip([low, high], *bounds).tolist()
    return Interval(min(low, value), max(high, value))


def _by_trial(tally: Tally, replicates: int, rng: np.random.Generator) -> Iterator[Tally]:
    m, n = int(tally.n_mated), int(tally.n_nonmated)
    share_mated, share_nonmated = tally.mated / m, tally.nonmated / n
    for _ in range(replicates):
        costs = tally.costs and (tally.costs[0].redrawn(m, rng), tally.costs[1].redrawn(n, rng))
        yield replace(
            tally,
            mated=rng.multinomial(m, share_mated),
            nonmated=rng.multinomial(n, share_nonmated),
            costs=costs,
        )


def _by_speaker(
    scores: Scores, who: Speakers, tally: Tally, replicates: int, rng: np.random.Generator
) -> Iterator[Tally]:
    mated_counts = _one_way(tally, scores.mated, who)
    nonmated_counts = _two_way(tally, scores.nonmated, who)
    weighted_costs = _costs(scores, who) if tally.costs else None
    chance = np.full(who.count, 1 / who.count)
    done = 0
    while done < replicates:
        drawn = rng.multinomial(who.count, chance, size=BATCH)
        weights = np.ascontiguousarray(drawn.T, dtype=np.float32)
        mated, nonmated = (
            np.ascontiguousarray(counts.T, dtype=np.float64)
            for counts in (mated_counts @ weights, nonmated_counts(weights))
        )
        costs = weighted_costs(weights) if weighted_costs else None
        # with few speakers a draw may leave no pair of one kind: it is drawn again
        usable = np.flatnonzero((mated.sum(axis=1) > 0) & (nonmated.sum(axis=1) > 0))
        for i in usable[: replicates - done]:
            yield replace(
                tally,
                mated=mated[i],
                nonmated=nonmated[i],
                costs=costs and (Cost(float(costs[0][i])), Cost(float(costs[1][i]))),
            )
        done += len(usable)


def _cell(tally: Tally, scores: FloatArray) -> IntArray:
    """Which cell of the tally each score falls in."""
    left = np.searchsorted(tally.cuts, scores)
    at = tally.cuts[np.minimum(left, len(tally.cuts) - 1)] == scores
    return np.asarray(2 * left + at, np.int64)


def _one_way(tally: Tally, scores: FloatArray, who: Speakers) -> sparse.csr_array:
    """Cells × speakers: times the weights, the weighted mated counts."""
    shape = (len(tally.mated), who.count)
    ones = np.ones(len(scores), np.float32)
    return sparse.csr_array((ones, (_cell(tally, scores), who.mated)), shape=shape)


def _two_way(
    tally: Tally, scores: FloatArray, who: Speakers
) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """Weights to weighted non-mated counts, two ways to the same sums.

    With few speakers: cells × all pairs of speakers, one product. With many, pairs hardly repeat
    and a table of them would be read from main memory, so the trials are taken in score order in
    blocks whose weights stay in cache.
    """
    cell = _cell(tally, scores)
    enrol, trial, count = who.nonmated_enrol, who.nonmated_trial, who.count
    if count**2 <= _DENSE_PAIRS:
        ones = np.ones(len(scores), np.float32)
        pairs = (cell, enrol * count + trial)
        table = sparse.csr_array((ones, pairs), shape=(len(tally.nonmated), count**2))
        return lambda w: table @ (w[:, None, :] * w[None, :, :]).reshape(count**2, -1)
    order = np.argsort(cell, kind="stable")
    enrol, trial = enrol[order], trial[order]
    blocks = list(_blocks(cell[order]))

    def counts(w: NDArray[np.float32]) -> NDArray[np.float32]:
        total = np.zeros((len(tally.nonmated), w.shape[1]), np.float32)
        for trials, cells, summed in blocks:
            total[cells] += summed @ (w[enrol[trials]] * w[trial[trials]])
        return total

    return counts


def _blocks(cell: IntArray) -> Iterator[tuple[slice, IntArray, sparse.csr_array]]:
    """Pieces of sorted trials, the cells in each, and the matrix that adds trials up by cell."""
    for start in range(0, len(cell), _BLOCK_TRIALS):
        part = cell[start : start + _BLOCK_TRIALS]
        cells, begins = np.unique(part, return_index=True)
        ones, columns = np.ones(len(part), np.float32), np.arange(len(part))
        summed = sparse.csr_array((ones, columns, np.append(begins, len(part))))
        yield slice(start, start + len(part)), cells, summed


def _costs(
    scores: Scores, who: Speakers
) -> Callable[[NDArray[np.float32]], tuple[FloatArray, FloatArray]]:
    """Weights to weighted sums of the costs of mated and of non-mated trials."""
    mated = np.bincount(who.mated, bits(-scores.mated), minlength=who.count)
    pairs = (who.nonmated_enrol, who.nonmated_trial)
    nonmated = sparse.csr_array((bits(scores.nonmated), pairs), shape=(who.count, who.count))
    return lambda w: (mated @ w, np.asarray(((nonmated @ w) * w).sum(axis=0)))
