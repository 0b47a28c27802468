"""Clustering: k-means, and affinity propagation against scikit-learn and its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.core.clustering import affinity_propagation, k_means, nearest_centre

# sklearn.cluster.AffinityPropagation(affinity="precomputed", random_state=0) of scikit-learn 1.9.1
# on the points of `points(3)`, as the index of each point's exemplar
PEER = [
    *(39, 39, 30, 39, 39, 39, 39, 39, 30, 9, 9, 24, 30, 30, 39, 30, 9, 30, 39, 32),
    *(39, 24, 39, 39, 24, 9, 30, 39, 32, 39, 30, 9, 32, 39, 32, 30, 30, 39, 32, 39),
]


def points(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, 2))[rng.integers(8, size=40)] * 4
    return np.round(centres + rng.normal(size=(40, 2)), 2)


def negative_distances(positions: np.ndarray) -> np.ndarray:
    return np.asarray(-np.square(positions[:, None] - positions).sum(-1))


def test_affinity_propagation_equals_scikit_learn() -> None:
    assert affinity_propagation(negative_distances(points(3))).tolist() == PEER


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_points_belong_to_the_most_similar_exemplar(seed: int) -> None:
    similarity = negative_distances(points(seed))
    labels = affinity_propagation(similarity)
    exemplars = np.unique(labels)
    assert (labels[exemplars] == exemplars).all()
    members = np.setdiff1d(np.arange(40), exemplars)
    best = similarity[np.ix_(members, exemplars)].max(1)
    np.testing.assert_allclose(similarity[members, labels[members]], best)


def test_higher_preference_makes_more_clusters() -> None:
    similarity = negative_distances(points(1))
    few, many = (len(set(affinity_propagation(similarity, p).tolist())) for p in (-500.0, -0.5))
    assert few < many


def test_a_single_point_is_its_own_exemplar() -> None:
    assert affinity_propagation(np.zeros((1, 1))).tolist() == [0]


def test_equal_points_do_not_oscillate_for_ever() -> None:
    assert len(affinity_propagation(np.zeros((6, 6)))) == 6


def test_k_means_recovers_separate_clusters_and_repeats_itself() -> None:
    rng = np.random.default_rng(2)
    centres = 5 * rng.normal(size=(8, 20))
    samples = np.repeat(centres, 40, axis=0) + rng.normal(0, 0.1, (320, 20))
    estimated = k_means(samples[rng.permutation(320)], 8)
    assert sorted(nearest_centre(centres, estimated).tolist()) == list(range(8))
    order = nearest_centre(centres, estimated)
    np.testing.assert_allclose(estimated[order], centres, atol=0.1)
    np.testing.assert_array_equal(k_means(samples, 8), k_means(samples, 8))


def test_k_means_of_fewer_points_than_clusters() -> None:
    samples = np.random.default_rng(0).normal(size=(3, 5))
    assert len(k_means(samples, 8)) == 3 and len(k_means(samples[:0], 8)) == 0
