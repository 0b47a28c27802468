"""Pronunciations of words, in the phones of the English acoustic model.

English words are looked up in the CMU dictionary that comes with pocketsphinx. Other words, and
other languages, are asked of espeak-ng, a program of its own, if it is installed; words go to it
through a pipe, never as arguments, which every user of a machine can see.
"""

from __future__ import annotations

import re
import shutil
import subprocess  # espeak-ng is called by its full path, without a shell
from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path

from sottovoce.anonymise.recording.ipa import to_phones
from sottovoce.anonymise.recording.spelling import readings, sounds
from sottovoce.anonymise.recording.words import SIGNS, key
from sottovoce.core.errors import InputError, MissingExtraError, UsageError

Phones = tuple[str, ...]
Lexicon = dict[str, tuple[Phones, ...]]
"""Each word, as it is written, with the ways in which it may be said."""

MOST = 8
"""Ways to say one word that are tried."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9-]+)?")
_PARTS = re.compile(r"[0-9]+|[^\W\d_]+(?:'[^\W\d_]+)*")


def lexicon(words: Iterable[str], lang: str = "en", *, own: bool = True) -> Lexicon:
    """Pronunciations of all words; those that cannot be pronounced are left out.

    With ``own=False`` English is asked of espeak-ng too: a second opinion.
    """
    check_language(lang)
    wanted = list(dict.fromkeys(words))
    if english(lang) and own:
        found = {word: english_ways(word) for word in wanted}
        missing = [word for word, ways in found.items() if not _listed(word)]
        if missing and espeak_path():
            for word, ways in espeak(missing, lang).items():
                found[word] = tuple(dict.fromkeys((*ways, *found[word])))[:MOST]
    else:
        found = espeak(wanted, lang)
    return {word: ways for word, ways in found.items() if ways}


def check_language(lang: str) -> None:
    """Refuse what is no code of a language."""
    if not _LANGUAGE.fullmatch(lang):
        raise UsageError(f"language {lang!r}; give a code such as en, de or pt-br")


def english(lang: str) -> bool:
    """Whether a language is a kind of English."""
    return lang.lower().split("-")[0] == "en"


# ======================================================================================== English


@cache
def cmudict() -> dict[str, tuple[Phones, ...]]:
    """The dictionary that comes with pocketsphinx."""
    found: dict[str, list[Phones]] = {}
    path = model_folder() / "cmudict-en-us.dict"
    for line in path.read_text("utf-8").splitlines():
        name, *phones = line.split()
        found.setdefault(name.split("(")[0], []).append(tuple(phones))
    return {name: tuple(ways) for name, ways in found.items()}


@cache
def model_folder() -> Path:
    """Where pocketsphinx keeps its English."""
    try:
        from pocketsphinx import get_model_path
    except ImportError:
        raise MissingExtraError("alignment", "align") from None
    return Path(get_model_path()) / "en-us"


def english_ways(word: str) -> tuple[Phones, ...]:
    """The ways to say an English word, a number, or letters one by one.

    >>> english_ways("Ann's")[0], len(english_ways("42"))
    (('AE', 'N', 'Z'), 2)
    """
    plain = word.lower().replace("’", "'")
    if ways := cmudict().get(plain):
        return ways
    said = [_part_ways(part) for part in _PARTS.findall(SIGNS.get(plain, plain))]
    joined = [sum(ways, ()) for ways in product(*said)]
    return tuple(dict.fromkeys(way for way in joined if way))[:MOST]


def _listed(word: str) -> bool:
    """Whether nothing of a word had to be guessed."""
    parts = _PARTS.findall(SIGNS.get(word, word.lower().replace("’", "'")))
    return all(part.isdigit() or _known(part) for part in parts)


def _known(part: str) -> bool:
    return part in cmudict() or (part.endswith("'s") and part[:-2] in cmudict())


def _part_ways(part: str) -> tuple[Phones, ...]:
    known = cmudict()
    if part.isdigit():
        spoken = (
            tuple(phone for word in way for phone in known[word][0]) for way in readings(part)
        )
        return tuple(dict.fromkeys(spoken))
    if ways := known.get(part):
        return ways
    if part.endswith("'s"):
        return tuple((*way, *_plural(way)) for way in _part_ways(part[:-2]) if way)
    letters = "".join(sign for sign in key(part) if sign.isascii() and sign.isalpha())
    spelt = tuple(phone for letter in letters for phone in known[letter][0])
    guessed = sounds(letters)
    short = len(letters) <= 4
    return tuple(way for way in ((guessed, spelt) if short else (guessed,)) if way)


def _plural(way: Phones) -> Phones:
    if way[-1] in {"S", "Z", "SH", "ZH", "CH", "JH"}:
        return ("IH", "Z")
    return ("S",) if way[-1] in {"P", "T", "K", "F", "TH"} else ("Z",)


# ====================================================================================== espeak-ng


@cache
def espeak_path() -> str | None:
    """Where espeak-ng is, if it is installed."""
    return shutil.which("espeak-ng")


def espeak(words: list[str], lang: str) -> Lexicon:
    """What espeak-ng makes of each word; words it says nothing for have no way."""
    program = espeak_path()
    if program is None:
        raise UsageError(
            f"language {lang!r} needs the program espeak-ng, which is not installed; install it "
            "with your system's packages, or align English"
        )
    if not words:
        return {}
    voice = "en-us" if lang.lower() == "en" else lang
    # a word a paragraph, so that none changes how its neighbour is said
    given = "".join(f"{word.replace(chr(10), ' ')}\n\n" for word in words).encode()
    command = [program, "-q", "--ipa", "--sep=_", "-v", voice, "--stdin"]
    done = subprocess.run(command, input=given, capture_output=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise UsageError(f"espeak-ng has no voice for language {lang!r}; see espeak-ng --voices")
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    if len(lines) != len(words):
        return _one_by_one(words, lang, len(lines))
    return {word: _ways(line) for word, line in zip(words, lines, strict=True)}


def _one_by_one(words: list[str], lang: str, lines: int) -> Lexicon:
    """Ask for halves until the word that gives no line, or two, stands alone."""
    if len(words) == 1:
        return {words[0]: ()}
    middle = len(words) // 2
    return espeak(words[:middle], lang) | espeak(words[middle:], lang)


def _ways(line: str) -> tuple[Phones, ...]:
    try:
        phones = to_phones(re.sub(r"\([^)]*\)", "", line))  # (en) marks a change of language
    except InputError:
        return ()
    return (phones,) if phones else ()
