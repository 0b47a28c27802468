"""Which slice came from which recording: for whoever evaluates a release, never part of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.files import atomic_file
from sottovoce.core.records import Record
from sottovoce.corpus.reading import read_text

COLUMNS = ("slice", "utterance", "number", "start", "end")
_MODE = 0o600


@dataclass(frozen=True, slots=True)
class MappedSlice(Record):
    """A slice and where it was cut from."""

    slice: str
    """Its name in the release."""
    utterance: str
    """Id of the recording it was cut from."""
    number: int
    """Its place among the slices of that recording, from 0."""
    start: float
    end: float
    """In seconds from the beginning of the recording."""


def map_file(target: Path) -> Path:
    """Return where the map of a folder of slices lies: beside it, as its secret does.

    Parameters
    ----------
    target : Path
        The folder of the slices.
    """
    named = target.resolve() if target.name in ("", "..") else target
    return named.with_name(f"{named.name}.map.csv")


def write_map(path: Path, slices: Sequence[MappedSlice]) -> None:
    """Write a map that only its owner can read, whole or not at all.

    Parameters
    ----------
    path : Path
        The file.
    slices : sequence of MappedSlice
        All slices of a release.
    """
    with (
        atomic_file(path, mode=_MODE) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for entry in slices:
            times = (f"{entry.start:.6f}", f"{entry.end:.6f}")
            writer.writerow([entry.slice, entry.utterance, entry.number, *times])


def read_map(path: Path) -> list[MappedSlice]:
    """Read a map.

    Parameters
    ----------
    path : Path
        A file of :func:`write_map`.

    Raises
    ------
    InputError
        ``missing-column`` or ``damaged``, and those of
        :func:`~sottovoce.corpus.reading.read_text`.
    """
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
    if rows.fieldnames is None or set(COLUMNS) - set(rows.fieldnames):
        raise InputError(
            f"{path}: not a map of slices; it needs the columns {', '.join(COLUMNS)}",
            code="missing-column",
        )
    slices = []
    for line, row in enumerate(rows, 2):
        try:
            start, end = float(row["start"]), float(row["end"])
            entry = MappedSlice(row["slice"], row["utterance"], int(row["number"]), start, end)
        except (ValueError, TypeError):
            raise InputError(f"{path}, line {line}: damaged", code="damaged") from None
        if not 0 <= entry.start < entry.end:
            raise InputError(f"{path}, line {line}: no stretch of time", code="damaged")
        slices.append(entry)
    return slices
