"""CTM: a word with its time a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sottovoce.anonymise.text.anonymised_text import AnonymisedText
from sottovoce.anonymise.text.files.blocks import Block, bad_line
from sottovoce.anonymise.text.files.input_file import InputFile
from sottovoce.anonymise.text.files.options import ReadingOptions
from sottovoce.anonymise.text.files.timed_words import equal_cuts, is_time, regroup
from sottovoce.anonymise.text.source_text import SourceText

MAX_WORDS = 20_000
"""Words of a recording that are held in memory together."""
_NUMBER = re.compile(r"\d*\.?\d+")


@dataclass(frozen=True, slots=True)
class _CtmWord:
    """A line of a CTM."""

    start: float
    length: float
    word: str
    columns: list[str]
    """Further columns, first of all the confidence."""


_Channels = dict[tuple[str, str], list[_CtmWord]]
"""Words by recording and channel."""


class CtmReader:
    """CTM: the words of a recording and channel, in order of time, are a text.

    It is written in order of time, without comments. Words of a recording that do not follow each
    other in the file, and more than 20,000, are several texts of one document.

    Parameters
    ----------
    options : ReadingOptions
        Not used.
    """

    left_out: Sequence[str] = ()
    not_searched: Sequence[str] = ()

    def __init__(self, options: ReadingOptions) -> None:
        pass

    def blocks(self, file: InputFile) -> Iterator[Block]:
        """Read the words of one recording after the other.

        Parameters
        ----------
        file : InputFile
            The file.
        """
        channels: _Channels = {}
        count, newline, ending = 0, "\n", ""
        for number, line in enumerate(file.universal_lines(), 1):
            parts = line.split()
            ending = line[len(line.rstrip("\r\n")) :]
            newline = ending or newline
            if not parts or line.startswith(";;"):
                continue
            word = _parse_word(file, number, parts)
            if count == MAX_WORDS or (channels and parts[0] != next(iter(channels))[0]):
                yield _block(channels, newline, newline)
                channels, count = {}, 0
            channels.setdefault((parts[0], parts[1]), []).append(word)
            count += 1
        if channels:
            yield _block(channels, newline, ending)


def _parse_word(file: InputFile, number: int, parts: list[str]) -> _CtmWord:
    try:
        word = _CtmWord(float(parts[2]), float(parts[3]), parts[4], parts[5:])
    except (ValueError, IndexError):
        word = None
    if word is None or not (is_time(word.start) and is_time(word.length)):
        raise bad_line(file, number, "not 'recording channel start length word'")
    return word


def _block(channels: _Channels, newline: str, ending: str) -> Block:
    for words in channels.values():
        words.sort(key=lambda word: word.start)

    def write(results: Sequence[AnonymisedText]) -> str:
        new = [
            line
            for (key, words), result in zip(channels.items(), results, strict=True)
            for line in _ctm_lines(key, words, result)
        ]
        return newline.join(new) + ending

    texts = [
        SourceText(" ".join(word.word for word in words), key[0], " ".join(key))
        for key, words in channels.items()
    ]
    return Block(texts, write)


def _ctm_lines(
    key: tuple[str, str], words: Sequence[_CtmWord], result: AnonymisedText
) -> list[str]:
    lines = []
    for start, end, text in regroup([word.word for word in words], result):
        old = words[start:end]
        new = [word.word for word in old] if text is None else text.split()
        cuts = equal_cuts(old[0].start, max(word.start + word.length for word in old), len(new))
        columns = old[0].columns if len(old) == len(new) == 1 else []
        if text is not None:  # columns after the confidence may spell the word
            columns = [column for column in columns[:1] if _NUMBER.fullmatch(column)]
        for word, a, b in zip(new, cuts, cuts[1:], strict=False):
            lines.append(" ".join([*key, f"{a:.3f}", f"{b - a:.3f}", word, *columns]))
    return lines
