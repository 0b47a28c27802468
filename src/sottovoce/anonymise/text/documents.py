"""Texts in files: plain lines, Kaldi's ``text``, JSON lines, CTM. The output mirrors the input.

A format is recognised by the file name (``text``, ``.ctm``, ``.jsonl``) unless it is given; every
other file is plain lines. Ids, times and numbers are kept; a JSON field with words that were not
searched is left out, unless the user asks to copy it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from sottovoce.anonymise.text.anonymised_text import AnonymisedText
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.files import check_exists
from sottovoce.core.records import Json

FORMATS = ("lines", "kaldi", "jsonl", "ctm")
_BYTE_ORDER_MARK = "\ufeff"
_KALDI = re.compile(r"(\S+)(\s*)(.*)", re.DOTALL)
_NUMBER = re.compile(r"\d*\.?\d+")
_SEARCHED_FIELDS = ("text", "words")
_NAME_FIELDS = ("id", "document")
_WORD_FIELDS = ("w", "t0", "t1")


@dataclass(frozen=True)
class Batch:
    """The texts of a file, and how to write the file again with other texts."""

    texts: list[str]
    documents: list[str]
    """Name of the document of each text."""
    ids: list[str]
    """Id of each text: line number, Kaldi id, ``id`` of JSON, or recording and channel."""
    write: Callable[[Sequence[AnonymisedText]], str]
    """Returns the new file for the new texts."""
    left_out: tuple[str, ...] = ()
    """JSON fields with words that were not searched; they are not written."""


def format_of(path: Path) -> str:
    """Return the format that a file name stands for.

    Parameters
    ----------
    path : Path
        The file.
    """
    if path.name == "text":
        return "kaldi"
    return {".jsonl": "jsonl", ".ctm": "ctm"}.get(path.suffix.lower(), "lines")


def read_batch(path: Path, form: str | None = None, *, copied: Collection[str] = ()) -> Batch:
    """Read a file of texts.

    Parameters
    ----------
    path : Path
        A file in UTF-8.
    form : str, optional
        One of :data:`FORMATS`; by default recognised by the file name.
    copied : collection of str, optional
        JSON fields to copy without searching them, such as ``speaker`` or ``words.norm``.

    Raises
    ------
    InputError
        For a file that cannot be read, is not UTF-8, or has no words; ``bad-line`` names a line.
    UsageError
        For an unknown format, or fields to copy in a format that has none.
    """
    if form is not None and form not in FORMATS:
        raise UsageError(
            f"format {form!r} does not exist; choose from {', '.join(FORMATS)}", code="unknown-name"
        )
    text = _read_text(path)
    ending = "\n" if text.endswith("\n") else ""
    lines = text.removeprefix(_BYTE_ORDER_MARK).removesuffix("\n").split("\n")
    form = form or format_of(path)
    if form == "jsonl":
        batch = _read_jsonl(path, lines, ending, copied)
    elif copied:
        raise UsageError(
            f"{path}: fields are to be copied, but the format {form!r} has none; use jsonl",
            code="unsupported",
        )
    else:
        batch = _READERS[form](path, lines, ending)
    if not any(text.strip() for text in batch.texts):
        raise InputError(f"{path}: no words in it; name a file with text", code="empty")
    return batch


def _read_text(path: Path) -> str:
    check_exists(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 from byte {error.start}; convert it, e.g. with iconv -t utf-8",
            code="not-utf8",
        ) from None
    if "\0" in text:
        raise InputError(f"{path}: binary data; name a text file in UTF-8", code="binary")
    return text


def _bad_line(path: Path, number: int, expected: str) -> InputError:
    return InputError(f"{path}:{number}: {expected}", code="bad-line")


def _read_lines(path: Path, lines: list[str], ending: str) -> Batch:
    def write(results: Sequence[AnonymisedText]) -> str:
        return "\n".join(result.text for result in results) + ending

    return Batch(lines, [""] * len(lines), [str(i + 1) for i in range(len(lines))], write)


def _read_kaldi(path: Path, lines: list[str], ending: str) -> Batch:
    matches = [_KALDI.fullmatch(line) for line in lines]
    rows = [match.groups() for match in matches if match is not None]
    if len(rows) < len(lines):
        number = matches.index(None) + 1
        raise _bad_line(path, number, "no utterance id; Kaldi's format is 'id words'")

    def write(results: Sequence[AnonymisedText]) -> str:
        new = zip(rows, results, strict=True)
        return "\n".join(key + gap + result.text for (key, gap, _), result in new) + ending

    texts = [text for _, _, text in rows]
    return Batch(texts, [""] * len(texts), [key for key, _, _ in rows], write)


# ======================================================================================== JSON

_Fields = dict[str, Json]
_Word = dict[str, Json]


def _read_jsonl(path: Path, lines: list[str], ending: str, copied: Collection[str]) -> Batch:
    rows = [_parse_row(path, number, line) for number, line in enumerate(lines, 1)]
    left_out = {name: None for row in rows for name in _unsearched_fields(row or {}, copied)}
    rows = [None if row is None else _without_fields(row, left_out) for row in rows]

    def write(results: Sequence[AnonymisedText]) -> str:
        new = [_rewrite_row(row, result) for row, result in zip(rows, results, strict=True)]
        return "\n".join("" if row is None else _dumps(row) for row in new) + ending

    texts = ["" if row is None else _row_text(row) for row in rows]
    names = [str((row or {}).get("document", "")) for row in rows]
    ids = [str((row or {}).get("id", i + 1)) for i, row in enumerate(rows)]
    return Batch(texts, names, ids, write, tuple(left_out))


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


def _dumps(row: _Fields) -> str:
    return json.dumps(row, ensure_ascii=False)


def _parse_row(path: Path, number: int, line: str) -> _Fields | None:
    """Read a line; None if it is empty."""
    if not line.strip():
        return None
    try:
        row: _Fields = json.loads(line)
        words = _words(row)
        valid = isinstance(row.get("text", ""), str) and ("text" in row or words is not None)
        valid = valid and all(isinstance(word["w"], str) for word in words or ())
        timed = all(_is_time(word.get(name)) for word in words or () for name in ("t0", "t1"))
    except (ValueError, AttributeError, TypeError, KeyError):
        valid, timed = False, True
    if not valid:
        raise _bad_line(path, number, 'not {"text": …} or {"words": [{"w": …}]}')
    if not timed:
        raise InputError(
            f"{path}:{number}: t0 or t1 is not a time; give seconds from 0, or leave both out",
            code="bad-time",
        )
    return row


def _is_time(value: Json) -> bool:
    """Tell whether a time is left out, or a finite number of seconds from 0."""
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= sys.float_info.max


def _row_text(row: _Fields) -> str:
    words = _words(row)
    return str(row["text"]) if words is None else " ".join(str(word["w"]) for word in words)


def _rewrite_row(row: _Fields | None, result: AnonymisedText) -> _Fields | None:
    """Put the new text into a row; new words share the time of those that they replace."""
    if row is None:
        return None
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
    cuts = _equal_cuts(min(starts), max(ends), len(new))
    return [{"w": w, "t0": a, "t1": b} for w, a, b in zip(new, cuts, cuts[1:], strict=False)]


def _times(words: Iterable[Mapping[str, Json]], field: str) -> list[float]:
    times = (word.get(field) for word in words)
    return [float(time) for time in times if isinstance(time, int | float)]


def _equal_cuts(start: float, end: float, count: int) -> list[float]:
    """Return the times that cut an interval into equal parts."""
    return [round(start + (end - start) * i / max(count, 1), 4) for i in range(count + 1)]


def regroup(words: Sequence[str], result: AnonymisedText) -> list[tuple[int, int, str | None]]:
    """Assign the new text to the old words that it replaces.

    Parameters
    ----------
    words : sequence of str
        The old words; joined by blanks they are the text that was anonymised.
    result : AnonymisedText
        The new text.

    Returns
    -------
    list of (int, int, str or None)
        Groups of old words (the first, and the one after the last) with their new text. None marks
        a word that stays, unlike a word whose replacement happens to be the same.
    """
    starts, position = [], 0
    for word in words:
        starts.append(position)
        position += len(word) + 1
    text = " ".join(words)
    spans = [span for span in result.spans if span.replacement is not None]
    groups: list[tuple[int, int, str | None]] = []
    i = current = 0
    while i < len(words):
        first, copied, end, new = i, starts[i], starts[i] + len(words[i]), ""
        unchanged = current == len(spans) or spans[current].start >= end
        while current < len(spans) and spans[current].start < end:
            while spans[current].end > end:
                i += 1
                end = starts[i] + len(words[i])
            new += text[copied : spans[current].start] + str(spans[current].replacement)
            copied = spans[current].end
            current += 1
        groups.append((first, i + 1, None if unchanged else new + text[copied:end]))
        i += 1
    return groups


# ========================================================================================= CTM


@dataclass(frozen=True, slots=True)
class _CtmWord:
    """A line of a CTM."""

    start: float
    length: float
    word: str
    columns: list[str]
    """Further columns, first of all the confidence."""


def _read_ctm(path: Path, lines: list[str], ending: str) -> Batch:
    """Read words with times; those of one recording and channel, in order of time, are a text."""
    channels: dict[tuple[str, str], list[_CtmWord]] = {}
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts or line.startswith(";;"):
            continue
        try:
            word = _CtmWord(float(parts[2]), float(parts[3]), parts[4], parts[5:])
        except (ValueError, IndexError):
            word = None
        if word is None or not (_is_time(word.start) and _is_time(word.length)):
            raise _bad_line(path, number, "not 'recording channel start length word'")
        channels.setdefault((parts[0], parts[1]), []).append(word)
    for words in channels.values():
        words.sort(key=lambda word: word.start)

    def write(results: Sequence[AnonymisedText]) -> str:
        new = [
            line
            for (key, words), result in zip(channels.items(), results, strict=True)
            for line in _ctm_lines(key, words, result)
        ]
        return "\n".join(new) + ending

    texts = [" ".join(word.word for word in words) for words in channels.values()]
    return Batch(texts, [name for name, _ in channels], [" ".join(key) for key in channels], write)


def _ctm_lines(
    key: tuple[str, str], words: Sequence[_CtmWord], result: AnonymisedText
) -> list[str]:
    lines = []
    for start, end, text in regroup([word.word for word in words], result):
        old = words[start:end]
        new = [word.word for word in old] if text is None else text.split()
        cuts = _equal_cuts(old[0].start, max(word.start + word.length for word in old), len(new))
        columns = old[0].columns if len(old) == len(new) == 1 else []
        if text is not None:  # columns after the confidence may spell the word
            columns = [column for column in columns[:1] if _NUMBER.fullmatch(column)]
        for word, a, b in zip(new, cuts, cuts[1:], strict=False):
            lines.append(" ".join([*key, f"{a:.3f}", f"{b - a:.3f}", word, *columns]))
    return lines


_READERS: dict[str, Callable[[Path, list[str], str], Batch]] = {
    "lines": _read_lines,
    "kaldi": _read_kaldi,
    "ctm": _read_ctm,
}
