"""English number words as digits: "two thousand and five" is 2005, "twenty first" is 21st.

Numbers that stand beside each other become one, since "nineteen eighty four" is 1984 and a string
of digits may be written either way. "First" is 1st and "second" 2nd even where no number is meant:
both transcripts are treated alike, so it does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence

_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SMALL = {word: value for value, word in enumerate(_UNITS + _TEENS)}
TENS = {word: 10 * value for value, word in enumerate(_TENS, start=2)}
LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {
    "first": "one",
    "second": "two",
    "third": "three",
    "fifth": "five",
    "eighth": "eight",
    "ninth": "nine",
    "twelfth": "twelve",
    **{f"{word}th": word for word in ("four", "six", "seven", *_TEENS) if word != "twelve"},
    **{f"{word[:-1]}ieth": word for word in _TENS},
    **{f"{word}th": word for word in ("hundred", *LARGE)},
}


def numbers_as_digits(words: Sequence[str]) -> list[str]:
    """Replace runs of number words by one number each.

    >>> numbers_as_digits("in nineteen eighty four with one hundred and five".split())
    ['in', '1984', 'with', '105']
    """
    found: list[str] = []
    at = 0
    while at < len(words):
        reading = _Reading()
        used = reading.take(words, at)
        found.append(reading.text() if used else words[at])
        at += max(1, used)
    return _joined_decimals(found)


class _Reading:
    """One number as it is read, word after word."""

    def __init__(self) -> None:
        self.digits = ""
        """Groups that stand beside each other, as in nineteen | eighty four."""
        self.total = 0
        self.group = 0
        self.begun = False
        self.room = 0
        """Below what a word that adds to the group must be: 100 after hundred, 10 after twenty."""
        self.suffix = ""

    def take(self, words: Sequence[str], at: int) -> int:
        """How many words from ``at`` on belong to the number."""
        used = 0
        while at + used < len(words) and not self.suffix:
            word = words[at + used]
            ahead = words[at + used + 1] if at + used + 1 < len(words) else ""
            after = _ORDINALS.get(ahead, ahead)
            if word == "and" and self.room >= 100 and _value(after) is not None:
                used += 1
                continue
            if not self._add(word):
                break
            used += 1
        return used

    def _add(self, word: str) -> bool:
        ordinal = word in _ORDINALS
        plain = _ORDINALS.get(word, word)
        if plain == "hundred" or plain in LARGE:
            if not self._multiply(plain):
                return False
        elif not self._append(plain, ordinal=ordinal):
            return False
        if ordinal:
            self.suffix = _suffix(int(self.text()))
        return True

    def _multiply(self, word: str) -> bool:
        """Hundred and its like: they need something to multiply."""
        if not self.begun or not self.group:
            return False
        if word == "hundred":
            if self.group >= 100:
                return False
            self.group, self.room = self.group * 100, 100
            return True
        self.total, self.group, self.room = self.total + self.group * LARGE[word], 0, 1000
        return True

    def _append(self, word: str, *, ordinal: bool) -> bool:
        """A word with a value: fills the room that is left, or begins a group beside."""
        value = _value(word)
        if value is None:
            return False
        if self.begun and 0 < value < self.room:
            self.group += value
        elif self.begun and (self.total or ordinal):
            return False
        else:
            self.digits += str(self.group) if self.begun else ""
            self.group, self.begun = value, True
        self.room = 10 if word in TENS else 0
        return True

    def text(self) -> str:
        """The number in digits."""
        return f"{self.digits}{self.total + self.group}{self.suffix}"


def _value(word: str) -> int | None:
    if word in SMALL:
        return SMALL[word]
    if word in TENS:
        return TENS[word]
    return int(word) if len(word) < 3 and word.isascii() and word.isdigit() else None


def _suffix(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _joined_decimals(words: list[str]) -> list[str]:
    """``3 point 14`` is 3.14."""
    found: list[str] = []
    at = 0
    while at < len(words):
        after = words[at + 1 : at + 3]
        if words[at].isdigit() and len(after) == 2 and after[0] == "point" and after[1].isdigit():
            found.append(f"{words[at]}.{after[1]}")
            at += 3
        else:
            found.append(words[at])
            at += 1
    return found
