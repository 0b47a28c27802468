"""Linkage functions: cosine, Euclidean distance, whitening and a trained projection.

Every score is one matrix product: a linkage function turns enrolment models and trials into two
tables of the same width whose product holds all scores, so a caller can multiply block by block
and never has to hold all scores in memory.

There are two ways to learn the map: *whitening* makes the variation between recordings of one
speaker equally large in every direction (Hatch, Kajarekar & Stolcke, "Within-class covariance
normalization for SVM-based speaker recognition", Interspeech 2006); *training* continues from there
so that each recording lies nearest to the other recordings of its speaker (the loss of Wan et al.,
"Generalized end-to-end loss for speaker verification", ICASSP 2018).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import FloatArray, IntArray, Vectors
from sottovoce.speaker.averages import speaker_means
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.plda_training import shrunk_covariance

Counts = IntArray | int
"""Number of utterances behind each enrolment model; one number if it is the same for all."""


class LinkageFunction(Protocol):
    """Scores of enrolment models against trials; higher means more alike.

    The score of model i and trial j is row i of :meth:`enrol` times row j of :meth:`trial`.
    """

    @property
    def name(self) -> str:
        """Name of the kind of linkage function, for results."""

    def enrol(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare enrolment models.

        Parameters
        ----------
        vectors : array of float32, n × d
            One model per row: the mean of the embeddings of a speaker's utterances.
        counts : int or array of int, n
            Number of utterances each mean was taken over.

        Returns
        -------
        array of float32, n × w
        """

    def trial(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare trials.

        Parameters
        ----------
        vectors : array of float32, m × d
            One embedding per row.
        counts : int or array of int
            The ``counts`` that are given to :meth:`enrol` for the models to compare with.

        Returns
        -------
        array of float32, m × w
        """


class Cosine:
    """Cosine of the angle between two vectors.

    Parameters
    ----------
    centre : array of float, d, optional
        Subtracted from every vector first.
    """

    name = "cosine"

    def __init__(self, centre: NDArray[np.floating] | None = None) -> None:
        self.centre = centre

    def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Subtract the centre and scale to unit length.

        Parameters
        ----------
        vectors : array of float32, n × d
            Models or trials.
        counts : int or array of int, default 1
            Not used.
        """
        centred = vectors if self.centre is None else vectors - self.centre.astype(np.float32)
        lengths = np.linalg.norm(centred, axis=1, keepdims=True)
        return np.asarray(centred / np.maximum(lengths, np.finfo(np.float32).tiny), np.float32)

    trial = enrol


class Euclidean:
    """Minus the squared Euclidean distance, which ranks pairs as minus the distance does.

    Parameters
    ----------
    centre : array of float, d, optional
        Subtracted from every vector first. It does not change the distances, only their precision:
        squares cancel with less loss near the origin.
    """

    name = "euclidean"

    def __init__(self, centre: NDArray[np.floating] | None = None) -> None:
        self.centre = centre

    def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Rows (2a, −a², −1), which times (b, 1, b²) give −(a − b)².

        Parameters
        ----------
        vectors : array of float32, n × d
            Enrolment models.
        counts : int or array of int, default 1
            Not used.
        """
        centred, squares = self._centred(vectors)
        return np.hstack((2 * centred, -squares, -np.ones_like(squares)))

    def trial(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Rows (b, 1, b²).

        Parameters
        ----------
        vectors : array of float32, m × d
            Trials.
        counts : int or array of int, default 1
            Not used.
        """
        centred, squares = self._centred(vectors)
        return np.hstack((centred, np.ones_like(squares), squares))

    def _centred(self, vectors: Vectors) -> tuple[Vectors, Vectors]:
        centred = vectors if self.centre is None else vectors - self.centre.astype(np.float32)
        return centred, np.einsum("ij,ij->i", centred, centred)[:, None]


def recentred(linkage: LinkageFunction, vectors: Vectors) -> LinkageFunction:
    """Move the origin of a Euclidean distance for precision; its scores stay the same otherwise.

    Parameters
    ----------
    linkage : LinkageFunction
        Returned as it is unless it is :class:`Euclidean` without a centre.
    vectors : array of float32, n × d
        Embeddings that will be compared; the new origin is the mean of up to 10,000 of them.
    """
    if isinstance(linkage, Euclidean) and linkage.centre is None:
        return Euclidean(vectors[:: max(1, len(vectors) // 10_000)].mean(axis=0, dtype=np.float64))
    return linkage


SCALE = 20.0
"""Factor that turns a cosine into log odds in training."""


class Projected:
    """Cosine after a linear map.

    Parameters
    ----------
    name : str
        Name of the linkage function.
    centre : array of float64, d
        Subtracted from every vector first.
    matrix : array of float64, d × D
        The map; its columns are directions.
    """

    def __init__(self, name: str, centre: FloatArray, matrix: FloatArray) -> None:
        self.name = name
        self.centre = centre
        self.matrix = matrix

    def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Subtract the centre, apply the map and scale to unit length.

        Parameters
        ----------
        vectors : array of float32, n × d
            Models or trials.
        counts : int or array of int, default 1
            Not used.
        """
        return Cosine().enrol(np.asarray((vectors - self.centre) @ self.matrix, np.float32))

    trial = enrol


def fit_whitening(train: Embeddings, *, shrinkage: float = 0.5) -> Projected:
    """Learn the map W^(−1/2) from the covariance W within speakers.

    Parameters
    ----------
    train : Embeddings
        At least 2 speakers, and a speaker with several vectors.
    shrinkage : float, default 0.5
        Share, from 0 to 1, by which W is mixed with a multiple of the identity first.

    Raises
    ------
    TooFewError
        ``too-few`` where there are too few speakers or vectors, ``constant`` where all vectors of
        a speaker are equal.
    """
    centre, centred = _centred(train)
    return Projected("whitening", centre, _whitening(train, centred, shrinkage))


def fit_projection(
    train: Embeddings, *, shrinkage: float = 0.5, penalty: float = 1.0, iterations: int = 60
) -> Projected:
    """Learn a map by gradient descent, starting from the whitening.

    Parameters
    ----------
    train : Embeddings
        At least 2 speakers, and a speaker with several vectors.
    shrinkage : float, default 0.5
        As for :func:`fit_whitening`.
    penalty : float, default 1.0
        Weight of the squared distance from the start.
    iterations : int, default 60
        At most so many steps of L-BFGS.

    Raises
    ------
    TooFewError
        As :func:`fit_whitening`.
    """
    centre, centred = _centred(train)
    start = _whitening(train, centred, shrinkage)
    start /= np.linalg.norm(start) / np.sqrt(len(start))
    loss = _Loss(centred, train.speakers, start, penalty)
    solution = scipy.optimize.minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations}
    )
    return Projected("projection", centre, solution.x.reshape(start.shape))


def _centred(train: Embeddings) -> tuple[FloatArray, FloatArray]:
    if len(train.names) < 2 or len(train) == len(train.names):
        raise TooFewError(
            f"{train.origin}: {len(train):,} vectors of {len(train.names):,} speakers; a map is "
            "learnt from several recordings of at least 2 speakers: add some"
        )
    centre = train.vectors.mean(axis=0, dtype=np.float64)
    return centre, train.vectors - centre


def _whitening(train: Embeddings, centred: FloatArray, shrinkage: float) -> FloatArray:
    means = speaker_means(train) - train.vectors.mean(axis=0, dtype=np.float64)
    residuals = centred - means[train.speakers]
    scatter = residuals.T @ residuals
    within = shrunk_covariance(scatter / (len(residuals) - len(means)), shrinkage)
    values, basis = np.linalg.eigh(within)  # SciPy's fails on some with many equal eigenvalues
    if not values.max() > 0:
        raise TooFewError(
            f"{train.origin}: all recordings of a speaker have the same vector; a map is learnt "
            "from how they differ: give other recordings",
            code="constant",
        )
    values = np.maximum(values, 1e-9 * values.max())
    return np.asarray(basis / np.sqrt(values) @ basis.T)


class _Loss:
    """Cross entropy of recognising the speaker of each recording, and its gradient in the map.

    A speaker is represented by the mean of its recordings; for a recording of the speaker itself,
    by the mean of the other recordings.
    """

    def __init__(
        self, vectors: FloatArray, speakers: IntArray, start: FloatArray, penalty: float
    ) -> None:
        counts = np.bincount(speakers)
        usable = counts[speakers] > 1
        sums = np.zeros((len(counts), vectors.shape[1]))
        np.add.at(sums, speakers, vectors)
        self.means = sums / counts[:, None]
        self.vectors, self.speakers = vectors[usable], speakers[usable]
        other_sums = sums[self.speakers] - self.vectors
        self.other_means = other_sums / (counts[self.speakers] - 1)[:, None]
        self.start, self.penalty = start, penalty

    def __call__(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Loss and gradient at a map, which is given as one row of numbers."""
        matrix = flat.reshape(self.start.shape)
        rows = np.arange(len(self.speakers))
        (x, x_length), (m, m_length), (o, o_length) = (
            _unit(part @ matrix) for part in (self.vectors, self.means, self.other_means)
        )
        logits = SCALE * (x @ m.T)
        logits[rows, self.speakers] = SCALE * np.einsum("ij,ij->i", x, o)
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        loss = -np.log(np.maximum(shares[rows, self.speakers], 1e-300)).mean()
        pull = shares * (SCALE / len(rows))
        true_pull = pull[rows, self.speakers] - SCALE / len(rows)
        pull[rows, self.speakers] = 0
        gradient = self.vectors.T @ _before_scaling(pull @ m + true_pull[:, None] * o, x, x_length)
        gradient += self.means.T @ _before_scaling(pull.T @ x, m, m_length)
        gradient += self.other_means.T @ _before_scaling(true_pull[:, None] * x, o, o_length)
        away = (matrix - self.start) * (self.penalty / len(matrix))
        return float(loss + (away * (matrix - self.start)).sum() / 2), (gradient + away).ravel()


def _unit(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return vectors / lengths, lengths


def _before_scaling(gradient: FloatArray, unit: FloatArray, lengths: FloatArray) -> FloatArray:
    """Turn the gradient in vectors of unit length into that in the vectors before scaling."""
    along = np.einsum("ij,ij->i", gradient, unit)[:, None]
    return np.asarray((gradient - along * unit) / lengths)
