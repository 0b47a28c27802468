"""Logistic regression over dense vectors or sparse counts, for attributes of speakers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax, softmax

from sottovoce.core.types import FloatArray, IntArray

Inputs: TypeAlias = FloatArray | csr_array
"""A row for each example; without the column of ones, which is added here."""

MAX_ITERATIONS = 200


def train_logistic(
    inputs: Inputs,
    answers: IntArray,
    n_values: int,
    *,
    penalty: float = 1.0,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Train by maximum likelihood with a penalty on the squared coefficients.

    Parameters
    ----------
    inputs : ndarray or csr_array, shape (examples, features)
        What is known of each example.
    answers : ndarray of int64, shape (examples,)
        The value of each example.
    n_values : int
        How many values there are.
    penalty : float, default 1
        Weight of half the squared coefficients against the summed loss.
    weights : ndarray of float64, shape (examples,), optional
        Of the examples; default 1 each.

    Returns
    -------
    ndarray of float64, shape (features + 1, values)
        Coefficients; those of the bias last.
    """
    shape = (inputs.shape[1] + 1, n_values)
    rows = np.arange(len(answers))
    share = np.ones(len(answers)) if weights is None else weights
    transposed = inputs.T.tocsr() if isinstance(inputs, csr_array) else inputs.T

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        coefficients = flat.reshape(shape)
        logits = inputs @ coefficients[:-1] + coefficients[-1]
        residual: NDArray[np.float64] = softmax(logits, axis=1)
        residual[rows, answers] -= 1
        residual *= share[:, None]
        value = -(share * log_softmax(logits, axis=1)[rows, answers]).sum()
        value += penalty * np.square(coefficients[:-1]).sum() / 2
        gradient = np.empty(shape)
        gradient[:-1] = transposed @ residual + penalty * coefficients[:-1]
        gradient[-1] = residual.sum(axis=0)
        return float(value), gradient.ravel()

    start = np.zeros(shape[0] * shape[1])
    options = {"maxiter": MAX_ITERATIONS}
    optimum = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(optimum.x.reshape(shape))


def log_probabilities(inputs: Inputs, coefficients: FloatArray) -> FloatArray:
    """Return ln P of each value for each example.

    Parameters
    ----------
    inputs : ndarray or csr_array, shape (examples, features)
        What is known of each example.
    coefficients : ndarray of float64, shape (features + 1, values)
        Of :func:`train_logistic`.
    """
    return np.asarray(log_softmax(inputs @ coefficients[:-1] + coefficients[-1], axis=1))
