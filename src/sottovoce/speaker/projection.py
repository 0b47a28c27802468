"""Linear maps learnt from speakers of one's own, and cosine in the space they lead to.

Two ways to the map: *whitening* makes what differs between recordings of one speaker equally large
in every direction (Hatch, Kajarekar & Stolcke, "Within-class covariance normalization for
SVM-based speaker recognition", Interspeech 2006); *training* goes on from there so that each
recording lies nearest to the other recordings of its speaker (the loss of Wan et al., "Generalized
end-to-end loss for speaker verification", ICASSP 2018).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import FloatArray, IntArray, Vectors
from sottovoce.speaker.embeddings import Embeddings, speaker_means
from sottovoce.speaker.linkage import Cosine, Counts
from sottovoce.speaker.plda_training import towards_sphere

SCALE = 20.0
"""By which a cosine is multiplied before it counts as log odds in training."""


class Projected:
    """Cosine after taking ``centre`` off and applying ``matrix`` (columns are directions)."""

    def __init__(self, name: str, centre: FloatArray, matrix: FloatArray) -> None:
        self.name = name
        self.centre = centre
        self.matrix = matrix

    def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Centre, map and bring to length one."""
        return Cosine().enrol(np.asarray((vectors - self.centre) @ self.matrix, np.float32))

    trial = enrol


def fit_whitening(train: Embeddings, *, shrinkage: float = 0.5) -> Projected:
    """W^(−1/2) of the covariance W within speakers, first drawn towards a sphere."""
    centre, centred = _centred(train)
    return Projected("whitening", centre, _whitening(train, centred, shrinkage))


def fit_projection(
    train: Embeddings, *, shrinkage: float = 0.5, penalty: float = 1.0, iterations: int = 60
) -> Projected:
    """A trained map; ``penalty`` holds it near the whitening it starts from."""
    centre, centred = _centred(train)
    start = _whitening(train, centred, shrinkage)
    start /= np.linalg.norm(start) / np.sqrt(len(start))
    loss = _Loss(centred, train.speakers, start, penalty)
    found = minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations}
    )
    return Projected("projection", centre, found.x.reshape(start.shape))


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
    rest = centred - means[train.speakers]
    within = towards_sphere(rest.T @ rest / (len(rest) - len(means)), shrinkage)
    values, basis = eigh(within)
    if not values.max() > 0:
        raise TooFewError(
            f"{train.origin}: all recordings of a speaker have the same vector; a map is learnt "
            "from how they differ: give other recordings"
        )
    values = np.maximum(values, 1e-9 * values.max())
    return np.asarray(basis / np.sqrt(values) @ basis.T)


class _Loss:
    """Cross entropy of telling each recording's speaker, and its gradient in the map.

    A speaker is the mean of its recordings; for a recording's own speaker, of the others.
    """

    def __init__(
        self, vectors: FloatArray, speakers: IntArray, start: FloatArray, penalty: float
    ) -> None:
        counts = np.bincount(speakers)
        kept = counts[speakers] > 1
        sums = np.zeros((len(counts), vectors.shape[1]))
        np.add.at(sums, speakers, vectors)
        self.means = sums / counts[:, None]
        self.vectors, self.own = vectors[kept], speakers[kept]
        others = sums[self.own] - self.vectors
        self.others = others / (counts[self.own] - 1)[:, None]
        self.start, self.penalty = start, penalty

    def __call__(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Loss and gradient at a map given as one row of numbers."""
        matrix = flat.reshape(self.start.shape)
        rows = np.arange(len(self.own))
        (x, x_length), (m, m_length), (o, o_length) = (
            _unit(part @ matrix) for part in (self.vectors, self.means, self.others)
        )
        logits = SCALE * (x @ m.T)
        logits[rows, self.own] = SCALE * np.einsum("ij,ij->i", x, o)
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        loss = -np.log(np.maximum(shares[rows, self.own], 1e-300)).mean()
        pull = shares * (SCALE / len(rows))
        own = pull[rows, self.own] - SCALE / len(rows)
        pull[rows, self.own] = 0
        gradient = self.vectors.T @ _through(pull @ m + own[:, None] * o, x, x_length)
        gradient += self.means.T @ _through(pull.T @ x, m, m_length)
        gradient += self.others.T @ _through(own[:, None] * x, o, o_length)
        away = (matrix - self.start) * (self.penalty / len(matrix))
        return float(loss + (away * (matrix - self.start)).sum() / 2), (gradient + away).ravel()


def _unit(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return vectors / lengths, lengths


def _through(gradient: FloatArray, unit: FloatArray, lengths: FloatArray) -> FloatArray:
    """The gradient before a vector was brought to length one."""
    along = np.einsum("ij,ij->i", gradient, unit)[:, None]
    return np.asarray((gradient - along * unit) / lengths)
