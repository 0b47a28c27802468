"""Lots are binomial, noise is normal, and both follow from the seed and the step alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from error_codes import raises_code

from sottovoce.learn import Draws


def test_lot_sizes_are_binomial() -> None:
    draws = Draws.reproducible(3)
    members, rate, steps = 400, 0.05, 3000
    sizes = np.array([len(draws.lot(step, members, rate)) for step in range(steps)])
    values = np.arange(10, 31)
    expected = steps * scipy.stats.binom.pmf(values, members, rate)
    counts = np.array([(sizes == value).sum() for value in values])
    inside = counts.sum()
    result = scipy.stats.chisquare(counts, expected * inside / expected.sum())
    assert result.pvalue > 1e-3
    assert sizes.var() == pytest.approx(members * rate * (1 - rate), rel=0.1)


def test_members_are_drawn_independently() -> None:
    draws = Draws.reproducible(4)
    drawn = np.zeros((4000, 6))
    for step in range(4000):
        drawn[step, draws.lot(step, 6, 0.3)] = 1
    assert drawn.mean(0) == pytest.approx(np.full(6, 0.3), abs=0.03)
    correlations = np.corrcoef(drawn.T) - np.eye(6)
    assert abs(correlations).max() < 0.06


def test_every_member_is_drawn_at_rate_one_and_an_empty_lot_is_possible() -> None:
    draws = Draws.reproducible(5)
    assert draws.lot(0, 7, 1.0).tolist() == list(range(7))
    assert any(len(draws.lot(step, 3, 0.1)) == 0 for step in range(20))


def test_noise_is_standard_normal() -> None:
    noise = Draws.reproducible(6).normal(0, 100_001)
    assert len(noise) == 100_001
    assert scipy.stats.kstest(noise, "norm").pvalue > 1e-3


def test_steps_seeds_and_purposes_are_independent() -> None:
    first, other = Draws.reproducible(1), Draws.reproducible(2)
    assert np.array_equal(first.normal(0, 9), Draws(first.seed).normal(0, 9))
    assert not np.array_equal(first.normal(0, 9), first.normal(1, 9))
    assert not np.array_equal(first.normal(0, 9), other.normal(0, 9))
    assert abs(np.corrcoef(first.normal(0, 5000), first.normal(1, 5000))[0, 1]) < 0.06
    assert 0 <= first.network_seed(0) < 2**63
    assert abs(first.coins("a", 9000).mean() - 0.5) < 0.03
    assert not np.array_equal(first.coins("a", 90), first.coins("b", 90))


def test_a_secret_seed_is_never_shown() -> None:
    draws = Draws.generate()
    assert draws.seed.hex() not in repr(draws) + draws.description
    assert Draws.generate().seed != draws.seed


def test_impossible_seeds_are_refused() -> None:
    with raises_code("out-of-range"):
        Draws(b"short")
    with raises_code("out-of-range"):
        Draws.reproducible(-1)
