"""How far a number could be off: resamples of speakers, or of trials when speakers are unknown.

Trials that share a speaker rise and fall together, so the honest resample draws speakers: speaker
a appears w_a times, a mated trial of a counts w_a times and a non-mated trial of a and b counts
w_a·w_b times. Only the weights change from one resample to the next, so each is a weighted tally
on the same cuts: a sparse matrix product, whatever the number of trials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from sottovoce.core.types import IntArray, RealArray
from sottovoce.measure.costs import Cost, bits
from sottovoce.measure.scores import Scores, ScoreSource, Speakers
from sottovoce.measure.tally import Counts, Tally

BATCH = 64
"""Resamples drawn at a time: a row of weights is then four cache lines, long enough to stream."""

MIN_SPEAKERS = 5
"""With fewer speakers than this a resample of speakers says nothing; trials are drawn instead."""

MIN_TRIALS = 20
"""With fewer trials of a kind there is no interval: resamples of a handful agree on too much."""

Weighted = Callable[[RealArray], NDArray[np.float64]]
"""From weights (speakers × resamples) to weighted counts (resamples × cells)."""
Priced = Callable[[RealArray], tuple[NDArray[np.float64], RealArray | None]]
"""The same, with the sums of the weighted costs (resamples) if they are needed."""

_DENSE_PAIRS = 1 << 14
_BLOCK_TRIALS = 1 << 11


def enough(source: ScoreSource) -> bool:
    """Tell whether there are enough trials of both kinds for an interval to mean anything.

    Parameters
    ----------
    source : ScoreSource
        Mated and non-mated scores.
    """
    return min(len(source.mated), source.n_nonmated) >= MIN_TRIALS


def by_speaker(source: ScoreSource) -> bool:
    """Tell whether speakers are known, and enough have mated trials, to be resampled.

    Parameters
    ----------
    source : ScoreSource
        Mated and non-mated scores.
    """
    return mated_speakers(source) >= MIN_SPEAKERS


def mated_speakers(source: ScoreSource) -> int:
    """Count the speakers who have mated trials; 0 if speakers are not known.

    Parameters
    ----------
    source : ScoreSource
        Mated and non-mated scores.
    """
    return 0 if source.speakers is None else len(np.unique(source.speakers.mated))


def resample(
    source: ScoreSource, tally: Tally, *, replicates: int, rng: np.random.Generator
) -> Iterator[Tally]:
    """Draw weighted tallies: by speaker where speakers are known, by trial otherwise.

    Parameters
    ----------
    source : ScoreSource
        The scores.
    tally : Tally
        Their counts.
    replicates : int
        How many resamples to draw.
    rng : numpy.random.Generator
        Source of the draws.

    Yields
    ------
    Tally
        On the same cuts, with weighted counts.
    """
    if isinstance(source, Scores) and source.speakers is not None and by_speaker(source):
        yield from _by_speaker(source, source.speakers, tally, replicates, rng)
    else:
        yield from _by_trial(tally, replicates, rng)


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
    tallies = SpeakerTallies(scores, who, tally)
    done = 0
    while done < replicates:
        # with few speakers a draw may leave no pair of one kind: it is drawn again
        usable = [drawn for drawn in tallies(draw_weights(who.count, rng)) if drawn is not None]
        yield from usable[: replicates - done]
        done += len(usable)


class SpeakerTallies:
    """Tallies of one set of scores under any weights of its speakers.

    A mated trial of speaker a counts w_a times, a non-mated trial of a and b w_a·w_b times. Sets
    of scores that number their speakers alike can be given the same weights, which pairs them.

    Parameters
    ----------
    scores : Scores
        The scores.
    who : Speakers
        Who speaks in each trial.
    tally : Tally
        Counts of the scores, on the cuts that the weighted tallies share.

    Examples
    --------
    >>> who = Speakers.from_names(["a", "b"], ["a"], ["b"])
    >>> scores = Scores([1.0, 2.0], [0.0], speakers=who)
    >>> tallies = SpeakerTallies(scores, who, Tally.of(scores))
    >>> weighted, impossible = tallies(np.array([[2, 2], [1, 0]]))
    >>> weighted.n_mated, weighted.n_nonmated, impossible
    (3.0, 2.0, None)
    """

    def __init__(self, scores: Scores, who: Speakers, tally: Tally) -> None:
        # whole numbers add exactly in float32 up to 2^24; a weighted count is near the plain one
        fullest = max(tally.mated.max(), tally.nonmated.max())
        self._dtype: type[np.floating] = np.float32 if fullest <= 1 << 22 else np.float64
        self.speakers = who.count
        self._tally = tally
        self._mated = _one_way(tally, scores.mated, who, self._dtype)
        self._nonmated = _two_way(tally, scores.nonmated, who, self._dtype)
        self._mated_costs = _mated_costs(scores, who) if tally.costs else None

    def __call__(self, weights: IntArray | RealArray) -> list[Tally | None]:
        """Weight the tally, once for each column of weights.

        Parameters
        ----------
        weights : array of int or float, speakers × resamples
            How often each speaker counts, such as :func:`draw_weights` returns.

        Returns
        -------
        list of Tally or None
            One per resample; None where the weights leave no trial of one kind.
        """
        reals: RealArray = weights.astype(self._dtype)
        mated = _by_resample(self._mated @ reals)
        nonmated, nonmated_costs = self._nonmated(reals)
        costs = None
        if self._mated_costs is not None and nonmated_costs is not None:
            costs = (self._mated_costs @ reals, nonmated_costs)
        return _weighted_tallies(self._tally, mated, nonmated, costs)

    def tilted(self, signs: RealArray, tilt: float) -> list[Tally]:
        """Weight non-mated trials by whether the signs of their speakers are equal.

        Parameters
        ----------
        signs : array of float, speakers × resamples
            1 or -1 for each speaker.
        tilt : float
            A trial of speakers of equal signs counts 1 + tilt times, another 1 - tilt times.

        Returns
        -------
        list of Tally
            One per resample; mated trials count once.
        """
        reals: RealArray = signs.astype(self._dtype)
        whole = self._tally
        signed, signed_costs = self._nonmated(reals)
        nonmated = whole.nonmated + tilt * signed
        costs = None
        if whole.costs and signed_costs is not None:
            mated_cost, nonmated_cost = (cost.total for cost in whole.costs)
            totals = nonmated_cost + tilt * signed_costs
            costs = [(Cost(mated_cost), Cost(total)) for total in totals.tolist()]
        return [
            replace(whole, nonmated=counts, costs=costs[i] if costs else None)
            for i, counts in enumerate(nonmated)
        ]


class TrialTallies:
    """Tallies of one set of scores under any weights of its trials.

    Parameters
    ----------
    scores : Scores
        The scores; sets of the same trials in the same order can be given the same weights.
    tally : Tally
        Counts of the scores, on the cuts that the weighted tallies share.
    """

    def __init__(self, scores: Scores, tally: Tally) -> None:
        self._tally = tally
        self._n_mated = len(scores.mated)
        self._mated = _trial_sums(tally, scores.mated)
        self._nonmated = _trial_sums(tally, scores.nonmated)
        self._bits = (bits(-scores.mated), bits(scores.nonmated)) if tally.costs else None

    def __call__(self, weights: IntArray | RealArray) -> list[Tally | None]:
        """Weight the tally, once for each column of weights.

        Parameters
        ----------
        weights : array of int or float, trials × resamples
            How often each mated trial counts and, below them, each non-mated trial.

        Returns
        -------
        list of Tally or None
            One per resample; None where the weights leave no trial of one kind.
        """
        sides = weights[: self._n_mated], weights[self._n_mated :]
        mated = _by_resample(self._mated @ sides[0])
        nonmated = _by_resample(self._nonmated @ sides[1])
        costs = self._bits and [cost @ side for cost, side in zip(self._bits, sides, strict=True)]
        return _weighted_tallies(self._tally, mated, nonmated, costs)


def draw_weights(count: int, rng: np.random.Generator, resamples: int = BATCH) -> IntArray:
    """Draw how often each speaker appears in each of some resamples with replacement.

    Parameters
    ----------
    count : int
        How many speakers there are, and are drawn.
    rng : numpy.random.Generator
        Source of the draws.
    resamples : int, default BATCH
        How many resamples.

    Returns
    -------
    array of int, speakers × resamples
        Every column adds up to ``count``.
    """
    drawn = rng.integers(0, count, (count, resamples)) * resamples + np.arange(resamples)
    counts = np.bincount(drawn.ravel(), minlength=count * resamples)
    return counts.reshape(count, resamples)


def _weighted_tallies(
    tally: Tally, mated: Counts, nonmated: Counts, costs: Sequence[RealArray] | None
) -> list[Tally | None]:
    """One tally per row of weighted counts; None where one kind of trials has no weight."""
    usable = (mated.sum(axis=1) > 0) & (nonmated.sum(axis=1) > 0)
    return [
        replace(
            tally,
            mated=mated[i],
            nonmated=nonmated[i],
            costs=None if costs is None else (Cost(float(costs[0][i])), Cost(float(costs[1][i]))),
        )
        if usable[i]
        else None
        for i in range(len(mated))
    ]


def _by_resample(counts: RealArray) -> NDArray[np.float64]:
    """Cells × resamples to resamples × cells."""
    return np.ascontiguousarray(counts.T, dtype=np.float64)


def _sorted_cells(tally: Tally, scores: RealArray) -> tuple[IntArray, IntArray]:
    """An order of the scores by cell, and where each cell starts in it (one more at the end)."""
    order = np.argsort(scores)
    ordered = scores[order]
    starts = np.zeros(2 * len(tally.cuts) + 2, np.int64)
    starts[-1] = len(scores)
    starts[1:-1:2] = np.searchsorted(ordered, tally.cuts, side="left")
    if tally.rounded_down:  # a cell reaches up to the next cut
        starts[2:-1:2] = starts[3::2]
    else:
        starts[2:-1:2] = np.searchsorted(ordered, tally.cuts, side="right")
    return order, starts


def _sums(
    columns: IntArray, starts: IntArray, width: int, dtype: type[np.floating]
) -> scipy.sparse.csr_array:
    """The matrix that adds up, for each cell, the weights of its trials."""
    shape = (len(starts) - 1, width)
    return scipy.sparse.csr_array((np.ones(len(columns), dtype), columns, starts), shape=shape)


def _trial_sums(tally: Tally, scores: RealArray) -> scipy.sparse.csr_array:
    """Cells × trials: times the weights of trials, the weighted counts."""
    order, starts = _sorted_cells(tally, scores)
    return _sums(order, starts, len(scores), np.float64)


def _one_way(
    tally: Tally, scores: RealArray, who: Speakers, dtype: type[np.floating]
) -> scipy.sparse.csr_array:
    """Cells × speakers: times the weights, the weighted mated counts."""
    order, starts = _sorted_cells(tally, scores)
    return _sums(who.mated[order], starts, who.count, dtype)


def _two_way(
    tally: Tally,
    scores: RealArray,
    who: Speakers,
    dtype: type[np.floating],
) -> Priced:
    """Weights to weighted non-mated counts, and costs if the tally has them.

    There are three ways to the same sums. With few speakers: cells × all pairs of speakers, one
    product. With many, pairs hardly repeat and a table of them would be read from main memory, so
    the trials are taken in score order, by a compiled loop if there is one, else in blocks whose
    weights stay in cache.
    """
    order, starts = _sorted_cells(tally, scores)
    enrol, trial = who.nonmated_enrol[order], who.nonmated_trial[order]
    if tally.loops is not None:
        enrol, trial = enrol.astype(np.int32), trial.astype(np.int32)
        if tally.costs:
            prices = bits(scores[order]).astype(dtype)
            return partial(tally.loops.add_priced_pairs, starts, enrol, trial, prices)
        return _priced(partial(tally.loops.add_pairs, starts, enrol, trial), None)
    costs = _nonmated_costs(scores, who) if tally.costs else None
    count = who.count
    if count**2 <= _DENSE_PAIRS:
        table = _sums(enrol * count + trial, starts, count**2, dtype)
        return _priced(partial(_weigh_pairs, table, count), costs)
    return _priced(_blockwise(starts, enrol, trial, dtype), costs)


def _priced(counts: Weighted, costs: Callable[[RealArray], RealArray] | None) -> Priced:
    return lambda weights: (counts(weights), costs(weights) if costs else None)


def _weigh_pairs(
    table: scipy.sparse.csr_array, count: int, weights: RealArray
) -> NDArray[np.float64]:
    """Weighted counts from a table of cells × all pairs of speakers."""
    pairs = (weights[:, None] * weights[None]).reshape(count**2, weights.shape[1])
    return _by_resample(table @ pairs)


def _blockwise(
    starts: IntArray, enrol: IntArray, trial: IntArray, dtype: type[np.floating]
) -> Weighted:
    blocks = []
    for begin in range(0, len(enrol), _BLOCK_TRIALS):
        end = min(begin + _BLOCK_TRIALS, len(enrol))
        low = int(np.searchsorted(starts, begin, side="right")) - 1
        high = int(np.searchsorted(starts, end, side="left"))
        inside = np.clip(starts[low : high + 1], begin, end) - begin
        sums = _sums(np.arange(end - begin), inside, end - begin, dtype)
        blocks.append((slice(begin, end), slice(low, high), sums))

    def counts(w: RealArray) -> NDArray[np.float64]:
        total = np.zeros((len(starts) - 1, w.shape[1]), dtype)
        a, b = np.empty((2, _BLOCK_TRIALS, w.shape[1]), dtype)
        for trials, cells, sums in blocks:
            size = sums.shape[1]
            np.take(w, enrol[trials], axis=0, out=a[:size], mode="clip")
            np.take(w, trial[trials], axis=0, out=b[:size], mode="clip")
            a[:size] *= b[:size]
            total[cells] += sums @ a[:size]
        return _by_resample(total)

    return counts


def _mated_costs(scores: Scores, who: Speakers) -> NDArray[np.float64]:
    """Cost of the mated trials of each speaker."""
    costs = np.bincount(who.mated, bits(-scores.mated), minlength=who.count)
    return costs.astype(np.float64, copy=False)


def _nonmated_costs(scores: RealArray, who: Speakers) -> Callable[[RealArray], RealArray]:
    """Weights to weighted sums of the costs of non-mated trials."""
    pairs = (who.nonmated_enrol, who.nonmated_trial)
    costs = scipy.sparse.csr_array((bits(scores), pairs), shape=(who.count, who.count))
    return lambda weights: np.asarray(((costs @ weights) * weights).sum(axis=0))
