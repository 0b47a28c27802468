"""When the words and phones of a recording were said, in memory and in files.

Files are JSON, CTM (Kaldi and NIST) and TextGrid (Praat).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.records import JsonObject, Record
from sottovoce.corpus.reading import numbered_lines, place

MIN_CONFIDENCE = 0.5
"""The least confidence at which the times of a word are trusted."""


@dataclass(frozen=True, slots=True)
class TimedPhone(Record):
    """A phone and when it was said."""

    phone: str
    """In ARPAbet."""
    ipa: str
    """In IPA, as far as ARPAbet tells."""
    start: float
    """Seconds."""
    end: float
    """Seconds."""


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word, when it was said, and how far these times can be trusted."""

    text: str
    """As it is written."""
    start: float
    """Seconds."""
    end: float
    """Seconds."""
    confidence: float = 1.0
    """0 to 1; below 0.5 the times are not trusted."""
    doubt: str = ""
    """The check that failed if the word is not trusted: ``sound``, ``length`` or ``second
    opinion``."""
    phones: tuple[TimedPhone, ...] = ()

    @property
    def trusted(self) -> bool:
        """Whether the times are trusted."""
        return self.confidence >= MIN_CONFIDENCE

    def to_dict(self) -> JsonObject:
        """Return the fields for JSON, the text as ``word``, the confidence to three digits."""
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
    """The words of an utterance in order, without overlap, within the length of the audio.

    >>> alignment = Alignment((TimedWord("good", 0.1, 0.3), TimedWord("day", 0.3, 0.6)), 0.8)
    >>> alignment.confident, alignment.words[1].start
    (True, 0.3)
    """

    words: tuple[TimedWord, ...]
    seconds: float
    """Length of the audio."""
    unexplained: tuple[tuple[float, float], ...] = ()
    """Pauses that sound like speech: start and end in seconds of what may not be in the text."""
    second_opinion: bool = True
    """Whether a second alignment succeeded; without one no time can be trusted."""

    def __post_init__(self) -> None:
        check_times([(word.start, word.end) for word in self.words], self.seconds)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons not to trust the alignment as a whole."""
        speech = [
            f"speech from {start:.2f} to {end:.2f} s that is not in the text"
            for start, end in self.unexplained
        ]
        return (*speech, *(() if self.second_opinion else ("no second opinion",)))

    @property
    def confident(self) -> bool:
        """Whether every word and the alignment as a whole are trusted."""
        return not self.doubts and all(word.trusted for word in self.words)

    def to_dict(self) -> JsonObject:
        """Return the fields and ``confident`` for JSON."""
        return {
            "seconds": self.seconds,
            "confident": self.confident,
            "doubts": list(self.doubts),
            "words": [word.to_dict() for word in self.words],
        }


Alignments = Mapping[str, Alignment]
"""Alignments by utterance id."""


def check_times(times: Sequence[tuple[float, float]], seconds: float) -> None:
    """Refuse times that overlap, run backwards or leave the recording.

    Parameters
    ----------
    times : sequence of (float, float)
        Start and end of each word in seconds.
    seconds : float
        Length of the recording.

    Raises
    ------
    InputError
        ``out-of-range``, with the number of the first wrong word.
    """
    tolerance = 1e-6
    previous_end = 0.0
    for number, (start, end) in enumerate(times, 1):
        if not (previous_end - tolerance <= start < end <= seconds + tolerance):
            raise InputError(
                f"word {number} from {start:g} to {end:g} s after {previous_end:g} s, in "
                f"{seconds:g} s; words must follow each other inside the recording: correct the "
                "times",
                code="out-of-range",
            )
        previous_end = end


# ========================================================================================== files


def as_json(alignments: Alignments) -> str:
    """Format alignments as JSON, with phones and confidences.

    Parameters
    ----------
    alignments : mapping of str to Alignment
        By utterance id.
    """
    utterances = {name: alignment.to_dict() for name, alignment in alignments.items()}
    return json.dumps({"utterances": utterances}, indent=1, ensure_ascii=False) + "\n"


def as_ctm(alignments: Alignments) -> str:
    """Format words as CTM lines: utterance, channel, start, duration, word, confidence.

    Parameters
    ----------
    alignments : mapping of str to Alignment
        By utterance id.
    """
    return "".join(
        f"{name.replace(' ', '_')} 1 {word.start:.3f} {word.end - word.start:.3f} {word.text} "
        f"{word.confidence:.3f}\n"
        for name, alignment in alignments.items()
        for word in alignment.words
    )


def as_textgrid(alignment: Alignment) -> str:
    """Format an alignment as a TextGrid with a tier of words and, if there are any, of phones.

    Parameters
    ----------
    alignment : Alignment
        One recording; its pauses become empty intervals.
    """
    words = [(word.start, word.end, word.text) for word in alignment.words]
    phones = [
        (phone.start, phone.end, phone.phone) for word in alignment.words for phone in word.phones
    ]
    tiers = [("words", words), *([("phones", phones)] if phones else [])]
    lines = [
        'File type = "ooTextFile"',
        'Object class = "TextGrid"',
        "",
        "xmin = 0",
        f"xmax = {alignment.seconds!r}",
        "tiers? <exists>",
        f"size = {len(tiers)}",
        "item []:",
    ]
    for number, (name, intervals) in enumerate(tiers, 1):
        lines += _tier(number, name, _without_gaps(intervals, alignment.seconds), alignment.seconds)
    return "\n".join(lines) + "\n"


_Interval = tuple[float, float, str]


def _without_gaps(intervals: Sequence[_Interval], seconds: float) -> list[_Interval]:
    """Fill the gaps with empty intervals, as Praat requires."""
    filled: list[_Interval] = []
    previous_end = 0.0
    for start, end, label in intervals:
        if start > previous_end:
            filled.append((previous_end, start, ""))
        filled.append((start, end, label))
        previous_end = end
    return [*filled, (previous_end, seconds, "")] if previous_end < seconds else filled


def _tier(number: int, name: str, intervals: Sequence[_Interval], seconds: float) -> list[str]:
    lines = [
        f"    item [{number}]:",
        '        class = "IntervalTier"',
        f'        name = "{name}"',
        "        xmin = 0",
        f"        xmax = {seconds!r}",
        f"        intervals: size = {len(intervals)}",
    ]
    for index, (start, end, label) in enumerate(intervals, 1):
        quoted = label.replace('"', '""')
        lines += [
            f"        intervals [{index}]:",
            f"            xmin = {start!r}",
            f"            xmax = {end!r}",
            f'            text = "{quoted}"',
        ]
    return lines


def _single_textgrid(alignments: Alignments) -> str:
    if len(alignments) != 1:
        raise InputError("a TextGrid holds one recording; name a folder, or a .ctm or .json file")
    return as_textgrid(next(iter(alignments.values())))


WRITERS: dict[str, Callable[[Alignments], str]] = {
    ".json": as_json,
    ".ctm": as_ctm,
    ".textgrid": _single_textgrid,
}
"""Formats by the extension of the file, in lower case."""


def read_ctm(path: Path) -> dict[str, list[TimedWord]]:
    """Read the words of each utterance from a CTM file.

    Parameters
    ----------
    path : Path
        Lines of utterance, channel, start, duration, word and, optionally, confidence.

    Returns
    -------
    dict of str to list of TimedWord
        By utterance id; words without confidence have 1.

    Raises
    ------
    InputError
        ``damaged`` with file and line, if a line has another form.
    """
    words: dict[str, list[TimedWord]] = {}
    for number, line in numbered_lines(path):
        try:
            utterance, _, start, duration, word, *more = line.split()
            begin, end = float(start), float(start) + float(duration)
            confidence = float(more[0]) if more else 1.0
        except ValueError:
            raise InputError(
                f"{place(path, number)}: not 'utterance channel start duration word'; correct it",
                code="damaged",
            ) from None
        words.setdefault(utterance, []).append(
            TimedWord(word, round(begin, 6), round(end, 6), confidence)
        )
    return words
