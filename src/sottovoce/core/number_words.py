"""Number words: the table for eight languages, and English numbers in words and in digits."""

from __future__ import annotations

from collections.abc import Sequence

_UNITS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce "
    "quince dieciséis diecisiete dieciocho diecinueve",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze "
    "quinze seize dix-sept dix-huit dix-neuf",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici "
    "quattordici quindici sedici diciassette diciotto diciannove",
    "lv": "nulle viens divi trīs četri pieci seši septiņi astoņi deviņi desmit vienpadsmit "
    "divpadsmit trīspadsmit četrpadsmit piecpadsmit sešpadsmit septiņpadsmit astoņpadsmit "
    "deviņpadsmit",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien "
    "vijftien zestien zeventien achttien negentien",
    "pt": "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze "
    "dezasseis dezassete dezoito dezanove",
}
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "fr": "vingt trente quarante cinquante soixante soixante-dix quatre-vingt quatre-vingt-dix",
    "it": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "lv": "divdesmit trīsdesmit četrdesmit piecdesmit sešdesmit septiņdesmit astoņdesmit "
    "deviņdesmit",
    "nl": "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    "pt": "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
}
UNITS = {language: tuple(words.split()) for language, words in _UNITS.items()}
"""The words for 0 to 19 by language."""
TENS = {language: tuple(words.split()) for language, words in _TENS.items()}
"""The words for 20, 30, … 90 by language."""

ENGLISH_VALUES = {word: value for value, word in enumerate(UNITS["en"])} | {
    word: 10 * tens for tens, word in enumerate(TENS["en"], start=2)
}
"""Values of the English words for 0 to 19 and for the tens."""
ENGLISH_POWERS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_IRREGULAR_ORDINALS = {
    "first": "one",
    "second": "two",
    "third": "three",
    "fifth": "five",
    "eighth": "eight",
    "ninth": "nine",
    "twelfth": "twelve",
}
_ORDINALS = {
    **{
        f"{word}th": word
        for word in (*UNITS["en"][4:], "hundred", *ENGLISH_POWERS)
        if word not in _IRREGULAR_ORDINALS.values()
    },
    **{f"{word[:-1]}ieth": word for word in TENS["en"]},
    **_IRREGULAR_ORDINALS,
}


def number_to_words(number: int) -> list[str]:
    """Return an English number in words.

    Parameters
    ----------
    number : int
        0 to 10^15 - 1.

    >>> number_to_words(1984), number_to_words(60_000)
    (['one', 'thousand', 'nine', 'hundred', 'eighty', 'four'], ['sixty', 'thousand'])
    """
    units, tens = UNITS["en"], TENS["en"]
    if number < 20:
        return [units[number]]
    if number < 100:
        return [tens[number // 10 - 2], *([units[number % 10]] if number % 10 else [])]
    size, name = max(
        (size, name) for name, size in {"hundred": 100, **ENGLISH_POWERS}.items() if size <= number
    )
    remainder = number_to_words(number % size) if number % size else []
    return [*number_to_words(number // size), name, *remainder]


def words_to_digits(words: Sequence[str]) -> list[str]:
    """Replace each run of English number words by one number in digits.

    Numbers beside each other become one, since "nineteen eighty four" is 1984 and a string of
    digits may be written either way. "First" becomes 1st and "second" 2nd even where no number is
    meant, which does no harm when both sides of a comparison are treated alike.

    Parameters
    ----------
    words : sequence of str
        Words in lower case.

    >>> words_to_digits("in nineteen eighty four with one hundred and five".split())
    ['in', '1984', 'with', '105']
    """
    result: list[str] = []
    position = 0
    while position < len(words):
        number = _NumberParser()
        used = number.parse(words, position)
        result.append(number.text() if used else words[position])
        position += max(1, used)
    return _join_decimals(result)


class _NumberParser:
    """Reads a number word by word."""

    def __init__(self) -> None:
        self.digits = ""
        """Completed groups beside each other, as in nineteen | eighty four."""
        self.total = 0
        self.group = 0
        self.started = False
        self.room = 0
        """A word adds to the group if its value is below: 100 after hundred, 10 after twenty."""
        self.suffix = ""

    def parse(self, words: Sequence[str], position: int) -> int:
        """Read from ``position`` on; return how many words belong to the number."""
        used = 0
        while position + used < len(words) and not self.suffix:
            word = words[position + used]
            following = "".join(words[position + used + 1 : position + used + 2])
            following = _ORDINALS.get(following, following)
            if word == "and" and self.room >= 100 and _value(following) is not None:
                used += 1
                continue
            if not self._add(word):
                break
            used += 1
        return used

    def _add(self, word: str) -> bool:
        ordinal = word in _ORDINALS
        cardinal = _ORDINALS.get(word, word)
        if cardinal == "hundred" or cardinal in ENGLISH_POWERS:
            if not self._multiply(cardinal):
                return False
        elif not self._append(cardinal, ordinal=ordinal):
            return False
        if ordinal:
            self.suffix = _ordinal_suffix(int(self.text()))
        return True

    def _multiply(self, word: str) -> bool:
        """Take "hundred" or a higher power of ten, which needs something to multiply."""
        if not self.started or not self.group:
            return False
        if word == "hundred":
            if self.group >= 100:
                return False
            self.group, self.room = self.group * 100, 100
            return True
        self.total += self.group * ENGLISH_POWERS[word]
        self.group, self.room = 0, 1000
        return True

    def _append(self, word: str, *, ordinal: bool) -> bool:
        """Take a word with a value: it adds to the group, or begins another beside it."""
        value = _value(word)
        if value is None:
            return False
        if self.started and 0 < value < self.room:
            self.group += value
        elif self.started and (self.total or ordinal):
            return False
        else:
            self.digits += str(self.group) if self.started else ""
            self.group, self.started = value, True
        self.room = 10 if word in TENS["en"] else 0
        return True

    def text(self) -> str:
        """Return the number in digits."""
        return f"{self.digits}{self.total + self.group}{self.suffix}"


def _value(word: str) -> int | None:
    if word in ENGLISH_VALUES:
        return ENGLISH_VALUES[word]
    return int(word) if len(word) < 3 and word.isascii() and word.isdigit() else None


def _ordinal_suffix(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _join_decimals(words: list[str]) -> list[str]:
    """Turn ``3 point 14`` into ``3.14``."""
    result: list[str] = []
    position = 0
    while position < len(words):
        match words[position : position + 3]:
            case [whole, "point", fraction] if whole.isdigit() and fraction.isdigit():
                result.append(f"{whole}.{fraction}")
                position += 3
            case _:
                result.append(words[position])
                position += 1
    return result
