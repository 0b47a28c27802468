"""The Gaussian mechanism of one release, against its definition by integration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.learn import Draws, gaussian_noise
from sottovoce.learn.gaussian import gaussian_delta, release


@pytest.mark.parametrize(("multiplier", "epsilon"), [(0.8, 1.0), (2.0, 0.3), (1.0, 3.0)])
def test_delta_is_the_integral_of_what_exceeds_epsilon(multiplier: float, epsilon: float) -> None:
    x = np.linspace(-40, 41, 2_000_001)
    with_record = np.exp(-((x - 1) ** 2) / (2 * multiplier**2))
    without = np.exp(-(x**2) / (2 * multiplier**2))
    excess = np.maximum(with_record - math.exp(epsilon) * without, 0)
    density = multiplier * math.sqrt(2 * math.pi)
    expected = float(np.trapezoid(excess, x)) / density
    assert gaussian_delta(multiplier, epsilon) == pytest.approx(expected, rel=1e-6)


@given(st.floats(0.01, 0.99), st.floats(1e-9, 1e-3))
def test_the_exact_noise_is_enough_and_less_than_the_classical(
    epsilon: float, delta: float
) -> None:
    noise = gaussian_noise(epsilon=epsilon, delta=delta)
    assert gaussian_delta(noise.multiplier, epsilon) <= delta
    assert gaussian_delta(0.999 * noise.multiplier, epsilon) > delta
    assert noise.classical_multiplier == pytest.approx(
        math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    )
    assert noise.classical_multiplier is not None
    assert noise.multiplier <= noise.classical_multiplier


def test_the_classical_formula_is_not_used_where_it_does_not_hold() -> None:
    noise = gaussian_noise(epsilon=8.0, delta=1e-5, sensitivity=3.0)
    assert noise.classical_multiplier is None
    assert noise.deviation == 3.0 * noise.multiplier
    # and rightly: at large ε the classical noise would be too little
    assert gaussian_delta(math.sqrt(2 * math.log(1.25 / 1e-5)) / 40, 40) > 1e-5


def test_release_adds_noise_of_the_sensitivity() -> None:
    noise = gaussian_noise(epsilon=0.5, delta=1e-5, sensitivity=0.01)
    answer = np.full((200, 100), 7.0)
    released = release(answer, noise, Draws.reproducible(1))
    assert released.std() == pytest.approx(noise.deviation, rel=0.02)
    assert released.mean() == pytest.approx(7.0, abs=5 * noise.deviation / 141)


@pytest.mark.parametrize("wrong", [{"epsilon": 0.0}, {"delta": 1.0}, {"sensitivity": -1.0}])
def test_impossible_guarantees_are_refused(wrong: dict[str, float]) -> None:
    with raises_code("out-of-range"):
        gaussian_noise(**{"epsilon": 1.0, "delta": 1e-5, **wrong})
