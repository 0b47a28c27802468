"""Surrogates of persons: given and family name are drawn separately, gender and case are kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sottovoce.anonymise.text.inflection import add_genitive, inflect, same_declension, stem
from sottovoce.anonymise.text.lexicon import strip_clitics
from sottovoce.anonymise.text.surrogates import MIN_TABLE_SIZE, Table, base_tables

Draw = Callable[[Table, str], str]
"""Draws a value from a table by a key."""


@cache
def gender_of(given: str, lang: str) -> str:
    """Return ``f`` or ``m`` if a given name is in the list of one gender only, else nothing.

    Parameters
    ----------
    given : str
        Key of the given name: case-folded, without a case ending.
    lang : str
        Language code.

    Examples
    --------
    >>> gender_of("angela", "de"), gender_of("peter", "de"), gender_of("xyz", "de")
    ('f', 'm', '')
    """
    genders = [gender for gender in "fm" if given in _given_stems(lang, gender)]
    return genders[0] if len(genders) == 1 else ""


@cache
def _given_stems(lang: str, gender: str) -> frozenset[str]:
    return frozenset(stem(name.casefold(), lang) for name in base_tables(lang)[f"given_{gender}"])


def given_table(given: str, lang: str) -> Table:
    """Return the given names that one is drawn from: those of the same gender, where it is known.

    Parameters
    ----------
    given : str
        Key of the given name.
    lang : str
        Language code.
    """
    genders = gender_of(given, lang) or "fm"
    return Table((_distinct(lang, *(f"given_{gender}" for gender in genders)),))


def family_table(lang: str) -> Table:
    """Return the family names that one is drawn from.

    Parameters
    ----------
    lang : str
        Language code.
    """
    return Table((_distinct(lang, "family"),))


@cache
def _distinct(lang: str, *lists: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for listed in lists for name in base_tables(lang)[listed]))


def draw_name(table: Table, key: str, original: str, lang: str, draw: Draw) -> str:
    """Draw a name with the case ending of the original.

    Parameters
    ----------
    table : Table
        The names.
    key : str
        Key of the original name.
    original : str
        The name as it is written.
    lang : str
        Language code.
    draw : Draw
        Draws a value.
    """
    core = strip_clitics(original)
    if lang == "lv":
        declined = same_declension(table.parts[0], core)
        table = Table((declined,)) if len(declined) >= MIN_TABLE_SIZE else table
        return inflect(draw(table, key), core)
    value = draw(table, key)
    return add_genitive(value) if lang == "de" and core.casefold() == f"{key}s" else value
