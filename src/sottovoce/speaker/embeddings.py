"""Speaker embeddings with the speakers of their recordings, checked when they are made."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.arrays import names_as_text
from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import write_bytes
from sottovoce.core.records import JsonObject
from sottovoce.core.types import IntArray, Names, RealArray, Vectors
from sottovoce.speaker.blocks import Block, block_arrays, check_blocks

SMALLEST, LARGEST = 1e-15, 1e17
"""Limits of the largest entry of a vector; squares and their sums are precise in float32 there."""
BLOCK = 1 << 15
"""Rows processed together, so that memory-mapped vectors are never read into memory at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """One vector per recording, and who speaks in it. Make it with :meth:`of`.

    >>> embeddings = Embeddings.of([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], ["ann", "ann", "bob"])
    >>> embeddings.speakers, embeddings.names
    (array([0, 0, 1]), array(['ann', 'bob'], dtype='<U3'))
    """

    vectors: Vectors
    """n × d; may be memory-mapped."""
    speakers: IntArray
    """The number of the speaker of each vector, an index into ``names``."""
    names: Names
    """Names of the speakers, sorted."""
    utterances: Names | None
    """The id of each recording, all different within a draw."""
    gender: Names | None
    """The gender of the speaker of each vector, as the corpus has it."""
    name: str
    """Name of this set in tables and legends."""
    origin: str
    """Name of this set in error messages, such as the file it was read from."""
    draws: IntArray | None = None
    """With which of several draws each recording was anonymised, from 1; None where there is one
    vector per recording. Vectors of one recording in several draws share its id."""
    blocks: tuple[Block, ...] = ()
    """Parts of each vector, in the order of the columns; empty for vectors of one kind."""

    @classmethod
    def of(
        cls,
        vectors: ArrayLike,
        speakers: ArrayLike,
        *,
        utterances: ArrayLike | None = None,
        gender: ArrayLike | None = None,
        draws: ArrayLike | None = None,
        blocks: Sequence[Block] = (),
        name: str = "embeddings",
        origin: str | None = None,
    ) -> Embeddings:
        """Check arrays and number the speakers.

        Parameters
        ----------
        vectors : array_like, n × d
            Finite vectors, not all zero and of a size whose square is precise in float32. A float32
            array is not copied, so a memory-mapped one stays on disk; others are converted.
        speakers : array_like of str or int, n
            The speaker of each vector.
        utterances : array_like of str or int, n, optional
            The id of each recording; no id may occur twice in a draw.
        gender : array_like of str or int, n, optional
            The gender of the speaker of each vector.
        draws : array_like of int, n, optional
            The draw of each vector, from 1, where recordings were anonymised several times.
        blocks : sequence of Block, optional
            Parts of each vector, where several encoders made it.
        name : str, default "embeddings"
            Name of the set in tables and legends.
        origin : str, optional
            Name of the set in error messages; by default ``name``.

        Raises
        ------
        InputError
            If an array does not satisfy this; the message names the first bad row.
        """
        source = origin or name
        array = _checked_vectors(vectors, source)
        labels = _checked_names(speakers, len(array), f"{source}: speakers")
        _refuse_empty_names(labels, f"{source}: speakers")
        names, numbers = np.unique(labels, return_inverse=True)
        ids = genders = None
        drawn = None if draws is None else _checked_draws(draws, len(array), source)
        if utterances is not None:
            ids = _checked_names(utterances, len(array), f"{source}: utterances")
            _refuse_empty_names(ids, f"{source}: utterances")
            _refuse_duplicates(ids, drawn, source)
        if gender is not None:
            genders = _checked_names(gender, len(array), f"{source}: gender")
        parts = check_blocks(blocks, array.shape[1], source)
        return cls(array, numbers.astype(np.int64), names, ids, genders, name, source, drawn, parts)

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def recording_ids(self) -> Names:
        """The id of each recording; its number where the set has no ids."""
        if self.utterances is None:
            return np.arange(len(self)).astype(np.str_)
        return self.utterances

    @property
    def dimension(self) -> int:
        """The number d of values in a vector."""
        return int(self.vectors.shape[1])

    @property
    def counts(self) -> IntArray:
        """Number of vectors of each speaker, in the order of ``names``."""
        return np.bincount(self.speakers, minlength=len(self.names)).astype(np.int64)

    def rows(self, selection: NDArray[np.bool_] | IntArray) -> Embeddings:
        """Return some of the vectors, with their speakers numbered anew.

        Parameters
        ----------
        selection : array of bool, n, or array of int
            A mask over the vectors, or the numbers of the wanted rows in the wanted order.
        """
        chosen = np.flatnonzero(selection) if selection.dtype == np.bool_ else selection
        return Embeddings.of(
            self.vectors[chosen],
            self.names[self.speakers[chosen]],
            utterances=None if self.utterances is None else self.utterances[chosen],
            gender=None if self.gender is None else self.gender[chosen],
            draws=None if self.draws is None else self.draws[chosen],
            blocks=self.blocks,
            name=self.name,
            origin=self.origin,
        )

    def of_speakers(self, speakers: IntArray) -> Embeddings:
        """Return all vectors of some speakers, in their present order.

        Parameters
        ----------
        speakers : array of int
            Numbers of the speakers, indices into ``names``.
        """
        return self.rows(np.isin(self.speakers, speakers))

    def digest(self) -> str:
        """Return the SHA-256 of the content, in hexadecimal.

        It covers vectors, speakers, utterance ids, gender and draws in their order, and is the same
        whatever the set is called, wherever it was read from and however wide its text arrays are.
        """
        header: JsonObject = {
            "shape": list(self.vectors.shape),
            "speakers": self.names[self.speakers].tolist(),
            "utterances": None if self.utterances is None else self.utterances.tolist(),
            "gender": None if self.gender is None else self.gender.tolist(),
        }
        if self.draws is not None:
            header["draws"] = self.draws.tolist()
        if self.blocks:
            header["blocks"] = [[block.name, block.dimension] for block in self.blocks]
        digest = hashlib.sha256(json.dumps(header).encode())
        for rows in blocks(len(self)):
            digest.update(np.ascontiguousarray(self.vectors[rows], dtype="<f4").tobytes())
        return digest.hexdigest()

    def write(self, path: Path) -> None:
        """Write a ``.npz`` file that :func:`~sottovoce.speaker.readers.read_embeddings` reads.

        Parameters
        ----------
        path : Path
            The file, which is written completely or not at all; missing folders are made.
        """
        optional_columns = {
            "utterances": self.utterances,
            "gender": self.gender,
            "draws": self.draws,
        }
        columns = {name: column for name, column in optional_columns.items() if column is not None}
        buffer = io.BytesIO()
        arrays = {"vectors": self.vectors, "speakers": self.names[self.speakers], **columns}
        arrays |= block_arrays(self.blocks)
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        write_bytes(path, buffer.getvalue())


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """Divide rows into slices to be processed one after the other.

    Parameters
    ----------
    count : int
        Number of rows.
    size : int, default 32768
        Rows per slice.
    """
    return (slice(start, start + size) for start in range(0, count, size))


# ========================================================================================== checks


def _checked_vectors(values: ArrayLike, source: str) -> Vectors:
    try:
        array: NDArray[np.generic] = np.asanyarray(values)
    except ValueError:
        raise InputError(
            f"{source}: vectors of different lengths; all need one dimension", code="mixed-lengths"
        ) from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(
            f"{source}: shape {array.shape}; vectors must be rows of one table (n × d)",
            code="wrong-shape",
        )
    if len(array) == 0:
        raise InputError(f"{source}: no vectors; at least 1 is needed", code="empty")
    if array.dtype.kind not in "fiu":
        raise InputError(
            f"{source}: {array.dtype} values; vectors must be real numbers", code="wrong-type"
        )
    numbers = cast("RealArray", array)
    for rows in blocks(len(numbers)):
        _check_magnitudes(numbers[rows], rows.start, source)
    return numbers.astype(np.float32, copy=False)


def _check_magnitudes(vectors: RealArray, first: int, source: str) -> None:
    if vectors.dtype.kind == "i":
        vectors = vectors.astype(np.float64)  # the absolute value of the lowest integer overflows
    largest = np.abs(vectors).max(axis=1).astype(np.float64)
    advice = "embed it again or leave it out"
    limits = f"below {SMALLEST:g} or above {LARGEST:g} at its largest; rescale all vectors"
    for bad, defect, code in (
        (~np.isfinite(largest), f"not finite; {advice}", "not-finite"),
        (largest == 0, f"all zero; {advice}", "all-zero"),
        ((largest < SMALLEST) | (largest > LARGEST), limits, "out-of-range"),
    ):
        for row in np.flatnonzero(bad)[:1]:
            raise InputError(f"{source}: row {first + row:,} is {defect}", code=code)


def _checked_names(values: ArrayLike, count: int, source: str) -> Names:
    array = np.asarray(values)
    if array.shape != (count,):
        raise InputError(
            f"{source}: shape {array.shape} for {count:,} vectors; one name per vector is needed",
            code="wrong-shape",
        )
    if array.dtype.kind not in "UiuS":
        raise InputError(
            f"{source}: {array.dtype} values; names must be text or whole numbers",
            code="wrong-type",
        )
    return names_as_text(array, source)


def _refuse_empty_names(names: Names, source: str) -> None:
    for row in np.flatnonzero(np.char.strip(names) == "")[:1]:
        raise InputError(
            f"{source}: row {row:,} has an empty name; name it or leave it out", code="empty-name"
        )


def _checked_draws(values: ArrayLike, count: int, source: str) -> IntArray:
    array = np.asarray(values)
    if array.shape != (count,) or array.dtype.kind not in "iu" or (count and array.min() < 1):
        raise InputError(
            f"{source}: draws must be one whole number from 1 per vector", code="wrong-type"
        )
    return array.astype(np.int64)


def _refuse_duplicates(ids: Names, draws: IntArray | None, source: str) -> None:
    for draw in (0,) if draws is None else np.unique(draws):
        in_draw = ids if draws is None else ids[draws == draw]
        values, counts = np.unique(in_draw, return_counts=True)
        repeated = values[counts > 1]
        if len(repeated):
            listed = first_few(map(str, repeated), len(repeated))
            raise InputError(
                f"{source}: utterance ids occur twice: {listed}; keep one vector each",
                code="duplicate-id",
            )
