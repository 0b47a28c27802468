"""Differences between shares by speaker."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from sottovoce.measure import compare_shares
from sottovoce.measure.intervals import share_interval


def shares_of(values: list[list[float]]) -> dict[str, dict[str, float]]:
    return {
        f"system {number}": {f"s{k}": share for k, share in enumerate(row)}
        for number, row in enumerate(values)
    }


def test_intervals_are_near_those_of_a_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    first = rng.random(30)
    second = np.clip(first - 0.1 + rng.normal(0, 0.1, 30), 0, 1)
    (difference,) = compare_shares(shares_of([first.tolist(), second.tolist()]), replicates=4000)
    expected = ttest_rel(first, second).confidence_interval(0.95)
    assert difference.value == pytest.approx(np.mean(first - second))
    assert difference.low == pytest.approx(expected.low, abs=0.004)
    assert difference.high == pytest.approx(expected.high, abs=0.004)
    assert difference.discloses_more == "system 0"


def test_speakers_of_one_system_only_are_left_out() -> None:
    shares = shares_of([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]])
    shares["system 0"]["other"] = 1.0
    (difference,) = compare_shares(shares)
    assert difference.first_value == pytest.approx(0.35)
    assert difference.value == pytest.approx(0.1)


def test_few_speakers_have_no_interval() -> None:
    (difference,) = compare_shares(shares_of([[0.1] * 4, [0.9] * 4]))
    assert difference.low is None
    assert difference.note


def test_equal_shares_of_all_speakers_are_no_certainty() -> None:
    (difference,) = compare_shares(shares_of([[0.0] * 8, [1.0] * 8]))
    assert difference.value == -1
    reach = share_interval(np.zeros(8), 0.95).high
    assert difference.high == pytest.approx(-1 + reach * np.sqrt(2))
    assert difference.discloses_more == "system 1"
