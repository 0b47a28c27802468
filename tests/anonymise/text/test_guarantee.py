"""Worked values: derived by hand from the formulas in the module, to four places."""

from __future__ import annotations

import math

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sottovoce.anonymise.text.guarantee import (
    Guarantee,
    effective_words,
    epsilon,
    epsilon_if_different,
    leak_bound,
    leak_of_text,
    rate_for,
)
from sottovoce.anonymise.text.surrogates import Table
from sottovoce.core.errors import TooFewError, UsageError


@pytest.mark.parametrize(
    ("size", "rate", "value"),
    [
        (1000, 0.9, 4.7195),
        (1000, 0.99, 2.4070),
        (1000, 0.967, 3.5589),
        (1000, 0.84, 5.2548),
        (100, 0.9, 2.4941),
        (16000, 0.9, 7.4837),
        (2, 0.75, 0.5108),
    ],
)
def test_epsilon(size: int, rate: float, value: float) -> None:
    assert epsilon(size, rate) == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(
    ("size", "wanted", "rate"),
    [(1000, 1, 0.998285), (1000, 3, 0.981272), (1000, 5, 0.871526), (100, 1, 0.983107)],
)
def test_rate(size: int, wanted: float, rate: float) -> None:
    assert rate_for(size, wanted) == pytest.approx(rate, abs=5e-7)


@given(st.integers(1, 10**6), st.floats(0, 12))
def test_rate_and_epsilon_are_inverse(size: int, wanted: float) -> None:
    assert epsilon(size, rate_for(size, wanted)) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("missed", "total", "bound"), [(5, 100, 0.1023), (136, 1350, 0.1152), (0, 300, 0.0099)]
)
def test_leak_bound(missed: int, total: int, bound: float) -> None:
    assert leak_bound(missed, total) == pytest.approx(bound, abs=5e-5)


@given(st.integers(1, 200), st.integers(0, 199))
def test_leak_bound_inverts_the_binomial_distribution(n: int, k: int) -> None:
    k = min(k, n - 1)
    assert float(binom.cdf(k, n, leak_bound(k, n))) == pytest.approx(0.05, abs=1e-6)
    assert leak_bound(n, n) == 1


def test_leak_of_a_text() -> None:
    assert leak_of_text(0.1, 10) == pytest.approx(0.6513, abs=5e-5)
    assert leak_of_text(0.1, 0) == 0
    assert leak_of_text(1.0, 3) == 1


def test_epsilon_of_draws_that_exclude_the_original_grows_without_limit() -> None:
    assert epsilon_if_different(1000, 0.999999) > epsilon_if_different(1000, 0.9999) > 2
    assert epsilon(1000, 0.999999) < 0.01


def test_the_mechanism_meets_its_epsilon() -> None:
    """Run it for two values and compare the largest ratio seen with the formula."""
    rng = np.random.default_rng(5)
    values = tuple("abcd")
    table, rate, runs = Table((values,)), 0.8, 200_000

    def outputs(original: str) -> dict[str, int]:
        stay = rng.random(runs) >= rate
        drawn = rng.integers(table.size, size=runs)
        out = np.where(stay, values.index(original), drawn)
        return {v: int((out == i).sum()) for i, v in enumerate(values)}

    a, b = outputs("a"), outputs("b")
    ratio = max(math.log(a[v] / b[v]) for v in values)
    assert ratio == pytest.approx(epsilon(4, rate), abs=4 * math.sqrt(2 / b["a"]))


def test_words_of_a_sentence_that_are_missed_together_count_less() -> None:
    private = np.full(50, 4)
    together, apart = np.zeros(50, int), np.zeros(50, int)
    together[:5], apart[:20] = 4, 1
    assert together.sum() == apart.sum() == 20
    # sentences that are missed as a whole tell as much as one word each, but for Student's t
    assert effective_words(together, private) == pytest.approx(50 * 0.98 * 0.97, rel=0.02)
    assert effective_words(apart, private) == pytest.approx(200, rel=0.04)
    assert effective_words(np.zeros(50, int), private) == 50


@pytest.mark.parametrize("sentences", [50, 400])
def test_the_bound_covers_the_leak_if_names_are_missed_as_a_whole(sentences: int) -> None:
    rng, leak, covered = np.random.default_rng(0), 0.1, 0
    for _ in range(300):
        private = rng.integers(1, 6, sentences)
        missed = np.where(rng.random(sentences) < leak, private, 0)
        bound = leak_bound(
            int(missed.sum()), int(private.sum()), effective=effective_words(missed, private)
        )
        covered += bound >= leak
    assert covered >= 300 * 0.93, "95 % of 300 draws, within the error of the simulation"


def test_nothing_replaced_guarantees_nothing() -> None:
    guarantee = Guarantee("full", 0.0, 10, 100, 100.0, "news", "a set", {"PER": 1000})
    assert guarantee.leak == 1
    assert guarantee.epsilons() == {"PER": math.inf}
    assert guarantee.to_dict()["epsilon_average_case"] == {"PER": None}


def test_bounds_of_arguments() -> None:
    with raises_code("out-of-range", UsageError):
        epsilon(10, 1.5)
    with raises_code("too-few", UsageError):
        epsilon(0, 0.5)
    with raises_code("out-of-range", UsageError):
        rate_for(10, -1)
    with raises_code("too-few", TooFewError):
        leak_bound(0, 0)
    with raises_code("out-of-range", UsageError):
        leak_of_text(2, 1)
