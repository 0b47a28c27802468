"""Text with marks in it: tags, character references, doubled quotation marks.

The marks are taken out before the text is searched and put back around the new words. What is not
replaced is written exactly as it was read.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sottovoce.anonymise.text.anonymised_text import AnonymisedText, ReplacedSpan

LINE_BREAK = " "
"""What a tag that breaks a line stands for; it is kept inside of a replacement, as tags are."""
_WORD_OR_BLANKS = re.compile(r"\S+|\s+")


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters of the source that stand for others, or for none, in the text."""

    start: int
    """Where it stands in the text."""
    source: str
    """Its characters in the source."""
    text: str = ""
    """What it stands for in the text; most tags stand for nothing."""

    @property
    def end(self) -> int:
        """The character of the text after it."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class MarkedText:
    """A text without its marks, and the marks in order."""

    text: str
    marks: Sequence[Mark]

    @classmethod
    def parse(
        cls, source: str, form: re.Pattern[str], meaning: Callable[[str], str | None]
    ) -> MarkedText:
        """Take the marks out of a source.

        Parameters
        ----------
        source : str
            The source.
        form : re.Pattern
            Matches everything that may be a mark.
        meaning : callable
            Returns what a match stands for; None if it is no mark but text.
        """
        pieces, marks, done, length = [], [], 0, 0
        for match in form.finditer(source):
            text = meaning(match.group())
            if text is not None:
                pieces += [source[done : match.start()], text]
                length += match.start() - done
                marks.append(Mark(length, match.group(), text))
                length += len(text)
                done = match.end()
        return cls("".join([*pieces, source[done:]]), marks)

    def restore(self, result: AnonymisedText, escape: Callable[[str], str] = str) -> str:
        """Write the source with new words.

        Parameters
        ----------
        result : AnonymisedText
            The new text.
        escape : callable, optional
            Writes a replacement as the format needs it.
        """
        pieces, done = [], 0
        for span in result.spans:
            if span.replacement is not None:
                pieces.append(self._source(done, span.start))
                pieces.append(self._replace(span, span.replacement, escape))
                done = span.end
        return "".join([*pieces, self._source(done, len(self.text), last=True)])

    def _source(self, start: int, end: int, *, last: bool = False) -> str:
        """Return the source of a part of the text, with the tags at both of its ends."""
        pieces, done = [], start
        first = bisect_left(self.marks, start, key=lambda mark: mark.start)
        for mark in self.marks[first:]:
            if mark.start > end or (mark.text and mark.start == end and not last):
                break
            pieces += [self.text[done : mark.start], mark.source]
            done = mark.end
        return "".join([*pieces, self.text[done:end]])

    def _replace(self, span: ReplacedSpan, replacement: str, escape: Callable[[str], str]) -> str:
        """Return a replacement with the tags that stood inside of what it replaces."""
        first = bisect_right(self.marks, span.start, key=lambda mark: mark.start)
        after = bisect_left(self.marks, span.end, key=lambda mark: mark.start)
        inside = [mark for mark in self.marks[first:after] if mark.text in ("", LINE_BREAK)]
        if not inside:
            return escape(replacement)
        pieces = _WORD_OR_BLANKS.findall(replacement)
        slots: dict[int, str] = {}
        for mark in inside:
            before = self.text[span.start : mark.start]
            slot = 2 * len(before.split()) - (not before[-1].isspace())
            slot = min(slot, len(pieces))
            slots[slot] = slots.get(slot, "") + mark.source
        new = [slots.get(i, "") + escape(piece) for i, piece in enumerate(pieces)]
        return "".join([*new, slots.get(len(pieces), "")])
