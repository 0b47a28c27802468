"""Speaker embeddings with their speakers, checked once at the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError, first_few

Vectors = NDArray[np.float32]
IntArray = NDArray[np.int64]
Names = NDArray[np.str_]

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

        Vectors must be finite, of one dimension and not zero; utterance ids must be unique.
        """
        where = origin or name
        array = _as_vectors(vectors, where)
        labels = _as_names(speakers, len(array), f"{where}: speakers")
        names, numbers = np.unique(labels, return_inverse=True)
        ids = (
            None
            if utterances is None
            else _as_names(utterances, len(array), f"{where}: utterances")
        )
        if ids is not None:
            _refuse_duplicates(ids, where)
        genders = None if gender is None else _as_names(gender, len(array), f"{where}: gender")
        return cls(array, numbers.astype(np.int64), names, ids, genders, name, where)

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.vectors.shape[1]

    @property
    def counts(self) -> IntArray:
        """How many vectors each speaker has."""
        return np.bincount(self.speakers, minlength=len(self.names)).astype(np.int64)


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
    for start in range(0, len(embeddings), BLOCK):
        rows = slice(start, start + BLOCK)
        np.add.at(sums, embeddings.speakers[rows], embeddings.vectors[rows])
    return (sums / counts[:, None]).astype(np.float32)


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
    if array.dtype != np.float32:
        array = array.astype(np.float32)
    for start in range(0, len(array), BLOCK):
        block = array[start : start + BLOCK]
        for row in np.flatnonzero(~np.isfinite(block).all(axis=1)):
            raise InputError(
                f"{where}: row {start + row:,} is not finite; embed it again or leave it out"
            )
        for row in np.flatnonzero(~block.any(axis=1)):
            raise InputError(
                f"{where}: row {start + row:,} is all zero; embed it again or leave it out"
            )
    return array


def _as_names(values: ArrayLike, count: int, where: str) -> Names:
    array = np.asarray(values)
    if array.shape != (count,):
        raise InputError(f"{where}: shape {array.shape} for {count:,} vectors; give one a vector")
    if array.dtype.kind not in "UiuS":
        raise InputError(f"{where}: {array.dtype} values; names must be text or whole numbers")
    return np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array.astype(np.str_)


def _refuse_duplicates(ids: Names, where: str) -> None:
    values, first, counts = np.unique(ids, return_index=True, return_counts=True)
    again = values[counts > 1]
    if len(again):
        listed = first_few((str(one) for one in again), len(again))
        raise InputError(f"{where}: utterance ids occur twice: {listed}; keep one vector each")
