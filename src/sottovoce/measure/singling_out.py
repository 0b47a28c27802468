"""Singling Out: can a predicate on the voice isolate one person of a population? (Vauquier et al.)

For an enrolment speaker, a predicate says yes to vectors that score above a threshold, set so that
one in N would pass on calibration vectors. It singles out if exactly one of the N test vectors (one
a speaker, whoever it is) passes. A random predicate does so with probability 1/e.

Every test speaker has up to ten vectors; each is the test vector in one of ten folds and a
calibration vector in the others. The threshold is midway between the 9th and the 10th highest
calibration score (with K < 10 vectors of the enrolled speaker: the (K−1)-th and the K-th).
:mod:`~sottovoce.measure.isolation` tells which predicates isolate someone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.engine import HERE, Engine, SharedArray
from sottovoce.core.errors import TooFewError
from sottovoce.core.types import IntArray, Progress, Vectors
from sottovoce.measure.conversations import Conversations, enrolment_numbers
from sottovoce.measure.isolation import (
    LITERAL_DRAWS,
    VECTORS,
    Draws,
    TestVectors,
    isolations,
    literal,
)
from sottovoce.measure.population import BLOCK_MEMORY
from sottovoce.measure.reidentification_settings import ReidentificationSettings
from sottovoce.speaker import Embeddings, LinkageFunction, recentred

PREDICATES = 64
"""Predicates that are tried together."""
CHANCE = math.exp(-1)
"""Singling Out of a random predicate in a large population."""


def no_evidence(population: int, kept: int = VECTORS - 1, each: float | None = None) -> float:
    """Compute Singling Out of this protocol when scores carry no evidence (a little below 1/e).

    Without evidence all orders are equally likely: the number of test scores before a given
    calibration score is negative hypergeometric, and one in the gap passes half the time.

    Parameters
    ----------
    population : int
        Speakers of the population.
    kept : int, default 9
        k: the threshold lies between the k-th and the (k+1)-th calibration score.
    each : float, optional
        Calibration scores a speaker; default k.
    """
    k, n = kept, population
    m = max(k + 1, round((kept if each is None else each) * population))
    # chance that x test scores come before the k-th calibration score
    none_before = math.exp(_log_before(0, k, n, m))
    single_before = math.exp(_log_before(1, k, n, m))
    # given x before, each following place up to the next calibration score holds a test score
    # with odds (n − x) : (m − k); in the gap a test score passes with probability 1/2
    gap = [_passing_in_gap(n - x, m - k) for x in (0, 1)]
    return none_before * gap[0][1] + single_before * gap[1][0]


def _log_before(x: int, k: int, n: int, m: int) -> float:
    def log_choose(a: int, b: int) -> float:
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    return log_choose(x + k - 1, x) + log_choose(n - x + m - k, n - x) - log_choose(n + m, n)


def _passing_in_gap(tests: int, calibrations: int) -> tuple[float, float]:
    """Chances that none, and that exactly one, of the test scores in a gap pass its middle."""
    none, single, reach = 0.0, 0.0, 1.0
    for y in range(min(tests, 60) + 1):
        remaining = tests - y + calibrations
        ends = calibrations / remaining if remaining else 1.0
        here = reach * ends
        none += here * 0.5**y
        single += here * y * 0.5**y
        reach *= 1 - ends
    return none, single


class PredicateStudy:
    """Test speakers, enrolled or not, and the predicates that are tried on them.

    Parameters
    ----------
    enrol : Embeddings
        Recordings that predicates are made of.
    trial : Embeddings
        Recordings of the test speakers.
    tests : Conversations
        Conversations of ``trial``, two or more a speaker.
    linkage : LinkageFunction
        What turns two vectors into a score.
    settings : ReidentificationSettings
        Population sizes, draws and so on.
    rng : numpy.random.Generator
        Draws predicates and populations.
    """

    def __init__(
        self,
        enrol: Embeddings,
        trial: Embeddings,
        tests: Conversations,
        linkage: LinkageFunction,
        settings: ReidentificationSettings,
        rng: np.random.Generator,
    ) -> None:
        speakers, owners = np.unique(tests.speakers, return_inverse=True)
        self.vectors = TestVectors.of(owners.ravel())
        self.sizes = settings.sizes(len(speakers))
        enrolled = enrolment_numbers(trial, enrol)[speakers]
        known = np.flatnonzero(enrolled >= 0)
        if not self.sizes or not len(known):
            raise TooFewError(
                f"{len(speakers):,} speakers have two conversations, {len(known):,} of them "
                "enrolled; a population needs at least 2, one of them enrolled"
            )
        self.chosen = np.sort(rng.permutation(known)[: settings.enrolled])
        means, counts = _predicates(enrol, enrolled[self.chosen], settings.enrol_utterances, rng)
        linkage = recentred(linkage, means)
        self.models = linkage.enrol(means, counts)
        self.tests = linkage.trial(tests.vectors, counts)
        draws = LITERAL_DRAWS if settings.literal else settings.draws
        self.draws = Draws.make(len(speakers), len(self.chosen), draws, rng)
        self.outcome = literal if settings.literal else isolations

    def isolations(self, progress: Progress | None, engine: Engine = HERE) -> NDArray[np.float64]:
        """Compute the share of isolations.

        Parameters
        ----------
        progress : callable or None
            Called with the predicates done and to do.
        engine : Engine, optional
            What tries the predicates; default this thread.

        Returns
        -------
        array of float64, predicates × sizes
        """
        shares = np.empty((len(self.chosen), len(self.sizes)))
        work = TryPredicates(
            engine.share(self.models),
            engine.share(self.tests),
            self.chosen,
            self.vectors,
            self.draws,
            self.sizes,
            self.outcome,
        )
        starts = range(0, len(self.chosen), PREDICATES)
        for start, part in engine.map(work, starts, label="trying predicates", memory=BLOCK_MEMORY):
            shares[start : start + len(part)] = part
            if progress:
                progress(start + len(part), len(self.chosen))
        return shares

    def no_evidence(self, size: int) -> float:
        """Compute what scores without evidence would give.

        Parameters
        ----------
        size : int
            Population size.
        """
        each = float(self.vectors.counts.mean()) - 1
        kept, weights = np.unique(self.vectors.counts[self.chosen] - 1, return_counts=True)
        levels = [no_evidence(size, int(k), each) for k in kept]
        return float(np.average(levels, weights=weights))


Outcome = Callable[[Vectors, TestVectors, int, int, Draws, list[int]], NDArray[np.float64]]
"""Tells in which random populations of each size a predicate isolates somebody."""


@dataclass(frozen=True, slots=True, eq=False)
class TryPredicates:
    """Tries some predicates on random populations, on any worker."""

    models: SharedArray
    tests: SharedArray
    chosen: IntArray
    vectors: TestVectors
    draws: Draws
    sizes: list[int]
    outcome: Outcome

    def __call__(self, start: int) -> NDArray[np.float64]:
        """Return the share of isolations of each predicate by size.

        Parameters
        ----------
        start : int
            Number of the first predicate; as many as :data:`PREDICATES` are tried.
        """
        scores = self.models.array[start : start + PREDICATES] @ self.tests.array.T
        shares = np.empty((len(scores), len(self.sizes)))
        for i, row in enumerate(scores):
            number = start + i
            true = int(self.chosen[number])
            by_draw = self.outcome(row, self.vectors, true, number, self.draws, self.sizes)
            shares[i] = by_draw.mean(axis=0)
        return shares


def _predicates(
    enrol: Embeddings, speakers: IntArray, utterances: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], IntArray | int]:
    """Means of up to so many random utterances of each enrolment speaker, and of how many."""
    order = np.lexsort((rng.random(len(enrol)), enrol.speakers))
    first = np.cumsum(enrol.counts) - enrol.counts
    counts = np.minimum(enrol.counts, utterances)[speakers]
    means = [
        enrol.vectors[order[first[s] : first[s] + count]].mean(axis=0, dtype=np.float64)
        for s, count in zip(speakers, counts, strict=True)
    ]
    same = bool(np.all(counts == counts[0]))
    return np.array(means, np.float32), int(counts[0]) if same else counts
