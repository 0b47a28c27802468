"""Subtitles: SubRip (``.srt``) and WebVTT (``.vtt``).

The text of a cue is searched as a whole, over its line breaks and without its tags. Numbers, times,
settings, tags, style sheets and blank lines are kept. The name in a voice tag (``<v Ann Lee>``) is
private as a whole, and searched in all cues.
"""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

from sottovoce.anonymise.text.anonymised_text import AnonymisedText
from sottovoce.anonymise.text.files.blocks import Block, bad_line, verbatim
from sottovoce.anonymise.text.files.input_file import InputFile
from sottovoce.anonymise.text.files.marked_text import LINE_BREAK, Mark, MarkedText
from sottovoce.anonymise.text.files.options import ReadingOptions
from sottovoce.anonymise.text.files.plain import prefixed
from sottovoce.anonymise.text.source_text import SourceText

MAX_PARAGRAPH = 50_000
"""Characters of lines without a blank line between them that are held in memory together."""
_TIME = r"(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?", re.DOTALL)
_INDEX = re.compile(r"\s*\d+\s*")
_MARK = re.compile(
    r"<[^<>]{1,500}>|\{\\[^{}]{1,500}\}|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});", re.I
)
_TAG = re.compile(r"</?(?:[biusc]|v|lang|ruby|rt|font|span|br)(?:[.\s/][^<>]*)?>", re.I)
_KARAOKE = re.compile(rf"<{_TIME}>")
_BREAK_TAG = re.compile(r"<br\s*/?>", re.I)
_VOICE = re.compile(r"(<v(?:\.[^\s<>]*)*\s+)([^<>]+?)(\s*>)", re.I)
_STYLED_VOICE = re.compile(r"(\bvoice\s*=\s*[\"'])([^\"'\n]+)([\"'])", re.I)
_HEADER_SETTING = re.compile(r"\s*(?:(?:kind|language)\s*:.*|[\w-]+=\S*)\s*", re.I)
_WORD_OF_ID = re.compile(r"(?<!\S)[^\W\d_]{2,}(?!\S)")
_ROLES = re.compile(
    r"(?:speaker|narrator|interview(?:er|ee)|host|guest|moderator|operator|agent|customer|caller|"
    r"client|unknown|voice|audience|sprecher(?:in)?|moderatorin|unbekannt|locut(?:eur|rice)|"
    r"intervenant|inconnu|locutore?|oratore|hablante|locutora?|desconocido|falante|desconhecido|"
    r"spreker|onbekend|runātājs|nezināms)[\s_#-]*(?:\d{1,4}|[a-z])?",
    re.I,
)
"""Labels that name a part in the conversation instead of a person."""


class _SubtitleReader(ABC):
    """What both formats have in common: paragraphs of lines with blank lines between them."""

    left_out: Sequence[str] = ()
    not_searched: Sequence[str] = ()
    _has_references = False
    """Whether characters may be written as references, such as ``&amp;``."""

    def __init__(self, options: ReadingOptions) -> None:
        del options  # subtitles have none, and readers are made alike

    def blocks(self, file: InputFile) -> Iterator[Block]:
        """Read the cues, comments and style sheets.

        Parameters
        ----------
        file : InputFile
            The file.
        """
        first = True
        for number, lines in _paragraphs(file.universal_lines()):
            if not lines[0].strip():
                yield verbatim(lines[0])
            elif first:
                first = False
                yield from self._first_paragraph(file, number, lines)
            else:
                yield from self._paragraph(file, number, lines)

    @abstractmethod
    def _first_paragraph(
        self, file: InputFile, number: int, lines: Sequence[str]
    ) -> Iterator[Block]:
        """Read the first lines of the file, which may be a header."""

    def _paragraph(self, file: InputFile, number: int, lines: Sequence[str]) -> Iterator[Block]:
        """Read lines without a blank line between them: a cue, several, or more of a cue's text."""
        timings = [i for i, line in enumerate(lines) if "-->" in line]
        for i in timings:
            if not _TIMING.fullmatch(lines[i]):
                raise bad_line(file, number + i, "not 'HH:MM:SS,mmm --> HH:MM:SS,mmm'")
        starts = [i - _has_identifier(lines, i) for i in timings]
        bounds = [*starts, len(lines)]
        if bounds[0]:
            yield self._text(lines[: bounds[0]], number)
        for start, timing, end in zip(starts, timings, bounds[1:], strict=True):
            if start < timing:
                yield _identifier(lines[start], number + start)
            yield verbatim(lines[timing])
            if timing + 1 < end:
                yield self._text(lines[timing + 1 : end], number + timing + 1)

    def _text(self, lines: Sequence[str], number: int) -> Block:
        """Return the block of a text with tags, such as the words of a cue."""
        source, ending = _split_ending("".join(lines))
        return _marked_block(source, ending, str(number), references=self._has_references)


class SubRipReader(_SubtitleReader):
    """SubRip: a number, the times, and the text of each cue."""

    def _first_paragraph(
        self, file: InputFile, number: int, lines: Sequence[str]
    ) -> Iterator[Block]:
        if "-->" not in "".join(lines[:2]):
            expected = "no cue; .srt has a number, a line '00:00:01,000 --> 00:00:02,000', a text"
            raise bad_line(file, number, expected)
        return self._paragraph(file, number, lines)


class WebVttReader(_SubtitleReader):
    """WebVTT: a header, then cues, comments (NOTE), style sheets (STYLE) and regions (REGION)."""

    _has_references = True

    def _paragraph(self, file: InputFile, number: int, lines: Sequence[str]) -> Iterator[Block]:
        word = lines[0].split()[0]
        if any("-->" in line for line in lines):
            yield from super()._paragraph(file, number, lines)
        elif word == "STYLE":
            yield _style_block("".join(lines), str(number))
        elif word == "REGION":
            yield verbatim("".join(lines))
        else:
            yield self._text(lines, number)

    def _first_paragraph(
        self, file: InputFile, number: int, lines: Sequence[str]
    ) -> Iterator[Block]:
        """Read the title and what follows it up to the first blank line."""
        if number != 1 or not lines[0].startswith("WEBVTT"):
            raise bad_line(file, 1, "no 'WEBVTT'; is this another format? --format names it")
        title, ending = _split_ending(lines[0][6:])
        yield prefixed("WEBVTT", SourceText(title, id="1"), ending)
        timing = next((i for i, line in enumerate(lines) if "-->" in line), len(lines))
        for i, line in enumerate(lines[1:timing], 1):
            setting = _HEADER_SETTING.fullmatch(line)
            yield verbatim(line) if setting else self._text([line], 1 + i)
        if timing < len(lines):
            yield from super()._paragraph(file, 1 + timing, lines[timing:])


def _has_identifier(lines: Sequence[str], timing: int) -> bool:
    """Tell whether the line before the times is the number or name of the cue."""
    return timing == 1 or (timing > 1 and bool(_INDEX.fullmatch(lines[timing - 1])))


def _paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield runs of lines that are not blank, and every blank line, with the number of the first.

    A very long run ends before a line with times.
    """
    start, run, length = 1, list[str](), 0
    for number, line in enumerate(lines, 1):
        blank = not line.strip()
        if run and (blank or (length > MAX_PARAGRAPH and not _INDEX.fullmatch(run[-1]))):
            yield start, run
            run, length = [], 0
        if blank:
            yield number, [line]
        else:
            start = number if not run else start
            run.append(line)
            length += len(line)
    if run:
        yield start, run


def _split_ending(source: str) -> tuple[str, str]:
    """Split a text from the line end after it."""
    text = source.rstrip("\r\n")
    return text, source[len(text) :]


def _identifier(line: str, number: int) -> Block:
    """Return the block of a cue's number or name; a name with whole words is searched."""
    if not _WORD_OF_ID.search(line):
        return verbatim(line)
    text, ending = _split_ending(line)
    return prefixed("", SourceText(text, id=str(number)), ending)


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _unescape(mark: str) -> str | None:
    """Return what a character reference stands for; None if there is no such character."""
    text = html.unescape(mark)
    return text if text != mark and len(text) == 1 else None


def _mark_meaning(mark: str, *, references: bool) -> str | None:
    """Return what a tag or character reference stands for; None for other text in brackets."""
    if mark.startswith("&"):
        return _unescape(mark) if references else None
    if _BREAK_TAG.fullmatch(mark):
        return LINE_BREAK
    known = mark.startswith("{") or _TAG.fullmatch(mark) or _KARAOKE.fullmatch(mark)
    return "" if known else None


def _marked_block(source: str, ending: str, text_id: str, *, references: bool) -> Block:
    """Return the block of a text with tags; the labels of voices are texts of their own."""
    marked = MarkedText.parse(
        source, _MARK, lambda mark: _mark_meaning(mark, references=references)
    )
    matches = [(i, _VOICE.fullmatch(mark.source)) for i, mark in enumerate(marked.marks)]
    labels = [(i, match) for i, match in matches if match is not None and _is_name(match)]
    escape = _escape if references else str

    def write(results: Sequence[AnonymisedText]) -> str:
        marks = list(marked.marks)
        for (i, label), result in zip(labels, results[1:], strict=True):
            marks[i] = Mark(marks[i].start, _new_label(label, result, escape), marks[i].text)
        return MarkedText(marked.text, marks).restore(results[0], escape) + ending

    texts = [SourceText(marked.text, id=text_id)]
    texts += [_label_text(label, text_id, references=references) for _, label in labels]
    return Block(texts, write)


def _is_name(label: re.Match[str]) -> bool:
    """Tell whether a label names a person, rather than a part in the conversation."""
    return not _ROLES.fullmatch(label[2].strip())


def _label_text(label: re.Match[str], text_id: str, *, references: bool) -> SourceText:
    return SourceText(html.unescape(label[2]) if references else label[2], id=text_id, kind="PER")


def _new_label(label: re.Match[str], result: AnonymisedText, escape: Callable[[str], str]) -> str:
    """Write a voice tag with its new name; one without a private name keeps its characters."""
    changed = any(span.replacement is not None for span in result.spans)
    return label[1] + (escape(result.text) if changed else label[2]) + label[3]


def _style_block(source: str, text_id: str) -> Block:
    """Return the block of a style sheet, which may name voices."""
    labels = [label for label in _STYLED_VOICE.finditer(source) if _is_name(label)]

    def write(results: Sequence[AnonymisedText]) -> str:
        pieces, done = [], 0
        for label, result in zip(labels, results, strict=True):
            pieces += [source[done : label.start()], _new_label(label, result, str)]
            done = label.end()
        return "".join([*pieces, source[done:]])

    return Block([_label_text(label, text_id, references=False) for label in labels], write)
