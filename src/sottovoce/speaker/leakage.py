"""Checks that keep an evaluation honest: no recording and no speaker on two sides.

A linkage function that was trained on the speakers it is judged on links pure noise, and a
recording that is enrolled and tried links itself. Both are refused wherever embeddings meet,
whatever their files are called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.types import IntArray, Vectors
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage import make_linkage
from sottovoce.speaker.linkage_functions import LinkageFunction

_ROWS = 1 << 14
"""Rows that are hashed at a time."""
_DIRECTIONS = 8
"""From so many dimensions on, two recordings never have the same direction by chance."""
_STEPS = 512
"""Directions are hashed on a grid of this many steps, which rounding to single precision hardly
ever leaves."""
_ROUNDING = 1e-6
"""How far two directions may be apart, after rounding to single precision."""


def check_disjoint(groups: Mapping[str, Iterable[str]]) -> None:
    """Refuse speakers that are in two groups.

    Parameters
    ----------
    groups : mapping of str to iterable of str
        Names of the speakers by what they are used for, such as ``training``.

    Raises
    ------
    InputError
        With the code ``not-disjoint``.
    """
    names = {group: set(speakers) for group, speakers in groups.items()}
    for i, group in enumerate(names):
        for other in list(names)[i + 1 :]:
            common = sorted(names[group] & names[other])
            if common:
                raise InputError(
                    f"{first_few(common, len(common))}: in the {group} and in the {other} "
                    "speakers; these must be different people: take others, or rename them if "
                    "they only share a name",
                    code="not-disjoint",
                )


def check_training(train: Embeddings, *evaluated: Embeddings) -> None:
    """Refuse training embeddings that share a speaker or a vector with what is evaluated.

    Parameters
    ----------
    train : Embeddings
        What a linkage function is trained on.
    *evaluated : Embeddings
        Enrolment and trials, or originals and anonymised recordings.

    Raises
    ------
    InputError
        With the code ``not-disjoint``.
    """
    for embeddings in evaluated:
        check_disjoint({"training": train.names.tolist(), "evaluated": embeddings.names.tolist()})
        rows, _ = shared_recordings(train, embeddings)
        if len(rows):
            raise InputError(
                f"{train.origin}: {len(rows):,} vectors that are in {embeddings.origin} too; a "
                "linkage function must be trained on other recordings of other people",
                code="not-disjoint",
            )


def shared_recordings(first: Embeddings, second: Embeddings) -> tuple[IntArray, IntArray]:
    """Find recordings that are in two sets: vectors of the same direction.

    Their lengths may differ, since vectors are often stored with length one. With fewer than eight
    dimensions they must be the same number for number.

    A vector that several speakers of a set have does not count: that is an anonymiser which gives
    everybody the same voice, not the same recording.

    Parameters
    ----------
    first, second : Embeddings
        Two sets of embeddings.

    Returns
    -------
    tuple of array of int64
        Rows of ``first`` and of ``second``, one pair per distinct vector.
    """
    if first.dimension != second.dimension:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    hashes = _hashes(first.vectors), _hashes(second.vectors)
    common, rows, others = np.intersect1d(*hashes, return_indices=True)
    shared = _same(first.vectors[rows], second.vectors[others])
    for embeddings, own_hashes in zip((first, second), hashes, strict=True):
        shared &= ~_of_several_speakers(common, own_hashes, embeddings.speakers)
    return rows[shared], others[shared]


def _of_several_speakers(
    wanted: NDArray[np.uint64], hashes: NDArray[np.uint64], speakers: IntArray
) -> NDArray[np.bool_]:
    """Tell for each of some hashes whether rows of more than one speaker have it."""
    relevant = np.isin(hashes, wanted)
    pairs = np.unique(np.stack((hashes[relevant], speakers[relevant].astype(np.uint64))), axis=1)
    distinct, counts = np.unique(pairs[0], return_counts=True)
    return np.isin(wanted, distinct[counts > 1])


def _same(first: Vectors, second: Vectors) -> NDArray[np.bool_]:
    """Tell for each pair of rows whether they are of one recording."""
    if first.shape[1] < _DIRECTIONS:
        return np.asarray((first == second).all(axis=1))
    apart = np.abs(_directions(first) - _directions(second))
    return np.asarray(apart.max(axis=1) <= _ROUNDING)


def _directions(vectors: Vectors) -> NDArray[np.float64]:
    """Vectors of length one; zeros stay zeros."""
    wide = vectors.astype(np.float64)
    wide /= np.maximum(np.abs(wide).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]
    return np.asarray(wide / np.maximum(lengths, 1.0))


def _hashes(vectors: Vectors) -> NDArray[np.uint64]:
    """Hash every row, in whole numbers, so that equal rows have equal hashes wherever they are."""
    factors = np.random.default_rng(0).integers(1, 1 << 63, vectors.shape[1], np.uint64) * 2 + 1
    hashes = np.empty(len(vectors), np.uint64)
    for start in range(0, len(vectors), _ROWS):
        words = _words(vectors[start : start + _ROWS])
        hashes[start : start + _ROWS] = (words * factors).sum(axis=1, dtype=np.uint64)
    return hashes


def _words(block: Vectors) -> NDArray[np.uint64]:
    """What is hashed: rounded directions, or the bits of vectors of few dimensions."""
    if block.shape[1] >= _DIRECTIONS:
        return np.rint(_STEPS * _directions(block)).astype(np.int64).view(np.uint64)
    # adding zero makes minus zero plus zero
    single = np.ascontiguousarray(block, np.float32) + np.float32(0)
    return single.view(np.uint32).astype(np.uint64)


def make_evaluation_linkage(
    name: str, train: Embeddings | None, evaluated: Sequence[Embeddings], **settings: float
) -> LinkageFunction:
    """Make a linkage function for an evaluation; training data that overlap with it are refused.

    Parameters
    ----------
    name : str
        A name in :data:`~sottovoce.speaker.linkage.LINKAGES`.
    train : Embeddings or None
        Embeddings of other speakers to train on.
    evaluated : sequence of Embeddings
        All sets that will be compared, one at least.
    **settings : float
        Passed to ``fit`` of the linkage function's kind.

    Raises
    ------
    InputError
        With the code ``not-disjoint`` if a speaker or a vector is in the training set too, and
        those of :func:`~sottovoce.speaker.linkage.make_linkage`.
    """
    linkage = make_linkage(name, train, like=evaluated[0], **settings)
    if train is not None:
        check_training(train, *evaluated)
    return linkage
