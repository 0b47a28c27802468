"""Singling Out: can a predicate on the voice isolate one person of a crowd? (Vauquier et al.)

For an enrolment speaker, a predicate says yes to vectors that score above a threshold, set so that
one in N would pass on calibration vectors. It singles out if exactly one of the N test vectors (one
a speaker, whoever it is) passes. A random predicate does so with probability 1/e.

Every test speaker has up to ten vectors; each is the test vector in one of ten folds and a
calibration vector in the others. The threshold is midway between the 9th and the 10th highest
calibration score (with K < 10 vectors of the enrolled speaker: the (K−1)-th and the K-th).

:func:`literal` follows that text. :func:`isolations` gives identical outcomes for the same draws,
much faster: in order of falling score, the first dozen vectors of included speakers decide all ten
folds, so one sorted list an enrolment speaker serves every draw and every N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import IntArray
from sottovoce.measure import acceleration

FOLDS = 10
VECTORS = 10
"""Vectors a test speaker has at most."""
CHANCE = math.exp(-1)
"""Singling Out of a random predicate in a large population."""

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
        """Number the vectors of each speaker; ``speakers`` are 0 … S−1, sorted."""
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
        """Draw the orders and the shifts."""
        orders = np.stack([rng.permutation(speakers) for _ in range(min(draws, 20))])
        shifts = rng.integers(0, speakers, (enrolled, draws))
        at = np.argsort(orders)
        return cls(*(one.astype(np.int32) for one in (orders, at, shifts)))

    def places(self, enrolled: int, draw: int) -> NDArray[np.int32]:
        """The place of each speaker in one draw for one enrolment speaker."""
        return np.roll(self.orders[draw % len(self.orders)], -int(self.shifts[enrolled, draw]))


def _limit(places: NDArray[np.int32], true: int, population: int) -> int:
    """Places below it belong to the population, besides the true speaker's own."""
    return population - 1 if places[true] >= population - 1 else population


def included(places: NDArray[np.int32], true: int, population: int) -> NDArray[np.bool_]:
    """The true speaker and the first N − 1 others of an order."""
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
    """Share of folds that single someone out (draws × populations), step by step as published.

    ``scores`` are those of one enrolment speaker, whose number among the test speakers is ``true``.
    """
    kept = int(vectors.counts[true]) - 1
    found = np.zeros((draws.shifts.shape[1], len(populations)))
    for draw in range(draws.shifts.shape[1]):
        places = draws.places(enrolled, draw)
        for column, size in enumerate(populations):
            inside = included(places, true, size)[vectors.owner]
            for fold in range(FOLDS):
                is_test = vectors.slot == fold % vectors.counts[vectors.owner]
                calibration = np.sort(scores[inside & ~is_test])[::-1].astype(np.float64)
                threshold = (calibration[kept - 1] + calibration[kept]) / 2
                found[draw, column] += np.sum(scores[inside & is_test] > threshold) == 1
    return found / FOLDS


def isolations(
    scores: NDArray[np.float32],
    vectors: TestVectors,
    true: int,
    enrolled: int,
    draws: Draws,
    populations: list[int],
) -> NDArray[np.float64]:
    """What :func:`literal` gives, from one sorted list."""
    found = np.full((draws.shifts.shape[1], len(populations)), np.nan)
    if fast := acceleration.load():
        top = _top(scores, len(vectors.counts), populations)
        found = fast.isolate(
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
    left = np.argwhere(np.isnan(found))
    if len(left):
        order = np.argsort(-scores, kind="stable")
        for draw, column in left:
            places = draws.places(enrolled, draw)
            found[draw, column] = _isolated(
                scores, order, vectors, true, places, populations[column]
            )
    return found


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


def no_evidence(population: int, kept: int = VECTORS - 1, each: float | None = None) -> float:
    """Singling Out of this protocol when scores carry no evidence (a little below 1/e).

    The threshold lies between the k-th and the (k+1)-th calibration score (``kept`` = k) of
    ``each`` a speaker (default k). Without evidence all orders are equally likely: the number of
    test scores before a given calibration score is negative hypergeometric, and one in the gap
    passes half the time.
    """
    k, n = kept, population
    m = max(k + 1, round((kept if each is None else each) * population))
    # chance that x test scores come before the k-th calibration score
    none = math.exp(_log_before(0, k, n, m))
    one = math.exp(_log_before(1, k, n, m))
    # given x before, each following place up to the next calibration score holds a test score
    # with odds (n − x) : (m − k); in the gap a test score passes with probability 1/2
    gap = [_passing_in_gap(n - x, m - k) for x in (0, 1)]
    return none * gap[0][1] + one * gap[1][0]


def _log_before(x: int, k: int, n: int, m: int) -> float:
    def log_choose(a: int, b: int) -> float:
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    return log_choose(x + k - 1, x) + log_choose(n - x + m - k, n - x) - log_choose(n + m, n)


def _passing_in_gap(tests: int, calibrations: int) -> tuple[float, float]:
    """Chances that none, and that exactly one, of the test scores in a gap pass its middle."""
    none, one, reach = 0.0, 0.0, 1.0
    for y in range(min(tests, 60) + 1):
        remaining = tests - y + calibrations
        ends = calibrations / remaining if remaining else 1.0
        here = reach * ends
        none += here * 0.5**y
        one += here * y * 0.5**y
        reach *= 1 - ends
    return none, one
