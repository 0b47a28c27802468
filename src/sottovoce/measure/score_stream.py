"""Scores that do not fit in memory: the non-mated ones are read a part at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Generic, TypeVar

import numpy as np

from sottovoce.core.engine import HERE, Engine
from sottovoce.core.errors import InputError
from sottovoce.core.types import RealArray
from sottovoce.measure.scores import ScoreSource, check_finite

R = TypeVar("R")

ScorePart = Callable[[], Iterator[RealArray]]
"""Starts to read the non-mated scores of a part of a set, a chunk at a time."""

PART_MEMORY = 400_000_000
"""Bytes that a worker of a cluster needs to read and count parts, one after the other."""
PARTS_TOGETHER = 4
"""Neighbouring parts that are counted together, because the counts of each group, one per mated
score and more, are sent to the client and added there."""


@dataclass(frozen=True, eq=False)
class ScoreStream:
    """A set of scores of which only the mated ones are in memory.

    The non-mated ones are divided into parts, which depend on the data alone: results of parts are
    combined in their order, so an engine changes no result.
    """

    name: str
    origin: str
    """What to call it in error messages."""
    mated: RealArray
    n_nonmated: int
    parts: Iterable[ScorePart]
    """Can be gone through again, and pickled if the engine is remote."""
    refuse_bad_scores: Callable[[], None]
    """Raises an error that says where in the file the first unusable non-mated score is.

    Called once a chunk holds one, since a chunk does not know its place.
    """
    speakers: None = None
    engine: Engine = HERE
    """What reads and counts the parts."""

    def nonmated_chunks(self) -> Iterator[RealArray]:
        """Read the non-mated scores once more."""
        for part in self.parts:
            for chunk in part():
                self._check(chunk)
                yield chunk

    def map_parts(self, function: Callable[[Iterable[RealArray]], R]) -> Iterator[R]:
        """Apply a function to the chunks of neighbouring parts.

        Parameters
        ----------
        function : callable
            Takes an iterable of chunks; their scores are finite.

        Yields
        ------
        R
            The results, in the order of the parts.
        """
        work = OverParts[R](function, self.origin)
        label = "counting scores"
        parts = iter(self.parts)
        groups = iter(lambda: tuple(islice(parts, PARTS_TOGETHER)), ())
        try:
            for _, result in self.engine.map(
                work, groups, label=label, private=False, memory=PART_MEMORY
            ):
                yield result
        except InputError as error:
            if error.code in ("not-finite", "out-of-range"):
                self.refuse_bad_scores()
            raise

    def _check(self, chunk: RealArray) -> None:
        try:
            check_finite(chunk, f"{self.origin}: nonmated")
        except InputError:
            self.refuse_bad_scores()
            raise

    @cached_property
    def _range(self) -> tuple[float, float]:
        """Costs a read of everything, so it is done only when asked for (histograms ask)."""
        low, high = check_finite(self.mated, f"{self.origin}: mated")
        for ends in self.map_parts(score_range):
            low, high = min(low, ends[0]), max(high, ends[1])
        return low, high

    @property
    def low(self) -> float:
        """The smallest score of both classes."""
        return self._range[0]

    @property
    def high(self) -> float:
        """The largest score of both classes."""
        return self._range[1]


def with_engine(source: ScoreSource, engine: Engine) -> ScoreSource:
    """Let an engine read and count a set of scores, if it is streamed.

    Parameters
    ----------
    source : ScoreSource
        The scores; those in memory are returned as they are.
    engine : Engine
        What reads and counts the parts.
    """
    return replace(source, engine=engine) if isinstance(source, ScoreStream) else source


@dataclass(frozen=True)
class OverParts(Generic[R]):
    """Applies a function to the checked chunks of some parts, on any worker."""

    function: Callable[[Iterable[RealArray]], R]
    origin: str

    def __call__(self, parts: tuple[ScorePart, ...]) -> R:
        """Return the result of some parts.

        Parameters
        ----------
        parts : tuple of ScorePart
            What reads them.
        """
        return self.function(self._checked(parts))

    def _checked(self, parts: tuple[ScorePart, ...]) -> Iterator[RealArray]:
        for part in parts:
            for chunk in part():
                check_finite(chunk, f"{self.origin}: nonmated")
                yield chunk


def score_range(chunks: Iterable[RealArray]) -> tuple[float, float]:
    """Return the smallest and the largest score.

    Parameters
    ----------
    chunks : iterable of array
        All scores; without any, the range is empty (from infinity to minus infinity).
    """
    low, high = np.inf, -np.inf
    for chunk in chunks:
        low, high = min(low, float(chunk.min())), max(high, float(chunk.max()))
    return low, high
