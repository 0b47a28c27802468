"""What is known of the words of a language: how common they are, and which are names or places."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice

from sottovoce.core.errors import UsageError
from sottovoce.core.unicode_offsets import normalise_unicode

LANGUAGES = ("en", "de", "es", "fr", "it", "lv", "nl", "pt")
MULTILINGUAL = "multi"
"""Stands for all languages together: taggers for text of any of them, and their lookups."""
CLUSTERED_LANGUAGES = ("en", "de", "es")
"""Languages with Brown clusters: words that occur in similar contexts."""
MAX_PLACE_WORDS = 4
"""Words of the longest place that is looked up."""
PLACE_MARKS = ("B", "I")
"""Marks of the first and of the further words of a place."""
COMMON_ZIPF = 8
"""Twice the Zipf frequency (log10 per thousand million words) from which a word is common."""
MIN_WORDS = 20
"""With fewer words than this the language of a text is not guessed."""
MAX_WORDS = 2000
"""Words that are read to guess the language of a text."""
MARGIN = 0.1
"""By how much the share of common words must be higher in another language."""

_ELIDED = re.compile(r"(?:[cdjlmnst]|qu|dell|all|dall|nell|sull|un|quest|dov|com)['’](?=\w)", re.I)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?$", re.I)
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_LATVIAN_TWO = ("am", "ai", "as", "es", "ei", "im", "os", "um", "iem", "ām", "ēm", "ās", "ēs")
_LATVIAN_ONE = ("a", "u", "ā", "i", "ī", "e", "ē", "ū")


def check_language(lang: str) -> str:
    """Return the language code if it is one of :data:`LANGUAGES`.

    Parameters
    ----------
    lang : str
        A code such as ``en``.

    Raises
    ------
    UsageError
        ``unknown-name`` for any other code.
    """
    if lang not in LANGUAGES:
        raise UsageError(
            f"language {lang!r} is not supported; choose from {', '.join(LANGUAGES)}",
            code="unknown-name",
        )
    return lang


def read_table(name: str) -> list[list[str]]:
    """Read a table that comes with the package.

    Parameters
    ----------
    name : str
        File name in ``data/`` without ``.tsv.xz``, such as ``words.en``.

    Returns
    -------
    list of list of str
        The tab-separated columns of each line.
    """
    data = (files("sottovoce.anonymise.text") / "data" / f"{name}.tsv.xz").read_bytes()
    return [line.split("\t") for line in lzma.decompress(data).decode().split("\n") if line]


def clitics(form: str) -> tuple[int, int]:
    """Return where the word itself starts and ends in a form like ``l'école`` or ``Anna's``.

    Parameters
    ----------
    form : str
        The word as it is written.

    Examples
    --------
    >>> [form[slice(*clitics(form))] for form in ("d'Alice", "Anna's", "dell'Aquila", "rock'n")]
    ['Alice', 'Anna', 'Aquila', "rock'n"]
    """
    if "'" not in form and "’" not in form:
        return 0, len(form)
    before, after = _ELIDED.match(form), _POSSESSIVE.search(form)
    start = before.end() if before else 0
    end = after.start() if after else len(form)
    return (start, end) if start < end else (0, len(form))


def strip_clitics(form: str) -> str:
    """Return a form without its clitics.

    Parameters
    ----------
    form : str
        The word as it is written.

    Examples
    --------
    >>> strip_clitics("dell'Aquila")
    'Aquila'
    """
    return form[slice(*clitics(form))] if "'" in form or "’" in form else form


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Lookups of one language; all forms are case-folded."""

    lang: str
    frequency: dict[str, int]
    """Twice the Zipf frequency of the most frequent words."""
    cluster: dict[str, int]
    """Brown cluster of a word, as the number whose low bits are the beginning of its path."""
    names: dict[str, str]
    """``F`` for given names, ``L`` for family names, ``FL`` for both."""
    places: dict[tuple[str, ...], str]
    """Places by their words, with the code of their country; countries have an empty one."""
    place_lengths: dict[str, tuple[int, ...]]
    """First words of places, with the numbers of words of such places, the highest first."""

    def is_common(self, form: str) -> bool:
        """Tell whether a word is so frequent that it says nothing about a person.

        Parameters
        ----------
        form : str
            The word, in any case.
        """
        return self.frequency.get(form.casefold(), 0) >= COMMON_ZIPF

    def name_kind(self, core: str) -> str:
        """Return ``F`` for a given name, ``L`` for a family name, ``FL`` for both, or nothing.

        Inflected forms count: Latvian endings, the genitive -s of German and Dutch.

        Parameters
        ----------
        core : str
            The case-folded word without clitics.
        """
        if kind := self.names.get(core):
            return kind
        return next((self.names[stem] for stem in self._stems(core) if stem in self.names), "")

    def place_marks(self, cores: Sequence[str]) -> dict[int, str]:
        """Mark the words of listed places, the longest place at each position.

        Parameters
        ----------
        cores : sequence of str
            The case-folded words of a text without clitics.

        Returns
        -------
        dict of int to str
            ``B`` (first word of a place) or ``I`` (further word) by index of the word; words that
            are in no place are left out.
        """
        marks: dict[int, str] = {}
        lengths_of = self.place_lengths.get
        inflected = self.lang in ("lv", MULTILINGUAL)
        end = 0
        for i, core in enumerate(cores):
            if i < end:
                continue
            lengths = lengths_of(core)
            length = self._place_at(cores, i, lengths) if lengths else 0
            if not length and inflected and self._is_inflected_place(core):
                length = 1
            if length:
                marks[i] = PLACE_MARKS[0]
                marks |= dict.fromkeys(range(i + 1, i + length), PLACE_MARKS[1])
                end = i + length
        return marks

    def _place_at(self, cores: Sequence[str], i: int, lengths: Sequence[int]) -> int:
        for length in lengths:
            place = tuple(cores[i : i + length])
            if len(place) == length and place in self.places:
                return length
        return 0

    def _is_inflected_place(self, core: str) -> bool:
        return any((stem,) in self.places for stem in self._stems(core))

    def _stems(self, core: str) -> list[str]:
        """Return base forms that an inflected form may come from."""
        if self.lang in ("de", "nl", MULTILINGUAL) and core.endswith("s"):
            return [core[:-1]]
        if self.lang not in ("lv", MULTILINGUAL) or len(core) < 5:
            return []
        cut = 2 if core.endswith(_LATVIAN_TWO) else 1 if core.endswith(_LATVIAN_ONE) else 0
        return [core[:-cut] + end for end in ("s", "a", "e", "is", "us", "š")] if cut else []


def _clusters(lang: str) -> dict[str, int]:
    clusters: dict[str, int] = {}
    for cluster, forms in read_table(f"clusters.{lang}") if lang in CLUSTERED_LANGUAGES else ():
        clusters.update(dict.fromkeys(forms.split(" "), int(cluster, 16)))
    return clusters


def frequencies(lang: str) -> dict[str, int]:
    """Read twice the Zipf frequency of the most frequent words.

    Parameters
    ----------
    lang : str
        Language code; of all languages together (``multi``), the highest of each word.
    """
    if lang != MULTILINGUAL:
        return {form: int(zipf) for form, zipf in read_table(f"words.{lang}")}
    merged: dict[str, int] = {}
    for code in LANGUAGES:
        for form, zipf in frequencies(code).items():
            if zipf > merged.get(form, 0):
                merged[form] = zipf
    return merged


@cache
def _names() -> dict[str, str]:
    return dict(read_table("names"))


@cache
def _places() -> tuple[dict[tuple[str, ...], str], dict[str, tuple[int, ...]]]:
    """Return all places, and the lengths of places by their first word."""
    places = {tuple(name.split()): code for name, code in read_table("places")}
    lengths: dict[str, set[int]] = {}
    for place in places:
        if len(place) <= MAX_PLACE_WORDS:
            lengths.setdefault(place[0], set()).add(len(place))
    by_word = {word: tuple(sorted(found, reverse=True)) for word, found in lengths.items()}
    return places, by_word


def listed_names() -> frozenset[str]:
    """Return the names of persons, and the places of one word, of all languages."""
    places, _ = _places()
    return frozenset(_names()).union(place[0] for place in places if len(place) == 1)


@cache
def lexicon(lang: str) -> Lexicon:
    """Return the lookups of a language, read once a process.

    Parameters
    ----------
    lang : str
        Language code, or :data:`MULTILINGUAL` for the lookups of all languages together.
    """
    if lang != MULTILINGUAL:
        check_language(lang)
    places, place_lengths = _places()
    return Lexicon(lang, frequencies(lang), _clusters(lang), _names(), places, place_lengths)


@cache
def _common_words(lang: str) -> frozenset[str]:
    return frozenset(form for form, zipf in read_table(f"words.{lang}") if int(zipf) >= COMMON_ZIPF)


def other_language(texts: Iterable[str], lang: str) -> str | None:
    """Guess whether texts are in another supported language than ``lang``.

    Taggers miss most names of another language, so users are warned.

    Parameters
    ----------
    texts : iterable of str
        The texts; the first 2000 words are read.
    lang : str
        The language that they should be in.

    Returns
    -------
    str or None
        Code of the other language; None if ``lang`` fits, or with fewer than 20 words.

    Examples
    --------
    >>> other_language(["das ist ein text in einer anderen sprache als gedacht und"] * 2, "en")
    'de'
    """
    words = (
        strip_clitics(match[0])
        for text in texts
        for match in _WORD.finditer(normalise_unicode(text).casefold())
    )
    sample = list(islice((word for word in words if word.isalpha()), MAX_WORDS))
    if len(sample) < MIN_WORDS:
        return None

    def common_share(code: str) -> float:
        return sum(word in _common_words(code) for word in sample) / len(sample)

    threshold = common_share(lang) + MARGIN
    if threshold >= 1:
        return None
    best = max(LANGUAGES, key=common_share)
    return best if common_share(best) > threshold else None
