"""Texts in files: plain lines, Kaldi's ``text``, JSON lines, CTM. What comes out mirrors it.

A format is known by the file's name (``text``, ``.ctm``, ``.jsonl``) unless it is named; every
other file is plain lines. Ids, times and numbers are kept; a field of JSON with words that nobody
looked at is left out, unless it is asked for.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.anonymise.text.anonymiser import Transformed
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.files import check_exists

FORMATS = ("lines", "kaldi", "jsonl", "ctm")
_MARK = "\ufeff"
"""What some editors put before UTF-8; it is left out."""
_KALDI = re.compile(r"(\S+)(\s*)(.*)", re.DOTALL)
_NUMBER = re.compile(r"\d*\.?\d+")
_READ = ("text", "words")
_NAMES = ("id", "document")
_WORD = ("w", "t0", "t1")


@dataclass(frozen=True)
class Batch:
    """The texts of a file, and how to write the file again with other texts."""

    texts: list[str]
    documents: list[str]
    ids: list[str]
    write: Callable[[Sequence[Transformed]], str]
    left_out: tuple[str, ...] = ()
    """Fields with words that nobody looked at; they are not written."""


def format_of(path: Path) -> str:
    """The format by the file's name."""
    if path.name == "text":
        return "kaldi"
    return {".jsonl": "jsonl", ".ctm": "ctm"}.get(path.suffix.lower(), "lines")


def read_batch(path: Path, form: str | None = None, *, copied: Collection[str] = ()) -> Batch:
    """Read a file of texts; ``copied`` are fields of JSON to be written as they are, unread."""
    if form is not None and form not in FORMATS:
        raise UsageError(f"format {form!r}; there are {', '.join(FORMATS)}")
    try:
        check_exists(path)
        data = path.read_bytes()
        text = data.decode("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 from byte {error.start}; convert it, e.g. with iconv -t utf-8"
        ) from None
    if "\0" in text:
        raise InputError(f"{path}: no text but bytes; name a text file in UTF-8")
    ending = "\n" if text.endswith("\n") else ""
    lines = text.removeprefix(_MARK).removesuffix("\n").split("\n")
    form = form or format_of(path)
    if form == "jsonl":
        batch = _jsonl(path, lines, ending, copied)
    elif copied:
        raise UsageError(f"{path}: fields to be copied, but {form!r} has none; use jsonl")
    else:
        batch = _READERS[form](path, lines, ending)
    if not any(one.strip() for one in batch.texts):
        raise InputError(f"{path}: no words in it; name a file with text")
    return batch


def _lines(path: Path, lines: list[str], ending: str) -> Batch:
    def write(done: Sequence[Transformed]) -> str:
        return "\n".join(one.text for one in done) + ending

    return Batch(lines, [""] * len(lines), [str(i + 1) for i in range(len(lines))], write)


def _kaldi(path: Path, lines: list[str], ending: str) -> Batch:
    parts = []
    for number, line in enumerate(lines, 1):
        found = _KALDI.fullmatch(line)
        if found is None:
            raise InputError(f"{path}:{number}: no utterance id; Kaldi wants 'id words'")
        parts.append(found.groups())

    def write(done: Sequence[Transformed]) -> str:
        rows = zip(parts, done, strict=True)
        return "\n".join(key + gap + one.text for (key, gap, _), one in rows) + ending

    texts = [text for _, _, text in parts]
    return Batch(texts, [""] * len(texts), [key for key, _, _ in parts], write)


# ======================================================================================== JSON


def _jsonl(path: Path, lines: list[str], ending: str, copied: Collection[str]) -> Batch:
    read = [_json_row(path, number, line) for number, line in enumerate(lines, 1)]
    left_out = {name: None for row in read for name in _unread(row or {}, copied)}
    rows = [None if row is None else _without(row, left_out) for row in read]

    def write(done: Sequence[Transformed]) -> str:
        made = [_json_done(row, one) for row, one in zip(rows, done, strict=True)]
        return "\n".join("" if row is None else _dumps(row) for row in made) + ending

    texts = [_json_text(row) for row in rows]
    names = [str((row or {}).get("document", "")) for row in rows]
    ids = [str((row or {}).get("id", i + 1)) for i, row in enumerate(rows)]
    return Batch(texts, names, ids, write, tuple(left_out))


def _unread(row: dict[str, Any], copied: Collection[str]) -> list[str]:
    """Fields with words that nobody looked at; those of words as ``words.norm``."""
    known = (*_READ, *copied, *(name for name in _NAMES if isinstance(row.get(name), str)))
    own = [name for name, value in row.items() if name not in known and _wordy(value)]
    return own + [
        f"words.{name}"
        for word in row.get("words") or ()
        for name, value in word.items()
        if name not in _WORD and f"words.{name}" not in copied and _wordy(value)
    ]


def _wordy(value: object) -> bool:
    """Whether a value has words in it; the keys of an object are words too."""
    if isinstance(value, list):
        return any(map(_wordy, value))
    return isinstance(value, str | dict) and bool(value)


def _without(row: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """A row without some of its fields, and some of its words'."""
    own = {name: value for name, value in row.items() if name not in names}
    if row.get("words"):
        own["words"] = [
            {name: value for name, value in word.items() if f"words.{name}" not in names}
            for word in row["words"]
        ]
    return own


def _dumps(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)


def _json_row(path: Path, number: int, line: str) -> dict[str, Any] | None:
    if not line.strip():
        return None
    try:
        row = json.loads(line)
        words = row.get("words")
        fine = isinstance(row.get("text", ""), str) and ("text" in row or words is not None)
        fine = fine and all(isinstance(word["w"], str) for word in words or ())
        timed = all(_time(word.get(name)) for word in words or () for name in ("t0", "t1"))
    except (ValueError, AttributeError, TypeError, KeyError):
        fine, timed = False, True
    if not fine:
        raise InputError(f'{path}:{number}: not {{"text": …}} or {{"words": [{{"w": …}}]}}')
    if not timed:
        raise InputError(f"{path}:{number}: t0 or t1 is no time; seconds from 0 on, or leave both")
    found: dict[str, Any] = row
    return found


def _time(value: object) -> bool:
    """Whether a time is left out or can be one: a finite number of seconds, not below 0."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (number and 0 <= value <= sys.float_info.max)  # type: ignore[operator]


def _json_text(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    words = row.get("words")
    return " ".join(word["w"] for word in words) if words is not None else row["text"]


def _json_done(row: dict[str, Any] | None, done: Transformed) -> dict[str, Any] | None:
    """With words, the new ones share the time of what they replace."""
    if row is None:
        return None
    if row.get("words") is None:
        return {**row, "text": done.text}
    words = row["words"]
    new = [
        entry
        for start, end, text in regroup([word["w"] for word in words], done)
        for entry in (words[start:end] if text is None else _json_words(words[start:end], text))
    ]
    text = {"text": " ".join(word["w"] for word in new)} if "text" in row else {}
    return {**row, **text, "words": new}


def _json_words(old: Sequence[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Words in the place of private ones; nothing that may spell those is kept."""
    new = text.split()
    if len(old) == len(new) == 1:
        return [
            {
                name: v
                for name, v in (old[0] | {"w": new[0]}).items()
                if name in _WORD or not _wordy(v)
            }
        ]
    begins, ends = ([word[t] for word in old if word.get(t) is not None] for t in ("t0", "t1"))
    if not begins or not ends:
        return [{"w": word} for word in new]
    cuts = _cuts(float(min(begins)), float(max(ends)), len(new))
    return [{"w": w, "t0": a, "t1": b} for w, a, b in zip(new, cuts, cuts[1:], strict=False)]


def _cuts(begin: float, end: float, count: int) -> list[float]:
    """Times that cut a stretch into equal parts."""
    return [round(begin + (end - begin) * i / max(count, 1), 4) for i in range(count + 1)]


def regroup(words: Sequence[str], done: Transformed) -> list[tuple[int, int, str | None]]:
    """New text over the old words it stands for: the first, the one after the last, the text.

    ``words`` joined by blanks is the text that was transformed. A word that stays has no new text,
    unlike one whose replacement happens to be the same.
    """
    starts, position = [], 0
    for word in words:
        starts.append(position)
        position += len(word) + 1
    text = " ".join(words)
    spans = [span for span in done.spans if span.replacement is not None]
    groups: list[tuple[int, int, str | None]] = []
    i = at = 0
    while i < len(words):
        first, copied, end, new = i, starts[i], starts[i] + len(words[i]), ""
        stays = at == len(spans) or spans[at].start >= end
        while at < len(spans) and spans[at].start < end:
            while spans[at].end > end:
                i += 1
                end = starts[i] + len(words[i])
            new += text[copied : spans[at].start] + str(spans[at].replacement)
            copied = spans[at].end
            at += 1
        groups.append((first, i + 1, None if stays else new + text[copied:end]))
        i += 1
    return groups


# ======================================================================================== CTM


def _ctm(path: Path, lines: list[str], ending: str) -> Batch:
    """Words with times; those of one recording and channel, in order of time, are one text."""
    rows: dict[tuple[str, str], list[tuple[float, float, list[str]]]] = {}
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts or line.startswith(";;"):
            continue
        try:
            begin, length = float(parts[2]), float(parts[3])
            rows.setdefault((parts[0], parts[1]), []).append((begin, length, parts[4:]))
            if not (parts[4:] and _time(begin) and _time(length)):
                raise ValueError
        except (ValueError, IndexError):
            raise InputError(
                f"{path}:{number}: not 'recording channel start length word'"
            ) from None
    for own in rows.values():
        own.sort(key=lambda one: one[0])
    texts = [" ".join(parts[0] for _, _, parts in own) for own in rows.values()]

    def write(done: Sequence[Transformed]) -> str:
        made = [
            line
            for key, own, one in zip(rows, rows.values(), done, strict=True)
            for line in _ctm_lines(key, own, one)
        ]
        return "\n".join(made) + ending

    names = [" ".join(key) for key in rows]
    return Batch(texts, [name for name, _ in rows], names, write)


def _ctm_lines(
    key: tuple[str, str], own: Sequence[tuple[float, float, list[str]]], done: Transformed
) -> list[str]:
    lines = []
    for start, end, text in regroup([parts[0] for _, _, parts in own], done):
        old = own[start:end]
        new = [parts[0] for _, _, parts in old] if text is None else text.split()
        begin, last = old[0][0], max(at + length for at, length, _ in old)
        cuts = _cuts(begin, last, len(new))
        rest = old[0][2][1:] if len(old) == len(new) == 1 else []
        if text is not None:  # further columns than the confidence may spell the word
            rest = [one for one in rest[:1] if _NUMBER.fullmatch(one)]
        for word, a, b in zip(new, cuts, cuts[1:], strict=False):
            lines.append(" ".join([*key, f"{a:.3f}", f"{b - a:.3f}", word, *rest]))
    return lines


_READERS: dict[str, Callable[[Path, list[str], str], Batch]] = {
    "lines": _lines,
    "kaldi": _kaldi,
    "ctm": _ctm,
}
