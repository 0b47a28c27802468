"""Private values that have a form: addresses, telephone and account numbers, written and spoken.

Written forms are matched on the characters of a text, spoken ones on its words. Every written form
has a bounded number of characters, so matching takes time linear in the length of a line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache

from sottovoce.anonymise.text.calendar import is_number_word
from sottovoce.anonymise.text.cues import announced_kinds, cues
from sottovoce.anonymise.text.dictated import find_dictated
from sottovoce.anonymise.text.entities import PATTERN_RULE, Entity
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.anonymise.text.spelled import find_spelled
from sottovoce.anonymise.text.tokens import Token

NUMBER_RUN, PHONE_RUN = 4, 7
"""Number words in a row that make a private number, and a telephone number."""
MAX_LOCAL_WORDS = 8
"""Words between *my e-mail address* and what surely belongs to it, at most."""
WORD_ZIPF = 12
"""Twice the Zipf frequency from which a single vowel is taken for a word."""
_VOWELS = frozenset("aeiouyàèéó")

# ================================================================================ check digits

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_FISCAL_VALUES = (
    1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8,
    12, 14, 16, 10, 22, 25, 24, 23,
)  # fmt: skip
_FISCAL_ODD = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", _FISCAL_VALUES, strict=True))
"""Values of the characters at odd positions of a codice fiscale."""


def _digits(number: str) -> list[int]:
    return [int(c) for c in number if c in "0123456789"]


def _letters_and_digits(number: str) -> str:
    return "".join(c for c in number.upper() if c.isalnum())


def _is_card(number: str) -> bool:
    """Check a payment card number with the Luhn algorithm (ISO/IEC 7812).

    >>> _is_card("4111 1111 1111 1111"), _is_card("4111 1111 1111 1112")
    (True, False)
    """
    digits = _digits(number)
    doubled = [2 * d - 9 * (d > 4) if i % 2 else d for i, d in enumerate(reversed(digits))]
    return 12 < len(digits) < 20 and sum(doubled) % 10 == 0


def _is_iban(number: str) -> bool:
    """Check a bank account number (ISO 13616).

    >>> _is_iban("GB82 WEST 1234 5698 7654 32"), _is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    joined = _letters_and_digits(number)
    rotated = joined[4:] + joined[:4]
    return rotated.isascii() and int("".join(str(int(c, 36)) for c in rotated)) % 97 == 1


def _is_german_tax_number(number: str) -> bool:
    """Check a Steuer-Identifikationsnummer (ISO 7064 MOD 11, 10)."""
    digits = _digits(number)
    product = 10
    for digit in digits[:-1]:
        total = (digit + product) % 10 or 10
        product = 2 * total % 11
    return len(digits) == 11 and digits[0] != 0 and (11 - product) % 10 == digits[-1]


def _is_spanish_dni(number: str) -> bool:
    """Check a DNI or NIE: the letter is the number modulo 23."""
    joined = _letters_and_digits(number)
    body = joined[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return body.isdigit() and len(body) == 8 and _DNI_LETTERS[int(body) % 23] == joined[-1]


def _is_french_nir(number: str) -> bool:
    """Check a numéro de sécurité sociale: key = 97 − number mod 97."""
    joined = _letters_and_digits(number)
    body = joined[:13].replace("2A", "19").replace("2B", "18")
    return (
        len(joined) == 15
        and (body + joined[13:]).isdigit()
        and 97 - int(body) % 97 == int(joined[13:])
    )


def _is_italian_fiscal_code(code: str) -> bool:
    """Check a codice fiscale: the last letter follows from the fifteen characters before it."""
    code = code.upper()
    if len(code) != 16 or not code.isascii() or not code.isalnum():
        return False
    total = sum(
        _FISCAL_ODD[c] if i % 2 == 0 else (int(c) if c.isdigit() else ord(c) - 65)
        for i, c in enumerate(code[:15])
    )
    return chr(65 + total % 26) == code[15]


def _is_dutch_bsn(number: str) -> bool:
    """Check a burgerservicenummer: the weighted sum is a multiple of 11."""
    digits = _digits(number)
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    total = sum(w * d for w, d in zip(weights, digits, strict=False))
    return len(digits) == 9 and any(digits) and total % 11 == 0


def _is_portuguese_nif(number: str) -> bool:
    """Check a número de identificação fiscal, modulo 11."""
    digits = _digits(number)
    total = sum((9 - i) * d for i, d in enumerate(digits[:8]))
    check = 11 - total % 11
    return len(digits) == 9 and digits[-1] == (0 if check > 9 else check)


def _is_latvian_code(number: str) -> bool:
    """Check a personas kods: the check digit of an old one, the beginning (32) of a new one."""
    digits = _digits(number)
    weights = (1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    check = (1101 - sum(w * d for w, d in zip(weights, digits, strict=False))) % 11 % 10
    return len(digits) == 11 and (digits[:2] == [3, 2] or digits[-1] == check)


def _has_phone_length(number: str) -> bool:
    return 7 <= sum(c.isdigit() for c in number) <= 15


def _is_date(text: str) -> bool:
    """Check that a day, a month and a year are possible, in any of the usual orders."""
    numbers = [int(part) for part in re.split(r"\D", text)]
    first, second = sorted(number for number in numbers if number < 1000)
    return 1 <= first <= 12 and 1 <= second <= 31


def _is_upper_case(text: str) -> bool:
    return text == text.upper()


def _is_upper_case_with_letter(text: str) -> bool:
    return _is_upper_case(text) and any(c.isalpha() for c in text)


# ===================================================================================== written


@dataclass(frozen=True)
class _Pattern:
    """A written form; where ``check`` is given it has to accept the match."""

    name: str
    kind: str
    form: re.Pattern[str]
    check: Callable[[str], bool] | None
    langs: tuple[str, ...]
    """Languages it is used in; all if empty."""


def _pattern(
    name: str, kind: str, form: str, check: Callable[[str], bool] | None = None, langs: str = ""
) -> _Pattern:
    bounded = rf"(?<![\w@]){form}(?![\w@])"
    return _Pattern(name, kind, re.compile(bounded, re.IGNORECASE), check, tuple(langs.split()))


_IBAN = r"[a-z]{2}\d\d(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?"
_IP = r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_NIR = r"[12](?: ?\d\d){2} ?\d[\dab](?: ?\d{3}){2} ?\d\d"
_FISCAL_CODE = r"[a-z]{6}\w\w[a-z]\w\w[a-z]\w{3}[a-z]"
_PLATE = r"(?:[A-Z]{1,3}|\d{1,3})-(?:[A-Z]{1,3}|\d{1,3})-(?:[A-Z]{1,2}|\d{1,2})"
_DATE = r"(?:\d{1,2}([./ -])\d{1,2}\1(?:19|20)\d\d|(?:19|20)\d\d([./-])\d{1,2}\2\d{1,2})"
_AT_SIGN = r" ?[\[({] ?(?:at|ät|arroba|arobase|chiocciola|et|@) ?[\])}] ?"
_DOT_SIGN = r" ?[\[({] ?(?:dot|punkt|punto|point|punkts|punt|ponto|\.) ?[\])}] ?"
_HIDDEN_EMAIL = (
    rf"[\w+-]{{1,64}}(?:(?:\.|{_DOT_SIGN})[\w+-]{{1,64}}){{0,4}}{_AT_SIGN}"
    rf"[\w-]{{1,63}}(?:(?:\.|{_DOT_SIGN})[\w-]{{1,63}}){{1,8}}"
)
"""An e-mail address that is written so that machines do not find it: ann[at]example[dot]com."""
_WRITTEN = (
    _pattern("email", "EMAIL", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    _pattern("hidden email", "EMAIL", _HIDDEN_EMAIL),
    _pattern("url", "URL", r"(?:https?://|www\.)[^\s<>\"]{1,300}[\w/]"),
    _pattern("iban", "ID", _IBAN, _is_iban),
    _pattern("card", "ID", r"\d(?:[ -]?\d){12,18}", _is_card),
    _pattern("ip", "ID", _IP),
    _pattern("ipv6", "ID", r"(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}"),
    _pattern("tax number", "ID", r"\d{2}(?: ?\d{3}){3}", _is_german_tax_number, "de"),
    _pattern("dni", "ID", r"[xyz\d]\d{7}-?[a-z]", _is_spanish_dni, "es"),
    _pattern("nir", "ID", _NIR, _is_french_nir, "fr"),
    _pattern("codice fiscale", "ID", _FISCAL_CODE, _is_italian_fiscal_code, "it"),
    _pattern("personas kods", "ID", r"\d{6}-\d{5}", _is_latvian_code, "lv"),
    _pattern("bsn", "ID", r"\d{3}[ .]?\d{3}[ .]?\d{3}", _is_dutch_bsn, "nl"),
    _pattern("nif", "ID", r"\d{3} ?\d{3} ?\d{3}", _is_portuguese_nif, "pt"),
    _pattern("ssn", "ID", r"(?!000|666|9)\d{3}-\d\d-\d{4}", None, "en"),
    _pattern("nino", "ID", r"[a-z]{2} ?\d\d ?\d\d ?\d\d ?[abcd]", _is_upper_case, "en"),
    _pattern("plate", "ID", r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2} ?\d{1,4}", _is_upper_case, "de"),
    _pattern("plate", "ID", r"[A-Z]{2}[- ]?\d{3}[- ]?[A-Z]{2}", _is_upper_case, "fr it"),
    _pattern("plate", "ID", r"\d{4} ?[B-Z]{3}", _is_upper_case, "es"),
    _pattern("plate", "ID", r"[A-Z]{2}-\d{1,4}", _is_upper_case, "lv"),
    _pattern("plate", "ID", _PLATE, _is_upper_case_with_letter, "nl pt"),
    _pattern("plate", "ID", r"[A-Z]{2}\d\d ?[A-Z]{3}", _is_upper_case, "en"),
    _pattern("date", "DATE", _DATE, _is_date),
    _pattern("phone", "PHONE", r"\+?\(?\d(?:[ ()/.-]{0,3}\d){6,14}", _has_phone_length),
    _pattern("digits", "NUM", r"\d{5,30}"),
)
_MAY_MATCH = re.compile(r"[\d@:\[({]|www\.", re.IGNORECASE)


def find_written(text: str, tokens: Sequence[Token], lang: str) -> list[Entity]:
    """Find values with a written form; the first pattern to match keeps its characters.

    Parameters
    ----------
    text : str
        The text.
    tokens : sequence of Token
        Its tokens.
    lang : str
        Language code; some forms belong to one country.
    """
    if not _MAY_MATCH.search(text):
        return []
    taken = bytearray(len(text))
    entities: list[Entity] = []
    for pattern in _WRITTEN:
        if pattern.langs and lang not in pattern.langs:
            continue
        for match in pattern.form.finditer(text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            if pattern.check is None or pattern.check(match.group()):
                taken[start:end] = b"\1" * (end - start)
                entities += _covering(tokens, start, end, pattern)
    return entities


def _covering(tokens: Sequence[Token], start: int, end: int, pattern: _Pattern) -> Iterator[Entity]:
    """Yield the entity of the tokens that overlap with a match, if there are any."""
    first = bisect_right(tokens, start, key=lambda token: token.end)
    last = bisect_left(tokens, end, key=lambda token: token.start)
    if first < last:
        yield Entity(first, last, pattern.kind, 1.0, f"{PATTERN_RULE}{pattern.name}")


# ====================================================================================== spoken


@cache
def _word_set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_AT = {
    "en": "at", "de": "at ät", "es": "arroba", "fr": "arobase arrobas", "it": "chiocciola",
    "lv": "et", "nl": "apenstaartje at", "pt": "arroba",
}  # fmt: skip
_DOT = {
    "en": "dot", "de": "punkt", "es": "punto", "fr": "point", "it": "punto", "lv": "punkts",
    "nl": "punt", "pt": "ponto",
}  # fmt: skip
_JOINTS = _word_set(
    "underscore dash hyphen unterstrich bindestrich guion bajo guión tiret trattino underline "
    "streepje hífen defise minus slash"
)
_DOMAINS = _word_set(
    "com org net edu gov info biz eu de at ch es fr it lv nl be pt br uk ie us io mx ar"
)
_HOSTS = _word_set("www gmail hotmail yahoo outlook icloud")


def find_spoken(words: Sequence[str], lang: str) -> list[Entity]:
    """Find spelt-out values: addresses with *at* and *dot*, numbers word by word, titled names.

    Parameters
    ----------
    words : sequence of str
        The words of a text.
    lang : str
        Language code.
    """
    low = [word.lower() for word in words]
    addresses = list(_addresses(low, lang))
    inside = {i for address in addresses for i in range(address.start, address.end)}
    spelled = [e for e in find_spelled(low, lang) if not inside.issuperset(range(e.start, e.end))]
    return [*addresses, *_number_runs(low, lang), *spelled, *find_dictated(low, lang)]


def _addresses(low: Sequence[str], lang: str) -> Iterator[Entity]:
    at, dot = _word_set(_AT[lang]), _word_set(_DOT[lang])
    if at.isdisjoint(low) and dot.isdisjoint(low):
        return
    for i, word in enumerate(low):
        if word in at and 0 < i < len(low) - 1:
            end = _host_end(low, i + 1, dot)
            another_at = low[end : end + 1] and low[end] in at and end + 1 < len(low)
            if another_at and _host_end(low, end + 1, dot):
                continue  # "mail me at ann dot lee at …": the address begins after this "at"
            if end:
                start = _local_part_start(low, i - 1, dot, lang)
                start = _announced_start(low, start, lang)
                yield Entity(start, end, "EMAIL", 1.0, f"{PATTERN_RULE}spoken email")
        elif word in dot and 0 < i < len(low) - 1 and low[i + 1] in _DOMAINS:
            start = i - 1
            while start > 1 and low[start - 1] in dot:
                start -= 2
            if low[i + 1] == "com" or low[start] in _HOSTS or len(low[i + 1]) > 2:
                yield Entity(start, i + 2, "URL", 1.0, f"{PATTERN_RULE}spoken url")


def _host_end(low: Sequence[str], start: int, dot: AbstractSet[str]) -> int:
    """Return where a host such as *gmail dot com* ends; 0 if there is none."""
    for i in range(start + 1, min(start + 5, len(low) - 1)):
        if low[i] in dot:
            end = i + 2
            while end + 1 < len(low) and low[end] in dot:
                end += 2
            return end
    return start + 1 if low[start] in _HOSTS else 0


def _local_part_start(low: Sequence[str], i: int, dot: AbstractSet[str], lang: str) -> int:
    """Return where the part before *at* starts: a word, and what joints and spelling add to it."""
    while i > 0:
        before = low[i - 1]
        if before in dot or before in _JOINTS:
            i -= 2
        elif _is_spelt_letter(low, i - 1, lang) or any(
            is_number_word(word, lang) for word in (before, low[i])
        ):
            i -= 1
        else:
            break
    return max(i, 0)


def _announced_start(low: Sequence[str], start: int, lang: str) -> int:
    """Return where the words between *my e-mail address is* and an address start."""
    fillers = cues(lang).fillers
    for cue in range(start - 1, max(start - MAX_LOCAL_WORDS, 0) - 1, -1):
        if "EMAIL" in announced_kinds(low[cue], lang):
            first = cue + 1
            while first < start and (low[first] in fillers or announced_kinds(low[first], lang)):
                first += 1
            return first
    return start


def _is_spelt_letter(low: Sequence[str], i: int, lang: str) -> bool:
    """Tell whether a letter is spelt: *a*, *y*, *o* may be words unless another letter is near."""
    neighbours = [*low[max(i - 1, 0) : i], *low[i + 1 : i + 2]]
    is_word = low[i] in _VOWELS and lexicon(lang).frequency.get(low[i], 0) >= WORD_ZIPF
    return len(low[i]) == 1 and (not is_word or any(len(word) == 1 for word in neighbours))


def _number_runs(low: Sequence[str], lang: str) -> Iterator[Entity]:
    start = 0
    while start < len(low):
        end = start
        while end < len(low) and (_is_short_number(low[end]) or is_number_word(low[end], lang)):
            end += 1
        if end - start >= NUMBER_RUN:
            kind, score = ("PHONE", 0.9) if end - start >= PHONE_RUN else ("NUM", 0.5)
            yield Entity(start, end, kind, score, f"{PATTERN_RULE}spoken number")
        start = max(end, start + 1)


def _is_short_number(word: str) -> bool:
    return word.isdigit() and len(word) < 4
