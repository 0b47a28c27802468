"""Accountants: golden values, laws, and calibration that never exceeds its target."""

from __future__ import annotations

import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.learn import account, calibrate_noise

pytest.importorskip("dp_accounting")

N = 60_000


@pytest.mark.parametrize(
    ("lot", "noise", "steps", "rdp", "pld"),
    [
        # RDP and PLD of dp-accounting 0.6.0; the first agrees with Opacus 1.6.0 (RDP 1.098,
        # PRV 0.928 with its error of 0.01)
        (256, 1.1, 2340, 1.098, 0.918),
        (512, 4.0, 350, 0.146, 0.130),
        (1024, 15.0, 118, 0.0395, 0.0348),
        (1024, 35.0, 118, 0.0156, 0.0135),
    ],
)
def test_values(lot: int, noise: float, steps: int, rdp: float, pld: float) -> None:
    spent = account(sampling_rate=lot / N, noise_multiplier=noise, steps=steps, delta=1e-5)
    assert spent.rdp_epsilon == pytest.approx(rdp, rel=5e-3)
    assert spent.pld_epsilon == pytest.approx(pld, rel=5e-3)
    assert spent.best_order in spent.orders and max(spent.orders) == 4096
    assert (spent.neighbours, spent.sampling) == ("add or remove one", "Poisson")
    assert spent.library.startswith("dp-accounting ")


def test_one_release_without_sampling_is_the_gaussian_mechanism() -> None:
    from sottovoce.learn import gaussian_noise

    exact = gaussian_noise(epsilon=0.7, delta=1e-5)
    spent = account(sampling_rate=1.0, noise_multiplier=exact.multiplier, steps=1, delta=1e-5)
    assert spent.pld_epsilon == pytest.approx(0.7, abs=2e-3)
    assert spent.rdp_epsilon >= 0.7


def test_nothing_is_spent_without_steps() -> None:
    spent = account(sampling_rate=0.1, noise_multiplier=1.0, steps=0, delta=1e-5)
    assert (spent.rdp_epsilon, spent.pld_epsilon, spent.best_order) == (0, 0, None)


@given(st.floats(0.01, 0.1), st.floats(3, 20), st.integers(1, 50))
@settings(max_examples=3, deadline=None)
def test_more_steps_less_noise_and_larger_lots_spend_more(
    rate: float, noise: float, steps: int
) -> None:
    def spend(rate: float, noise: float, steps: int) -> tuple[float, float]:
        spent = account(sampling_rate=rate, noise_multiplier=noise, steps=steps, delta=1e-5)
        return spent.rdp_epsilon, spent.pld_epsilon

    base = spend(rate, noise, steps)
    for more in (
        spend(rate, noise, 2 * steps),
        spend(rate, noise / 1.4, steps),
        spend(min(1, 2 * rate), noise, steps),
    ):
        assert all(larger >= smaller - 1e-9 for larger, smaller in zip(more, base, strict=True))
    assert base[1] <= base[0] + 1e-3  # PLD is tighter, up to the width of its grid


@pytest.mark.parametrize(("epsilon", "lot", "steps"), [(3.0, 512, 117), (0.05, 4096, 29)])
def test_calibration_stays_within_the_target_by_both_accountants(
    epsilon: float, lot: int, steps: int
) -> None:
    noise = calibrate_noise(epsilon=epsilon, delta=1e-5, sampling_rate=lot / N, steps=steps)
    spent = account(sampling_rate=lot / N, noise_multiplier=noise, steps=steps, delta=1e-5)
    assert 0.99 * epsilon <= spent.rdp_epsilon <= epsilon
    assert spent.pld_epsilon <= epsilon


def test_calibration_by_pld_needs_less_noise() -> None:
    def noise(accountant: str) -> float:
        return calibrate_noise(
            epsilon=0.5,
            delta=1e-5,
            sampling_rate=0.1,
            steps=20,
            accountant=accountant,  # type: ignore[arg-type]
        )

    assert noise("pld") < noise("rdp")


@pytest.mark.parametrize(
    "wrong",
    [
        {"sampling_rate": 0.0},
        {"sampling_rate": 1.1},
        {"noise_multiplier": 0.0},
        {"noise_multiplier": float("nan")},
        {"steps": -1},
        {"delta": 0.0},
        {"delta": 1.0},
    ],
)
def test_impossible_mechanisms_are_refused(wrong: dict[str, float]) -> None:
    mechanism = {"sampling_rate": 0.1, "noise_multiplier": 1.0, "steps": 10, "delta": 1e-5}
    with raises_code("out-of-range"):
        account(**{**mechanism, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"epsilon": 0.0}, {"steps": 0}, {"epsilon": float("inf")}])
def test_impossible_budgets_are_refused(wrong: dict[str, float]) -> None:
    budget = {"epsilon": 1.0, "delta": 1e-5, "sampling_rate": 0.1, "steps": 10}
    with raises_code("out-of-range"):
        calibrate_noise(**{**budget, **wrong})  # type: ignore[arg-type]
