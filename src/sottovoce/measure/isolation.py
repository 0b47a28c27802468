"""Which predicates isolate someone: the protocol of Singling Out, literally and fast.

:func:`literal` follows the published text. :func:`isolations` gives identical outcomes for the same
draws, much faster: in order of falling score, the first dozen vectors of included speakers decide
all ten folds, so short lists of the highest vectors are enough for every draw and every N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import IntArray
from sottovoce.measure import acceleration

FOLDS = 10
VECTORS = 10
"""Vectors a test speaker has at most."""
LITERAL_DRAWS = 5
"""Random populations of the published protocol."""
HIGHEST = 24
"""Included vectors, highest first, that decide nearly every population."""
_FEW = 14
"""Included vectors, highest first, that decide most populations."""
GATHER = 400
"""Up to this population its vectors are gathered; beyond, the list of the highest is read."""
_FIRST = 40
"""Included vectors expected among the highest of all speakers that are looked at."""
_IS_TEST = (
    np.arange(FOLDS) % np.arange(1, VECTORS + 1)[:, None, None] == np.arange(VECTORS)[:, None]
)
"""Whether a vector is for test: by its speaker's number of vectors − 1, its slot and the fold."""


@dataclass(frozen=True, slots=True, eq=False)
class TestVectors:
    """Which test speaker each vector belongs to, sorted by speaker."""

    owner: NDArray[np.int32]
    slot: NDArray[np.int32]
    """Which of its speaker's vectors it is, from 0."""
    counts: NDArray[np.int32]
    """How many vectors each speaker has, 2 to 10."""
    first: IntArray
    """Where the vectors of each speaker start."""

    @classmethod
    def of(cls, speakers: IntArray) -> TestVectors:
        """Number the vectors of each speaker.

        Parameters
        ----------
        speakers : array of int
            The speaker of each vector, 0 … S−1, sorted.
        """
        counts = np.bincount(speakers).astype(np.int32)
        first = np.concatenate(([0], np.cumsum(counts)[:-1]))
        slot = np.arange(len(speakers)) - first[speakers]
        return cls(speakers.astype(np.int32), slot.astype(np.int32), counts, first)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Random orders of the test speakers; a population of N is the first N of an order.

    Few orders are drawn and each is shifted by a random amount for every enrolment speaker and
    draw. A shifted uniform order is uniform, so expectations are exact; only the covariance between
    enrolment speakers changes.
    """

    orders: NDArray[np.int32]
    """orders × speakers: the place of each speaker in the order."""
    speakers_at: NDArray[np.int32]
    """orders × places: the speaker at each place of an order."""
    shifts: NDArray[np.int32]
    """enrolment speakers × draws."""

    @classmethod
    def make(cls, speakers: int, enrolled: int, draws: int, rng: np.random.Generator) -> Draws:
        """Draw the orders and the shifts.

        Parameters
        ----------
        speakers : int
            Test speakers.
        enrolled : int
            Enrolment speakers whose predicates are tried.
        draws : int
            Populations an enrolment speaker.
        rng : numpy.random.Generator
            Source of the draws.
        """
        orders = np.stack([rng.permutation(speakers) for _ in range(min(draws, 20))])
        shifts = rng.integers(0, speakers, (enrolled, draws))
        speakers_at = np.argsort(orders)
        return cls(*(table.astype(np.int32) for table in (orders, speakers_at, shifts)))

    def places(self, enrolled: int, draw: int) -> NDArray[np.int32]:
        """Return the place of each speaker in one draw for one enrolment speaker.

        Parameters
        ----------
        enrolled : int
            Number of the enrolment speaker.
        draw : int
            Number of the draw.
        """
        return np.roll(self.orders[draw % len(self.orders)], -int(self.shifts[enrolled, draw]))


def _limit(places: NDArray[np.int32], true: int, population: int) -> int:
    """Places below it belong to the population, besides the true speaker's own."""
    return population - 1 if places[true] >= population - 1 else population


def included(places: NDArray[np.int32], true: int, population: int) -> NDArray[np.bool_]:
    """Select the true speaker and the first N − 1 others of an order.

    Parameters
    ----------
    places : array of int32
        The place of each speaker in the order.
    true : int
        Number of the true speaker.
    population : int
        N.
    """
    limit = _limit(places, true, population)
    chosen = places < limit
    chosen[true] = True
    return chosen


def literal(
    scores: NDArray[np.float32],
    vectors: TestVectors,
    true: int,
    enrolled: int,
    draws: Draws,
    populations: list[int],
) -> NDArray[np.float64]:
    """Compute the share of folds that single someone out, step by step as published.

    Parameters
    ----------
    scores : array of float32
        Scores of all test vectors against one enrolment speaker.
    vectors : TestVectors
        Whose vector each is.
    true : int
        Number of the enrolment speaker among the test speakers.
    enrolled : int
        Number of the enrolment speaker among those enrolled.
    draws : Draws
        Random populations.
    populations : list of int
        Population sizes.

    Returns
    -------
    array of float64, draws × populations
    """
    kept = int(vectors.counts[true]) - 1
    shares = np.zeros((draws.shifts.shape[1], len(populations)))
    for draw in range(draws.shifts.shape[1]):
        places = draws.places(enrolled, draw)
        for column, size in enumerate(populations):
            inside = included(places, true, size)[vectors.owner]
            for fold in range(FOLDS):
                is_test = vectors.slot == fold % vectors.counts[vectors.owner]
                calibration = np.sort(scores[inside & ~is_test])[::-1].astype(np.float64)
                threshold = (calibration[kept - 1] + calibration[kept]) / 2
                shares[draw, column] += np.sum(scores[inside & is_test] > threshold) == 1
    return shares / FOLDS


def isolations(
    scores: NDArray[np.float32],
    vectors: TestVectors,
    true: int,
    enrolled: int,
    draws: Draws,
    populations: list[int],
) -> NDArray[np.float64]:
    """Compute what :func:`literal` computes, from short lists of the highest scores.

    Parameters
    ----------
    scores, vectors, true, enrolled, draws, populations
        As in :func:`literal`.
    """
    loops = acceleration.loops_for(acceleration.ALWAYS)
    if loops is None:
        drawn = _Populations(scores, vectors, true, draws, draws.shifts[enrolled])
        shares = _by_lists(scores, drawn.highest(populations), vectors, true)
    else:
        shares = loops.isolate(
            scores,
            _top(scores, _reach(len(vectors.counts), populations)),
            vectors.owner,
            vectors.slot,
            vectors.counts,
            vectors.first,
            true,
            draws.orders,
            draws.speakers_at,
            draws.shifts[enrolled],
            np.array(populations),
            GATHER,
        )
    undecided = np.argwhere(np.isnan(shares))
    if len(undecided):
        order = np.argsort(-scores, kind="stable")
        for draw, column in undecided:
            places = draws.places(enrolled, draw)
            shares[draw, column] = _isolated(
                scores, order, vectors, true, places, populations[column]
            )
    return shares


def _by_lists(
    scores: NDArray[np.float32], lists: list[IntArray], vectors: TestVectors, true: int
) -> NDArray[np.float64]:
    """Shares that each population's highest vectors decide, draws × populations."""
    rows = np.concatenate(lists)
    shares = _decide(scores, rows[:, :_FEW], vectors, true)
    more = np.isnan(shares)
    shares[more] = _decide(scores, rows[more], vectors, true)
    return shares.reshape(len(lists), -1).T


def _reach(speakers: int, populations: list[int]) -> int:
    """How many of the highest vectors of all speakers show enough of each large population."""
    walked = [size for size in populations if size > GATHER]
    return _FIRST * speakers // min(walked) if walked else 1


class _Populations:
    """All drawn populations around one enrolment speaker, and their highest vectors.

    The populations of all draws are rows of one table. Small populations are gathered and their
    highest vectors kept; for large ones the list of the highest vectors of all speakers is read,
    leaving out who is not included.
    """

    def __init__(
        self,
        scores: NDArray[np.float32],
        vectors: TestVectors,
        true: int,
        draws: Draws,
        shifts: NDArray[np.int32],
    ) -> None:
        self.scores, self.vectors, self.true = scores, vectors, true
        self.draws, self.shifts = draws, shifts[:, None]
        self.order = np.arange(len(shifts)) % len(draws.orders)
        self.speakers = len(vectors.counts)
        self.true_place = draws.orders[self.order, (true + shifts) % self.speakers]

    def highest(self, populations: list[int]) -> list[IntArray]:
        """Up to :data:`HIGHEST` vectors by falling score, draws × places, for each population.

        Places that stay empty hold −1.
        """
        gathered = [size for size in populations if size <= GATHER]
        walked = [size for size in populations if size > GATHER]
        lists: dict[int, IntArray] = {}
        if gathered:
            members = self._members(max(gathered))
            peaks = np.maximum.reduceat(self.scores, self.vectors.first)
            lists |= {size: self._gather(members[:, :size], peaks) for size in gathered}
        if walked:
            top = _top(self.scores, _reach(self.speakers, walked))
            places = self._places(top)
            lists |= {size: self._walk(top, places, size) for size in walked}
        return [lists[size] for size in populations]

    def _members(self, most: int) -> NDArray[np.int32]:
        """The speakers at the first places, draws × places; negative numbers count from the end."""
        return self.draws.speakers_at[:, :most][self.order] - self.shifts

    def _gather(self, members: NDArray[np.int32], peaks: NDArray[np.float32]) -> IntArray:
        """The highest vectors belong to the speakers whose single highest vectors are highest."""
        size = members.shape[1]
        members = members.copy()
        members[self.true_place >= size - 1, -1] = self.true
        chosen = _highest_columns(peaks[members])
        members = np.take_along_axis(members, chosen, axis=1)
        slots = np.arange(VECTORS)
        numbers = self.vectors.first[members][:, :, None] + slots
        numbers[slots >= self.vectors.counts[members][:, :, None]] = -1
        numbers = numbers.reshape(len(members), -1)
        values = np.where(numbers < 0, -np.inf, self.scores[numbers])
        best = _highest_columns(values)
        falling = np.argsort(-np.take_along_axis(values, best, axis=1), axis=1)
        best = np.take_along_axis(best, falling, axis=1)
        lists = np.full((len(members), HIGHEST), -1)
        lists[:, : best.shape[1]] = np.take_along_axis(numbers, best, axis=1)
        return lists

    def _places(self, top: IntArray) -> NDArray[np.int32]:
        """The place of the speaker of each listed vector, draws × vectors; −1 the true speaker."""
        owner = self.vectors.owner[top]
        shifted = owner + self.shifts
        shifted -= self.speakers * (shifted >= self.speakers)
        places = self.draws.orders.take(shifted + self.order[:, None] * self.speakers)
        places[:, owner == self.true] = -1
        return places

    def _walk(self, top: IntArray, places: NDArray[np.int32], population: int) -> IntArray:
        """The first listed vectors whose speakers are included."""
        limit = np.where(self.true_place >= population - 1, population - 1, population)
        inside = places[:, : _reach(self.speakers, [population])] < limit[:, None]
        number = np.cumsum(inside, axis=1, dtype=np.int32)
        draw, column = np.nonzero(inside & (number <= HIGHEST))
        lists = np.full((len(places), HIGHEST), -1)
        lists[draw, number[draw, column] - 1] = top[column]
        return lists


def _highest_columns(values: NDArray[np.floating]) -> IntArray:
    """Numbers of the :data:`HIGHEST` highest columns of each row, in any order."""
    surplus = max(values.shape[1] - HIGHEST, 0)
    return np.argpartition(values, surplus, axis=1)[:, surplus:]


def _top(scores: NDArray[np.float32], count: int) -> IntArray:
    """About so many of the highest scores, in falling order."""
    if count >= len(scores) // 2:
        return np.argsort(-scores, kind="stable")
    sample = scores[:: max(1, len(scores) // 4096)]
    level = np.quantile(sample, 1 - count / len(scores))
    picked = np.flatnonzero(scores >= level)
    return picked[np.argsort(-scores[picked], kind="stable")]


def _isolated(
    scores: NDArray[np.float32],
    order: IntArray,
    vectors: TestVectors,
    true: int,
    places: NDArray[np.int32],
    population: int,
) -> float:
    """Share of folds that single someone out, in one population."""
    limit = _limit(places, true, population)
    reach = _FIRST * len(vectors.counts) // population
    while True:
        some = order[:reach]
        owner = vectors.owner[some]
        picked = some[(places[owner] < limit) | (owner == true)]
        decided = float(_decide(scores, picked[None], vectors, true)[0])
        if not np.isnan(decided):
            return decided
        if reach >= len(order):
            raise TooFewError(f"population {population}: too few vectors for a threshold")
        reach *= 4


def _decide(
    scores: NDArray[np.float32], lists: IntArray, vectors: TestVectors, true: int
) -> NDArray[np.float64]:
    """Share of folds in which exactly one test vector passes; NaN if more vectors are needed.

    Each row lists included vectors in order of falling score; −1 fills the rest of the row.
    """
    kept = int(vectors.counts[true]) - 1
    length = lists.shape[1]
    number = np.ascontiguousarray(lists.T)
    is_test = _IS_TEST[vectors.counts[vectors.owner[number]] - 1, vectors.slot[number]]
    calibrates = ~is_test & (number >= 0)[:, :, None]
    small = np.min_scalar_type(length)
    calibrations = np.cumsum(calibrates, axis=0, dtype=small)
    upper = np.sum(calibrations < kept, axis=0, dtype=small)
    lower = np.sum(calibrations <= kept, axis=0, dtype=small)
    decided = np.all(lower < length, axis=1)
    wide = np.where(number < 0, -np.inf, scores[number].astype(np.float64))
    row = np.arange(len(lists))[decided, None]
    threshold = (wide[upper[decided], row] + wide[lower[decided], row]) / 2
    passes = is_test[:, decided] & (wide[:, decided, None] > threshold)
    shares = np.full(len(lists), np.nan)
    shares[decided] = np.mean(np.sum(passes, axis=0, dtype=small) == 1, axis=1)
    return shares
