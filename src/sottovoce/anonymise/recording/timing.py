"""When the words and phones of a recording were said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.core.errors import InputError

TRUSTED = 0.5
"""The least confidence at which the times of a word are believed."""


@dataclass(frozen=True, slots=True)
class TimedPhone:
    """A phone, in ARPAbet and (as near as that tells) in IPA; seconds."""

    name: str
    ipa: str
    start: float
    end: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"phone": self.name, "ipa": self.ipa, "start": self.start, "end": self.end}


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word as it is written, when it was said, and how far that is to be believed."""

    text: str
    start: float
    end: float
    confidence: float = 1.0
    """1 beyond doubt, 0.5 the limit of belief, 0 not to be believed."""
    doubt: str = ""
    """Why the word is below the limit: ``sound``, ``length`` or ``second opinion``."""
    phones: tuple[TimedPhone, ...] = ()

    @property
    def trusted(self) -> bool:
        """Whether the times are believed."""
        return self.confidence >= TRUSTED

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "word": self.text,
            "start": self.start,
            "end": self.end,
            "confidence": round(self.confidence, 3),
            "doubt": self.doubt,
            "phones": [phone.to_dict() for phone in self.phones],
        }


@dataclass(frozen=True, slots=True)
class Alignment:
    """The words of one utterance in order, without overlap, inside ``seconds`` of audio.

    >>> said = Alignment((TimedWord("good", 0.1, 0.3), TimedWord("day", 0.3, 0.6)), 0.8)
    >>> said.confident, said.words[1].start
    (True, 0.3)
    """

    words: tuple[TimedWord, ...]
    seconds: float
    doubts: tuple[str, ...] = ()
    """What speaks against the whole, such as speech that is not in the text; empty if nothing."""

    def __post_init__(self) -> None:
        check_times([(word.start, word.end) for word in self.words], self.seconds)

    @property
    def confident(self) -> bool:
        """Whether every word, and the whole, is believed."""
        return not self.doubts and all(word.trusted for word in self.words)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "seconds": self.seconds,
            "confident": self.confident,
            "doubts": list(self.doubts),
            "words": [word.to_dict() for word in self.words],
        }


def check_times(spans: Sequence[tuple[float, float]], seconds: float) -> None:
    """Refuse spans that overlap, run backwards or leave the recording."""
    slack = 1e-6
    before = 0.0
    for number, (start, end) in enumerate(spans, 1):
        if not (before - slack <= start < end <= seconds + slack):
            raise InputError(
                f"word {number} from {start:g} to {end:g} s after {before:g} s, in {seconds:g} s; "
                "words must follow each other inside the recording: correct the times"
            )
        before = end
