"""Find when each word of a text was said in a recording, and check whether to trust the times.

Forced alignment always gives an answer, even for a text that was never said. So each word has to
pass three checks. Its sound must fit (the cost of a frame against the best unit of the acoustic
model). Its length must be likely for its phones at the speaker's pace. And a second opinion, the
same recording played faster and with other pronunciations where there are any, must put the word in
the same place. Pauses have to pass the first check: a pause that sounds like speech is a word that
is not in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import soxr

from sottovoce.anonymise.recording.decoder import FRAME, RATE, Segment, force_align
from sottovoce.anonymise.recording.ipa import PHONE_TO_IPA
from sottovoce.anonymise.recording.languages import transcript_languages
from sottovoce.anonymise.recording.pronunciation import (
    Lexicon,
    check_language,
    espeak_path,
    is_english,
    pronounce,
)
from sottovoce.anonymise.recording.word_times import (
    MIN_CONFIDENCE,
    Alignment,
    TimedPhone,
    TimedWord,
)
from sottovoce.anonymise.recording.words import Token, spoken_words
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.types import Audio, RealArray

SECOND_OPINION_SPEED = 1.05
"""How much faster the recording is played for the second opinion."""
MIN_SOUND_SECONDS = 0.08
"""Words and pauses shorter than this skip the check of their sound."""
MAX_SECONDS = 600.0
"""Length of a recording; the search needs memory for all of it."""

PHONE_FRAMES = {
    "AA": 10, "AE": 11, "AH": 6, "AO": 9, "AW": 14, "AY": 13, "B": 6, "CH": 11, "D": 6, "DH": 4,
    "EH": 8, "ER": 9, "EY": 11, "F": 9, "G": 7, "HH": 6, "IH": 6, "IY": 8, "JH": 9, "K": 8, "L": 7,
    "M": 7, "N": 6, "NG": 8, "OW": 11, "OY": 14, "P": 8, "R": 6, "S": 10, "SH": 11, "T": 7, "TH": 8,
    "UH": 6, "UW": 9, "V": 6, "W": 6, "Y": 6, "Z": 8, "ZH": 8,
}  # fmt: skip
"""Typical number of frames of a phone in read English; only their proportions matter."""
_OTHERPHONE_FRAMES = 7


class UnalignedError(InputError):
    """The words of a text cannot be found in a recording."""

    default_code = "not-aligned"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the checks; at a limit the confidence of a word is 0.5."""

    sound: float = 52.0
    """Mean cost of the frames of a word."""
    pause: float = 52.0
    """Mean cost of the frames of a pause."""
    length: float = 1.5
    """Natural logarithm of a word's length relative to the expected one at the speaker's pace."""
    opinion: float = 0.1
    """Seconds between the two opinions on the start or the end of a word."""


ENGLISH_LIMITS = Limits()
OTHER_LIMITS = Limits(sound=90.0, pause=60.0, length=1.8)
"""For other languages, whose sounds fit the English model less well."""


def align(
    audio: RealArray, rate: int, text: str, *, lang: str = "en", limits: Limits | None = None
) -> Alignment:
    """Find the times of all words of a text in a recording.

    English needs pocketsphinx only (extra ``align``), any other language espeak-ng too. Check
    :attr:`Alignment.confident` before using the times.

    Parameters
    ----------
    audio : array of float
        Samples of one channel, at most 600 s.
    rate : int
        Sampling rate in Hz.
    text : str
        The words that were said.
    lang : str, default "en"
        Code of the language; ``auto`` decides it by the words.
    limits : Limits, optional
        Limits of the checks; by default those of the language.

    Raises
    ------
    UnalignedError
        ``empty`` for a text without words, ``too-long`` for a recording of more than 600 s,
        ``unsupported`` for a word that cannot be pronounced, ``mismatch`` if the words do not fit.
    """
    (lang,) = transcript_languages([text], [lang])
    check_language(lang)
    limits = limits or (ENGLISH_LIMITS if is_english(lang) else OTHER_LIMITS)
    tokens = spoken_words(text)
    _check_input(audio, rate, tokens)
    words = [token.text for token in tokens]
    samples = _resample(audio, rate)
    lexicon = pronounce(words, lang)
    segments = _force_align(samples, words, lexicon)
    if segments is None:
        raise _mismatch()
    faster = np.asarray(soxr.resample(samples, RATE * SECOND_OPINION_SPEED, RATE), np.float32)
    second = _force_align(faster, words, _other_pronunciations(words, lang, lexicon))
    return _judge(tokens, segments, second, len(audio) / rate, limits)


def times_at_speed(
    audio: RealArray, rate: int, text: str, speed: float, *, lang: str = "en"
) -> list[tuple[float, float]]:
    """Find start and end of each word with the recording played at another speed.

    Parameters
    ----------
    audio : array of float
        Samples of one channel.
    rate : int
        Sampling rate in Hz.
    text : str
        The words that were said.
    speed : float
        Above 1 the recording is played faster.
    lang : str, default "en"
        Code of the language.

    Returns
    -------
    list of (float, float)
        Seconds in the recording as it is, in the order of the words.
    """
    words = [token.text for token in spoken_words(text)]
    samples = np.asarray(soxr.resample(_resample(audio, rate), RATE * speed, RATE), np.float32)
    segments = _force_align(samples, words, pronounce(words, lang))
    if segments is None:
        raise _mismatch()
    scale = FRAME * speed
    return [
        (segment.start * scale, segment.end * scale)
        for segment in segments
        if segment.word is not None
    ]


def _check_input(audio: RealArray, rate: int, tokens: Sequence[Token]) -> None:
    if not tokens:
        raise UnalignedError("no words in the text; give what was said", code="empty")
    seconds = len(audio) / rate
    if seconds > MAX_SECONDS:
        raise UnalignedError(
            f"{seconds:.0f} s; cut the recording into parts below {MAX_SECONDS:.0f} s",
            code="too-long",
        )
    if audio.ndim != 1 or not np.isfinite(audio).all():
        raise UsageError(
            "audio must be one channel of finite samples; mix down or repair it", code="wrong-type"
        )


def _mismatch() -> UnalignedError:
    return UnalignedError("the words do not fit the recording; check the text", code="mismatch")


def _resample(audio: RealArray, rate: int) -> Audio:
    samples = np.asarray(audio, np.float32)
    return samples if rate == RATE else np.asarray(soxr.resample(samples, rate, RATE), np.float32)


def _other_pronunciations(words: list[str], lang: str, lexicon: Lexicon) -> Lexicon:
    """Replace the pronunciations by those of espeak-ng, where it has any."""
    if is_english(lang) and espeak_path():
        return lexicon | pronounce(words, lang, dictionary=False)
    return lexicon


def _force_align(samples: Audio, words: list[str], lexicon: Lexicon) -> list[Segment] | None:
    unknown = [number for number, word in enumerate(words, 1) if word not in lexicon]
    if unknown:
        raise UnalignedError(
            f"word {unknown[0]} of the text cannot be pronounced; spell it out", code="unsupported"
        )
    return force_align(samples, [lexicon[word] for word in words])


# ====================================================================================== confidence


def _judge(
    tokens: Sequence[Token],
    segments: list[Segment],
    second_opinion: list[Segment] | None,
    seconds: float,
    limits: Limits,
) -> Alignment:
    first = [segment for segment in segments if segment.word is not None]
    second = [segment for segment in second_opinion or () if segment.word is not None]
    pace = median(_log_length(segment) for segment in first)
    words = []
    for index, (token, segment) in enumerate(zip(tokens, first, strict=True)):
        ratios = {
            "sound": segment.cost / limits.sound if _long_enough(segment) else 0.0,
            "length": abs(_log_length(segment) - pace) / limits.length,
            "second opinion": (
                _difference(segment, second[index]) / limits.opinion if second else np.inf
            ),
        }
        words.append(_timed_word(token, segment, ratios, seconds))
    unexplained = _speech_in_pauses(segments, seconds, limits)
    return Alignment(tuple(words), seconds, unexplained, bool(second))


def _log_length(segment: Segment) -> float:
    """Logarithm of a word's length relative to the typical length of its phones."""
    typical = sum(PHONE_FRAMES.get(name, _OTHERPHONE_FRAMES) for name, *_ in segment.phones)
    return float(np.log((segment.end - segment.start) / typical))


def _difference(first: Segment, second: Segment) -> float:
    """Seconds between two opinions on the start or the end of a word, the larger of the two."""
    start = first.start - second.start * SECOND_OPINION_SPEED
    end = first.end - second.end * SECOND_OPINION_SPEED
    return max(abs(start), abs(end)) * FRAME


def _long_enough(segment: Segment) -> bool:
    return (segment.end - segment.start) * FRAME >= MIN_SOUND_SECONDS


def _speech_in_pauses(
    segments: Sequence[Segment], seconds: float, limits: Limits
) -> tuple[tuple[float, float], ...]:
    """Return start and end of the pauses that sound like speech."""
    return tuple(
        _to_seconds(segment.start, segment.end, seconds)
        for segment in segments
        if segment.word is None and _long_enough(segment) and segment.cost > limits.pause
    )


def _timed_word(
    token: Token, segment: Segment, ratios: dict[str, float], seconds: float
) -> TimedWord:
    """Turn the worst ratio r of a value to its limit into the confidence 1 / (1 + r²)."""
    worst = max(ratios, key=lambda check: ratios[check])
    confidence = 1 / (1 + ratios[worst] ** 2)
    phones = tuple(
        TimedPhone(name, PHONE_TO_IPA.get(name, ""), *_to_seconds(start, end, seconds))
        for name, start, end in segment.phones
    )
    start, end = _to_seconds(segment.start, segment.end, seconds)
    doubt = worst if confidence < MIN_CONFIDENCE else ""
    return TimedWord(token.text, start, end, confidence, doubt, phones)


def _to_seconds(start: int, end: int, seconds: float) -> tuple[float, float]:
    """Convert frames to seconds; the last frame may reach past the end of the audio."""
    return round(start * FRAME, 2), min(round(end * FRAME, 2), seconds)
