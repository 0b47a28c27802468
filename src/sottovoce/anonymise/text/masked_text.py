"""A text with parts hidden: how it is searched again once something was found in it.

What is found in the masked text is mapped back to the characters of the original.
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
"""What the strategies ``redact``, ``typed``, ``instance`` and ``hmac`` write."""


class Finding(NamedTuple):
    """Characters of a text that are private."""

    start: int
    end: int
    """The character after its last."""
    kind: str
    """Entity type, such as ``PER``."""
    score: float
    rule: str
    """What found it."""

    def moved(self, start: int, end: int) -> Finding:
        """Return the same finding at other characters.

        Parameters
        ----------
        start, end : int
            The first character and the one after the last.
        """
        return Finding(start, end, self.kind, self.score, self.rule)


@dataclass(frozen=True)
class MaskedText:
    """A text with parts hidden, and the map back to the characters of the original."""

    source: str
    """The original."""
    hidden: tuple[tuple[int, int], ...]
    """Characters of the original that are hidden."""
    text: str
    """The original with each hidden part replaced by ``█████``."""
    starts: tuple[int, ...]
    shifts: tuple[int, ...]
    """From ``starts[i]`` of ``text`` on, the original is ``shifts[i]`` characters ahead."""

    @cached_property
    def tokens(self) -> list[Token]:
        """Tokens of the masked text."""
        return tokenise(self.text)

    @classmethod
    def hide_placeholders(cls, source: str) -> MaskedText:
        """Hide the placeholders of a text that was anonymised before.

        Parameters
        ----------
        source : str
            The original.
        """
        return cls.hide(source, [match.span() for match in PLACEHOLDER.finditer(source)])

    @classmethod
    def hide(cls, source: str, hidden: Iterable[tuple[int, int]]) -> MaskedText:
        """Hide parts of a text.

        Parameters
        ----------
        source : str
            The original.
        hidden : iterable of (int, int)
            The parts, disjoint and in any order.
        """
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

    def to_source(self, finding: Finding) -> Finding:
        """Map a finding in the masked text to the characters of the original.

        Parameters
        ----------
        finding : Finding
            A finding in ``text``.
        """
        start, last = (self.source_offset(i) for i in (finding.start, finding.end - 1))
        return finding.moved(start, last + 1)

    def source_offset(self, offset: int) -> int:
        """Return where a character of the masked text is in the original.

        Parameters
        ----------
        offset : int
            Position in ``text``, outside of what is hidden.
        """
        return offset + self.shifts[bisect_right(self.starts, offset) - 1]

    def hide_also(self, findings: Iterable[Finding]) -> MaskedText:
        """Hide more parts of the original.

        Parameters
        ----------
        findings : iterable of Finding
            Findings in characters of the original.
        """
        added = ((finding.start, finding.end) for finding in findings)
        return MaskedText.hide(self.source, [*self.hidden, *added])
