"""Affinity propagation against scikit-learn's results and its own definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.anonymise.voice.clusters import affinity_propagation

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


def closeness(places: np.ndarray) -> np.ndarray:
    return np.asarray(-np.square(places[:, None] - places).sum(-1))


def test_agrees_with_a_peer() -> None:
    assert affinity_propagation(closeness(points(3))).tolist() == PEER


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_exemplars_stand_for_themselves_and_are_nearest(seed: int) -> None:
    similarity = closeness(points(seed))
    found = affinity_propagation(similarity)
    exemplars = np.unique(found)
    assert (found[exemplars] == exemplars).all()
    others = np.setdiff1d(np.arange(40), exemplars)
    best = similarity[np.ix_(others, exemplars)].max(1)
    np.testing.assert_allclose(similarity[others, found[others]], best)


def test_higher_preference_makes_more_clusters() -> None:
    similarity = closeness(points(1))
    few, many = (len(set(affinity_propagation(similarity, p).tolist())) for p in (-500.0, -0.5))
    assert few < many


def test_one_point_is_its_own_exemplar() -> None:
    assert affinity_propagation(np.zeros((1, 1))).tolist() == [0]


def test_equal_points_do_not_swing_for_ever() -> None:
    assert len(affinity_propagation(np.zeros((6, 6)))) == 6
