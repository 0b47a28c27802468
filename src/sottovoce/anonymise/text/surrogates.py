"""What may stand for a private value: tables of names, places and companies, by language.

The base tables come from open lists (sources and licences: ``data/NOTICE.md``). The tables that
values are drawn from are made of them, by type and part: ``B`` for the first word of an entity,
``I`` for later ones, ``FULL`` for whole entities. Every draw is uniform, which keeps ε small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

from sottovoce.anonymise.text.calendar import dates, phone_numbers, small_numbers, times
from sottovoce.anonymise.text.lexicon import check_language, read_table

MIN_TABLE_SIZE = 50
"""Values that a table must have for its draws to hide anything."""


@cache
def base_tables(lang: str) -> dict[str, list[str]]:
    """Return the shipped lists: given_f, given_m, family, place, company, country.

    Parameters
    ----------
    lang : str
        Language code.
    """
    check_language(lang)
    tables: dict[str, list[str]] = {}
    for kind, value in read_table(f"surrogates.{lang}"):
        tables.setdefault(kind, []).append(value)
    return tables


@dataclass(frozen=True)
class Table:
    """Values that are drawn with equal probability: all combinations of one value per part."""

    parts: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        """N: how many different values can be drawn."""
        return prod(len(part) for part in self.parts)

    def draw(self, rng: np.random.Generator) -> str:
        """Draw a value.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of random numbers.
        """
        return " ".join(part[int(rng.integers(len(part)))] for part in self.parts)

    def ending_like(self, letters: str) -> Table:
        """Return the values whose last part ends in ``letters``; all if those are fewer than 50.

        For inflected languages: a genitive is replaced by what looks like a genitive.

        Parameters
        ----------
        letters : str
            The ending, in lower case.
        """
        last = tuple(value for value in self.parts[-1] if value.lower().endswith(letters))
        return Table((*self.parts[:-1], last)) if len(last) >= MIN_TABLE_SIZE else self


def _table(*parts: Sequence[str]) -> Table:
    return Table(tuple(tuple(dict.fromkeys(part)) for part in parts))


@cache
def surrogate_table(lang: str, kind: str, part: str, spelt: bool = True) -> Table:
    """Return the table that values of a type are drawn from.

    Parameters
    ----------
    lang : str
        Language code.
    kind : str
        Entity type.
    part : str
        ``B`` for first words, ``I`` for later words, ``FULL`` for whole values.
    spelt : bool, default True
        Dates, times and numbers in words rather than in figures.
    """
    lists = base_tables(lang)
    if kind == "PER":
        given, family = lists["given_f"] + lists["given_m"], lists["family"]
        return {"B": _table(given), "I": _table(family), "FULL": _table(given, family)}[part]
    if kind in ("LOC", "ORG", "MISC"):
        values = lists["place" if kind == "LOC" else "company"]
        if part == "FULL":
            return _table(values)
        words = [value.split() for value in values]
        first = [value_words[0] for value_words in words]
        later = [word for value_words in words for word in value_words[1:]]
        return _table(first if part == "B" or len(set(later)) < MIN_TABLE_SIZE else later)
    makers = {"DATE": dates, "TIME": times, "PHONE": phone_numbers}
    values = makers.get(kind, small_numbers)(lang, spelt)
    if part != "FULL":
        values = [word for value in values for word in value.split()]
    return _table(values)


_EXEMPLARS = {
    "en": "Smith London SAP Monday afternoon",
    "de": "Schmidt Berlin SAP Montag Nachmittag",
    "es": "García Madrid SAP lunes tarde",
    "fr": "Martin Paris SAP lundi après-midi",
    "it": "Rossi Roma SAP lunedì pomeriggio",
    "lv": "Bērziņš Rīga SAP pirmdiena pēcpusdiena",
    "nl": "Jansen Amsterdam SAP maandag middag",
    "pt": "Silva Lisboa SAP segunda-feira tarde",
}
"""One fixed value for persons, places, organisations, dates and times."""


def exemplar(lang: str, kind: str) -> str:
    """Return the fixed value that stands for every entity of a type.

    Parameters
    ----------
    lang : str
        Language code.
    kind : str
        Entity type.
    """
    fixed = dict(zip(("PER", "LOC", "ORG", "DATE", "TIME"), _EXEMPLARS[lang].split(), strict=True))
    fixed |= {"EMAIL": "name@example.com", "URL": "example.com", "MISC": "SAP"}
    return fixed.get(kind) or small_numbers(lang, False)[0]
