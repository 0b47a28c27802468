"""Unicode normalisation of texts, with a map of offsets back to the text as it was.

A letter with an accent may be one character (NFC) or two (NFD). Words are looked up in NFC, without
characters that are not visible, such as soft hyphens and zero-width spaces.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""Combining accents, for a character class of a regular expression."""
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]+")
"""Soft hyphens, zero-width characters and marks of direction."""
LONGEST_LETTER = 30
"""A letter with more characters than this is normalised in parts; the time grows as the square."""


def normalise_unicode(text: str) -> str:
    """Return a text in NFC without invisible characters.

    Parameters
    ----------
    text : str
        Any text.

    Examples
    --------
    >>> normalise_unicode("Je\\u0301ro\\u0302me") == "J\\u00e9r\\u00f4me"
    True
    >>> normalise_unicode("Lin\\u00adde\\u00admann")
    'Lindemann'
    """
    return NormalisedText.of(text).text


@dataclass(frozen=True)
class NormalisedText:
    """A text in NFC without invisible characters, and the offsets of its letters in the source."""

    text: str
    source_length: int
    """Characters of the source."""
    starts: Sequence[int]
    """Where each letter with its marks begins in ``text``; empty if nothing was changed."""
    source_starts: Sequence[int]
    """Where each letter with its marks begins in the source; empty if nothing was changed."""

    @classmethod
    def of(cls, source: str) -> NormalisedText:
        """Normalise a text; the offset map is empty if nothing changed.

        Parameters
        ----------
        source : str
            Any text.
        """
        if unicodedata.is_normalized("NFC", source) and not INVISIBLE.search(source):
            return cls(source, len(source), (), ())
        begins = [i for i, char in enumerate(source) if i == 0 or not _may_combine(char)]
        cuts = _split_long(begins, len(source))
        letters, starts, source_starts, length = [], [], [], 0
        for begin, end in zip(cuts, [*cuts[1:], len(source)], strict=True):
            letter = unicodedata.normalize("NFC", INVISIBLE.sub("", source[begin:end]))
            if letter:
                letters.append(letter)
                starts.append(length)
                source_starts.append(begin if length else 0)
                length += len(letter)
        return cls("".join(letters), len(source), starts, source_starts)

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the start and end in the source of a span of the text, in whole letters.

        Parameters
        ----------
        start, end : int
            Span ``text[start:end]``, not empty.
        """
        if not self.starts:
            return start, end
        first, last = (bisect_right(self.starts, offset) for offset in (start, end - 1))
        after = self.source_starts[last] if last < len(self.source_starts) else self.source_length
        return self.source_starts[first - 1], after


def _may_combine(char: str) -> bool:
    """Tell whether a character may join the one before: a mark, a Korean letter, or invisible."""
    korean = "\u1160" <= char <= "\u11ff"
    return char >= "\u00ad" and (
        korean or unicodedata.category(char)[0] == "M" or INVISIBLE.match(char) is not None
    )


def _split_long(begins: Sequence[int], size: int) -> list[int]:
    """Split letters with too many marks."""
    ends = [*begins[1:], size]
    return [
        i
        for begin, end in zip(begins, ends, strict=True)
        for i in range(begin, end, LONGEST_LETTER)
    ]
