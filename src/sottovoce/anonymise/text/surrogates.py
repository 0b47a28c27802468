"""What may stand for a private value: tables of names, places and companies, by language.

The base tables come from open lists (sources and licences: ``data/NOTICE.md``). From them follow
the tables that values are drawn from, by type and part: ``B`` for the first word of an entity,
``I`` for later ones, ``FULL`` for whole entities. Every draw is uniform, which keeps ε small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from sottovoce.anonymise.text.calendar import dates, phone_numbers, small_numbers, times
from sottovoce.anonymise.text.lexicon import check_language, read_table

SMALLEST = 50
"""Values a table must have for its draws to hide anything."""


@cache
def tables(lang: str) -> dict[str, list[str]]:
    """The shipped lists: given_f, given_m, family, place, company, country."""
    check_language(lang)
    found: dict[str, list[str]] = {}
    for kind, value in read_table(f"surrogates.{lang}"):
        found.setdefault(kind, []).append(value)
    return found


@dataclass(frozen=True)
class Table:
    """Values that are drawn with equal probability: every combination of one of each part."""

    parts: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        """N: how many different values can be drawn."""
        size = 1
        for part in self.parts:
            size *= len(part)
        return size

    def draw(self, rng: np.random.Generator) -> str:
        """One value."""
        return " ".join(part[int(rng.integers(len(part)))] for part in self.parts)

    def ending(self, letters: str) -> Table:
        """The values whose last part ends like ``letters``, or all if those are fewer than 50.

        For inflected languages: a genitive is replaced by what looks like a genitive.
        """
        last = tuple(value for value in self.parts[-1] if value.lower().endswith(letters))
        return Table((*self.parts[:-1], last)) if len(last) >= SMALLEST else self


def _table(*parts: Sequence[str]) -> Table:
    return Table(tuple(tuple(dict.fromkeys(part)) for part in parts))


@cache
def table(lang: str, kind: str, part: str, spelt: bool = True) -> Table:
    """The table of a type, for ``part`` ``B``, ``I`` or ``FULL``.

    Dates, times and numbers are spelt in words if ``spelt``, else written in figures.
    """
    own = tables(lang)
    if kind == "PER":
        given, family = own["given_f"] + own["given_m"], own["family"]
        return {"B": _table(given), "I": _table(family), "FULL": _table(given, family)}[part]
    if kind in ("LOC", "ORG", "MISC"):
        values = own["place" if kind == "LOC" else "company"]
        if part == "FULL":
            return _table(values)
        words = [value.split() for value in values]
        first = [one[0] for one in words]
        later = [word for one in words for word in one[1:]]
        return _table(first if part == "B" or len(set(later)) < SMALLEST else later)
    makers = {"DATE": dates, "TIME": times, "PHONE": phone_numbers}
    values = makers.get(kind, small_numbers)(lang, spelt)
    if part != "FULL":
        values = [word for value in values for word in value.split()]
    return _table(values)


EXEMPLARS = {
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
    """The fixed value that stands for every entity of a type."""
    named = dict(zip(("PER", "LOC", "ORG", "DATE", "TIME"), EXEMPLARS[lang].split(), strict=True))
    other = {"EMAIL": "name@example.com", "URL": "example.com", "MISC": "SAP", "IP": "192.0.2.1"}
    return named.get(kind) or other.get(kind) or small_numbers(lang, False)[0]
