"""Tokens of a text with their positions, its sentences, and whether it looks like ASR output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sottovoce.core.unicode_offsets import MARKS

HIDDEN = "█████"
"""Stands for private words that were found already."""
MAX_SENTENCE_WORDS = 128
"""Words that are tagged as one sentence at most."""
_MIN_CAPITALS, _MAX_CAPITALS = 0.02, 0.9
"""Share of capitalised words between which capitals say something."""
_CHUNK = re.compile(r"\S+")
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]++(?:@[\w.-]*\w)+|(?:https?://|www\.)[^\s<>\"]*[\w/]")
"""Starts only where a run of its characters does, so that a long line takes linear time."""
_LETTERS = rf"\w+(?:[{MARKS}]+\w*)*"
_PIECE = re.compile(
    rf"█+|[^\W\d_](?:\.[^\W\d_])+(?:\.|(?![\w{MARKS}]))|\d+(?:[.,:/]\d+)*"
    rf"|{_LETTERS}(?:['’-]{_LETTERS})*|[^\w\s][{MARKS}]*"
)
_SENTENCE_ENDS = frozenset(".!?…;")


class Token(NamedTuple):
    """A word or a punctuation mark, and the characters it takes in its text."""

    text: str
    start: int
    end: int


def tokenise(text: str) -> list[Token]:
    """Split a text into words and punctuation marks.

    Every character but white space belongs to exactly one token.

    Parameters
    ----------
    text : str
        The text.

    Examples
    --------
    >>> [token.text for token in tokenise("Hi, d'Alice's e-mail: ann@b.org.")]
    ['Hi', ',', "d'Alice's", 'e-mail', ':', 'ann@b.org', '.']
    """
    tokens: list[Token] = []
    for chunk in _CHUNK.finditer(text):
        word = chunk[0]
        if word.isalpha():
            tokens.append(Token(word, *chunk.span()))
        else:
            tokens += _tokens(text, word, *chunk.span())
    return tokens


def _tokens(text: str, chunk: str, start: int, end: int) -> Iterator[Token]:
    """Yield the tokens of a run of characters without white space."""
    done = start
    for address in _ADDRESS.finditer(text, start, end) if _may_be_address(chunk) else ():
        yield from _pieces(text, done, address.start())
        yield Token(address.group(), *address.span())
        done = address.end()
    yield from _pieces(text, done, end)


def _pieces(text: str, start: int, end: int) -> Iterator[Token]:
    for piece in _PIECE.finditer(text, start, end):
        yield Token(piece.group(), *piece.span())


def _may_be_address(chunk: str) -> bool:
    return "@" in chunk or "://" in chunk or "www." in chunk


def is_asr_output(words: Sequence[str]) -> bool:
    """Tell whether capitals say nothing: hardly any word has one, or nearly all do.

    Parameters
    ----------
    words : sequence of str
        The words of a text.
    """
    letters = [word for word in words if word.isalpha() or any(c.isalpha() for c in word)]
    capitals = sum(word[:1].isupper() for word in letters)
    few, many = _MIN_CAPITALS * len(letters), _MAX_CAPITALS * len(letters)
    return not few <= capitals <= many or not capitals


def sentences(words: Sequence[str]) -> list[tuple[int, int]]:
    """Cut a text for tagging: after the end of a sentence, and after 128 words.

    Parameters
    ----------
    words : sequence of str
        The tokens of the text.

    Returns
    -------
    list of (int, int)
        Index of the first token and of the one after the last, for each sentence.
    """
    if 0 < len(words) <= MAX_SENTENCE_WORDS and _SENTENCE_ENDS.isdisjoint(words):
        return [(0, len(words))]
    cuts: list[tuple[int, int]] = []
    start = 0
    for i, word in enumerate(words):
        ends = word in _SENTENCE_ENDS and _is_sentence_end(words, i)
        if ends or i - start + 1 >= MAX_SENTENCE_WORDS:
            cuts.append((start, i + 1))
            start = i + 1
    if start < len(words):
        cuts.append((start, len(words)))
    return cuts


def _is_sentence_end(words: Sequence[str], i: int) -> bool:
    """Tell whether a mark ends a sentence; the full stop of *Dr.* does not."""
    before, after = words[i - 1 : i], words[i + 1 : i + 2]
    return not (after and after[0].islower()) and not (before and len(before[0]) < 4)
