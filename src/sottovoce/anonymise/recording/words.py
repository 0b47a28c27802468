"""The spoken words of a text: where they stand in it, and when two of them are the same word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
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
_JOINTS = re.compile(r"[-'’.,:/]")
_WORDS_OF_ONE_LETTER = frozenset("aeiouyàèéó")
"""Letters that are words in a language of Europe; two of them in a row spell nothing."""
MIN_LETTERS = 3
"""Letters in a row that are a spelled word, whatever the letters are."""
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


def letter_runs(words: Sequence[str]) -> list[tuple[int, int]]:
    """Find letters in a row: what is left if somebody spelled a word.

    Parameters
    ----------
    words : sequence of str
        The spoken words of a text.

    Returns
    -------
    list of (int, int)
        First and last word of each run: three single letters or more, or two of which neither is a
        word of one letter. Letters may be joined: ``D-A-V-I-D`` is a run.

    >>> letter_runs("it is d a v i d or J.R. Smith, am I a fool".split())
    [(2, 6), (8, 8)]
    """
    runs: list[tuple[int, int]] = []
    start, letters = 0, list[str]()
    for index, word in enumerate([*words, ""]):
        parts = [part for part in _JOINTS.split(word) if part]
        if parts and all(len(part) == 1 and part.isalpha() for part in parts):
            start = start if letters else index
            letters += parts
        else:
            if _is_spelled(letters):
                runs.append((start, index - 1))
            letters = []
    return runs


def _is_spelled(letters: Sequence[str]) -> bool:
    spelled = [letter for letter in letters if letter.lower() not in _WORDS_OF_ONE_LETTER]
    return len(letters) >= MIN_LETTERS or len(letters) == len(spelled) == 2
