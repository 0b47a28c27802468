"""Affinity propagation: clusters around exemplars, as many as the data ask for.

Frey & Dueck, "Clustering by passing messages between data points", Science 315, 2007.
"""

from __future__ import annotations

import numpy as np

from sottovoce.core.types import FloatArray, IntArray

ROUNDS = 200
SETTLED = 15
"""Rounds over which the exemplars must stay the same."""
DAMPINGS = (0.5, 0.7, 0.9, 0.97)
"""How much of a message stays as it was; the next is tried where messages keep swinging."""


def affinity_propagation(similarity: FloatArray, preference: float | None = None) -> IntArray:
    """For each point the point that stands for it; an exemplar stands for itself.

    ``preference`` is a point's similarity to itself, the median of all unless given: the higher it
    is, the more clusters there are.

    >>> places = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 9.0])
    >>> affinity_propagation(-np.square(places[:, None] - places)).tolist()
    [1, 1, 1, 4, 4, 4]
    """
    count = len(similarity)
    if count == 1:
        return np.zeros(1, np.int64)
    similarity = np.array(similarity, np.float64)
    np.fill_diagonal(similarity, np.median(similarity) if preference is None else preference)
    # equal similarities make messages swing for ever; a last digit breaks the tie
    noise = np.random.default_rng(0).standard_normal((count, count))
    tiny = np.finfo(np.float64)
    similarity += (tiny.eps * np.abs(similarity) + tiny.tiny * 100) * noise
    for damping in DAMPINGS:
        exemplars, settled = _exchange(similarity, damping)
        if settled:
            break
    return _assigned(similarity, exemplars)


def _exchange(similarity: FloatArray, damping: float) -> tuple[IntArray, bool]:
    """Send responsibilities r(i, k) and availabilities a(i, k) until the exemplars stay."""
    count = len(similarity)
    rows = np.arange(count)
    available, responsible = np.zeros((count, count)), np.zeros((count, count))
    before, same = np.zeros(count, np.bool_), 0
    for _ in range(ROUNDS):
        wish = available + similarity
        best = wish.argmax(1)
        first = wish[rows, best]
        wish[rows, best] = -np.inf
        news = similarity - first[:, None]
        news[rows, best] = similarity[rows, best] - wish.max(1)
        responsible = damping * responsible + (1 - damping) * news
        support = np.maximum(responsible, 0)
        support[rows, rows] = responsible[rows, rows]
        news = support.sum(0) - support
        own = news[rows, rows].copy()
        news = np.minimum(news, 0)
        news[rows, rows] = own
        available = damping * available + (1 - damping) * news
        now = available[rows, rows] + responsible[rows, rows] > 0
        same = same + 1 if now.any() and (now == before).all() else 0
        before = now
        if same >= SETTLED:
            return np.flatnonzero(now), True
    return np.flatnonzero(before), False


def _assigned(similarity: FloatArray, exemplars: IntArray) -> IntArray:
    """Each point to its most similar exemplar, after each cluster has chosen its best one."""
    if not len(exemplars):
        exemplars = similarity.sum(0).argmax(keepdims=True)
    nearest = _nearest(similarity, exemplars)
    for number in range(len(exemplars)):
        members = np.flatnonzero(nearest == number)
        exemplars[number] = members[similarity[np.ix_(members, members)].sum(0).argmax()]
    return np.asarray(exemplars[_nearest(similarity, exemplars)], np.int64)


def _nearest(similarity: FloatArray, exemplars: IntArray) -> IntArray:
    nearest = similarity[:, exemplars].argmax(1)
    nearest[exemplars] = np.arange(len(exemplars))
    return np.asarray(nearest, np.int64)
