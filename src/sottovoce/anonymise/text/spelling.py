"""What the words of a language do when people spell aloud: letters, their names, examples, numbers.

Every word gets a role, written as one character, so that runs are found by regular expressions over
the roles of a text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

from sottovoce.anonymise.text.calendar import is_number_word
from sottovoce.anonymise.text.cues import SPELLING, announced_kinds, cues
from sottovoce.core.number_words import UNITS

LETTER, WORD_LETTER, LETTER_NAME, WORD_NAME, JOINED = "l", "w", "s", "k", "h"
"""A single letter, one that is also a word, the name of a letter, one that is also a word, and
letters joined by hyphens."""
ALPHABET, NUMBER, ONE, FIGURES = "a", "n", "u", "d"
"""A word of a spelling alphabet, a number word, one that is also an article, and figures."""
MODIFIER, CONNECTOR, CONNECTING_NAME, JOINT, OTHER = "x", "c", "q", "j", "."
"""*double* or *umlaut*; *as in*; a connector that is also the name of a letter; what is said
between letters; any other word."""

_MARKS = frozenset(",.-–—/:_")
_JOINED_LETTERS = re.compile(r"[^\W\d_](?:[-.'’_][^\W\d_]){2,}\.?")
_FIGURES = re.compile(r"(?=\w*\d)[\w./:-]+")
_PLURAL_LETTER = re.compile(r"[^\W\d_]['’]s")
_BARE_PLURAL = re.compile("[bcdfghjklmnpqrstvwxz]s")
_SPELLED_KINDS = frozenset(("PER", SPELLING))
_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxz")
_CODES = (
    ("alphabet", ALPHABET),
    ("modifiers", MODIFIER),
    ("joints", JOINT),
    ("as_in", CONNECTOR),
    ("word_names", WORD_NAME),
    ("names", LETTER_NAME),
    ("numbers", NUMBER),
    ("one", ONE),
)
"""Tables from the weakest to the strongest: a word has the role of the last that holds it."""


@cache
def _tables() -> dict[str, dict[str, str]]:
    text = (files("sottovoce.anonymise.text") / "data" / "spelling.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def _articles(lang: str) -> frozenset[str]:
    """Return the words for one, two and three."""
    table = _tables()[lang]
    return frozenset((*UNITS[lang][2:4], *table["twice"].split(), *table["one"].split()))


@cache
def digit_words(lang: str) -> frozenset[str]:
    """Return the words for 0 to 9.

    Parameters
    ----------
    lang : str
        Language code.
    """
    return frozenset(
        (*UNITS[lang][:10], *_tables()[lang]["one"].split(), *(("oh",) * (lang == "en")))
    )


@cache
def _plurals(lang: str) -> frozenset[str]:
    return frozenset(_tables()[lang].get("plurals", "").split())


@cache
def _roles(lang: str) -> dict[str, str]:
    """Return the roles of the listed words of a language; others are added when they are met."""
    tables = _tables()
    roles = {
        word: code
        for table, code in _CODES
        for source in (tables["all"], tables[lang])
        for word in source.get(table, "").split()
        if len(word) > 1
    }
    for word in tables[lang]["as_in"].split():
        names = (*tables[lang]["word_names"].split(), *tables[lang]["names"].split())
        roles[word] = CONNECTING_NAME if word in names else CONNECTOR
    return roles


def _role(word: str, lang: str) -> str:
    """Return the role of a lower-case word that is not listed."""
    if len(word) == 1:
        if word.isalpha():
            listed = _tables()[lang]["word_letters"].split()
            return WORD_LETTER if word in listed else LETTER
        if word.isdigit():
            return NUMBER
        return JOINT if word in _MARKS else OTHER
    if word.isdigit():
        return NUMBER if len(word) < 4 else FIGURES
    if is_number_word(word, lang):
        return NUMBER
    if _PLURAL_LETTER.fullmatch(word) or (len(word) == 2 and word[0] == word[1] in _CONSONANTS):
        return LETTER
    if _JOINED_LETTERS.fullmatch(word):
        return JOINED
    return FIGURES if _FIGURES.fullmatch(word) else OTHER


@lru_cache(maxsize=1 << 16)
def _cached_role(word: str, lang: str) -> str:
    return _roles(lang).get(word) or _role(word, lang)


def spelling_roles(low: Sequence[str], lang: str) -> str:
    """Return the role of every word of a text, one character a word.

    Names of letters that are also words are ordinary words unless other names of letters are near.

    Parameters
    ----------
    low : sequence of str
        The words in lower case.
    lang : str
        Language code.

    Examples
    --------
    >>> spelling_roles("my name is s m i t h".split(), "en")
    '...llwll'
    >>> spelling_roles("ess em eye tee aitch".split(), "en"), spelling_roles(["eye"], "en")
    ('sskss', '.')
    """
    roles = "".join([_cached_role(word, lang) for word in low])
    if WORD_NAME in roles and not _spells_with_names(roles, low, lang):
        roles = roles.replace(WORD_NAME, OTHER)
    if (NUMBER in roles or ONE in roles) and not _articles(lang).isdisjoint(low):
        roles = _double_letters(roles, low, lang)
    if MODIFIER in roles:
        roles = _join_accents(roles, low, lang)
    return _hide_times_of_day(roles, low) if "m" in low else roles


def _join_accents(roles: str, low: Sequence[str], lang: str) -> str:
    """Take *with an* before *accent* as a part of what modifies a letter."""
    codes = list(roles)
    for i in range(1, len(low) - 1):
        if (
            codes[i - 1] in LETTER + WORD_LETTER + LETTER_NAME
            and (low[i],) in cues(lang).with_letter
        ):
            accent = next((j for j in (i + 1, i + 2) if codes[j : j + 1] == [MODIFIER]), i)
            codes[i:accent] = MODIFIER * (accent - i)
    return "".join(codes)


def _spells_with_names(roles: str, low: Sequence[str], lang: str) -> bool:
    """Tell whether names of letters that are also words stand for letters in a text."""
    names = roles.count(LETTER_NAME)
    return names > 1 or (
        names > 0 and any(not _SPELLED_KINDS.isdisjoint(announced_kinds(w, lang)) for w in low)
    )


def _double_letters(roles: str, low: Sequence[str], lang: str) -> str:
    """Take *two* before a letter for *double*: *deux l*; and *one* for an article: *un l*."""
    codes = list(roles)
    for i in range(len(low) - 1):
        if low[i] in _articles(lang):
            letter = low[i + 1]
            if _BARE_PLURAL.fullmatch(letter) or letter in _plurals(lang):
                codes[i : i + 2] = MODIFIER, LETTER
            elif codes[i + 1] in LETTER + LETTER_NAME or (
                len(letter) == 1 and letter in _CONSONANTS
            ):
                codes[i] = MODIFIER
    return "".join(codes)


def _hide_times_of_day(roles: str, low: Sequence[str]) -> str:
    """Take *a m* and *p m* after a number for a time of the day."""
    codes = list(roles)
    for i in range(1, len(low) - 1):
        follows_number = codes[i - 1] in NUMBER + ONE + FIGURES
        if follows_number and low[i] in ("a", "p") and "m" in low[i + 1 : i + 3]:
            codes[i : i + 3] = OTHER * len(codes[i : i + 3])
    return "".join(codes)
