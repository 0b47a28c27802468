"""Texts that are read one after the other, cut into parts and chunks of bounded size.

A run may read its texts several times, so they are given as a function that starts a new reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_PART = 50_000
"""Characters of a text that are searched together; a longer text is cut into parts."""
CHUNK_CHARACTERS = 200_000
"""Characters of the parts that are held in memory together."""
_LAST_TENTH = MAX_PART // 10
_CUTS = (
    re.compile(r"[.!?…]\s+(?=[^\W\d_])"),
    re.compile(r"(?<=[^\W\d_])\s+(?=[^\W\d_])"),
    re.compile(r"\s+"),
)
"""Where a long text may be cut, the best places first: sentences, words, any white space."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that is searched by itself."""

    text: str
    document: str = ""
    """Name of its document: names that are found in it are searched in the whole document."""
    id: str = ""
    """Its id in reports."""
    kind: str | None = None
    """Entity type of the whole text, if its place in the file shows that it is private, such as
    the name of a speaker."""


class LanguageSpan(NamedTuple):
    """A part of a text that is in one language."""

    end: int
    """The character after its last, or more in the last part of a text."""
    candidates: tuple[str, ...]
    """Codes of the languages that it may be in, the most probable first; usually one."""
    probability: float
    """Probability of the first one; of several sentences, the lowest."""


def language_at(languages: Sequence[LanguageSpan], position: int) -> str | None:
    """Return the language of a character of a text.

    Parameters
    ----------
    languages : sequence of LanguageSpan
        The languages of the text.
    position : int
        The character.

    Returns
    -------
    str or None
        The most probable language; None if nothing is known of the character.
    """
    return next((span.candidates[0] for span in languages if position < span.end), None)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text, or a part of one that is long or in several languages."""

    text: str
    source: SourceText
    languages: tuple[str, ...]
    """Languages that it may be in, the most probable first."""
    index: int
    """Number of the text, from 0."""
    is_last: bool
    """Whether it is the last part of its text."""


TextReading = Callable[[], Iterable[SourceText]]
"""Starts to read the texts from the beginning; every reading gives the same texts."""


def split_text(text: str) -> list[str]:
    """Cut a text into parts of at most :data:`MAX_PART` characters, whose sum is the text.

    Parameters
    ----------
    text : str
        The text; it is cut after a sentence if the last tenth of a part has one, else between
        words.
    """
    parts, start = [], 0
    while len(text) - start > MAX_PART:
        end = start + MAX_PART
        cut = _last_cut(text, end - _LAST_TENTH, end)
        parts.append(text[start:cut])
        start = cut
    return [*parts, text[start:]]


def _last_cut(text: str, low: int, high: int) -> int:
    """Return the best place for a cut after ``low`` and up to ``high``."""
    for place in _CUTS:
        ends = [match.end() for match in place.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high


def split_texts(
    texts: Iterable[SourceText], languages: Iterable[Sequence[LanguageSpan]]
) -> Iterator[TextPart]:
    """Yield the parts of all texts in order.

    Parameters
    ----------
    texts : iterable of SourceText
        The texts.
    languages : iterable of sequence of LanguageSpan
        The languages of each text.
    """
    for index, (source, spans) in enumerate(zip(texts, languages, strict=False)):
        if len(spans) == 1 and len(source.text) <= MAX_PART:
            yield TextPart(source.text, source, spans[0].candidates, index, True)
            continue
        *parts, last = _parts(source.text, spans)
        for part, candidates in parts:
            yield TextPart(part, source, candidates, index, False)
        yield TextPart(last[0], source, last[1], index, True)


def _parts(text: str, spans: Sequence[LanguageSpan]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the parts of a text with their languages."""
    start = 0
    for span in spans:
        for part in split_text(text[start : span.end]):
            yield part, span.candidates
        start = span.end


def chunks(parts: Iterable[TextPart], size: int = CHUNK_CHARACTERS) -> Iterator[Sequence[TextPart]]:
    """Group parts so that a group has about ``size`` characters.

    Parameters
    ----------
    parts : iterable of TextPart
        The parts.
    size : int, default CHUNK_CHARACTERS
        A group ends with the part that reaches this number of characters.
    """
    chunk: list[TextPart] = []
    length = 0
    for part in parts:
        chunk.append(part)
        length += len(part.text) + 1
        if length >= size:
            yield chunk
            chunk, length = [], 0
    if chunk:
        yield chunk
