"""Clustering of points: k-means from a fixed start, and affinity propagation.

Both always give the same result for the same data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import FloatArray, IntArray

K_MEANS_ROUNDS = 30
"""Most iterations of k-means."""
ROUNDS = 200
"""Most iterations of affinity propagation for each damping factor."""
STABLE_ROUNDS = 15
"""Iterations over which the exemplars must stay the same."""
DAMPINGS = (0.5, 0.7, 0.9, 0.97)
"""Damping factors of the messages; the next one is tried if the messages keep oscillating."""


def nearest_centre(points: FloatArray, centres: FloatArray) -> NDArray[np.intp]:
    """Find the closest centre of each point by Euclidean distance.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
        The points.
    centres : ndarray of float64, shape (k, d)
        The centres.

    Returns
    -------
    ndarray of intp, shape (n,)
        Row number of the closest centre.
    """
    squares = np.einsum("cb,cb->c", centres, centres)
    return np.asarray(np.argmin(squares - 2 * points @ centres.T, axis=1), np.intp)


def k_means(points: FloatArray, count: int) -> FloatArray:
    """Cluster points by k-means.

    The start is not random: groups of equal size along the first principal component.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
        The points.
    count : int
        Number of clusters k; there are fewer if there are fewer points.

    Returns
    -------
    ndarray of float64, shape (min(k, n), d)
        The centres of the clusters.
    """
    count = min(count, len(points))
    if count == 0:
        return points[:0]
    centred = points - points.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    order = np.argsort(centred @ directions[:, -1], kind="stable")
    centres = np.stack([points[group].mean(axis=0) for group in np.array_split(order, count)])
    labels = np.full(len(points), -1)
    for _ in range(K_MEANS_ROUNDS):
        closest = nearest_centre(points, centres)
        if np.array_equal(closest, labels):
            break
        labels = closest
        for label in np.unique(labels):
            centres[label] = points[labels == label].mean(axis=0)
    return centres


def affinity_propagation(similarity: FloatArray, preference: float | None = None) -> IntArray:
    """Cluster points around exemplars; the data decide how many clusters there are.

    Frey & Dueck, "Clustering by passing messages between data points", Science 315, 2007.

    Parameters
    ----------
    similarity : ndarray of float64, shape (n, n)
        Similarity of each pair of points; the diagonal is ignored.
    preference : float, optional
        Similarity of a point to itself; the higher it is, the more clusters there are. By default
        the median of all similarities.

    Returns
    -------
    ndarray of int64, shape (n,)
        Row number of each point's exemplar; an exemplar is its own.

    Examples
    --------
    >>> places = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 9.0])
    >>> affinity_propagation(-np.square(places[:, None] - places)).tolist()
    [1, 1, 1, 4, 4, 4]
    """
    count = len(similarity)
    if count == 1:
        return np.zeros(1, np.int64)
    similarity = np.array(similarity, np.float64)
    np.fill_diagonal(similarity, np.median(similarity) if preference is None else preference)
    # Equal similarities make the messages oscillate; noise in the last digit breaks ties.
    noise = np.random.default_rng(0).standard_normal((count, count))
    tiny = np.finfo(np.float64)
    similarity += (tiny.eps * np.abs(similarity) + tiny.tiny * 100) * noise
    for damping in DAMPINGS:
        exemplars, settled = _exchange(similarity, damping)
        if settled:
            break
    return _assigned(similarity, exemplars)


def _exchange(similarity: FloatArray, damping: float) -> tuple[IntArray, bool]:
    """Exchange responsibilities r(i, k) and availabilities a(i, k) until the exemplars are stable.

    Returns the exemplars and whether they became stable.
    """
    count = len(similarity)
    rows = np.arange(count)
    availability, responsibility = np.zeros((count, count)), np.zeros((count, count))
    previous, stable = np.zeros(count, np.bool_), 0
    for _ in range(ROUNDS):
        total = availability + similarity
        best = total.argmax(1)
        largest = total[rows, best]
        total[rows, best] = -np.inf
        update = similarity - largest[:, None]
        update[rows, best] = similarity[rows, best] - total.max(1)
        responsibility = damping * responsibility + (1 - damping) * update
        support = np.maximum(responsibility, 0)
        support[rows, rows] = responsibility[rows, rows]
        update = support.sum(0) - support
        diagonal = update[rows, rows].copy()
        update = np.minimum(update, 0)
        update[rows, rows] = diagonal
        availability = damping * availability + (1 - damping) * update
        current = availability[rows, rows] + responsibility[rows, rows] > 0
        stable = stable + 1 if current.any() and (current == previous).all() else 0
        previous = current
        if stable >= STABLE_ROUNDS:
            return np.flatnonzero(current), True
    return np.flatnonzero(previous), False


def _assigned(similarity: FloatArray, exemplars: IntArray) -> IntArray:
    """Choose the best exemplar of each cluster, and assign each point to the most similar one."""
    if not len(exemplars):
        exemplars = similarity.sum(0).argmax(keepdims=True)
    clusters = _most_similar(similarity, exemplars)
    for cluster in range(len(exemplars)):
        members = np.flatnonzero(clusters == cluster)
        exemplars[cluster] = members[similarity[np.ix_(members, members)].sum(0).argmax()]
    return np.asarray(exemplars[_most_similar(similarity, exemplars)], np.int64)


def _most_similar(similarity: FloatArray, exemplars: IntArray) -> IntArray:
    clusters = similarity[:, exemplars].argmax(1)
    clusters[exemplars] = np.arange(len(exemplars))
    return np.asarray(clusters, np.int64)
