"""Scores in NumPy files: one ``.npz`` (``mated``, ``nonmated``) or two flat ``.npy`` files.

Who speaks in each trial may be told by three further arrays of names or numbers:
``mated_speaker``, ``nonmated_enrol_speaker`` and ``nonmated_trial_speaker``. Of two ``.npy`` files
the non-mated one may be larger than memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO

import numpy as np

from sottovoce.core.arrays import Arrays, load_arrays
from sottovoce.core.errors import InputError
from sottovoce.core.types import RealArray
from sottovoce.measure.score_stream import ScorePart, ScoreStream
from sottovoce.measure.scores import (
    CHUNK,
    Scores,
    Speakers,
    as_scores,
    check_finite,
    refuse_not_finite,
)

SIDES = ("mated", "nonmated")
SPEAKERS = ("mated_speaker", "nonmated_enrol_speaker", "nonmated_trial_speaker")

PART = 1 << 22
"""Scores of a part of an array that is counted by itself."""


def read_npz(path: Path) -> Scores:
    """Read scores from a ``.npz`` file; never unpickles anything.

    Parameters
    ----------
    path : Path
        The file.
    """
    arrays = load_arrays(path, SIDES, SPEAKERS, save="np.savez(file, mated=…, nonmated=…)")
    return Scores(
        arrays["mated"],
        arrays["nonmated"],
        speakers=_speakers(path, arrays),
        name=path.stem,
        origin=str(path),
    )


def _speakers(path: Path, arrays: Arrays) -> Speakers | None:
    given = [name for name in SPEAKERS if name in arrays]
    if not given:
        return None
    if len(given) < len(SPEAKERS):
        lacking = next(name for name in SPEAKERS if name not in arrays)
        raise InputError(
            f"{path}: has {given[0]!r} but no {lacking!r}; give all three or none",
            code="missing-array",
        )
    return Speakers.from_names(*(arrays[name] for name in SPEAKERS), origin=str(path))


def read_npy_pair(directory: Path) -> ScoreStream:
    """Read ``mated.npy`` into memory and stream ``nonmated.npy``.

    Parameters
    ----------
    directory : Path
        Holds both files.
    """
    mated, nonmated = directory / "mated.npy", directory / "nonmated.npy"
    few = np.concatenate([chunk.copy() for chunk in npy_chunks(mated)])
    check_finite(few, str(mated))
    with nonmated.open("rb") as file:
        count, _ = _header(file, nonmated)
    return ScoreStream(
        directory.name,
        str(directory),
        few,
        count,
        parts=_NpyParts(nonmated.absolute(), count),
        refuse_bad_scores=lambda: refuse_not_finite(npy_chunks(nonmated), f"{directory}: nonmated"),
    )


class _NpyParts:
    """Parts of an array, made as they are asked for: a header may announce any number of scores."""

    def __init__(self, path: Path, count: int) -> None:
        self._path, self._count = path, count

    def __iter__(self) -> Iterator[ScorePart]:
        for first in range(0, self._count, PART):
            yield partial(npy_chunks, self._path, first, PART)


def npy_chunks(path: Path, first: int = 0, count: int | None = None) -> Iterator[RealArray]:
    """Read a flat array a chunk at a time into one small buffer, which the next chunk overwrites.

    Not memory-mapped: mapped pages would count as this process's memory.

    Parameters
    ----------
    path : Path
        The file.
    first : int, default 0
        Position of the first score that is read.
    count : int, optional
        Scores that are read, at most; default all.
    """
    try:
        with path.open("rb") as file:
            total, dtype = _header(file, path)
            left = total - first if count is None else min(total - first, count)
            file.seek(first * dtype.itemsize, 1)
            buffer = np.empty(min(CHUNK, left), dtype)
            while left:
                part = buffer[: min(CHUNK, left)]
                if file.readinto(part.data.cast("B")) != part.nbytes:
                    raise InputError(
                        f"{path}: cut off, {left:,} scores are lacking; write it again",
                        code="damaged",
                    )
                left -= len(part)
                yield as_scores(part, str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})", code="unreadable") from None


def _header(file: BinaryIO, path: Path) -> tuple[int, np.dtype[np.floating | np.integer]]:
    """Length and type of a flat, non-empty array of numbers; anything else is refused."""
    try:
        first = np.lib.format.read_magic(file) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
    except (ValueError, TypeError, EOFError, TokenError) as error:
        raise InputError(
            f"{path}: not a NumPy array ({str(error)[:80]}); write it again", code="damaged"
        ) from None
    if len(shape) != 1 or dtype.kind not in "fiu":
        raise InputError(
            f"{path}: {dtype} of shape {shape}; needs a flat array of numbers", code="wrong-type"
        )
    if not isinstance(shape[0], int) or isinstance(shape[0], bool) or shape[0] < 1:
        raise InputError(
            f"{path}: no scores; at least 1 is needed: add trials of this kind", code="empty"
        )
    return shape[0], dtype
