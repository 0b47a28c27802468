"""Private values that have a form: addresses, telephone and account numbers, written and spoken.

Written forms are matched on the characters of a text, spoken ones on its words. Every written
form is matched within a bounded number of characters, so a long line costs no more than its
length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache

from sottovoce.anonymise.text import checksums
from sottovoce.anonymise.text.calendar import is_number_word
from sottovoce.anonymise.text.entities import Entity
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.anonymise.text.tokens import Token

NUMBER_RUN, PHONE_RUN = 4, 7
"""Number words in a row that are a number somebody has, and a telephone number."""
WORD = 12
"""Twice the Zipf frequency from which a vowel is a word of its own."""
_VOWELS = frozenset("aeiouyàèéó")


@dataclass(frozen=True)
class Pattern:
    """A written form; ``check`` has the last word."""

    name: str
    kind: str
    form: re.Pattern[str]
    check: Callable[[str], bool] | None = None
    langs: str = ""
    """Languages it is used in; all if empty."""


def _pattern(name: str, kind: str, form: str, check: object = None, langs: str = "") -> Pattern:
    bounded = rf"(?<![\w@]){form}(?![\w@])"
    return Pattern(name, kind, re.compile(bounded, re.IGNORECASE), check, langs)  # type: ignore[arg-type]


def _seven(number: str) -> bool:
    return 7 <= sum(c.isdigit() for c in number) <= 15


def _capital(text: str) -> bool:
    return text == text.upper()


WRITTEN = (
    _pattern("email", "EMAIL", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    _pattern("url", "URL", r"(?:https?://|www\.)[^\s<>\"]{1,300}[\w/]"),
    _pattern(
        "iban", "ID", r"[a-z]{2}\d\d(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?", checksums.iban
    ),
    _pattern("card", "ID", r"\d(?:[ -]?\d){12,18}", checksums.luhn),
    _pattern("ip", "ID", r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)"),
    _pattern("ipv6", "ID", r"(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}"),
    _pattern("tax number", "ID", r"\d{2}(?: ?\d{3}){3}", checksums.german_tax, "de"),
    _pattern("dni", "ID", r"[xyz\d]\d{7}-?[a-z]", checksums.spanish_dni, "es"),
    _pattern(
        "nir", "ID", r"[12](?: ?\d\d){2} ?\d[\dab](?: ?\d{3}){2} ?\d\d", checksums.french_nir, "fr"
    ),
    _pattern(
        "codice fiscale",
        "ID",
        r"[a-z]{6}\w\w[a-z]\w\w[a-z]\w{3}[a-z]",
        checksums.italian_fiscal,
        "it",
    ),
    _pattern("personas kods", "ID", r"\d{6}-\d{5}", checksums.latvian_code, "lv"),
    _pattern("bsn", "ID", r"\d{3}[ .]?\d{3}[ .]?\d{3}", checksums.dutch_bsn, "nl"),
    _pattern("nif", "ID", r"\d{3} ?\d{3} ?\d{3}", checksums.portuguese_nif, "pt"),
    _pattern("ssn", "ID", r"(?!000|666|9)\d{3}-\d\d-\d{4}", None, "en"),
    _pattern("nino", "ID", r"[a-z]{2} ?\d\d ?\d\d ?\d\d ?[abcd]", _capital, "en"),
    _pattern("plate", "ID", r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2} ?\d{1,4}", _capital, "de"),
    _pattern("plate", "ID", r"[A-Z]{2}[- ]?\d{3}[- ]?[A-Z]{2}", _capital, "fr it"),
    _pattern("plate", "ID", r"\d{4} ?[B-Z]{3}", _capital, "es"),
    _pattern("plate", "ID", r"[A-Z]{2}-\d{1,4}", _capital, "lv"),
    _pattern(
        "plate",
        "ID",
        r"(?:[A-Z]{1,3}|\d{1,3})-(?:[A-Z]{1,3}|\d{1,3})-(?:[A-Z]{1,2}|\d{1,2})",
        lambda t: _capital(t) and any(c.isalpha() for c in t),
        "nl pt",
    ),
    _pattern("plate", "ID", r"[A-Z]{2}\d\d ?[A-Z]{3}", _capital, "en"),
    _pattern("phone", "PHONE", r"\+?\(?\d(?:[ ()/.-]{0,3}\d){6,14}", _seven),
    _pattern("digits", "NUM", r"\d{5,30}"),
)


_PROMISING = re.compile(r"[\d@:]|www\.", re.IGNORECASE)


def written(text: str, tokens: Sequence[Token], lang: str) -> list[Entity]:
    """What has a written form; the first pattern to match keeps its characters."""
    if not _PROMISING.search(text):
        return []
    taken = bytearray(len(text))
    found: list[Entity] = []
    for pattern in WRITTEN:
        if pattern.langs and lang not in pattern.langs.split():
            continue
        for match in pattern.form.finditer(text):
            begin, end = match.span()
            if any(taken[begin:end]):
                continue
            if pattern.check is None or pattern.check(match.group()):
                taken[begin:end] = b"\1" * (end - begin)
                found += _covering(tokens, begin, end, pattern)
    return found


def _covering(tokens: Sequence[Token], begin: int, end: int, pattern: Pattern) -> Iterator[Entity]:
    from bisect import bisect_left, bisect_right

    first = bisect_right(tokens, begin, key=lambda token: token.end)
    last = bisect_left(tokens, end, key=lambda token: token.start)
    if first < last:
        yield Entity(first, last, pattern.kind, 1.0, f"pattern {pattern.name}")


# ======================================================================================== spoken

AT = {
    "en": "at", "de": "at ät", "es": "arroba", "fr": "arobase arrobas", "it": "chiocciola",
    "lv": "et", "nl": "apenstaartje at", "pt": "arroba",
}  # fmt: skip
DOT = {
    "en": "dot", "de": "punkt", "es": "punto", "fr": "point", "it": "punto", "lv": "punkts",
    "nl": "punt", "pt": "ponto",
}  # fmt: skip
_JOINTS = frozenset(
    [
        "underscore",
        "dash",
        "hyphen",
        "unterstrich",
        "bindestrich",
        "guion",
        "bajo",
        "guión",
        "tiret",
        "trattino",
        "underline",
        "streepje",
        "hífen",
        "defise",
        "minus",
        "slash",
    ]
)
_ENDINGS = frozenset(
    [
        "com",
        "org",
        "net",
        "edu",
        "gov",
        "info",
        "biz",
        "eu",
        "de",
        "at",
        "ch",
        "es",
        "fr",
        "it",
        "lv",
        "nl",
        "be",
        "pt",
        "br",
        "uk",
        "ie",
        "us",
        "io",
        "mx",
        "ar",
    ]
)
TITLES = {
    "en": "mr mrs ms miss mister doctor dr professor sir madam captain",
    "de": "herr herrn frau doktor dr professor fräulein",
    "es": "señor señora señorita sr sra don doña doctor doctora",
    "fr": "monsieur madame mademoiselle mme docteur maître",
    "it": "signor signore signora signorina sig dottor dottore dottoressa",
    "lv": "kungs kundze kungam kundzei kungu kundzi",
    "nl": "meneer mevrouw dhr mevr dokter",
    "pt": "senhor senhora sr sra dona doutor doutora",
}
"""Words beside which a name stands: before it, in Latvian after it."""
_SERVERS = frozenset(["www", "gmail", "hotmail", "yahoo", "outlook", "icloud"])


@cache
def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def spoken(words: Sequence[str], lang: str) -> list[Entity]:
    """What is spelt out: addresses with *at* and *dot*, numbers digit by digit."""
    low = [word.lower() for word in words]
    titled = _titled(low, lang)
    return [*_spoken_addresses(low, lang), *_number_runs(low, lang), *titled]


def _titled(low: Sequence[str], lang: str) -> Iterator[Entity]:
    """The name beside a title, unless it is a common word."""
    titles = _words(TITLES[lang])
    if titles.isdisjoint(low):
        return
    common = lexicon(lang).common
    for i, word in enumerate(low):
        if word in titles:
            step = -1 if lang == "lv" else 1
            j = i + step
            if step > 0 and j < len(low) and low[j] == ".":
                j += 1
            named = 0 <= j < len(low) and low[j].isalpha() and low[j] not in titles
            if named and not common(low[j]):
                yield Entity(j, j + 1, "PER", 0.9, "pattern title")


def _spoken_addresses(low: Sequence[str], lang: str) -> Iterator[Entity]:
    at, dot = _words(AT[lang]), _words(DOT[lang])
    if at.isdisjoint(low) and dot.isdisjoint(low):
        return
    for i, word in enumerate(low):
        if word in at and 0 < i < len(low) - 1:
            end = _host_end(low, i + 1, dot)
            further = low[end : end + 1] and low[end] in at and end + 1 < len(low)
            if further and _host_end(low, end + 1, dot):
                continue  # "mail me at ann dot lee at …": the address begins after this one
            if end:
                start = _local_start(low, i - 1, dot, lang)
                yield Entity(start, end, "EMAIL", 1.0, "pattern spoken email")
        elif word in dot and 0 < i < len(low) - 1 and low[i + 1] in _ENDINGS:
            start = i - 1
            while start > 1 and low[start - 1] in dot:
                start -= 2
            if low[i + 1] == "com" or low[start] in _SERVERS or len(low[i + 1]) > 2:
                yield Entity(start, i + 2, "URL", 1.0, "pattern spoken url")


def _host_end(low: Sequence[str], start: int, dot: AbstractSet[str]) -> int:
    """Where *gmail dot com* ends; 0 if no host stands there."""
    for i in range(start + 1, min(start + 5, len(low) - 1)):
        if low[i] in dot:
            end = i + 2
            while end + 1 < len(low) and low[end] in dot:
                end += 2
            return end
    return start + 1 if low[start] in _SERVERS else 0


def _local_start(low: Sequence[str], i: int, dot: AbstractSet[str], lang: str) -> int:
    """Where the part before *at* begins: one word, and what joints and spelling add to it."""
    while i > 0:
        before = low[i - 1]
        if before in dot or before in _JOINTS:
            i -= 2
        elif _letter(low, i - 1, lang) or any(is_number_word(w, lang) for w in (before, low[i])):
            i -= 1
        else:
            break
    return max(i, 0)


def _letter(low: Sequence[str], i: int, lang: str) -> bool:
    """Whether a letter is spelt there: *a*, *y*, *o* may be words unless another one is near."""
    near = [*low[max(i - 1, 0) : i], *low[i + 1 : i + 2]]
    word = low[i] in _VOWELS and lexicon(lang).frequency.get(low[i], 0) >= WORD
    return len(low[i]) == 1 and (not word or any(len(one) == 1 for one in near))


def _number_runs(low: Sequence[str], lang: str) -> Iterator[Entity]:
    start = 0
    while start < len(low):
        end = start
        while end < len(low) and (_digit(low[end]) or is_number_word(low[end], lang)):
            end += 1
        if end - start >= NUMBER_RUN:
            phone = end - start >= PHONE_RUN
            rule = "pattern spoken number"
            yield Entity(start, end, "PHONE" if phone else "NUM", 0.9 if phone else 0.5, rule)
        start = max(end, start + 1)


def _digit(word: str) -> bool:
    return word.isdigit() and len(word) < 4
