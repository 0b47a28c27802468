"""Word and phone times in files: JSON, Kaldi's CTM, Praat's TextGrid."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sottovoce.anonymise.recording.timing import Alignment, TimedWord
from sottovoce.core.errors import InputError
from sottovoce.corpus.reading import numbered_lines, place

Times = Mapping[str, Alignment]
"""By utterance."""


def as_json(times: Times) -> str:
    """All there is to know."""
    said = {name: alignment.to_dict() for name, alignment in times.items()}
    return json.dumps({"utterances": said}, indent=1, ensure_ascii=False) + "\n"


def as_ctm(times: Times) -> str:
    """A line a word: utterance, channel, start, duration, word, confidence."""
    return "".join(
        f"{name.replace(' ', '_')} 1 {word.start:.3f} {word.end - word.start:.3f} {word.text} "
        f"{word.confidence:.3f}\n"
        for name, alignment in times.items()
        for word in alignment.words
    )


def as_textgrid(alignment: Alignment) -> str:
    """A tier of words and a tier of phones, for Praat; pauses are empty intervals."""
    words = [(word.start, word.end, word.text) for word in alignment.words]
    phones = [(one.start, one.end, one.name) for word in alignment.words for one in word.phones]
    tiers = [("words", words), *([("phones", phones)] if phones else [])]
    head = [
        'File type = "ooTextFile"',
        'Object class = "TextGrid"',
        "",
        "xmin = 0",
        f"xmax = {alignment.seconds!r}",
        "tiers? <exists>",
        f"size = {len(tiers)}",
        "item []:",
    ]
    for number, (name, marks) in enumerate(tiers, 1):
        head += _tier(number, name, _filled(marks, alignment.seconds), alignment.seconds)
    return "\n".join(head) + "\n"


Mark = tuple[float, float, str]


def _filled(marks: Sequence[Mark], seconds: float) -> list[Mark]:
    """Intervals without gaps, as Praat wants them."""
    filled: list[Mark] = []
    at = 0.0
    for start, end, label in marks:
        if start > at:
            filled.append((at, start, ""))
        filled.append((start, end, label))
        at = end
    return [*filled, (at, seconds, "")] if at < seconds else filled


def _tier(number: int, name: str, marks: Sequence[Mark], seconds: float) -> list[str]:
    lines = [
        f"    item [{number}]:",
        '        class = "IntervalTier"',
        f'        name = "{name}"',
        "        xmin = 0",
        f"        xmax = {seconds!r}",
        f"        intervals: size = {len(marks)}",
    ]
    for place_, (start, end, label) in enumerate(marks, 1):
        quoted = label.replace('"', '""')
        lines += [
            f"        intervals [{place_}]:",
            f"            xmin = {start!r}",
            f"            xmax = {end!r}",
            f'            text = "{quoted}"',
        ]
    return lines


def _one_textgrid(times: Times) -> str:
    if len(times) != 1:
        raise InputError("a TextGrid holds one recording; name a folder, or a .ctm or .json file")
    return as_textgrid(next(iter(times.values())))


WRITERS: dict[str, Callable[[Times], str]] = {
    ".json": as_json,
    ".ctm": as_ctm,
    ".textgrid": _one_textgrid,
}
"""By the ending of the file, in small letters."""


def read_ctm(path: Path) -> dict[str, list[TimedWord]]:
    """The words of each utterance in a CTM file, with their confidence where it has one."""
    found: dict[str, list[TimedWord]] = {}
    for number, line in numbered_lines(path):
        cells = line.split()
        try:
            name, _, start, duration, word, *more = cells
            begin, end = float(start), float(start) + float(duration)
            confidence = float(more[0]) if more else 1.0
        except ValueError:
            raise InputError(
                f"{place(path, number)}: not 'utterance channel start duration word'; correct it"
            ) from None
        found.setdefault(name, []).append(
            TimedWord(word, round(begin, 6), round(end, 6), confidence)
        )
    return found
