"""Words that announce private data: *surname*, *Postleitzahl*, *code pin*."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files

from sottovoce.anonymise.text.lexicon import strip_clitics

HOUSE, SOME_NUMBER, SPELLING = "house", "number", "spell"
"""Cues that are no entity type: the number of a house, some number, spelling."""
CUE_KINDS = ("PER", "LOC", "EMAIL", "ID", "NUM", "PHONE", "DATE", HOUSE, SOME_NUMBER, SPELLING)
Phrase = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Cues:
    """The cues of one language."""

    kinds: dict[str, frozenset[str]]
    """What a word announces."""
    suffixes: dict[str, str]
    """What a word with this ending announces, such as ``nummer``."""
    user: frozenset[str]
    """Words that announce the name of a user or a password."""
    fillers: frozenset[str]
    """Words that may stand between a cue and a short value."""
    with_letter: frozenset[Phrase]
    """What a single letter follows: *with a*."""
    named: frozenset[Phrase]
    """What the name of a person follows."""
    house_named: frozenset[Phrase]
    """What the name of a house follows, if a house was mentioned."""
    house_nouns: frozenset[str]
    live: frozenset[str]
    """Words of living somewhere, and *address*."""
    stop: frozenset[str]
    """Words that end the name of a house."""
    plain: frozenset[str]
    """House nouns that are too common to announce a name alone."""

    @cached_property
    def named_ends(self) -> frozenset[str]:
        """Last words of the phrases that the name of a person follows."""
        return frozenset(phrase[-1] for phrase in self.named)


@cache
def _tables() -> dict[str, dict[str, str]]:
    text = (files("sottovoce.anonymise.text") / "data" / "cues.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def shared_words(name: str) -> frozenset[str]:
    """Return a list of words that all languages share.

    Parameters
    ----------
    name : str
        A key of the table ``all`` in ``data/cues.toml``.
    """
    return frozenset(_tables()["all"][name].split())


def _phrases(listed: str) -> frozenset[Phrase]:
    return frozenset(tuple(phrase.split()) for phrase in listed.split("|"))


@cache
def cues(lang: str) -> Cues:
    """Return the cues of a language, read once a process.

    Parameters
    ----------
    lang : str
        Language code.
    """
    table = _tables()[lang]
    kinds: dict[str, set[str]] = {}
    suffixes: dict[str, str] = {}
    for kind in CUE_KINDS:
        for word in table[kind].split():
            if word.startswith("*"):
                suffixes[word[1:]] = kind
            else:
                kinds.setdefault(word, set()).add(kind)
    return Cues(
        {word: frozenset(announced) for word, announced in kinds.items()},
        suffixes,
        frozenset(table["user"].split()),
        frozenset(table["fillers"].split()),
        _phrases(table["with"]),
        _phrases(table["named"]),
        _phrases(table["house_named"]),
        frozenset(table["house_nouns"].split()),
        frozenset(table["live"].split()),
        frozenset(table["stop"].split()),
        frozenset(table["plain"].split()),
    )


@lru_cache(maxsize=1 << 16)
def announced_kinds(word: str, lang: str) -> frozenset[str]:
    """Return what a word announces, of :data:`CUE_KINDS`.

    Parameters
    ----------
    word : str
        The word in lower case.
    lang : str
        Language code.

    Examples
    --------
    >>> sorted(announced_kinds("surname", "en")), sorted(announced_kinds("kundennummer", "de"))
    (['PER'], ['ID'])
    """
    known = cues(lang)
    word = strip_clitics(word)
    if word in known.kinds:
        return known.kinds[word]
    return frozenset(kind for end, kind in known.suffixes.items() if word.endswith(end))


def follows_phrase(low: Sequence[str], i: int, phrases: frozenset[Phrase]) -> bool:
    """Tell whether one of the phrases ends directly before a word.

    Parameters
    ----------
    low : sequence of str
        The words of a text in lower case.
    i : int
        Index of the word.
    phrases : frozenset of tuple of str
        The phrases.
    """
    return any(tuple(low[max(i - size, 0) : i]) in phrases for size in (1, 2, 3))
