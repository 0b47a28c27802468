"""How an English word that no dictionary has is probably said: letters to sounds, numbers to words.

Rough on purpose. What is wanted is when a rare name was said, and for that a pronunciation with a
wrong vowel does; a name that could not be aligned at all would have to be withheld.
"""

from __future__ import annotations

import re

_RULES = """
tious SH AH S | cious SH AH S | tion SH AH N | sion ZH AH N | ture CH ER | ough AO | augh AO
eigh EY | igh AY | tch CH | sch S K | dge JH | ck K | ch CH | sh SH | th TH | ph F | wh W | gh G
kn N | wr R | gn N | ps S | qu K W | ng NG | nk NG K | nx NG K S | cc K | ss S | zz Z | ll L
tt T | pp P | bb B | dd D | ff F | gg G | mm M | nn N | rr R
ee IY | ea IY | oo UW | ou AW | ow OW | oi OY | oy OY | ai EY | ay EY | au AO | aw AO | ei IY
ey IY | ie IY | ew UW | ue UW | ui UW | oa OW | oe OW | ae IY | eu Y UW
ar AA R | er ER | ir ER | or AO R | ur ER | yr ER | ia IY AH | io IY OW | ua UW AH
ce S EH | ci S IH | cy S IY | ge JH EH | gi JH IH | gy JH IY
a AE | b B | c K | d D | e EH | f F | g G | h HH | i IH | j JH | k K | l L | m M | n N | o AA
p P | q K | r R | s S | t T | u AH | v V | w W | x K S | y IY | z Z
"""
RULES: dict[str, tuple[str, ...]] = {
    letters: tuple(phones)
    for line in _RULES.strip().splitlines()
    for letters, *phones in (entry.split() for entry in line.split("|"))
}
_LONG = {"a": "EY", "e": "IY", "i": "AY", "o": "OW", "u": "UW", "y": "AY"}
_FIRST = {"y": ("Y",), "x": ("Z",), "ps": ("S",)}
_LAST = {"a": ("AH",), "o": ("OW",), "y": ("IY",), "i": ("IY",), "u": ("UW",), "es": ("IH", "Z")}
_MAGIC = re.compile(r"([aeiouy])([bcdfghjklmnpqrstvwxz])e$")
_LONGEST = max(map(len, RULES))


def sounds(word: str) -> tuple[str, ...]:
    """Phones of a word of the letters a to z; others are passed over.

    >>> sounds("jane"), sounds("yasmina")
    (('JH', 'EY', 'N'), ('Y', 'AE', 'S', 'M', 'IH', 'N', 'AH'))
    """
    silent_e = _MAGIC.search(word) if len(word) > 3 else None
    phones: list[str] = []
    place = 0
    while place < len(word):
        if silent_e and place == silent_e.start():
            phones += [_LONG[silent_e[1]], *_soft(silent_e[2])]
            break
        rest = word[place:]
        if rest in _LAST and place:
            phones += _LAST[rest]
            break
        if rest == "e" and phones:
            break
        size = next((n for n in range(_LONGEST, 0, -1) if rest[:n] in RULES), 0)
        if not size:
            place += 1
            continue
        letters = rest[:size]
        phones += _FIRST.get(letters, RULES[letters]) if place == 0 else RULES[letters]
        place += size
    return tuple(phones)


def _soft(consonant: str) -> tuple[str, ...]:
    return {"c": ("S",), "g": ("JH",)}.get(consonant, RULES[consonant])


_UNITS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
]
_TENS = [
    *("zero", "ten", "twenty", "thirty", "forty"),
    *("fifty", "sixty", "seventy", "eighty", "ninety"),
]
_POWERS = ((1_000_000_000, "billion"), (1_000_000, "million"), (1_000, "thousand"))


def cardinal(number: int) -> list[str]:
    """A number in words.

    >>> cardinal(1984), cardinal(60_000)
    (['one', 'thousand', 'nine', 'hundred', 'eighty', 'four'], ['sixty', 'thousand'])
    """
    for size, name in _POWERS:
        if number >= size:
            rest = cardinal(number % size) if number % size else []
            return [*cardinal(number // size), name, *rest]
    if number >= 100:
        rest = cardinal(number % 100) if number % 100 else []
        return [_UNITS[number // 100], "hundred", *rest]
    if number >= 20:
        return [_TENS[number // 10], *([_UNITS[number % 10]] if number % 10 else [])]
    return [_UNITS[number]]


def readings(digits: str) -> list[list[str]]:
    """How digits may be read: as a number, one by one (0 also as "oh"), in pairs as years are.

    >>> [" ".join(words) for words in readings("1984")][2]
    'nineteen eighty four'
    """
    ways = [cardinal(int(digits))] if len(digits) <= 12 else []
    ways.append([_UNITS[int(digit)] for digit in digits])
    if len(digits) == 4 and digits[0] != "0" and digits[2:] != "00":
        pair = ["oh", _UNITS[int(digits[3])]] if digits[2] == "0" else cardinal(int(digits[2:]))
        ways.append([*cardinal(int(digits[:2])), *pair])
    if "0" in digits:
        ways.append(["oh" if digit == "0" else _UNITS[int(digit)] for digit in digits])
    return ways
