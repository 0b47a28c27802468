"""Recordings cut into short pieces: at word boundaries, or after so many seconds.

A piece takes words until it lasts long enough; the cut is in the middle of the gap to the next
word. Pieces partition the words and the samples. What is left at the end, too short to stand
alone, joins the piece before it, or is kept or dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sottovoce.anonymise.keys import Secret
from sottovoce.core.errors import UsageError

Rest = Literal["merge", "keep", "drop"]


@dataclass(frozen=True, slots=True)
class Slice:
    """Some words in a row, ``words[first:stop]``, and their samples, ``audio[start:end]``."""

    first: int
    stop: int
    start: int
    end: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"first": self.first, "stop": self.stop, "start": self.start, "end": self.end}


def slice_words(
    times: Sequence[tuple[float, float]],
    size: int,
    rate: int,
    *,
    seconds: float,
    rest: Rest = "merge",
) -> list[Slice]:
    """Pieces of at least ``seconds`` (δ), if the recording has that much.

    ``times`` are start and end of each word; ``size`` samples at ``rate`` are cut.

    >>> [(one.first, one.stop) for one in slice_words([(0, 1), (1, 2), (2, 3)], 30, 10, seconds=2)]
    [(0, 3)]
    """
    check_seconds(seconds)
    if rest not in get_args(Rest):
        raise UsageError(f"rest {rest!r}; choose {', '.join(get_args(Rest))}")
    cuts = [0, *(_cut(a, b, rate, size) for a, b in itertools.pairwise(times)), size]
    pieces: list[Slice] = []
    first = 0
    for stop in range(1, len(times) + 1):
        if cuts[stop] - cuts[first] >= seconds * rate:
            pieces.append(Slice(first, stop, cuts[first], cuts[stop]))
            first = stop
    if first < len(times) or not times:
        _end(pieces, Slice(first, len(times), cuts[first] if times else 0, size), rest)
    return pieces


def check_seconds(seconds: float) -> None:
    """Refuse lengths that make no piece of speech."""
    if not 0.05 <= seconds <= 3600:
        raise UsageError(f"pieces of {seconds:g} s; give 0.05 s to an hour")


def _cut(before: tuple[float, float], after: tuple[float, float], rate: int, size: int) -> int:
    return min(size, round((before[1] + after[0]) / 2 * rate))


def _end(pieces: list[Slice], left: Slice, rest: Rest) -> None:
    """Deal with what is left, too short to stand alone."""
    if not pieces or rest == "keep":
        pieces.append(left)
    elif rest == "merge":
        last = pieces.pop()
        pieces.append(Slice(last.first, left.stop, last.start, left.end))


def hard_cut(size: int, rate: int, seconds: float, *, all_of_it: bool = False) -> list[Slice]:
    """The first ``seconds``, regardless of words; or all of it in pieces of that length."""
    check_seconds(seconds)
    step = max(1, round(seconds * rate))
    starts = range(0, size, step) if all_of_it else [0]
    return [Slice(0, 0, start, min(start + step, size)) for start in starts]


def shuffled_names(secret: Secret, ids: Sequence[str]) -> list[tuple[str, int]]:
    """New names for pieces, and an order that follows from nothing but the secret.

    Each is a keyed digest of the piece's own id, so neither name nor order tells who came before
    whom. Returns (name, place in ``ids``), in the new order.
    """
    named = [(secret.digest("slice", one).hex()[:16], place) for place, one in enumerate(ids)]
    return sorted(named)
