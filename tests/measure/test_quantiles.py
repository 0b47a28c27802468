"""Quantiles without SciPy: equal to SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from sottovoce.measure import quantiles
from sottovoce.measure.quantiles import beta_quantile, normal_quantile, normal_share, t_quantile

PROBABILITIES = [1e-6, 0.025, 0.3, 0.5, 0.51, 0.75, 0.9, 0.975, 0.995, 0.99995, 1 - 1e-6]


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_normal_quantile(probability: float) -> None:
    assert normal_quantile(probability) == pytest.approx(ndtri(probability), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("degrees", [0.7, 1, 2, 3, 4.5, 5, 19, 60, 1000, 54_321, 1e5, 1e6, 1e9])
@pytest.mark.parametrize("probability", PROBABILITIES)
def test_t_quantile(degrees: float, probability: float) -> None:
    expected = stdtrit(degrees, probability)
    assert t_quantile(degrees, probability) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_t_of_few_degrees_has_a_closed_form() -> None:
    """Of 2 degrees of freedom: (2p − 1) √(2 / (4p(1 − p)))."""
    for p in PROBABILITIES:
        exact = (2 * p - 1) * (2 / (4 * p * (1 - p))) ** 0.5
        assert t_quantile(2, p) == pytest.approx(exact, rel=1e-10, abs=1e-15)


def test_infinite_degrees_are_the_normal_distribution() -> None:
    assert t_quantile(float("inf"), 0.975) == normal_quantile(0.975)


@pytest.mark.parametrize("a", [1e-12, 0.3, 1, 2, 17.5, 900, 400_000])
@pytest.mark.parametrize("b", [0.4, 1, 3, 55.5, 2000, 1_000_000])
@pytest.mark.parametrize("probability", [0.005, 0.025, 0.5, 0.975, 0.9999])
def test_beta_quantile(a: float, b: float, probability: float) -> None:
    expected = betaincinv(a, b, probability)
    assert beta_quantile(a, b, probability) == pytest.approx(expected, rel=1e-9, abs=1e-13)


def test_normal_share() -> None:
    values = np.array([-40.0, -3.0, -0.1, 0.0, 0.5, 8.0, np.inf, -np.inf])
    np.testing.assert_allclose(normal_share(values), ndtr(values), rtol=1e-14)
    assert np.isnan(normal_share(np.array([np.nan]))).all()


def test_newton_stops_when_steps_are_lost_in_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding keeps the last steps above 1e-15, so a limit that small ran all 200 steps."""
    evaluate, calls = quantiles._incomplete_beta, []

    def counted(x: float, a: float, b: float) -> float:
        calls.append(x)
        return evaluate(x, a, b)

    monkeypatch.setattr(quantiles, "_incomplete_beta", counted)
    for degrees in range(2, 202):
        t_quantile(degrees, 0.975)
    assert len(calls) <= 200 * 8
