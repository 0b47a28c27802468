"""Pronunciations of words in the phones of the English acoustic model.

English words are looked up in the CMU dictionary that comes with pocketsphinx, and guessed by
letter-to-sound rules if it does not have them. Words of other languages, and English words that
the dictionary lacks, are also given to the program espeak-ng, if it is installed. Words are sent to
it through a pipe, never as arguments, which every user of a machine can see.
"""

from __future__ import annotations

import re
import shutil
import subprocess  # espeak-ng is called by its full path, without a shell
from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path

from sottovoce.anonymise.recording.ipa import ipa_to_phones
from sottovoce.anonymise.recording.words import SPOKEN_SYMBOLS, word_key
from sottovoce.core.errors import InputError, MissingExtraError, UsageError
from sottovoce.core.number_words import UNITS, number_to_words

Phones = tuple[str, ...]
Lexicon = dict[str, tuple[Phones, ...]]
"""Pronunciations by word, as the word is written."""

MAX_PRONUNCIATIONS = 8
"""Pronunciations of one word that are tried."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9-]+)?")
_PARTS = re.compile(r"[0-9]+|[^\W\d_]+(?:'[^\W\d_]+)*")


def pronounce(words: Iterable[str], lang: str = "en", *, dictionary: bool = True) -> Lexicon:
    """Look up or guess the pronunciations of words.

    Parameters
    ----------
    words : iterable of str
        Words as they are written.
    lang : str, default "en"
        Code of the language, such as ``en``, ``de`` or ``pt-br``.
    dictionary : bool, default True
        Use the CMU dictionary for English. Without it English words are given to espeak-ng too.

    Returns
    -------
    dict of str to tuple of phones
        Without the words that cannot be pronounced.

    Raises
    ------
    UsageError
        If espeak-ng is needed and is not installed, or has no voice for the language.
    """
    check_language(lang)
    distinct = list(dict.fromkeys(words))
    if is_english(lang) and dictionary:
        lexicon = {word: english_pronunciations(word) for word in distinct}
        guessed = [word for word in distinct if not _in_dictionary(word)]
        if guessed and espeak_path():
            for word, pronunciations in _espeak(guessed, lang).items():
                merged = dict.fromkeys((*pronunciations, *lexicon[word]))
                lexicon[word] = tuple(merged)[:MAX_PRONUNCIATIONS]
    else:
        lexicon = _espeak(distinct, lang)
    return {word: pronunciations for word, pronunciations in lexicon.items() if pronunciations}


def check_language(lang: str) -> None:
    """Refuse a text that is not a language code.

    Parameters
    ----------
    lang : str
        Such as ``en``, ``de`` or ``pt-br``.
    """
    if not _LANGUAGE.fullmatch(lang):
        raise UsageError(
            f"language {lang!r}; give a code such as en, de or pt-br", code="unknown-name"
        )


def is_english(lang: str) -> bool:
    """Tell whether a language code stands for a kind of English.

    Parameters
    ----------
    lang : str
        Such as ``en`` or ``en-gb``.
    """
    return lang.lower().split("-")[0] == "en"


# ======================================================================================== English


@cache
def _cmu_dictionary() -> dict[str, tuple[Phones, ...]]:
    """Read the dictionary that comes with pocketsphinx."""
    entries: dict[str, list[Phones]] = {}
    path = model_folder() / "cmudict-en-us.dict"
    for line in path.read_text("utf-8").splitlines():
        name, *phones = line.split()
        entries.setdefault(name.split("(")[0], []).append(tuple(phones))
    return {word: tuple(pronunciations) for word, pronunciations in entries.items()}


@cache
def model_folder() -> Path:
    """Return the folder of the English models that come with pocketsphinx."""
    try:
        from pocketsphinx import get_model_path
    except ImportError:
        raise MissingExtraError("alignment", "align") from None
    return Path(get_model_path()) / "en-us"


def english_pronunciations(word: str) -> tuple[Phones, ...]:
    """Return the pronunciations of an English word, a number or an abbreviation.

    Parameters
    ----------
    word : str
        As it is written; parts between hyphens and the like are pronounced one after the other.

    >>> english_pronunciations("Ann's")[0], len(english_pronunciations("42"))
    (('AE', 'N', 'Z'), 2)
    """
    lower = word.lower().replace("’", "'")
    if pronunciations := _cmu_dictionary().get(lower):
        return pronunciations
    parts = [_part_pronunciations(part) for part in _PARTS.findall(_spoken_symbol(lower))]
    joined = [sum(phones, ()) for phones in product(*parts)]
    return tuple(dict.fromkeys(phones for phones in joined if phones))[:MAX_PRONUNCIATIONS]


def _in_dictionary(word: str) -> bool:
    """Tell whether no part of a word has to be guessed."""
    parts = _PARTS.findall(_spoken_symbol(word.lower().replace("’", "'")))
    return all(part.isdigit() or _is_entry(part) for part in parts)


def _spoken_symbol(word: str) -> str:
    return SPOKEN_SYMBOLS.get(word, word)


def _is_entry(part: str) -> bool:
    entries = _cmu_dictionary()
    return part in entries or (part.endswith("'s") and part[:-2] in entries)


def _part_pronunciations(part: str) -> tuple[Phones, ...]:
    entries = _cmu_dictionary()
    if part.isdigit():
        spoken = (
            tuple(phone for word in reading for phone in entries[word][0])
            for reading in digit_readings(part)
        )
        return tuple(dict.fromkeys(spoken))
    if pronunciations := entries.get(part):
        return pronunciations
    if part.endswith("'s"):
        stems = _part_pronunciations(part[:-2])
        return tuple((*phones, *_s_ending(phones)) for phones in stems if phones)
    letters = "".join(char for char in word_key(part) if char.isascii() and char.isalpha())
    spelt_out = tuple(phone for letter in letters for phone in entries[letter][0])
    guess = letters_to_phones(letters)
    guesses = (guess, spelt_out) if len(letters) <= 4 else (guess,)
    return tuple(phones for phones in guesses if phones)


def _s_ending(phones: Phones) -> Phones:
    """Return how a possessive or plural s sounds after these phones."""
    if phones[-1] in {"S", "Z", "SH", "ZH", "CH", "JH"}:
        return ("IH", "Z")
    return ("S",) if phones[-1] in {"P", "T", "K", "F", "TH"} else ("Z",)


def digit_readings(digits: str) -> list[list[str]]:
    """Return the ways to read digits in English.

    They are read as a number, digit by digit (0 also as "oh"), or in pairs as years are.

    Parameters
    ----------
    digits : str
        The digits 0 to 9.

    >>> [" ".join(words) for words in digit_readings("1984")][2]
    'nineteen eighty four'
    """
    units = UNITS["en"]
    readings = [number_to_words(int(digits))] if len(digits) <= 12 else []
    readings.append([units[int(digit)] for digit in digits])
    if len(digits) == 4 and digits[0] != "0" and digits[2:] != "00":
        zero = digits[2] == "0"
        pair = ["oh", units[int(digits[3])]] if zero else number_to_words(int(digits[2:]))
        readings.append([*number_to_words(int(digits[:2])), *pair])
    if "0" in digits:
        readings.append(["oh" if digit == "0" else units[int(digit)] for digit in digits])
    return readings


# =========================================================================== letter-to-sound rules

_RULE_TABLE = """
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
_RULES: dict[str, Phones] = {
    letters: tuple(phones)
    for line in _RULE_TABLE.strip().splitlines()
    for letters, *phones in (entry.split() for entry in line.split("|"))
}
_LONG_VOWELS = {"a": "EY", "e": "IY", "i": "AY", "o": "OW", "u": "UW", "y": "AY"}
_AT_START = {"y": ("Y",), "x": ("Z",), "ps": ("S",)}
_AT_END = {"a": ("AH",), "o": ("OW",), "y": ("IY",), "i": ("IY",), "u": ("UW",), "es": ("IH", "Z")}
_SILENT_E = re.compile(r"([aeiouy])([bcdfghjklmnpqrstvwxz])e$")
_LONGEST_RULE = max(map(len, _RULES))


def letters_to_phones(word: str) -> Phones:
    """Guess the phones of an English word that no dictionary has.

    The rules are rough on purpose: to find when a rare name was said, a pronunciation with a wrong
    vowel is enough, and a name without any could not be found at all.

    Parameters
    ----------
    word : str
        Letters a to z; other characters are skipped.

    >>> letters_to_phones("jane"), letters_to_phones("yasmina")
    (('JH', 'EY', 'N'), ('Y', 'AE', 'S', 'M', 'IH', 'N', 'AH'))
    """
    silent_e = _SILENT_E.search(word) if len(word) > 3 else None
    phones: list[str] = []
    position = 0
    while position < len(word):
        if silent_e and position == silent_e.start():
            phones += [_LONG_VOWELS[silent_e[1]], *_before_silent_e(silent_e[2])]
            break
        ending = word[position:]
        if ending in _AT_END and position:
            phones += _AT_END[ending]
            break
        if ending == "e" and phones:
            break
        size = next((n for n in range(_LONGEST_RULE, 0, -1) if ending[:n] in _RULES), 0)
        if not size:
            position += 1
            continue
        letters = ending[:size]
        phones += _AT_START.get(letters, _RULES[letters]) if position == 0 else _RULES[letters]
        position += size
    return tuple(phones)


def _before_silent_e(consonant: str) -> Phones:
    return {"c": ("S",), "g": ("JH",)}.get(consonant, _RULES[consonant])


# ====================================================================================== espeak-ng


@cache
def espeak_path() -> str | None:
    """Return the path of the program espeak-ng, or None if it is not installed."""
    return shutil.which("espeak-ng")


def _espeak(words: list[str], lang: str) -> Lexicon:
    """Pronounce words with espeak-ng; words that it cannot pronounce have no pronunciation."""
    program = espeak_path()
    if program is None:
        raise UsageError(
            f"language {lang!r} needs the program espeak-ng, which is not installed; install it "
            "with your system's packages, or align English",
            code="missing-program",
        )
    if not words:
        return {}
    voice = "en-us" if lang.lower() == "en" else lang
    # one paragraph per word, so that no word changes how its neighbour is pronounced
    text = "".join(f"{word.replace(chr(10), ' ')}\n\n" for word in words).encode()
    command = [program, "-q", "--ipa", "--sep=_", "-v", voice, "--stdin"]
    process = subprocess.run(command, input=text, capture_output=True, check=False)  # noqa: S603
    if process.returncode != 0:
        raise UsageError(
            f"espeak-ng has no voice for language {lang!r}; see espeak-ng --voices",
            code="unsupported",
        )
    lines = process.stdout.decode("utf-8", "replace").splitlines()
    if len(lines) != len(words):
        return _espeak_halves(words, lang)
    return {word: _parse_ipa(line) for word, line in zip(words, lines, strict=True)}


def _espeak_halves(words: list[str], lang: str) -> Lexicon:
    """Bisect until a word for which espeak-ng prints no line, or two, is alone and dropped."""
    if len(words) == 1:
        return {words[0]: ()}
    middle = len(words) // 2
    return _espeak(words[:middle], lang) | _espeak(words[middle:], lang)


def _parse_ipa(line: str) -> tuple[Phones, ...]:
    try:
        phones = ipa_to_phones(re.sub(r"\([^)]*\)", "", line))  # (en) marks a change of language
    except InputError:
        return ()
    return (phones,) if phones else ()
