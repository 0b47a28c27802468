"""The sums behind C_llr: products of many factors equal a logarithm per score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError
from sottovoce.measure.costs import FACTORS, PIECE, Cost, bits, cost


def literal(scores: Any) -> float:
    """A logarithm per score, in Python, summed without rounding."""
    values = scores.astype(np.float64).tolist()
    nats = [max(s, 0.0) + math.log1p(math.exp(-abs(s))) for s in values]
    return math.fsum(nats) / math.log(2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [-300.0, -40.0, -5.0, 0.0, 5.0, 1000.0])
@pytest.mark.parametrize("count", [1, 2, FACTORS + 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 17])
def test_products_equal_a_logarithm_per_score(count: int, shift: float, dtype: Any) -> None:
    """Also where all costs are tiny: e^-300 is far below the rounding of 1 + e^-300."""
    scores = (np.random.default_rng(count).normal(shift, 3, count)).astype(dtype)
    assert cost(scores).total == pytest.approx(literal(scores), rel=1e-13)
    assert cost(scores, squares=True).total == pytest.approx(literal(scores), rel=1e-13)


def test_equal_scores_of_zero_have_the_largest_product() -> None:
    assert cost(np.zeros(5 * PIECE)).total == pytest.approx(5 * PIECE, rel=1e-14)


def test_extreme_scores_stay_finite() -> None:
    assert cost(np.array([-1e100, 1e100])).total == pytest.approx(1e100 / math.log(2))
    assert bits(np.array([-1e100, 0.0, 1e100])).tolist() == [0, 1, 1e100 / math.log(2)]


def test_squares_are_those_of_the_costs() -> None:
    scores = np.random.default_rng(0).normal(size=PIECE + 5)
    costs = cost(scores, squares=True)
    assert costs.squares == pytest.approx(math.fsum(bit**2 for bit in bits(scores)), rel=1e-13)
    assert (costs + costs).squares == pytest.approx(2 * (costs.squares or 0))
    assert (costs + cost(scores)).squares is None


def test_a_sum_without_squares_cannot_be_redrawn() -> None:
    """A spread of zero in their place would make intervals too narrow."""
    with raises_code("missing-costs", InputError):
        Cost(3.0).redrawn(5, np.random.default_rng(0))
