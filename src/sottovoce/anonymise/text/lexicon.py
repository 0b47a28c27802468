"""What a language knows of a word: how common it is, whether it is a name, where places are."""

from __future__ import annotations

import lzma
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sottovoce.core.errors import UsageError

LANGUAGES = ("en", "de", "es", "fr", "it", "lv", "nl", "pt")
LONGEST_PLACE = 4
"""Words of the longest place that is looked up."""
PLACE_MARKS = ("B", "I")
"""Of the first and of further words of a place."""
COMMON = 8
"""Twice the Zipf frequency (log10 per thousand million words) from which a word is common."""

_ELIDED = re.compile(r"(?:[cdjlmnst]|qu|dell|all|dall|nell|sull|un|quest|dov|com)['’](?=\w)", re.I)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?$", re.I)


def check_language(lang: str) -> str:
    """Refuse a language that nothing is known of."""
    if lang not in LANGUAGES:
        raise UsageError(f"language {lang!r}; there are {', '.join(LANGUAGES)}")
    return lang


def read_table(name: str) -> list[list[str]]:
    """A shipped table of tab-separated lines."""
    data = (files("sottovoce.anonymise.text") / "data" / f"{name}.tsv.xz").read_bytes()
    return [line.split("\t") for line in lzma.decompress(data).decode().split("\n") if line]


def clitics(form: str) -> tuple[int, int]:
    """Where the word itself begins and ends in a form like ``l'école`` or ``Anna's``.

    >>> [form[slice(*clitics(form))] for form in ("d'Alice", "Anna's", "dell'Aquila", "rock'n")]
    ['Alice', 'Anna', 'Aquila', "rock'n"]
    """
    if "'" not in form and "’" not in form:
        return 0, len(form)
    before, after = _ELIDED.match(form), _POSSESSIVE.search(form)
    start = before.end() if before else 0
    end = after.start() if after else len(form)
    return (start, end) if start < end else (0, len(form))


def core_of(form: str) -> str:
    """A form without its clitics.

    >>> core_of("dell'Aquila")
    'Aquila'
    """
    return form[slice(*clitics(form))] if "'" in form or "’" in form else form


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The lookups of one language; all forms case-folded."""

    lang: str
    frequency: dict[str, int]
    cluster: dict[str, int]
    names: dict[str, str]
    places: dict[tuple[str, ...], str]
    """Places by their words, with the code of their country; countries have none."""
    place_starts: dict[str, int]
    """First words of places, and how many words the longest such place has."""

    def common(self, form: str) -> bool:
        """Whether a word is so frequent that it says nothing about a person."""
        return self.frequency.get(form.casefold(), 0) >= COMMON

    def named(self, core: str) -> str:
        """``F`` for a given, ``L`` for a family name, ``FL`` for both, or nothing.

        Inflected forms count: Latvian endings, the genitive -s of German and Dutch.
        """
        if found := self.names.get(core):
            return found
        return next((self.names[s] for s in self._stems(core) if s in self.names), "")

    def place_marks(self, cores: Sequence[str]) -> list[str]:
        """Per word ``B`` or ``I`` inside the longest place that begins there, else nothing."""
        marks = [""] * len(cores)
        i = 0
        while i < len(cores):
            most = self.place_starts.get(cores[i], 0)
            length = self._place_at(cores, i, most) if most else 0
            if not length and self.lang == "lv" and self._inflected_place(cores[i]):
                length = 1
            for j in range(i, i + length):
                marks[j] = PLACE_MARKS[j > i]
            i += length or 1
        return marks

    def _place_at(self, cores: Sequence[str], i: int, most: int) -> int:
        for length in range(min(most, len(cores) - i), 0, -1):
            if tuple(cores[i : i + length]) in self.places:
                return length
        return 0

    def _inflected_place(self, core: str) -> bool:
        return any((stem,) in self.places for stem in self._stems(core))

    def _stems(self, core: str) -> list[str]:
        """Basic forms that an inflected one may come from."""
        if self.lang in ("de", "nl") and core.endswith("s"):
            return [core[:-1]]
        if self.lang != "lv" or len(core) < 5:
            return []
        cut = 2 if core.endswith(_LATVIAN_TWO) else 1 if core.endswith(_LATVIAN_ONE) else 0
        return [core[:-cut] + end for end in ("s", "a", "e", "is", "us", "š")] if cut else []


_LATVIAN_TWO = ("am", "ai", "as", "es", "ei", "im", "os", "um", "iem", "ām", "ēm", "ās", "ēs")
_LATVIAN_ONE = ("a", "u", "ā", "i", "ī", "e", "ē", "ū")


CLUSTERED = ("en", "de", "es")
"""Languages with clusters of words that stand in like places."""


def _clusters(lang: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for cluster, forms in read_table(f"clusters.{lang}") if lang in CLUSTERED else ():
        found.update(dict.fromkeys(forms.split(" "), int(cluster, 16)))
    return found


@cache
def lexicon(lang: str) -> Lexicon:
    """The lookups of a language, read once."""
    check_language(lang)
    places = {tuple(name.split()): code for name, code in read_table("places")}
    starts: dict[str, int] = {}
    for place in places:
        longest = min(len(place), LONGEST_PLACE)
        starts[place[0]] = max(longest, starts.get(place[0], 0))
    return Lexicon(
        lang,
        {form: int(zipf) for form, zipf in read_table(f"words.{lang}")},
        _clusters(lang),
        dict(read_table("names")),
        places,
        starts,
    )
