"""How a replacement is written: in the case, and with the ending, of what it stands for."""

from __future__ import annotations

from sottovoce.anonymise.text.lexicon import Lexicon
from sottovoce.anonymise.text.surrogates import Table


def cased_like(value: str, original: str) -> str:
    """Copy lower case and capitals; a value for a word with a first capital stays as it is.

    >>> cased_like("New York", "boston"), cased_like("Ann", "BOB"), cased_like("monday", "Friday")
    ('new york', 'ANN', 'Monday')
    """
    letters = [c for c in original if c.isalpha()]
    if not letters:
        return value
    if not any(c.isupper() for c in letters):
        return value.lower()
    if len(letters) > 1 and all(c.isupper() for c in letters):
        return value.upper()
    return value[:1].upper() + value[1:] if letters[0].isupper() else value


def inflected(table: Table, original: str, lang: str) -> Table:
    """The part of a table that ends like the original; Latvian words show their case there."""
    return table.ending(original.lower()[-2:]) if lang == "lv" else table


def genitive(value: str, original: str, lexicon: Lexicon) -> str:
    """German names take the -s of the original: *Annas* becomes *Peters*."""
    last = original.casefold().split()[-1] if original.split() else ""
    bare = last.removesuffix("s")
    known = bare in lexicon.names or (bare,) in lexicon.places
    if lexicon.lang == "de" and last != bare and known and last not in lexicon.names:
        return value if value.endswith(("s", "ß", "x", "z")) else value + "s"
    return value
