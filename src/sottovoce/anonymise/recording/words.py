"""The spoken words of a text: where they stand in it, and when two of them are the same word."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from sottovoce.core.unicode_offsets import MARKS

SPOKEN_SYMBOLS = {
    "&": "and", "%": "percent", "@": "at", "+": "plus", "€": "euros", "$": "dollars",
}  # fmt: skip
"""Symbols that are read aloud, with the English words for them."""

_LETTERS = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
_WORD = re.compile(
    rf"{_LETTERS}(?:[-'’.,:/]{_LETTERS})*['’]?|[" + re.escape("".join(SPOKEN_SYMBOLS)) + "]"
)
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Token:
    """A spoken word and its place in the text: ``text[start:end]``."""

    text: str
    start: int
    end: int


def spoken_words(text: str) -> list[Token]:
    """Return the words of a text that are spoken; punctuation between words belongs to none.

    Parameters
    ----------
    text : str
        A transcript in any language that separates words.

    >>> [word.text for word in spoken_words("Mr. O'Neil, call 555-0199: it's Ann's!")]
    ['Mr', "O'Neil", 'call', '555-0199', "it's", "Ann's"]
    """
    return [Token(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]


def word_key(word: str) -> str:
    """Return a word without case, accents and possessive ending, to compare words by.

    Parameters
    ----------
    word : str
        A word as it is written.

    >>> word_key("Élise’s"), word_key("ELISE"), word_key("(O'Neil)")
    ('elise', 'elise', "o'neil")
    """
    plain = unicodedata.normalize("NFKD", word).casefold().replace("’", "'")
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = plain.strip("".join({char for char in plain if not char.isalnum()} - {"'"}))
    return _POSSESSIVE.sub("", plain).strip("'") or plain
