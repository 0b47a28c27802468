"""Training of the two-covariance model by EM, from sums over speakers only.

The data are passed over once; after that an iteration costs a few products of the size of
speakers × D × D, however many vectors there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from sottovoce.core.errors import InputError
from sottovoce.core.types import FloatArray, IntArray, Vectors
from sottovoce.speaker.embeddings import Embeddings, add_by_speaker, blocks

RIDGE = 1e-6
"""Added to the variances within speakers, as a share of their mean: nothing is divided by zero
where a coordinate is constant."""
LEAST_PSI = 1e-3
"""Least ψ to start from; at 0 a direction could never come to tell speakers apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """All that training needs of the data."""

    counts: IntArray
    """n, the number of vectors of each speaker."""
    mean: FloatArray
    """m, over all vectors."""
    means: FloatArray
    """The mean vector of each speaker, less m."""
    within: FloatArray
    """Scatter of the vectors about the means of their speakers, with the ridge."""

    @classmethod
    def of(cls, embeddings: Embeddings, process: Callable[[Vectors], FloatArray]) -> Statistics:
        """One pass over the vectors, each block processed first."""
        sums, squares = _sums(embeddings, process)
        counts = embeddings.counts
        mean = sums.sum(0) / counts.sum()
        means = sums / counts[:, None]
        within = squares - means.T @ sums
        variance = np.trace(within) / len(within)
        if not variance > 1e-10 * np.trace(squares) / len(within):
            raise InputError(
                f"{embeddings.origin}: all vectors of a speaker are the same; PLDA needs "
                "different recordings of a speaker"
            )
        within = (within + within.T) / 2 + RIDGE * variance * np.eye(len(within))
        return cls(counts, mean, means - mean, within)

    @property
    def between(self) -> FloatArray:
        """Scatter of the speakers' means, each counted as often as it has vectors."""
        return np.asarray((self.means.T * self.counts) @ self.means)

    @property
    def beyond(self) -> int:
        """N − S, the vectors beyond the first of each speaker."""
        return int(self.counts.sum()) - len(self.counts)


def _sums(
    embeddings: Embeddings, process: Callable[[Vectors], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Sums of the vectors of each speaker, and all products XᵀX."""
    width = process(embeddings.vectors[:1]).shape[1]
    sums, squares = np.zeros((len(embeddings.names), width)), np.zeros((width, width))
    for rows in blocks(len(embeddings)):
        vectors = process(embeddings.vectors[rows])
        add_by_speaker(sums, vectors, embeddings.speakers[rows])
        squares += vectors.T @ vectors
    return sums, squares


def discriminants(data: Statistics, wanted: int) -> FloatArray:
    """Directions that tell speakers apart best; where vectors are few, among the main ones only.

    With fewer than D vectors beyond the first of each speaker the scatter within speakers is
    singular: then as many main directions are kept first as there are such vectors. Belhumeur,
    Hespanha & Kriegman, "Eigenfaces vs. Fisherfaces", IEEE TPAMI 19(7), 1997.
    """
    size, between = len(data.within), data.between
    main = eigh(between + data.within)[1][:, size - min(size, data.beyond) :]
    within = main.T @ data.within @ main / data.beyond
    best = eigh(main.T @ between @ main, within)[1][:, ::-1]
    return np.asarray(main @ best[:, :wanted])


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """The model, and the data in its basis."""

    transform: FloatArray
    """V, from the basis of the data to that of the model."""
    psi: FloatArray
    counts: IntArray
    means: FloatArray
    within: FloatArray

    @property
    def share(self) -> float:
        """Of the variance of a vector, what lies between speakers: tr B / tr (B + W)."""
        directions = np.square(np.linalg.inv(self.transform)).sum(1)
        return float(directions @ self.psi / (directions @ (1 + self.psi)))

    def rebased(self, between: FloatArray, within: FloatArray) -> Model:
        """The model with these B and W, given in the present basis."""
        psi, basis = eigh(between, within)
        psi, basis = psi[::-1], basis[:, ::-1]
        return Model(
            self.transform @ basis,
            np.maximum(psi, 0.0),
            self.counts,
            self.means @ basis,
            basis.T @ self.within @ basis,
        )


def train(data: Statistics, iterations: int) -> tuple[Model, tuple[float, ...]]:
    """The model after some iterations, and the likelihood at the start and after each."""
    model = moments(data)
    likelihoods = [log_likelihood(model)]
    for _ in range(iterations):
        model = improve(model)
        likelihoods.append(log_likelihood(model))
    return model, tuple(likelihoods)


def shrunk(model: Model, amount: float) -> Model:
    """B and W drawn towards multiples of the identity, which keeps what few data claim in check.

    At ``amount`` 1 every direction counts the same, and scores order pairs nearly as cosine does.
    """
    basis = model.transform
    back = np.linalg.inv(basis)
    within = back.T @ back
    between = (back.T * model.psi) @ back
    return model.rebased(
        *(basis.T @ towards_sphere(one, amount) @ basis for one in (between, within))
    )


def towards_sphere(covariance: FloatArray, amount: float) -> FloatArray:
    """A covariance mixed with the multiple of the identity that has the same trace."""
    size = len(covariance)
    sphere = np.trace(covariance) / size * np.eye(size)
    return np.asarray((1 - amount) * covariance + amount * sphere)


def moments(data: Statistics) -> Model:
    """Closed form: W from the scatter within, B from what the scatter between has beyond it.

    The scatter between speakers is expected to be (S − 1) W + (N − Σn²/N) B.
    """
    total, size = data.counts.sum(), len(data.within)
    within = data.within / data.beyond
    weight = total - np.square(data.counts).sum() / total
    between = (data.between - (len(data.counts) - 1) * within) / weight
    start = Model(np.eye(size), np.zeros(size), data.counts, data.means, data.within)
    model = start.rebased(between, within)
    return replace(model, psi=np.maximum(model.psi, LEAST_PSI))


def improve(model: Model) -> Model:
    """One iteration of EM: expected places of the speakers, then B and W that fit them best.

    The place of a speaker with mean z has mean nψ/(1 + nψ) z and variance ψ/(1 + nψ).
    """
    n = model.counts[:, None]
    variance = model.psi / (1 + n * model.psi)
    places = n * variance * model.means
    rest = model.means - places
    between = places.T @ places + np.diag(variance.sum(0))
    within = model.within + (n * rest).T @ rest + np.diag((n * variance).sum(0))
    return model.rebased(between / len(n), within / n.sum())


def log_likelihood(model: Model) -> float:
    """Log density of all training vectors, speakers' places integrated out."""
    n = model.counts[:, None]
    total, size = int(n.sum()), len(model.psi)
    volume = total * (size * np.log(2 * np.pi) - 2 * np.linalg.slogdet(model.transform)[1])
    grown = 1 + n * model.psi
    distance = np.trace(model.within) + (n * np.square(model.means) / grown).sum()
    return float(-(volume + np.log(grown).sum() + distance) / 2)
