"""Lower bounds of ε: against definitions, and on runs that keep or break their promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.learn.auditing import audit_scores, epsilon_lower_bound, guess_p_value


def test_all_right_is_bounded_by_their_number() -> None:
    """Pure ε: all of r right has probability (e^ε / (1 + e^ε))^r."""
    bound = epsilon_lower_bound(100, 100, 100, delta=0, confidence=0.95)
    assert (math.exp(bound) / (1 + math.exp(bound))) ** 100 == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize(("m", "r", "v", "epsilon"), [(40, 20, 18, 0.7), (30, 30, 20, 0.2)])
def test_p_value_is_its_definition(m: int, r: int, v: int, epsilon: float) -> None:
    right, delta = math.exp(epsilon) / (1 + math.exp(epsilon)), 1e-3

    def probability(count: int) -> float:
        return math.comb(r, count) * right**count * (1 - right) ** (r - count)

    tail = sum(probability(count) for count in range(v, r + 1))
    alpha = max(sum(probability(v - j) for j in range(1, i + 1)) / i for i in range(1, v + 1))
    expected = min(1, tail + 2 * m * delta * alpha)
    assert guess_p_value(m, r, v, epsilon, delta) == pytest.approx(expected, rel=1e-9)


@given(st.integers(20, 200), st.floats(0, 1), st.sampled_from([0.0, 1e-6, 1e-3]))
def test_more_right_guesses_and_less_delta_refute_more(m: int, share: float, delta: float) -> None:
    correct = int(share * m)
    bound = epsilon_lower_bound(m, m, correct, delta=delta)
    assert bound <= epsilon_lower_bound(m, m, min(m, correct + 1), delta=delta) + 1e-6
    assert bound <= epsilon_lower_bound(m, m, correct, delta=0) + 1e-6
    assert bound >= epsilon_lower_bound(m, m, correct, delta=delta, confidence=0.99) - 1e-6


def test_randomised_response_is_seldom_refuted() -> None:
    """The coin that ε allows: the bound exceeds ε in at most 5 % of audits."""
    randomness = np.random.default_rng(0)
    epsilon, m, audits = 1.0, 60, 200
    inserted = randomness.random((audits, m)) < 0.5
    truthful = randomness.random((audits, m)) < scipy.special.expit(epsilon)
    scores = np.where(truthful, inserted, ~inserted) + 0.01 * randomness.random((audits, m))
    exceeded = [
        audit_scores(row, truth, delta=0).epsilon_lower > epsilon
        for row, truth in zip(scores, inserted, strict=True)
    ]
    assert np.mean(exceeded) <= 0.05


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_guessing_refutes_nothing_much(seed: int) -> None:
    randomness = np.random.default_rng(seed)
    audit = audit_scores(randomness.random(100), randomness.random(100) < 0.5, delta=1e-5)
    assert audit.epsilon_lower < 1.5


def test_bad_input() -> None:
    with raises_code("wrong-shape"):
        audit_scores([1.0, 2.0], [True], delta=0)
    with raises_code("too-few"):
        audit_scores([1.0] * 5, [True] * 5, delta=0)
    with raises_code("not-finite"):
        audit_scores([math.nan] * 20, [True] * 20, delta=0)
    with raises_code("out-of-range"):
        epsilon_lower_bound(10, 11, 5, delta=0)
