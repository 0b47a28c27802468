"""Training of the two-covariance model of PLDA by EM, from sums over speakers only.

The vectors are read once; after that an iteration costs a few products of size speakers × D × D,
however many vectors there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from sottovoce.core.errors import InputError
from sottovoce.core.types import FloatArray, IntArray, Vectors
from sottovoce.speaker.averages import add_by_speaker
from sottovoce.speaker.embeddings import Embeddings, blocks

RIDGE = 1e-6
"""Added to the variances within speakers, as a share of their mean, so that nothing is divided by
zero where a coordinate is constant."""
LEAST_PSI = 1e-3
"""Smallest ψ to start from; a direction that starts with 0 would stay there."""


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Everything that training needs to know about the vectors."""

    counts: IntArray
    """n, the number of vectors of each speaker."""
    mean: FloatArray
    """m, over all vectors."""
    means: FloatArray
    """The mean vector of each speaker, minus m."""
    within: FloatArray
    """Scatter of the vectors about the means of their speakers, with the ridge."""

    @classmethod
    def of(cls, embeddings: Embeddings, process: Callable[[Vectors], FloatArray]) -> Statistics:
        """Read the vectors once, block by block.

        Parameters
        ----------
        embeddings : Embeddings
            Training vectors.
        process : callable
            Applied to each block, n × d, before it is counted; returns n × D.

        Raises
        ------
        InputError
            ``constant`` where all vectors of a speaker are equal.
        """
        sums, squares = _sums(embeddings, process)
        counts = embeddings.counts
        mean = sums.sum(0) / counts.sum()
        means = sums / counts[:, None]
        within = squares - means.T @ sums
        variance = np.trace(within) / len(within)
        if not variance > 1e-10 * np.trace(squares) / len(within):
            raise InputError(
                f"{embeddings.origin}: all vectors of a speaker are the same; PLDA needs "
                "different recordings of a speaker",
                code="constant",
            )
        within = (within + within.T) / 2 + RIDGE * variance * np.eye(len(within))
        return cls(counts, mean, means - mean, within)

    @property
    def between(self) -> FloatArray:
        """Scatter of the means of the speakers, each weighted by its number of vectors."""
        return np.asarray((self.means.T * self.counts) @ self.means)

    @property
    def beyond(self) -> int:
        """N − S, the number of vectors beyond the first of each speaker."""
        return int(self.counts.sum()) - len(self.counts)


def _sums(
    embeddings: Embeddings, process: Callable[[Vectors], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Sums of the vectors of each speaker, and the product XᵀX over all vectors."""
    width = process(embeddings.vectors[:1]).shape[1]
    sums, squares = np.zeros((len(embeddings.names), width)), np.zeros((width, width))
    for rows in blocks(len(embeddings)):
        vectors = process(embeddings.vectors[rows])
        add_by_speaker(sums, vectors, embeddings.speakers[rows])
        squares += vectors.T @ vectors
    return sums, squares


def discriminants(statistics: Statistics, count: int) -> FloatArray:
    """Linear discriminant analysis: the directions that separate speakers best.

    With fewer than D vectors beyond the first of each speaker the scatter within speakers is
    singular; then only as many principal directions as there are such vectors are considered.
    Belhumeur, Hespanha & Kriegman, "Eigenfaces vs. Fisherfaces", IEEE TPAMI 19(7), 1997.

    Parameters
    ----------
    statistics : Statistics
        Of the training vectors.
    count : int
        Number of directions.

    Returns
    -------
    array of float64, D × count
        One direction per column, the best first.
    """
    size, between = len(statistics.within), statistics.between
    total = between + statistics.within
    principal = np.linalg.eigh(total)[1][:, size - min(size, statistics.beyond) :]
    within = principal.T @ statistics.within @ principal / statistics.beyond
    best = scipy.linalg.eigh(principal.T @ between @ principal, within)[1][:, ::-1]
    return np.asarray(principal @ best[:, :count])


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """The model, and the statistics of the training vectors in its basis."""

    transform: FloatArray
    """V, from the basis of the vectors to that of the model."""
    psi: FloatArray
    """ψ, the variance between speakers in each direction of the basis."""
    counts: IntArray
    """n, the number of vectors of each speaker."""
    means: FloatArray
    """The mean vector of each speaker, minus m."""
    within: FloatArray
    """Scatter within speakers."""

    @property
    def share(self) -> float:
        """Part of the variance of a vector that lies between speakers: tr B / tr (B + W)."""
        directions = np.square(np.linalg.inv(self.transform)).sum(1)
        return float(directions @ self.psi / (directions @ (1 + self.psi)))

    def rebased(self, between: FloatArray, within: FloatArray) -> Model:
        """Return the model with other covariances, in the basis that makes both diagonal.

        Parameters
        ----------
        between, within : array of float64, D × D
            B and W in the present basis.
        """
        psi, basis = scipy.linalg.eigh(between, within)
        psi, basis = psi[::-1], basis[:, ::-1]
        return Model(
            self.transform @ basis,
            np.maximum(psi, 0.0),
            self.counts,
            self.means @ basis,
            basis.T @ self.within @ basis,
        )


def train(statistics: Statistics, iterations: int) -> tuple[Model, tuple[float, ...]]:
    """Train a model by EM.

    Parameters
    ----------
    statistics : Statistics
        Of the training vectors.
    iterations : int
        Number of iterations; 0 for the moment estimate alone.

    Returns
    -------
    model : Model
    log_likelihoods : tuple of float
        Before the first and after each iteration.
    """
    model = moments(statistics)
    log_likelihoods = [log_likelihood(model)]
    for _ in range(iterations):
        model = em_step(model)
        log_likelihoods.append(log_likelihood(model))
    return model, tuple(log_likelihoods)


def shrunk(model: Model, amount: float) -> Model:
    """Mix both covariances of a model with multiples of the identity, against overfitting.

    Parameters
    ----------
    model : Model
        The trained model.
    amount : float
        From 0 (no change) to 1, where all directions have the same weight and scores rank pairs
        nearly as cosine does.
    """
    basis = model.transform
    back = np.linalg.inv(basis)
    within = back.T @ back
    between = (back.T * model.psi) @ back
    return model.rebased(
        basis.T @ shrunk_covariance(between, amount) @ basis,
        basis.T @ shrunk_covariance(within, amount) @ basis,
    )


def shrunk_covariance(covariance: FloatArray, amount: float) -> FloatArray:
    """Mix a covariance with the multiple of the identity that has the same trace.

    Parameters
    ----------
    covariance : array of float64, D × D
        The covariance.
    amount : float
        Weight of the identity, from 0 to 1.
    """
    size = len(covariance)
    sphere = np.trace(covariance) / size * np.eye(size)
    return np.asarray((1 - amount) * covariance + amount * sphere)


def moments(statistics: Statistics) -> Model:
    """Estimate both covariances in closed form.

    W follows from the scatter within speakers, B from the scatter between speakers, whose
    expectation is (S − 1) W + (N − Σn²/N) B.

    Parameters
    ----------
    statistics : Statistics
        Of the training vectors.
    """
    total, size = statistics.counts.sum(), len(statistics.within)
    within = statistics.within / statistics.beyond
    weight = total - np.square(statistics.counts).sum() / total
    between = (statistics.between - (len(statistics.counts) - 1) * within) / weight
    start = Model(
        np.eye(size), np.zeros(size), statistics.counts, statistics.means, statistics.within
    )
    model = start.rebased(between, within)
    return replace(model, psi=np.maximum(model.psi, LEAST_PSI))


def em_step(model: Model) -> Model:
    """One iteration of EM: expected positions of the speakers, then the most likely B and W.

    The position of a speaker with mean z has the mean nψ/(1 + nψ) z and the variance ψ/(1 + nψ).

    Parameters
    ----------
    model : Model
        The model so far.
    """
    n = model.counts[:, None]
    variance = model.psi / (1 + n * model.psi)
    positions = n * variance * model.means
    residuals = model.means - positions
    between = positions.T @ positions + np.diag(variance.sum(0))
    within = model.within + (n * residuals).T @ residuals + np.diag((n * variance).sum(0))
    return model.rebased(between / len(n), within / n.sum())


def log_likelihood(model: Model) -> float:
    """Log density of all training vectors, with the positions of the speakers integrated out.

    Parameters
    ----------
    model : Model
        The model, which holds the statistics of the training vectors.
    """
    n = model.counts[:, None]
    total, size = int(n.sum()), len(model.psi)
    volume = total * (size * np.log(2 * np.pi) - 2 * np.linalg.slogdet(model.transform)[1])
    factor = 1 + n * model.psi
    distance = np.trace(model.within) + (n * np.square(model.means) / factor).sum()
    return float(-(volume + np.log(factor).sum() + distance) / 2)
