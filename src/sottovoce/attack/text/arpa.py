"""Trigram models as ARPA files, to use models of other programs and to give ours to them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sottovoce.attack.text.trigrams import ORDER, UNKNOWN, NgramTable, TrigramModel
from sottovoce.core.errors import InputError
from sottovoce.core.files import atomic_file
from sottovoce.core.types import IntArray
from sottovoce.corpus.reading import read_text

LN10 = math.log(10)


def write_arpa(model: TrigramModel, path: Path) -> None:
    """Write a model, whole or not at all.

    Parameters
    ----------
    model : TrigramModel
        The model.
    path : Path
        The file.
    """
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write("\\data\\\n")
        for order, table in enumerate(model.tables, 1):
            file.write(f"ngram {order}={len(table.keys)}\n")
        for order, table in enumerate(model.tables, 1):
            file.write(f"\n\\{order}-grams:\n")
            file.writelines(_lines(model, table, order))
        file.write("\n\\end\\\n")


def _lines(model: TrigramModel, table: NgramTable, order: int) -> Iterator[str]:
    size = len(model.words)
    digits = [table.keys // size**power % size for power in range(order - 1, -1, -1)]
    for row, numbers in enumerate(np.stack(digits, axis=1).tolist()):
        words = " ".join(model.words[number] for number in numbers)
        line = f"{table.log_probability[row] / LN10:.7g}\t{words}"
        if order < ORDER and table.back_off[row]:
            line += f"\t{table.back_off[row] / LN10:.7g}"
        yield line + "\n"


def read_arpa(path: Path) -> TrigramModel:
    """Read a model of order 3.

    Parameters
    ----------
    path : Path
        An ARPA file.

    Raises
    ------
    InputError
        ``damaged`` with the line that is no n-gram, and those of
        :func:`~sottovoce.corpus.reading.read_text`.
    """
    lines = read_text(path).splitlines()
    entries = _entries(lines, path)
    words = tuple(entry[0][0] for entry in entries[0])
    if UNKNOWN not in words:
        words = (UNKNOWN, *words)
        entries[0].insert(0, ((UNKNOWN,), -99.0, 0.0))
    place = {word: number for number, word in enumerate(words)}
    tables = [_table(level, place, path) for level in entries]
    return TrigramModel(words, (tables[0], tables[1], tables[2]))


_Entry = tuple[tuple[str, ...], float, float]


def _entries(lines: list[str], path: Path) -> list[list[_Entry]]:
    levels: list[list[_Entry]] = [[] for _ in range(ORDER)]
    order = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("\\") and text.endswith("-grams:"):
            order = int(text[1:-7]) if text[1:-7].isdecimal() else ORDER + 1
            if order > ORDER:
                raise _damaged(path, number, f"order {text[1:-7]}, at most {ORDER} can be used")
        elif text == "\\end\\":
            break
        elif text and order:
            levels[order - 1].append(_entry(text, order, path, number))
    if not all(levels):
        raise InputError(f"{path}: no trigram model in ARPA format", code="damaged")
    return levels


def _entry(text: str, order: int, path: Path, line: int) -> _Entry:
    fields = text.split()
    try:
        probability = float(fields[0])
        back_off = float(fields[order + 1]) if len(fields) > order + 1 else 0.0
    except (ValueError, IndexError):
        raise _damaged(path, line, "no probability") from None
    words = tuple(fields[1 : order + 1])
    if len(words) < order or len(fields) > order + 2:
        raise _damaged(path, line, f"not {order} words")
    return words, probability, back_off


def _table(entries: list[_Entry], place: dict[str, int], path: Path) -> NgramTable:
    size = len(place)
    keys: list[int] = []
    for words, _, _ in entries:
        key = 0
        for word in words:
            if word not in place:
                raise InputError(f"{path}: {word!r} is no unigram; damaged", code="damaged")
            key = key * size + place[word]
        keys.append(key)
    order: IntArray = np.argsort(np.array(keys, np.int64), kind="stable")
    values = np.array([entry[1:] for entry in entries])[order] * LN10
    return NgramTable(np.array(keys, np.int64)[order], values[:, 0], values[:, 1])


def _damaged(path: Path, line: int, what: str) -> InputError:
    return InputError(f"{path}, line {line}: {what}", code="damaged")
