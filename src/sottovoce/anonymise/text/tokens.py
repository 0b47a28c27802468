"""Words of a text with their places in it, and whether the text is as a recogniser writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sottovoce.core.unicode_offsets import MARKS

HIDDEN = "█████"
"""What stands for words that were found already."""
LONGEST = 128
"""Words tagged as one sentence at most."""
_FEW, _MOST = 0.02, 0.9
_CHUNK = re.compile(r"\S+")
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]++(?:@[\w.-]*\w)+|(?:https?://|www\.)[^\s<>\"]*[\w/]")
"""Begins only where a run of its characters does, so that a long line costs no more than its
length."""
_LETTERS = rf"\w+(?:[{MARKS}]+\w*)*"
_PIECE = re.compile(
    rf"█+|[^\W\d_](?:\.[^\W\d_])+(?:\.|(?![\w{MARKS}]))|\d+(?:[.,:/]\d+)*"
    rf"|{_LETTERS}(?:['’-]{_LETTERS})*|[^\w\s][{MARKS}]*"
)
_ENDS = frozenset(".!?…;")


class Token(NamedTuple):
    """A word or a mark, and the characters it takes in its text."""

    text: str
    start: int
    end: int


def tokenise(text: str) -> list[Token]:
    """Words and marks in order; everything but white space belongs to exactly one.

    >>> [token.text for token in tokenise("Hi, d'Alice's e-mail: ann@b.org.")]
    ['Hi', ',', "d'Alice's", 'e-mail', ':', 'ann@b.org', '.']
    """
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    for chunk in _CHUNK.finditer(text):
        begin, end = chunk.span()
        if chunk.group().isalpha():
            yield Token(chunk.group(), begin, end)
            continue
        done = begin
        for address in _ADDRESS.finditer(text, begin, end) if _at(chunk) else ():
            yield from _pieces(text, done, address.start())
            yield Token(address.group(), *address.span())
            done = address.end()
        yield from _pieces(text, done, end)


def _pieces(text: str, begin: int, end: int) -> Iterator[Token]:
    for piece in _PIECE.finditer(text, begin, end):
        yield Token(piece.group(), *piece.span())


def _at(chunk: re.Match[str]) -> bool:
    return "@" in chunk.group() or "://" in chunk.group() or "www." in chunk.group()


def is_asr_view(words: Sequence[str]) -> bool:
    """Whether capitals tell nothing: hardly any word has one, or nearly all do."""
    letters = [word for word in words if word.isalpha() or any(c.isalpha() for c in word)]
    capital = sum(word[:1].isupper() for word in letters)
    return not _FEW * len(letters) <= capital <= _MOST * len(letters) or not capital


def sentences(words: Sequence[str]) -> list[tuple[int, int]]:
    """Where to cut a text for tagging: after the end of a sentence, and after 128 words."""
    if 0 < len(words) <= LONGEST and _ENDS.isdisjoint(words):
        return [(0, len(words))]
    found: list[tuple[int, int]] = []
    start = 0
    for i, word in enumerate(words):
        if (word in _ENDS and _is_end(words, i)) or i - start + 1 >= LONGEST:
            found.append((start, i + 1))
            start = i + 1
    if start < len(words):
        found.append((start, len(words)))
    return found


def _is_end(words: Sequence[str], i: int) -> bool:
    """Whether a mark ends a sentence; the stop of *Dr.* does not."""
    before, after = words[i - 1 : i], words[i + 1 : i + 2]
    return not (after and after[0].islower()) and not (before and len(before[0]) < 4)
