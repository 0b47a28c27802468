"""Exposure: equal to brute force on small spaces, its null, and what estimates miss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.findings import Exposure
from sottovoce.measure.exposure import (
    exact_exposure,
    fitted_exposure,
    null_exposure,
    sampled_exposure,
    summarise_exposures,
)

spaces = st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, 7.0]), min_size=2, max_size=40)


@given(spaces, st.data())
def test_exact_exposure_is_brute_force(values: list[float], data: st.DataObject) -> None:
    secret = data.draw(st.integers(0, len(values) - 1))
    as_likely = [value for value in values if value <= values[secret]]
    exposure = exact_exposure(values, secret)
    assert exposure.exposure_bits == pytest.approx(
        math.log2(len(values)) - math.log2(len(as_likely))
    )
    assert 0 <= exposure.exposure_bits <= exposure.maximum_bits == math.log2(len(values))
    assert exposure.p_value == pytest.approx(2.0**-exposure.exposure_bits)


def test_a_pin_that_is_first_has_all_bits() -> None:
    values = np.random.default_rng(0).normal(50, 3, 10_000)
    values[1234] = 4.0
    assert exact_exposure(values, 1234).exposure_bits == pytest.approx(13.2877, abs=1e-4)


def test_a_model_that_cannot_tell_values_apart_has_memorised_nothing() -> None:
    assert exact_exposure(np.ones(100), 7).exposure_bits == 0.0


@pytest.mark.parametrize("space", [2, 5, 100, 10_000])
def test_the_null_is_the_mean_over_all_ranks(space: int) -> None:
    bits = [exact_exposure(np.arange(space), rank).exposure_bits for rank in range(space)]
    assert null_exposure(space) == pytest.approx(np.mean(bits))
    assert null_exposure(10**9) == pytest.approx(math.log2(math.e), abs=1e-6)


def test_secrets_never_seen_have_the_mean_of_the_null() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(40, 5, 10_000)
    summary = summarise_exposures(
        [exact_exposure(values, int(i)) for i in rng.choice(10_000, 300, replace=False)]
    )
    assert summary.low < null_exposure(10_000) < summary.high
    assert summary.null_mean == pytest.approx(1.44, abs=0.01) and summary.p_value > 0.01


def test_p_values_of_the_null_are_uniform() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=5000)
    p_values = [
        summarise_exposures(
            [exact_exposure(values, int(i)) for i in rng.choice(5000, 10, replace=False)]
        ).p_value
        for _ in range(400)
    ]
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.03)


def test_estimates_agree_in_the_middle_and_fall_short_at_the_end() -> None:
    rng = np.random.default_rng(3)
    space = np.sort(rng.normal(40, 5, 100_000))
    sample = rng.choice(space, 1000, replace=False)
    for rank in (5_000, 50_000):
        exact = exact_exposure(space, rank).exposure_bits
        for estimate in (sampled_exposure, fitted_exposure):
            assert estimate(space[rank], sample, len(space)).exposure_bits == pytest.approx(
                exact, abs=0.6
            )
    memorised = 1.0
    assert sampled_exposure(memorised, sample, 100_000).exposure_bits == pytest.approx(
        math.log2(1001)
    )
    fitted = fitted_exposure(memorised, sample, 100_000)
    assert fitted.exposure_bits <= fitted.maximum_bits == pytest.approx(math.log2(100_000))


def test_secrets_all_at_the_maximum_leave_doubt() -> None:
    exposures = [Exposure(13.3, 13.3, 1, "exact", 1e-4, 10_000, 10_000)] * 5
    summary = summarise_exposures(exposures)
    assert summary.value == summary.high == pytest.approx(13.3) and summary.low < 12
    assert summary.p_value < 1e-12


def test_bad_input() -> None:
    with raises_code("not-finite", InputError):
        exact_exposure([1.0, float("nan")], 0)
    with raises_code("out-of-range", InputError):
        exact_exposure([1.0, 2.0], 2)
    with raises_code("too-few", TooFewError):
        exact_exposure([1.0], 0)
    with raises_code("too-few", TooFewError):
        sampled_exposure(1.0, [2.0] * 5, 100)
    with raises_code("out-of-range", InputError):
        sampled_exposure(1.0, [2.0] * 50, 20)
    with raises_code("degenerate", InputError):
        fitted_exposure(1.0, [2.0] * 50, 100)
    mixed = [exact_exposure([1.0, 2.0], 0), sampled_exposure(1.0, np.arange(50.0), 100)]
    with raises_code("mixed-methods", InputError):
        summarise_exposures(mixed)
    with raises_code("too-few", TooFewError):
        summarise_exposures(mixed[:1])
