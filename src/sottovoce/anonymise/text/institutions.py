"""Institutions in text without capitals: *la comisión*, *il consiglio dei ministri*.

An institution is named with a common noun, and without its capital the noun alone remains. With a
definite article it mostly means one particular institution: in Portuguese news 60 to 100 % of the
uses of *o senado*, *a comissão*, *o ministério* name an organisation. Nouns for which the share is
lower (*o governo*, *o partido*) need an adjective or a complement that makes them a name. In text
with capitals the noun must have one.

``data/institutions.toml`` has the words of the languages whose taggers were trained on translated
text; other taggers have learnt such words from text of their own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib.resources import files

from sottovoce.anonymise.text.entities import PATTERN_RULE, Entity
from sottovoce.anonymise.text.lexicon import strip_clitics
from sottovoce.anonymise.text.tokens import is_asr_output

SCORE = 0.5
RULE = f"{PATTERN_RULE}institution"


@dataclass(frozen=True)
class _Words:
    """Words of one language."""

    nouns: frozenset[str]
    """Nouns that name an institution if they are definite."""
    nouns_with_modifier: frozenset[str]
    """Nouns that also need a modifier."""
    articles: frozenset[str]
    """Definite articles, contracted ones and words that stand in their place."""
    modifiers: frozenset[str]
    """Adjectives that belong to a name, and what institutions are named after: *justice*."""
    of: frozenset[str]
    """Words between a noun and its complement."""
    conjunctions: frozenset[str]
    """Words that join modifiers."""

    @cached_property
    def links(self) -> frozenset[str]:
        """Words that may stand between two modifiers."""
        return self.of | self.conjunctions


@cache
def _words(lang: str) -> _Words | None:
    text = (files("sottovoce.anonymise.text") / "data" / "institutions.toml").read_text("utf-8")
    table = tomllib.loads(text).get(lang)
    if table is None:
        return None
    return _Words(**{part.name: frozenset(table[part.name].split()) for part in fields(_Words)})


def find_institutions(words: Sequence[str], lang: str) -> list[Entity]:
    """Find institutions that are named with common nouns.

    Parameters
    ----------
    words : sequence of str
        The words of a text.
    lang : str
        Language code; nothing is found in languages that have no list.

    Examples
    --------
    >>> words = "lo dijo la comisión de asuntos exteriores ayer".split()
    >>> [(e.start, e.end, e.kind) for e in find_institutions(words, "es")]
    [(3, 7, 'ORG')]
    """
    listed = _words(lang)
    if listed is None:
        return []
    cores = [strip_clitics(word).casefold() for word in words]
    heads = listed.nouns | listed.nouns_with_modifier
    if heads.isdisjoint(cores):
        return []
    is_cased = not is_asr_output(words)
    entities: list[Entity] = []
    for i, core in enumerate(cores):
        if core not in heads or (is_cased and not _has_capital(words[i])):
            continue
        end = _name_end(cores, i + 1, listed)
        is_modified = end > i + 1
        if is_modified or (core in listed.nouns and _is_definite(words, cores, i, listed)):
            entities.append(Entity(i, end, "ORG", SCORE, RULE))
    return entities


def _has_capital(word: str) -> bool:
    return strip_clitics(word)[:1].isupper()


def _is_definite(words: Sequence[str], cores: Sequence[str], i: int, listed: _Words) -> bool:
    """Tell whether an article stands before a word, or is written with it (*dell'unione*)."""
    return words[i].casefold() != cores[i] or (i > 0 and words[i - 1].casefold() in listed.articles)


def _name_end(cores: Sequence[str], start: int, listed: _Words) -> int:
    """Return where the modifiers that follow a noun end: *de asuntos económicos y monetarios*."""
    end = start
    for i in range(start, len(cores)):
        if cores[i] in listed.modifiers:
            end = i + 1
        elif cores[i] not in (listed.links if end > start else listed.of):
            break
    return end
