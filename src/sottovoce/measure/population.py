"""Where the true speaker stands among all others: one pass over all scores, none of them stored.

Everything that is asked of populations of any size (linkability, rank, top-k) follows from how many
others score above or equal to the true speaker, two whole numbers a trial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.engine import HERE, Engine, SharedArray
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.types import IntArray, Progress, Vectors
from sottovoce.measure.conversations import Trials
from sottovoce.speaker import Embeddings, LinkageFunction, recentred
from sottovoce.speaker.averages import enrolment_models

LOWEST = np.finfo(np.float32).min
"""Put in place of the score of the true speaker: below all others."""

MODELS = 1 << 16
"""Enrolment models multiplied at a time."""
TRIALS = 256
"""Trials multiplied at a time: thick enough for the product to run at full speed."""
PART = 4
"""Blocks of trials that are counted together, against one block of models."""
BLOCK_MEMORY = 700_000_000
"""Bytes that a worker of a cluster needs for such a part."""


class Visitor(Protocol):
    """Counts blocks of scores in some way that adds."""

    def __call__(self, scores: Vectors, first: int) -> None:
        """Take a block of scores into account.

        Parameters
        ----------
        scores : array of float32, trials × models
            With :data:`LOWEST` in place of the scores of true speakers.
        first : int
            Number of the first model.
        """

    def empty(self) -> Self:
        """Return a visitor of the same kind that has seen nothing, for a part of the scores."""

    def add(self, part: Self) -> None:
        """Take over what a visitor of a part has counted.

        Parameters
        ----------
        part : Visitor
            Made by :meth:`empty`.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How many others score above, and equal to, the true speaker in each trial."""

    speakers: IntArray
    """Whose trial it is, a number of the enrolment's."""
    above: IntArray
    equal: IntArray
    core_above: IntArray
    """The same among the core: speakers who are part of every population."""
    core_equal: IntArray
    core: int
    """How many speakers are in the core, the true one included."""
    models: int
    """How many speakers are enrolled."""
    true_scores: Vectors
    """The score of the true speaker."""
    low: float
    """The lowest of all scores."""
    high: float
    """The highest of all scores."""

    def without_core(self) -> Standing:
        """Return the same trials with nobody who is part of every population."""
        nobody = np.zeros_like(self.core_above)
        return replace(self, core=0, core_above=nobody, core_equal=nobody)


def check_dimensions(enrol: Embeddings, trial: Embeddings) -> None:
    """Refuse vectors of different dimensions, and an enrolment of one speaker.

    Parameters
    ----------
    enrol, trial : Embeddings
        What is compared.
    """
    if enrol.dimension != trial.dimension:
        raise InputError(
            f"{trial.origin}: vectors of dimension {trial.dimension}, but {enrol.origin} has "
            f"{enrol.dimension}; use one encoder for both",
            code="mismatch",
        )
    if len(enrol.names) < 2:
        raise TooFewError(f"{enrol.origin}: one speaker; a population needs at least 2")


class Scoring:
    """All scores of trials against enrolment models, a block at a time.

    Parameters
    ----------
    enrol : Embeddings
        A model is the mean of a speaker's vectors.
    trials : Trials
        Conversations of enrolled speakers.
    linkage : LinkageFunction
        What turns a model and a trial into a score.
    """

    def __init__(self, enrol: Embeddings, trials: Trials, linkage: LinkageFunction) -> None:
        counts = enrol.counts
        self.counts: IntArray | int = int(counts[0]) if np.all(counts == counts[0]) else counts
        self.means = enrolment_models(enrol)
        self.linkage = linkage = recentred(linkage, self.means)
        self.trials = linkage.trial(trials.vectors, self.counts)
        self.speakers = trials.speakers

    def models(self, which: slice | IntArray) -> Vectors:
        """Return the prepared enrolment models of some speakers.

        Parameters
        ----------
        which : slice or array of int
            Numbers of the speakers.
        """
        return prepare_models(self.linkage, self.means, self.counts, which)

    def against_all(self) -> Iterator[tuple[slice, Vectors]]:
        """Score blocks of trials against all models at once, which must fit into memory.

        Yields
        ------
        tuple of slice and array of float32
            Rows of trials and their scores (trials × models).
        """
        models = self.models(slice(None))
        for start in range(0, len(self.trials), TRIALS):
            part = self.trials[start : start + TRIALS]
            yield slice(start, start + len(part)), part @ models.T

    def rounding(self) -> Vectors:
        """How far apart equal scores of each trial may come out of a product in float32.

        A sum of products is off by a few units in the last place of the sum of their sizes, here
        taken for the model that matters, that of the true speaker.
        """
        sizes = np.empty(len(self.trials), np.float32)
        for start in range(0, len(self.trials), TRIALS):
            rows = slice(start, start + TRIALS)
            models = np.abs(self.models(self.speakers[rows]))
            sizes[rows] = np.einsum("ij,ij->i", np.abs(self.trials[rows]), models)
        return 2 * np.finfo(np.float32).eps * sizes

    def true_scores(self) -> Vectors:
        """The score of each trial against the model of its true speaker."""
        scores = np.empty(len(self.trials), np.float32)
        for start in range(0, len(self.trials), TRIALS):
            rows = slice(start, start + TRIALS)
            models = self.models(self.speakers[rows])
            scores[rows] = np.einsum("ij,ij->i", self.trials[rows], models)
        return scores


def prepare_models(
    linkage: LinkageFunction, means: Vectors, counts: IntArray | int, which: slice | IntArray
) -> Vectors:
    """Prepare the enrolment models of some speakers for a product with trials.

    Parameters
    ----------
    linkage : LinkageFunction
        What turns a model and a trial into a score.
    means : array of float32, speakers × d
        Mean vectors of all speakers.
    counts : array of int or int
        Vectors behind each mean, or behind all.
    which : slice or array of int
        Numbers of the speakers.
    """
    chosen = counts if isinstance(counts, int) else counts[which]
    return linkage.enrol(means[which], chosen)


@dataclass(slots=True, eq=False)
class StandingOfPart:
    """What was counted in a part of the scores."""

    rows: slice
    """Trials of the part."""
    above: IntArray
    not_below: IntArray
    core_above: IntArray
    core_not_below: IntArray
    low: float
    high: float
    visitor: Visitor | None


@dataclass(slots=True, eq=False)
class CountStanding:
    """Counts who scores above the true speaker in a part of the scores, on any worker."""

    means: SharedArray
    trials: SharedArray
    counts: IntArray | int
    linkage: LinkageFunction
    speakers: IntArray
    true_scores: Vectors
    margin: Vectors
    core: IntArray
    """Sorted."""
    visitor: Visitor | None
    _prepared: tuple[int, Vectors] | None = field(default=None, repr=False)
    """Number of the first model of the block prepared last, and the block."""

    def parts(self) -> list[tuple[int, int]]:
        """First model and first trial of each part."""
        models, trials = len(self.means.array), len(self.trials.array)
        return [
            (first, start)
            for first in range(0, models, MODELS)
            for start in range(0, trials, PART * TRIALS)
        ]

    def __call__(self, part: tuple[int, int]) -> StandingOfPart:
        """Count one part.

        Parameters
        ----------
        part : tuple of int
            First model and first trial.
        """
        first, start = part
        models = self._models(first)
        stop = min(start + PART * TRIALS, len(self.trials.array))
        above, not_below, core_above, core_not_below = np.zeros((4, stop - start), np.int64)
        counted = StandingOfPart(
            slice(start, stop),
            above,
            not_below,
            core_above,
            core_not_below,
            low=np.inf,
            high=-np.inf,
            visitor=None if self.visitor is None else self.visitor.empty(),
        )
        buffer = np.empty((min(TRIALS, stop - start), len(models)), np.float32)
        for begin in range(start, stop, TRIALS):
            rows = slice(begin, min(begin + TRIALS, stop))
            trials = self.trials.array[rows]
            scores = np.matmul(trials, models.T, out=buffer[: len(trials)])
            self._count(scores, first, rows, counted)
        return counted

    def _models(self, first: int) -> Vectors:
        prepared = self._prepared
        if prepared is None or prepared[0] != first:
            which = slice(first, min(first + MODELS, len(self.means.array)))
            models = prepare_models(self.linkage, self.means.array, self.counts, which)
            prepared = self._prepared = (first, models)
        return prepared[1]

    def _count(self, scores: Vectors, first: int, rows: slice, counted: StandingOfPart) -> None:
        """Count a block; scores that rounding alone tells apart from the true one become equal."""
        counted.low = min(counted.low, float(scores.min()))
        counted.high = max(counted.high, float(scores.max()))
        true = self.speakers[rows] - first
        here = np.flatnonzero((true >= 0) & (true < scores.shape[1]))
        scores[here, true[here]] = LOWEST
        here_true = self.true_scores[rows]
        higher, lower = here_true + self.margin[rows], here_true - self.margin[rows]
        more = count_rows(np.greater, scores, higher)
        as_high = count_rows(np.greater_equal, scores, lower)
        inside_rows = slice(rows.start - counted.rows.start, rows.stop - counted.rows.start)
        counted.above[inside_rows] = more
        counted.not_below[inside_rows] = as_high
        for i in np.flatnonzero(as_high > more):  # what rounding alone tells apart is a tie
            tied = (scores[i] >= lower[i]) & (scores[i] <= higher[i])
            scores[i, tied] = here_true[i]
        core = self.core
        inside = core[(core >= first) & (core < first + scores.shape[1])] - first
        if len(inside):
            part = np.ascontiguousarray(scores[:, inside])
            counted.core_above[inside_rows] = count_rows(np.greater, part, higher)
            counted.core_not_below[inside_rows] = count_rows(np.greater_equal, part, lower)
        if counted.visitor is not None:
            counted.visitor(scores, first)


def stand(
    scoring: Scoring,
    *,
    core: IntArray | None = None,
    visit: Visitor | None = None,
    progress: Progress | None = None,
    engine: Engine = HERE,
) -> Standing:
    """Count, for each trial, the others who score above and equal to the true speaker.

    Parameters
    ----------
    scoring : Scoring
        All scores; memory holds one block at a time.
    core : array of int, optional
        Enrolled speakers who are in every population.
    visit : Visitor, optional
        Counts each block of scores too.
    progress : callable, optional
        Called with the parts done and to do.
    engine : Engine, optional
        What counts parts of the scores; default this thread. Counts are whole numbers, so they are
        the same on any engine.
    """
    core = np.empty(0, np.int64) if core is None else np.sort(core)
    true_scores = scoring.true_scores()
    work = CountStanding(
        engine.share(scoring.means),
        engine.share(scoring.trials),
        scoring.counts,
        scoring.linkage,
        scoring.speakers,
        true_scores,
        scoring.rounding(),
        core,
        None if visit is None else visit.empty(),
    )
    above, not_below, core_above, core_not_below = np.zeros((4, len(true_scores)), np.int64)
    low, high = np.inf, -np.inf
    parts = work.parts()
    counted = engine.map(work, parts, label="comparing voices", memory=BLOCK_MEMORY)
    for done, (_, part) in enumerate(counted, 1):
        above[part.rows] += part.above
        not_below[part.rows] += part.not_below
        core_above[part.rows] += part.core_above
        core_not_below[part.rows] += part.core_not_below
        low, high = min(low, part.low), max(high, part.high)
        if visit is not None and part.visitor is not None:
            visit.add(part.visitor)
        if progress:
            progress(done, len(parts))
    return Standing(
        scoring.speakers,
        above,
        not_below - above,
        core_above,
        core_not_below - core_above,
        len(core),
        len(scoring.means),
        true_scores,
        low,
        high,
    )


def count_rows(
    compare: Callable[..., NDArray[np.bool_]], scores: Vectors, level: Vectors
) -> IntArray:
    """Count the entries of each row that compare true with the row's level.

    Parameters
    ----------
    compare : numpy.ufunc
        Such as ``numpy.greater``.
    scores : array of float32, rows × columns
        Any scores.
    level : array of float32, rows
        What the scores of each row are compared with.
    """
    row = np.empty(scores.shape[1], bool)
    return np.array(
        [np.count_nonzero(compare(s, at, out=row)) for s, at in zip(scores, level, strict=True)],
        np.int64,
    )
