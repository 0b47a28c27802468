"""A text with parts hidden: how it is looked at again once something was found.

What is found in such a view is told in the characters of the text itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sottovoce.anonymise.text.entities import TYPES
from sottovoce.anonymise.text.tokens import HIDDEN, Token, tokenise

PLACEHOLDER = re.compile(
    rf"█{{5}}|\[(?:{'|'.join(TYPES)})(?:_\d+)?\]|(?<!\w)(?:{'|'.join(TYPES)})_[A-Z2-7]{{8}}(?!\w)"
)


class Finding(NamedTuple):
    """Characters of a text that are private."""

    start: int
    end: int
    kind: str
    score: float
    rule: str

    def moved(self, start: int, end: int) -> Finding:
        """The same in other characters."""
        return Finding(start, end, self.kind, self.score, self.rule)


@dataclass(frozen=True)
class View:
    """A text with parts hidden, and the way back to its characters."""

    source: str
    hidden: tuple[tuple[int, int], ...]
    text: str
    starts: tuple[int, ...]
    shifts: tuple[int, ...]

    @cached_property
    def tokens(self) -> list[Token]:
        """Words and marks of what can be seen."""
        return tokenise(self.text)

    @classmethod
    def of(cls, source: str) -> View:
        """A text whose placeholders are hidden."""
        return cls.make(source, [match.span() for match in PLACEHOLDER.finditer(source)])

    @classmethod
    def make(cls, source: str, hidden: Iterable[tuple[int, int]]) -> View:
        """A text with some parts hidden."""
        spans = sorted(hidden)
        pieces, starts, shifts = [], [0], [0]
        done = length = 0
        for start, end in spans:
            pieces += [source[done:start], HIDDEN]
            length += start - done + len(HIDDEN)
            done = end
            starts.append(length)
            shifts.append(done - length)
        pieces.append(source[done:])
        return cls(source, tuple(spans), "".join(pieces), tuple(starts), tuple(shifts))

    def original(self, one: Finding) -> Finding:
        """The same finding in the characters of the source."""
        start, end = (
            p + self.shifts[bisect_right(self.starts, p) - 1] for p in (one.start, one.end - 1)
        )
        return one.moved(start, end + 1)

    def hiding(self, findings: Iterable[Finding]) -> View:
        """With more parts hidden."""
        return View.make(self.source, [*self.hidden, *((f.start, f.end) for f in findings)])
