"""Transcripts made alike before their words are compared.

What two people would write differently for the same speech must not count as an error: case,
punctuation, "don't" and "do not", "twenty-three" and 23, colour and color. The rules follow the
idea of Whisper's English normaliser (Radford et al. 2023, appendix C); words and code are our own.
Other languages get the plain rules: case, punctuation and, where words are not separated, single
characters.
"""

from __future__ import annotations

import re
import unicodedata

from sottovoce.asr.numerals import numbers_as_digits
from sottovoce.asr.spelling import american
from sottovoce.core.languages import language_code

FILLERS = frozenset(["hm", "hmm", "mm", "mhm", "mmm", "uh", "um", "umm", "er", "erm"])
"""Sounds that recognisers leave out as they like."""

TITLES = {
    "mr": "mister",
    "mrs": "missus",
    "ms": "miss",
    "dr": "doctor",
    "st": "saint",
    "prof": "professor",
    "jr": "junior",
    "sr": "senior",
    "capt": "captain",
    "gov": "governor",
    "gen": "general",
    "lt": "lieutenant",
    "rev": "reverend",
    "hon": "honorable",
    "col": "colonel",
    "sgt": "sergeant",
}

_IRREGULAR = {
    "won't": "will not",
    "can't": "can not",
    "cannot": "can not",
    "shan't": "shall not",
    "ain't": "is not",
    "let's": "let us",
    "y'all": "you all",
    "gonna": "going to",
    "gotta": "got to",
    "wanna": "want to",
    "'em": "them",
    "o'clock": "o'clock",
}
_ENDINGS = [
    (re.compile(r"n't$"), " not"),
    (re.compile(r"'re$"), " are"),
    (re.compile(r"'s$"), " is"),
    (re.compile(r"'d$"), " would"),
    (re.compile(r"'ll$"), " will"),
    (re.compile(r"'ve$"), " have"),
    (re.compile(r"'m$"), " am"),
]
_SIGNS = {"%": " percent ", "&": " and ", "$": " dollars ", "£": " pounds ", "€": " euros "}
_BRACKETED = re.compile(r"\[[^\]]*\]|<[^>]*>|\([^)]*\)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_FULL_STOP = re.compile(r"\.(?!\d)|(?<!\d)\.")
_INITIALS = re.compile(r"\b(?:[a-z]\.){2,}")
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff])"
)


def normalise(text: str, language: str = "en") -> str:
    """Words in one spelling, with single spaces between them; ``language`` as in ``en-GB``.

    >>> normalise("Mr. Brown's colours won't fade in twenty-three years!")
    'mister brown is colors will not fade in 23 years'
    >>> normalise("Mr. Brown is, uh, 1,000 per cent sure.")
    'mister brown is 1000 percent sure'
    >>> normalise("¿Qué? ¡Sí!", "es")
    'qué sí'
    """
    if language_code(language) in ("", "en"):
        return normalise_english(text)
    return normalise_plain(text)


def normalise_plain(text: str) -> str:
    """Lower case without punctuation; signs of scripts without spaces stand alone."""
    text = unicodedata.normalize("NFKC", _BRACKETED.sub(" ", text)).lower()
    kept = "".join(sign if _is_written(sign) else " " for sign in text.replace("'", ""))
    return " ".join(_UNSPACED.sub(r" \1 ", kept).split())


def normalise_english(text: str) -> str:
    """English words in one spelling."""
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("‘", "'")
    text = _BRACKETED.sub(" ", text)
    for sign, word in _SIGNS.items():
        text = text.replace(sign, word)
    text = _INITIALS.sub(lambda found: found[0].replace(".", ""), text)
    text = _FULL_STOP.sub(" ", _THOUSANDS.sub("", text))
    text = text.replace("per cent ", "percent ")
    bare = (sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))
    text = "".join(sign if sign in "'." or _is_written(sign) else " " for sign in bare)
    words = [part for word in text.split() for part in _expanded(word).split()]
    words = [TITLES.get(word, word) for word in words if word not in FILLERS]
    return " ".join(american(word) for word in numbers_as_digits(words))


def _expanded(word: str) -> str:
    """A contraction as the words it stands for; other apostrophes go."""
    if word in _IRREGULAR:
        return _IRREGULAR[word].replace("'", "")
    word = word.strip("'.") if not word.startswith("'em") else word
    if word in _IRREGULAR:
        return _IRREGULAR[word].replace("'", "")
    for ending, words in _ENDINGS:
        if ending.search(word):
            word = ending.sub(words, word)
            break
    return word.replace("'", "")


def _is_written(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LMN"
