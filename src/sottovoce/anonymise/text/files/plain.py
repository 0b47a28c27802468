"""Texts in lines: plain text, Kaldi's ``text`` and NIST's STM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sottovoce.anonymise.text.files.blocks import Block, bad_line, verbatim
from sottovoce.anonymise.text.files.input_file import InputFile
from sottovoce.anonymise.text.files.options import ReadingOptions
from sottovoce.anonymise.text.source_text import SourceText

_KALDI = re.compile(r"(\S+)(\s*)(.*)", re.DOTALL)
_STM = re.compile(
    r"(\s*(\S+)\s+\S+\s+\S+\s+\d*\.?\d+\s+\d*\.?\d+(?:[ \t]+<[^<>\s]*>)?(?:\s+|$))(.*)", re.DOTALL
)
_NOT_SCORED = "ignore_time_segment_in_scoring"


def prefixed(prefix: str, text: SourceText, ending: str) -> Block:
    """Return a block of one text between a beginning and an end that are kept.

    Parameters
    ----------
    prefix, ending : str
        What stands before and after the text.
    text : SourceText
        The text.
    """
    return Block((text,), lambda results: prefix + results[0].text + ending)


def split_ending(line: str) -> tuple[str, str]:
    r"""Split a line from the ``\n`` at its end.

    Parameters
    ----------
    line : str
        A line, with or without its end.
    """
    return (line[:-1], "\n") if line.endswith("\n") else (line, "")


class _LineReader:
    """What readers of lines have in common: they leave nothing out."""

    left_out: Sequence[str] = ()
    not_searched: Sequence[str] = ()

    def __init__(self, options: ReadingOptions) -> None:
        pass


class PlainReader(_LineReader):
    """Plain text: every line is a text."""

    def blocks(self, file: InputFile) -> Iterator[Block]:
        """Read the lines; a very long line is several texts with one number.

        Parameters
        ----------
        file : InputFile
            The file.
        """
        number = 1
        for line in file.lines():
            text, ending = split_ending(line)
            yield prefixed("", SourceText(text, id=str(number)), ending)
            number += bool(ending)


class KaldiReader(_LineReader):
    """Kaldi's ``text``: an id, blanks, the words."""

    def blocks(self, file: InputFile) -> Iterator[Block]:
        """Read the lines; ids and the blanks after them are kept.

        Parameters
        ----------
        file : InputFile
            The file.
        """
        for number, line in enumerate(file.lines(), 1):
            file.check_length(line)
            text, ending = split_ending(line)
            match = _KALDI.fullmatch(text)
            if match is None:
                raise bad_line(file, number, "no utterance id; Kaldi's format is 'id words'")
            key, gap, words = match.groups()
            yield prefixed(key + gap, SourceText(words, id=key), ending)


class StmReader(_LineReader):
    """NIST's STM: recording, channel, speaker, start, end, an optional label, the words."""

    def blocks(self, file: InputFile) -> Iterator[Block]:
        """Read the lines; the words and the text of comments are searched.

        Parameters
        ----------
        file : InputFile
            The file.
        """
        for number, line in enumerate(file.lines(), 1):
            file.check_length(line)
            text, ending = split_ending(line)
            match = _STM.fullmatch(text)
            if not text.strip() or (match and match[3].strip().lower() == _NOT_SCORED):
                yield verbatim(line)
            elif text.startswith(";;"):
                yield prefixed(";;", SourceText(text[2:], id=str(number)), ending)
            elif match is not None:
                yield prefixed(match[1], SourceText(match[3], match[2], str(number)), ending)
            else:
                expected = "not 'recording channel speaker start end <label> words'"
                raise bad_line(file, number, expected)
