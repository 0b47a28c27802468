"""Blocks of a vector: parts that hold different kinds of evidence about the speaker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.core.arrays import Arrays
from sottovoce.core.errors import InputError
from sottovoce.core.records import Record
from sottovoce.core.types import AnyArray


@dataclass(frozen=True, slots=True)
class Block(Record):
    """A part of every vector of a set, such as the values that describe pitch."""

    name: str
    dimension: int
    """Number of values."""


def block_columns(blocks: Sequence[Block]) -> Iterator[tuple[Block, slice]]:
    """Return the blocks of a vector with the columns they take up.

    Parameters
    ----------
    blocks : sequence of Block
        In the order of the columns.

    Examples
    --------
    >>> [columns for _, columns in block_columns([Block("voice", 192), Block("pitch", 20)])]
    [slice(0, 192, None), slice(192, 212, None)]
    """
    start = 0
    for block in blocks:
        yield block, slice(start, start + block.dimension)
        start += block.dimension


def check_blocks(blocks: Sequence[Block], dimension: int, source: str) -> tuple[Block, ...]:
    """Refuse blocks that are not exactly the columns of vectors.

    Parameters
    ----------
    blocks : sequence of Block
        Blocks; none at all is right for vectors of one kind.
    dimension : int
        Number of values of a vector.
    source : str
        Where they come from, for messages.

    Raises
    ------
    InputError
        ``mismatch`` where the dimensions do not add up, ``duplicate-id`` for a name twice.
    """
    total = sum(block.dimension for block in blocks)
    if blocks and (total != dimension or min(block.dimension for block in blocks) < 1):
        raise InputError(
            f"{source}: blocks of {total} values in vectors of {dimension}; embed it again",
            code="mismatch",
        )
    if len({block.name for block in blocks}) < len(blocks):
        raise InputError(
            f"{source}: two blocks have the same name; give each its own", code="duplicate-id"
        )
    return tuple(blocks)


def block_arrays(blocks: Sequence[Block]) -> dict[str, AnyArray]:
    """Return the arrays of a ``.npz`` file that name the blocks; none for vectors of one kind.

    Parameters
    ----------
    blocks : sequence of Block
        In the order of the columns.
    """
    if not blocks:
        return {}
    return {
        "blocks": np.array([block.name for block in blocks]),
        "block_dimensions": np.array([block.dimension for block in blocks], np.int64),
    }


def blocks_from_arrays(arrays: Arrays, source: str) -> tuple[Block, ...]:
    """Read the blocks that :func:`block_arrays` wrote.

    Parameters
    ----------
    arrays : mapping of str to array
        Arrays of a file by name.
    source : str
        The file, for messages.

    Raises
    ------
    InputError
        ``wrong-shape`` where names and dimensions are not of one length.
    """
    names, dimensions = arrays.get("blocks"), arrays.get("block_dimensions")
    if names is None and dimensions is None:
        return ()
    if names is None or dimensions is None or names.shape != dimensions.shape or names.ndim != 1:
        raise InputError(
            f"{source}: blocks and block_dimensions do not fit; embed it again", code="wrong-shape"
        )
    pairs = zip(names.tolist(), dimensions.tolist(), strict=True)
    return tuple(Block(str(name), int(dimension)) for name, dimension in pairs)
