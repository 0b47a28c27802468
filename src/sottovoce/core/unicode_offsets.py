"""Letters that are written in several characters: an *e* and an accent, or one *é*.

Unicode takes both for the same (NFD and NFC); what looks words up must too. Signs that nobody sees,
such as a hyphen that shows at the end of a line only, are no part of a word.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""Accents that follow their letter, for a class of a regular expression."""
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]+")
"""Soft hyphens, joiners and breaks without width, marks of direction."""
MOST = 30
"""Marks on one letter that are looked at together; composing takes their square."""


def composed(text: str) -> str:
    """A text in which a letter and its accent are one character where Unicode has it.

    >>> composed("Je\\u0301ro\\u0302me") == "J\\u00e9r\\u00f4me"
    True
    >>> composed("Lin\\u00adde\\u00admann")
    'Lindemann'
    """
    return Composed.of(text).text


@dataclass(frozen=True)
class Composed:
    """A text in composed letters (NFC) that can be seen, and the way back to what it was."""

    text: str
    size: int
    """Characters it had."""
    here: Sequence[int]
    there: Sequence[int]
    """Where each letter with its marks begins, now and before; none if nothing has changed."""

    @classmethod
    def of(cls, source: str) -> Composed:
        """Compose a text; one that is needs no way back."""
        if unicodedata.is_normalized("NFC", source) and not UNSEEN.search(source):
            return cls(source, len(source), (), ())
        begins = [i for i, sign in enumerate(source) if i == 0 or not _follows(sign)]
        cuts = _cut(begins, len(source))
        letters, here, there, length = [], [], [], 0
        for begin, end in zip(cuts, [*cuts[1:], len(source)], strict=True):
            letter = unicodedata.normalize("NFC", UNSEEN.sub("", source[begin:end]))
            if letter:
                letters.append(letter)
                here.append(length)
                there.append(begin if length else 0)
                length += len(letter)
        return cls("".join(letters), len(source), here, there)

    def before(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the source that ``text[start:end]`` was, whole letters."""
        if not self.here:
            return start, end
        first, last = (bisect_right(self.here, at) for at in (start, end - 1))
        return self.there[first - 1], self.there[last] if last < len(self.there) else self.size


def _follows(sign: str) -> bool:
    """Whether a character may join the one before it: a mark, a Korean one, or one nobody sees."""
    korean = "\u1160" <= sign <= "\u11ff"
    return sign >= "\u00ad" and (
        korean or unicodedata.category(sign)[0] == "M" or UNSEEN.match(sign) is not None
    )


def _cut(begins: Sequence[int], size: int) -> list[int]:
    """With letters of too many marks taken apart."""
    ends = [*begins[1:], size]
    return [i for begin, end in zip(begins, ends, strict=True) for i in range(begin, end, MOST)]
