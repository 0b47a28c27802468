"""Words in a text: where they stand in it, and when two of them are the same word."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from sottovoce.core.unicode_offsets import MARKS

SIGNS = {"&": "and", "%": "percent", "@": "at", "+": "plus", "€": "euros", "$": "dollars"}
"""Signs that are said aloud, in English."""

_LETTERS = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
_WORD = re.compile(rf"{_LETTERS}(?:[-'’.,:/]{_LETTERS})*['’]?|[" + re.escape("".join(SIGNS)) + "]")
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Token:
    """A word that is said, and its place in the text: ``text[begin:stop]``."""

    text: str
    begin: int
    stop: int


def tokens(text: str) -> list[Token]:
    """The words of a text; punctuation between them belongs to none.

    >>> [word.text for word in tokens("Mr. O'Neil, call 555-0199: it's Ann's!")]
    ['Mr', "O'Neil", 'call', '555-0199', "it's", "Ann's"]
    """
    return [Token(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]


def key(word: str) -> str:
    """What two spellings of a word have in common: no case, no accents, no possessive ending.

    >>> key("Élise’s"), key("ELISE"), key("(O'Neil)")
    ('elise', 'elise', "o'neil")
    """
    plain = unicodedata.normalize("NFKD", word).casefold().replace("’", "'")
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    plain = plain.strip("".join({sign for sign in plain if not sign.isalnum()} - {"'"}))
    return _POSSESSIVE.sub("", plain).strip("'") or plain
