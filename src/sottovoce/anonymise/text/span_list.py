"""The list of all private values of a run, written as JSON while the run goes on."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator

from sottovoce.anonymise.text.anonymised_text import AnonymisedText
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.core.records import JsonObject

IN_MEMORY = 8 << 20
"""Bytes of a list that are held in memory; more are in a temporary file without a name."""


class JsonList:
    """A list of JSON objects that may be longer than the memory.

    Examples
    --------
    >>> rows = JsonList()
    >>> rows.append({"a": 1})
    >>> rows.append({"a": 2})
    >>> "".join(rows.pieces())
    '[\\n    {"a": 1},\\n    {"a": 2}\\n  ]'
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8")  # noqa: SIM115
        self._empty = True

    def append(self, row: JsonObject) -> None:
        """Add an object.

        Parameters
        ----------
        row : dict
            The object.
        """
        self._file.write(("" if self._empty else ",") + "\n    ")
        self._file.write(json.dumps(row, ensure_ascii=False, allow_nan=False))
        self._empty = False

    def pieces(self) -> Iterator[str]:
        """Return the text of the list, piece by piece."""
        yield "["
        self._file.seek(0)
        while piece := self._file.read(1 << 16):
            yield piece
        yield "]" if self._empty else "\n  ]"

    def __del__(self) -> None:
        self._file.close()  # deletes the file


class SpanList:
    """Every private value of a run, and which words of a text are private."""

    def __init__(self) -> None:
        self.spans = JsonList()
        self.masks = JsonList()

    def add(self, source: SourceText, result: AnonymisedText) -> None:
        """Add the private values of a text.

        Parameters
        ----------
        source : SourceText
            The original.
        result : AnonymisedText
            The new text.
        """
        for span in result.spans:
            self.spans.append({"id": source.id, **span.to_dict()})
        words = masked_words(source.text, result)
        if words:
            self.masks.append({"id": source.id, "words": list(words)})


def masked_words(text: str, result: AnonymisedText) -> list[int]:
    """Return the indexes of the words, split at white space, that are private at least in part.

    Parameters
    ----------
    text : str
        The original text.
    result : AnonymisedText
        The new text.
    """
    masked, position, current = [], 0, 0
    spans = result.spans
    for i, word in enumerate(text.split()):
        position = text.index(word, position)
        end = position + len(word)
        while current < len(spans) and spans[current].end <= position:
            current += 1
        if current < len(spans) and spans[current].start < end:
            masked.append(i)
        position = end
    return masked
