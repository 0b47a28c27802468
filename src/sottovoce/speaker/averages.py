"""Averages of the vectors of a speaker, and averages that cancel."""

from __future__ import annotations

import numpy as np
import scipy

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.types import FloatArray, IntArray, Names, RealArray, Vectors
from sottovoce.speaker.embeddings import Embeddings, blocks

CANCELLED = 1e-6
"""A mean this much shorter than the vectors it is taken over is rounding, without a direction."""


def speaker_means(embeddings: Embeddings) -> Vectors:
    """Average the vectors of each speaker.

    Parameters
    ----------
    embeddings : Embeddings
        n vectors of s speakers.

    Returns
    -------
    array of float32, s × d
        In the order of ``names``. Where every speaker has one vector and they are in this order,
        these are the vectors themselves, not a copy, so that a memory-mapped set stays on disk.
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


def enrolment_models(embeddings: Embeddings) -> Vectors:
    """Average the vectors of each speaker, as :func:`speaker_means`, to compare trials with.

    Parameters
    ----------
    embeddings : Embeddings
        Enrolment vectors.

    Raises
    ------
    InputError
        ``all-zero`` where the vectors of a speaker cancel.
    """
    means = speaker_means(embeddings)
    if means is not embeddings.vectors:
        first = np.empty(len(means), np.int64)
        first[embeddings.speakers[::-1]] = np.arange(len(embeddings))[::-1]
        refuse_cancelled(means, embeddings.vectors[first], embeddings.names, embeddings.origin)
    return means


def refuse_cancelled(means: Vectors, vectors: Vectors, speakers: Names, source: str) -> None:
    """Refuse means of vectors that cancel each other.

    Such a mean has no direction, so nobody would be recognised by it. That would count as perfect
    protection of the speaker although it says nothing about the voice: hence an error, not a note.

    Parameters
    ----------
    means : array of float32, n × d
        Mean vectors.
    vectors : array of float32, n × d
        One of the vectors behind each mean, to compare its length with.
    speakers : array of str, n
        Speaker of each mean.
    source : str
        Where they come from, for messages.

    Raises
    ------
    InputError
        ``all-zero``; the message names the speakers.
    """
    limits = CANCELLED * np.linalg.norm(vectors, axis=1)
    cancelled = np.unique(speakers[np.linalg.norm(means, axis=1) <= limits])
    if len(cancelled):
        raise InputError(
            f"{source}: the vectors of {first_few(map(str, cancelled), len(cancelled))} cancel, "
            "their mean is zero; embed the recordings again or leave them out",
            code="all-zero",
        )


def add_by_speaker(sums: FloatArray, vectors: RealArray, speakers: IntArray) -> None:
    """Add each vector to the row of its speaker, in place.

    This is a product with a sparse table of zeros and ones that has rows only for the speakers of
    these vectors, so that a block does not cost more where there are many speakers.

    Parameters
    ----------
    sums : array of float64, s × d
        One row per speaker; changed in place.
    vectors : array of float, n × d
        What is added.
    speakers : array of int, n
        The row of ``sums`` for each vector.
    """
    present, at = np.unique(speakers, return_inverse=True)
    membership = scipy.sparse.csr_array(
        (np.ones(len(at)), (at, np.arange(len(at)))), (len(present), len(at))
    )
    sums[present] += membership @ vectors
