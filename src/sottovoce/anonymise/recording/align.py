"""When each word of a text was said in a recording, and whether to believe it.

Forced alignment always answers, also for a text that was never said. So each word is asked three
questions. Does its sound fit (the cost of a frame against the best the acoustic model has for it)?
Is its length likely for its phones, at this speaker's pace? And does a second opinion, the same
recording played faster and with other pronunciations where there are any, put it in the same place?
Pauses are asked the first: a pause that sounds like speech is a word that is not in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import soxr
from numpy.typing import NDArray

from sottovoce.anonymise.recording.force import FRAME, RATE, Stretch, force
from sottovoce.anonymise.recording.ipa import NAMES
from sottovoce.anonymise.recording.pronounce import (
    Lexicon,
    check_language,
    english,
    espeak_path,
    lexicon,
)
from sottovoce.anonymise.recording.timing import TRUSTED, Alignment, TimedPhone, TimedWord
from sottovoce.anonymise.recording.words import Token, tokens
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.types import RealArray

FASTER = 1.05
"""How much faster the recording is played for the second opinion."""
TELLING = 0.08
"""Seconds from which on the sound of a word, or of a pause, is asked for."""
LONGEST = 600.0
"""Seconds of one recording; the search needs memory for all of it."""

LENGTHS = {
    "AA": 10, "AE": 11, "AH": 6, "AO": 9, "AW": 14, "AY": 13, "B": 6, "CH": 11, "D": 6, "DH": 4,
    "EH": 8, "ER": 9, "EY": 11, "F": 9, "G": 7, "HH": 6, "IH": 6, "IY": 8, "JH": 9, "K": 8, "L": 7,
    "M": 7, "N": 6, "NG": 8, "OW": 11, "OY": 14, "P": 8, "R": 6, "S": 10, "SH": 11, "T": 7, "TH": 8,
    "UH": 6, "UW": 9, "V": 6, "W": 6, "Y": 6, "Z": 8, "ZH": 8,
}  # fmt: skip
"""About how many frames a phone lasts in read English; only their proportions matter."""


class UnalignedError(InputError):
    """A recording whose words cannot be found in it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on a word is not believed."""

    sound: float = 52.0
    """Mean cost of a frame."""
    pause: float = 52.0
    """The same, of a pause."""
    length: float = 1.5
    """Natural logarithm of a word's length against the usual one at the speaker's pace."""
    opinion: float = 0.1
    """Seconds between the two opinions."""


LIMITS = Limits()
ABROAD = Limits(sound=90.0, pause=60.0, length=1.8)
"""For other languages: their sounds fit the English model less well."""


def align(
    audio: RealArray, rate: int, text: str, *, lang: str = "en", limits: Limits | None = None
) -> Alignment:
    """The times of all words of ``text``; :class:`UnalignedError` where there are none to be had.

    English needs pocketsphinx only (extra ``align``), any other language espeak-ng too. Look at
    :attr:`Alignment.confident` before you believe it.
    """
    check_language(lang)
    limits = limits or (LIMITS if english(lang) else ABROAD)
    said = tokens(text)
    _refuse(audio, rate, said)
    words = [word.text for word in said]
    sound = _at_rate(audio, rate)
    first = lexicon(words, lang)
    found = _force(sound, words, first)
    if found is None:
        raise UnalignedError("the words do not fit the recording; check the text")
    other = _other_lexicon(words, lang, first)
    second = _force(_faster(sound), words, other)
    return _judge(said, found, second, len(audio) / rate, limits)


def times_at_speed(
    audio: RealArray, rate: int, text: str, speed: float, *, lang: str = "en"
) -> list[tuple[float, float]]:
    """Start and end of each word as found with the recording played at another speed."""
    words = [word.text for word in tokens(text)]
    played = np.asarray(soxr.resample(_at_rate(audio, rate), RATE * speed, RATE), np.float32)
    found = _force(played, words, lexicon(words, lang))
    if found is None:
        raise UnalignedError("the words do not fit the recording; check the text")
    scale = FRAME * speed
    return [(one.start * scale, one.end * scale) for one in found if one.word is not None]


def _refuse(audio: RealArray, rate: int, said: Sequence[Token]) -> None:
    if not said:
        raise UnalignedError("no words in the text; give what was said")
    seconds = len(audio) / rate
    if seconds > LONGEST:
        raise UnalignedError(f"{seconds:.0f} s; cut the recording into parts below {LONGEST:.0f} s")
    if audio.ndim != 1 or not np.isfinite(audio).all():
        raise UsageError("audio must be one channel of finite samples; mix down or repair it")


def _at_rate(audio: RealArray, rate: int) -> NDArray[np.float32]:
    plain = np.asarray(audio, np.float32)
    return plain if rate == RATE else np.asarray(soxr.resample(plain, rate, RATE), np.float32)


def _faster(sound: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(soxr.resample(sound, RATE * FASTER, RATE), np.float32)


def _other_lexicon(words: list[str], lang: str, first: Lexicon) -> Lexicon:
    """Other pronunciations for the second opinion, of as many words as there are some for."""
    if english(lang) and espeak_path():
        return first | lexicon(words, lang, own=False)
    return first


def _force(sound: NDArray[np.float32], words: list[str], known: Lexicon) -> list[Stretch] | None:
    unsaid = [number for number, word in enumerate(words, 1) if word not in known]
    if unsaid:
        raise UnalignedError(f"word {unsaid[0]} of the text cannot be pronounced; spell it out")
    return force(sound, [known[word] for word in words])


# ====================================================================================== confidence


def _judge(
    said: Sequence[Token],
    found: list[Stretch],
    second: list[Stretch] | None,
    seconds: float,
    limits: Limits,
) -> Alignment:
    mine = [one for one in found if one.word is not None]
    theirs = [one for one in second or () if one.word is not None]
    pace = median(_lengthened(one) for one in mine)
    timed = []
    for place, (token, one) in enumerate(zip(said, mine, strict=True)):
        against = {
            "sound": one.cost / limits.sound if _telling(one) else 0.0,
            "length": abs(_lengthened(one) - pace) / limits.length,
            "second opinion": _apart(one, theirs[place]) / limits.opinion if theirs else np.inf,
        }
        timed.append(_timed(token, one, against, seconds))
    doubts = _doubts(found, limits) if theirs else (*_doubts(found, limits), "no second opinion")
    return Alignment(tuple(timed), seconds, doubts)


def _lengthened(one: Stretch) -> float:
    """How much longer a word is than its phones usually are, as a logarithm."""
    return float(
        np.log((one.end - one.start) / sum(LENGTHS.get(name, 7) for name, *_ in one.phones))
    )


def _apart(one: Stretch, other: Stretch) -> float:
    """Seconds between two opinions on the start or the end of a word, whichever is more."""
    starts, ends = one.start - other.start * FASTER, one.end - other.end * FASTER
    return max(abs(starts), abs(ends)) * FRAME


def _telling(one: Stretch) -> bool:
    return (one.end - one.start) * FRAME >= TELLING


def _doubts(found: Sequence[Stretch], limits: Limits) -> tuple[str, ...]:
    speech = [
        one for one in found if one.word is None and _telling(one) and one.cost > limits.pause
    ]
    return tuple(
        f"speech from {one.start * FRAME:.2f} to {one.end * FRAME:.2f} s that is not in the text"
        for one in speech
    )


def _timed(token: Token, one: Stretch, against: dict[str, float], seconds: float) -> TimedWord:
    worst = max(against, key=lambda name: against[name])
    confidence = 1 / (1 + against[worst] ** 2)
    phones = tuple(
        TimedPhone(name, NAMES.get(name, ""), *_seconds(start, end, seconds))
        for name, start, end in one.phones
    )
    doubt = worst if confidence < TRUSTED else ""
    return TimedWord(token.text, *_seconds(one.start, one.end, seconds), confidence, doubt, phones)


def _seconds(start: int, end: int, seconds: float) -> tuple[float, float]:
    """Frames in seconds; the last frame may reach past the end of the audio."""
    return round(start * FRAME, 2), min(round(end * FRAME, 2), seconds)
