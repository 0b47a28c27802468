"""A set of scores larger than memory, read again each time it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sottovoce.core.types import RealArray
from sottovoce.measure.scores import check_finite


@dataclass(frozen=True, eq=False)
class Stream:
    """A set of scores of which only the mated ones are in memory."""

    name: str
    origin: str
    """What to call it in error messages."""
    mated: RealArray
    n_nonmated: int
    read: Callable[[], Iterator[RealArray]]
    speakers: None = None

    def nonmated_chunks(self) -> Iterator[RealArray]:
        """Read the non-mated scores once more."""
        for chunk in self.read():
            check_finite(chunk, f"{self.origin}: nonmated")
            yield chunk

    @cached_property
    def _range(self) -> tuple[float, float]:
        """Costs a read of everything, so it is done only when asked for (histograms ask)."""
        low, high = check_finite(self.mated, f"{self.origin}: mated")
        for chunk in self.read():
            ends = check_finite(chunk, f"{self.origin}: nonmated")
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
