"""Speaker embeddings with their speakers, checked once at the door."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from sottovoce.core.arrays import as_text
from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import write_bytes
from sottovoce.core.types import IntArray, Names, Vectors

SMALLEST, LARGEST = 1e-15, 1e17
"""Of the largest entry of a vector: squares and their sums are precise in float32 between them."""
BLOCK = 1 << 15
"""Rows looked at together, so that memory-mapped vectors are never read whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """One vector a recording and who speaks in it.

    >>> voices = Embeddings.of([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], ["ann", "ann", "bob"])
    >>> voices.speakers, voices.names
    (array([0, 0, 1]), array(['ann', 'bob'], dtype='<U3'))
    """

    vectors: Vectors
    """n × d; may be memory-mapped."""
    speakers: IntArray
    """The number of the speaker of each vector, an index into ``names``."""
    names: Names
    """Names of the speakers, sorted."""
    utterances: Names | None
    """The id of each recording, all different."""
    gender: Names | None
    """The gender of the speaker of each vector, as the corpus has it."""
    name: str
    """What to call this set in tables and legends."""
    origin: str
    """What to call it in error messages, such as the file it comes from."""

    @classmethod
    def of(
        cls,
        vectors: ArrayLike,
        speakers: ArrayLike,
        *,
        utterances: ArrayLike | None = None,
        gender: ArrayLike | None = None,
        name: str = "embeddings",
        origin: str | None = None,
    ) -> Embeddings:
        """Check arrays and number the speakers.

        Vectors must be finite, of one dimension and of a size whose square is precise; utterance
        ids must be unique. Vectors in float32 are kept where they are, so a memory-mapped table is
        never read whole; others are copied.
        """
        where = origin or name
        array = _as_vectors(vectors, where)
        labels = _as_names(speakers, len(array), f"{where}: speakers")
        _refuse_nameless(labels, f"{where}: speakers")
        names, numbers = np.unique(labels, return_inverse=True)
        ids = genders = None
        if utterances is not None:
            ids = _as_names(utterances, len(array), f"{where}: utterances")
            _refuse_nameless(ids, f"{where}: utterances")
            _refuse_duplicates(ids, where)
        if gender is not None:
            genders = _as_names(gender, len(array), f"{where}: gender")
        return cls(array, numbers.astype(np.int64), names, ids, genders, name, where)

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self.vectors.shape[1])

    @property
    def counts(self) -> IntArray:
        """How many vectors each speaker has."""
        return np.bincount(self.speakers, minlength=len(self.names)).astype(np.int64)

    def write(self, path: Path) -> None:
        """Write a ``.npz`` file that :func:`~sottovoce.speaker.readers.read_embeddings` reads."""
        columns = {"utterances": self.utterances, "gender": self.gender}
        given = {name: column for name, column in columns.items() if column is not None}
        buffer = io.BytesIO()
        arrays = {"vectors": self.vectors, "speakers": self.names[self.speakers], **given}
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        write_bytes(path, buffer.getvalue())


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """Rows to look at together, ``size`` of ``count`` at a time."""
    return (slice(start, start + size) for start in range(0, count, size))


def speaker_means(embeddings: Embeddings) -> Vectors:
    """The mean vector of each speaker, in the order of ``names``.

    Where every speaker has one vector and they are in order, these are the vectors themselves, not
    a copy, so a memory-mapped set stays where it is.
    """
    counts = embeddings.counts
    if len(counts) == len(embeddings) and np.array_equal(
        embeddings.speakers, np.arange(len(embeddings))
    ):
        return embeddings.vectors
    sums = np.zeros((len(counts), embeddings.dimension), np.float64)
    for rows in blocks(len(embeddings)):
        add_by_speaker(sums, embeddings.vectors[rows], embeddings.speakers[rows])
    return (sums / counts[:, None]).astype(np.float32)


def add_by_speaker(
    sums: NDArray[np.float64], vectors: NDArray[np.floating], speakers: IntArray
) -> None:
    """Add each vector to the row of its speaker: the product with a table of zeros and ones.

    Only the speakers of these vectors have a row in that table, so a block costs no more where
    speakers are many.
    """
    present, at = np.unique(speakers, return_inverse=True)
    spoken = csr_array((np.ones(len(at)), (at, np.arange(len(at)))), (len(present), len(at)))
    sums[present] += spoken @ vectors


def _as_vectors(values: ArrayLike, where: str) -> Vectors:
    try:
        array: NDArray[Any] = np.asanyarray(values)
    except ValueError:
        raise InputError(f"{where}: vectors of different lengths; all need one dimension") from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"{where}: shape {array.shape}; vectors must be rows of one table (n × d)")
    if len(array) == 0:
        raise InputError(f"{where}: no vectors; at least 1 is needed")
    if array.dtype.kind not in "fiu":
        raise InputError(f"{where}: {array.dtype} values; vectors must be real numbers")
    for rows in blocks(len(array)):
        sizes = np.abs(array[rows]).max(axis=1).astype(np.float64)
        _refuse_rows(~np.isfinite(sizes), rows.start, f"not finite; {_AGAIN}", where)
        _refuse_rows(sizes == 0, rows.start, f"all zero; {_AGAIN}", where)
        beyond = (sizes < SMALLEST) | (sizes > LARGEST)
        limits = f"below {SMALLEST:g} or above {LARGEST:g} at its largest; rescale all vectors"
        _refuse_rows(beyond, rows.start, limits, where)
    return array if array.dtype == np.float32 else array.astype(np.float32)


_AGAIN = "embed it again or leave it out"


def _refuse_rows(bad: NDArray[np.bool_], start: int, complaint: str, where: str) -> None:
    for row in np.flatnonzero(bad)[:1]:
        raise InputError(f"{where}: row {start + row:,} is {complaint}")


def _as_names(values: ArrayLike, count: int, where: str) -> Names:
    array = np.asarray(values)
    if array.shape != (count,):
        raise InputError(f"{where}: shape {array.shape} for {count:,} vectors; give one a vector")
    if array.dtype.kind not in "UiuS":
        raise InputError(f"{where}: {array.dtype} values; names must be text or whole numbers")
    return as_text(array, where)


def _refuse_nameless(names: Names, where: str) -> None:
    for row in np.flatnonzero(np.char.strip(names) == "")[:1]:
        raise InputError(f"{where}: row {row:,} has an empty name; name it or leave it out")


def _refuse_duplicates(ids: Names, where: str) -> None:
    values, counts = np.unique(ids, return_counts=True)
    again = values[counts > 1]
    if len(again):
        listed = first_few((str(one) for one in again), len(again))
        raise InputError(f"{where}: utterance ids occur twice: {listed}; keep one vector each")
