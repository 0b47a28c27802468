"""JSON lines: ``{"text": …}`` or words with times, one object a line.

Ids, times and numbers are kept; a field with words that were not searched is left out, unless the
user asks to copy it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import cast

from sottovoce.anonymise.text.anonymised_text import AnonymisedText
from sottovoce.anonymise.text.files.blocks import Block, bad_line, verbatim
from sottovoce.anonymise.text.files.input_file import InputFile
from sottovoce.anonymise.text.files.options import ReadingOptions
from sottovoce.anonymise.text.files.plain import split_ending
from sottovoce.anonymise.text.files.timed_words import equal_cuts, is_time, regroup
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.core.errors import InputError
from sottovoce.core.records import Json

_SEARCHED_FIELDS = ("text", "words")
_NAME_FIELDS = ("id", "document")
_WORD_FIELDS = ("w", "t0", "t1")
_Fields = dict[str, Json]
_Word = dict[str, Json]


class JsonLinesReader:
    """JSON lines; empty lines are kept.

    Parameters
    ----------
    options : ReadingOptions
        Which fields are copied without being searched.
    """

    not_searched: Sequence[str] = ()

    def __init__(self, options: ReadingOptions) -> None:
        self._copied = options.copied_fields
        self._left_out: dict[str, None] = {}

    @property
    def left_out(self) -> Sequence[str]:
        """Fields with words that were not searched; they are not written."""
        return tuple(self._left_out)

    def blocks(self, file: InputFile) -> Iterator[Block]:
        """Read the rows; a field that has words in one of them is left out of all.

        Parameters
        ----------
        file : InputFile
            The file.
        """
        for number, line in enumerate(file.lines(), 1):
            file.check_length(line)
            body, ending = split_ending(line)
            row = _parse_row(file, number, body)
            if row is None:
                yield verbatim(line)
                continue
            self._left_out |= dict.fromkeys(_unsearched_fields(row, self._copied))
            ending = body[len(body.rstrip()) :] + ending
            text = SourceText(_row_text(row), _name(row, "document"), _name(row, "id", number))
            yield Block((text,), self._writer(row, ending))

    def _writer(self, row: _Fields, ending: str) -> Callable[[Sequence[AnonymisedText]], str]:
        def write(results: Sequence[AnonymisedText]) -> str:
            fields = _without_fields(row, self._left_out)
            return json.dumps(_rewrite_row(fields, results[0]), ensure_ascii=False) + ending

        return write


def _name(row: _Fields, field: str, default: int | str = "") -> str:
    """Return the name in a field; an object is no name."""
    value = row.get(field, default)
    return str(default if isinstance(value, dict | list) else value)


def _words(row: _Fields) -> list[_Word] | None:
    """Return the words of a row; :func:`_parse_row` checks that they are a list of objects."""
    return cast("list[_Word] | None", row.get("words"))


def _unsearched_fields(row: _Fields, copied: Collection[str]) -> list[str]:
    """Name the fields with words that are not searched; a word's field as ``words.norm``."""
    names = (name for name in _NAME_FIELDS if isinstance(row.get(name), str))
    known = (*_SEARCHED_FIELDS, *copied, *names)
    fields = [name for name, value in row.items() if name not in known and _has_words(value)]
    return fields + [
        f"words.{name}"
        for word in _words(row) or ()
        for name, value in word.items()
        if name not in _WORD_FIELDS and f"words.{name}" not in copied and _has_words(value)
    ]


def _has_words(value: Json) -> bool:
    """Tell whether a value has words in it; the keys of an object are words too."""
    if isinstance(value, list):
        return any(map(_has_words, value))
    return isinstance(value, str | dict) and bool(value)


def _without_fields(row: _Fields, names: Collection[str]) -> _Fields:
    """Remove fields of a row and of its words."""
    fields = {name: value for name, value in row.items() if name not in names}
    if words := _words(row):
        fields["words"] = [
            {name: value for name, value in word.items() if f"words.{name}" not in names}
            for word in words
        ]
    return fields


def _parse_row(file: InputFile, number: int, line: str) -> _Fields | None:
    """Read a line; None if it is empty."""
    if not line.strip():
        return None
    try:
        row: _Fields = json.loads(line)
        words = _words(row)
        valid = isinstance(row.get("text", ""), str) and ("text" in row or words is not None)
        valid = valid and all(isinstance(word["w"], str) for word in words or ())
        timed = all(is_time(word.get(name)) for word in words or () for name in ("t0", "t1"))
    except (ValueError, AttributeError, TypeError, KeyError):
        valid, timed = False, True
    if not valid:
        raise bad_line(file, number, 'not {"text": …} or {"words": [{"w": …}]}')
    if not timed:
        raise InputError(
            f"{file.name}:{number}: t0 or t1 is not a time; give seconds from 0, or leave both out",
            code="bad-time",
        )
    return row


def _row_text(row: _Fields) -> str:
    words = _words(row)
    return str(row["text"]) if words is None else " ".join(str(word["w"]) for word in words)


def _rewrite_row(row: _Fields, result: AnonymisedText) -> _Fields:
    """Put the new text into a row; new words share the time of those that they replace."""
    words = _words(row)
    if words is None:
        return {**row, "text": result.text}
    new = [
        word
        for start, end, text in regroup([str(word["w"]) for word in words], result)
        for word in (words[start:end] if text is None else _new_words(words[start:end], text))
    ]
    text: _Fields = {"text": " ".join(str(word["w"]) for word in new)} if "text" in row else {}
    return {**row, **text, "words": cast("list[Json]", new)}


def _new_words(old: Sequence[_Word], text: str) -> list[_Word]:
    """Return the words that replace private ones, without fields that may spell those."""
    new = text.split()
    if len(old) == len(new) == 1:
        fields = old[0] | {"w": new[0]}
        return [{k: v for k, v in fields.items() if k in _WORD_FIELDS or not _has_words(v)}]
    starts, ends = _times(old, "t0"), _times(old, "t1")
    if not starts or not ends:
        return [{"w": word} for word in new]
    cuts = equal_cuts(min(starts), max(ends), len(new))
    return [{"w": w, "t0": a, "t1": b} for w, a, b in zip(new, cuts, cuts[1:], strict=False)]


def _times(words: Iterable[Mapping[str, Json]], field: str) -> list[float]:
    times = (word.get(field) for word in words)
    return [float(time) for time in times if isinstance(time, int | float)]
