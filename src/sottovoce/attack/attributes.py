"""What else a voice tells: gender, or any column of the manifest, from embeddings.

Logistic regression, tested on speakers it was not trained on, against always guessing the most
frequent answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import FloatArray, IntArray
from sottovoce.measure.intervals import share_interval
from sottovoce.speaker.embeddings import Embeddings

FOLDS = 5
PENALTY = 1.0
"""Weight of the squared coefficients against the mean loss times the number of recordings."""


@dataclass(frozen=True, slots=True)
class Inference:
    """How often an attribute is told right, speakers counted alike."""

    attribute: str
    values: tuple[str, ...]
    speakers: int
    utterances: int
    accuracy: float
    low: float
    high: float
    majority: float
    """Share right when always guessing the most frequent value of the training speakers."""
    balanced: float
    """Mean over values of the share right among their speakers; guessing gives 1 / values."""

    @property
    def better_than_guessing(self) -> bool:
        """Whether the whole interval lies above the guess."""
        return self.low > self.majority

    def to_dict(self) -> dict[str, Any]:
        """By name, with the judgement."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {
            **plain,
            "values": list(self.values),
            "better_than_guessing": self.better_than_guessing,
        }


def infer(
    embeddings: Embeddings,
    labels: Sequence[str] | NDArray[np.str_],
    *,
    attribute: str = "gender",
    confidence: float = 0.95,
    seed: int = 0,
) -> Inference:
    """Tell an attribute of each recording from its vector; recordings without one are left out."""
    given = np.asarray(labels, np.str_)
    known = np.flatnonzero(given != "")
    values, answers = np.unique(given[known], return_inverse=True)
    who = embeddings.speakers[known]
    group = _folds(who, answers, len(values), attribute, seed)
    vectors = _scaled(embeddings.vectors[known])
    right = np.zeros(len(known))
    guess = np.zeros(len(known))
    for fold in range(FOLDS):
        test = group == fold
        weights = _train(vectors[~test], answers[~test], len(values))
        right[test] = np.argmax(_with_one(vectors[test]) @ weights, axis=1) == answers[test]
        guess[test] = np.bincount(answers[~test]).argmax() == answers[test]
    shares = _by_speaker(right, who)
    interval = share_interval(shares, confidence)
    balanced = [
        _by_speaker(right[answers == one], who[answers == one]).mean() for one in range(len(values))
    ]
    return Inference(
        attribute,
        tuple(map(str, values)),
        len(shares),
        len(known),
        float(shares.mean()),
        interval.low,
        interval.high,
        float(_by_speaker(guess, who).mean()),
        float(np.mean(balanced)),
    )


def _folds(
    who: IntArray, answers: IntArray, count: int, attribute: str, seed: int
) -> NDArray[np.int64]:
    """The fold of each recording: all of a speaker in one, each value spread over all."""
    rng = np.random.default_rng(seed)
    speakers, first = np.unique(who, return_index=True)
    own = answers[first]
    fewest = np.bincount(own, minlength=count).min() if count else 0
    if count < 2 or fewest < 2:
        raise TooFewError(
            f"{attribute}: {count} values, the rarest with {fewest} speakers; at least 2 values "
            "with 2 speakers each are needed to tell them apart"
        )
    fold_of = np.zeros(len(speakers), np.int64)
    for value in range(count):
        members = rng.permutation(np.flatnonzero(own == value))
        fold_of[members] = np.arange(len(members)) % FOLDS
    return np.asarray(fold_of[np.searchsorted(speakers, who)])


def _scaled(vectors: NDArray[np.float32]) -> FloatArray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = unit - unit.mean(axis=0)
    return np.asarray(unit / np.maximum(unit.std(axis=0), 1e-9), np.float64)


def _with_one(vectors: FloatArray) -> FloatArray:
    return np.column_stack((vectors, np.ones(len(vectors))))


def _train(vectors: FloatArray, answers: IntArray, count: int) -> FloatArray:
    """Weights, one column a value, by maximum likelihood with a penalty."""
    inputs = _with_one(vectors)
    shape = (inputs.shape[1], count)
    rows = np.arange(len(answers))

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(shape)
        logits = inputs @ weights
        pull = softmax(logits, axis=1)
        pull[rows, answers] -= 1
        value = -log_softmax(logits, axis=1)[rows, answers].sum()
        value += PENALTY * np.square(weights[:-1]).sum() / 2
        gradient = inputs.T @ pull
        gradient[:-1] += PENALTY * weights[:-1]
        return float(value), gradient.ravel()

    start = np.zeros(shape[0] * shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(found.x.reshape(shape))


def _by_speaker(values: FloatArray, who: IntArray) -> FloatArray:
    _, at = np.unique(who, return_inverse=True)
    return np.asarray(np.bincount(at, values) / np.bincount(at))
