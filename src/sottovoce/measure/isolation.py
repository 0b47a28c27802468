"""Which predicates isolate someone: the protocol of Singling Out, literally and fast.

:func:`literal` follows the published text. :func:`isolations` gives identical outcomes for the same
draws, much faster: in order of falling score, the first dozen vectors of included speakers decide
all ten folds, so one sorted list an enrolment speaker serves every draw and every N.
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
_FIRST = 40
"""Included vectors looked at, highest first, before more are fetched."""


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
    """Compute what :func:`literal` computes, from one sorted list.

    Parameters
    ----------
    scores, vectors, true, enrolled, draws, populations
        As in :func:`literal`.
    """
    shares = np.full((draws.shifts.shape[1], len(populations)), np.nan)
    if loops := acceleration.loops_for(acceleration.ALWAYS):
        top = _top(scores, len(vectors.counts), populations)
        shares = loops.isolate(
            scores,
            top,
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
        decided = _decide(scores[picked], picked, vectors, true)
        if decided is not None:
            return decided
        if reach >= len(order):
            raise TooFewError(f"population {population}: too few vectors for a threshold")
        reach *= 4


def _decide(
    scores: NDArray[np.float32], picked: IntArray, vectors: TestVectors, true: int
) -> float | None:
    """Share of folds in which exactly one test vector passes; None if more vectors are needed.

    Takes included vectors in order of falling score.
    """
    kept = int(vectors.counts[true]) - 1
    folds = np.arange(FOLDS)[:, None]
    is_test = vectors.slot[picked] == folds % vectors.counts[vectors.owner[picked]]
    calibrations = np.cumsum(~is_test, axis=1)
    if not len(picked) or calibrations[:, -1].min() <= kept:
        return None
    upper, lower = np.argmax(calibrations >= kept, axis=1), np.argmax(calibrations > kept, axis=1)
    wide = scores.astype(np.float64)
    threshold = (wide[upper] + wide[lower]) / 2
    passed = (is_test & (wide > threshold[:, None])).sum(axis=1)
    return float(np.mean(passed == 1))


GATHER = 200
"""Up to this population its vectors are gathered; beyond, the sorted list is walked."""


def _top(scores: NDArray[np.float32], speakers: int, populations: list[int]) -> IntArray:
    """The highest scores in falling order, enough of them to find a dozen included ones."""
    walked = [size for size in populations if size > GATHER]
    count = min(_FIRST * speakers // min(walked), len(scores)) if walked else 1
    if count >= len(scores) // 2:
        return np.argsort(-scores, kind="stable")
    sample = scores[:: max(1, len(scores) // 4096)]
    level = np.quantile(sample, 1 - count / len(scores))
    picked = np.flatnonzero(scores >= level)
    return picked[np.argsort(-scores[picked], kind="stable")]
