"""Intervals of mean ranks: how often they hold, what they are made of, and where they end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta, t

from sottovoce.measure.reidentification_intervals import rank_interval

Drawn = Callable[[np.random.Generator, int], NDArray[np.float64]]
POPULATION = 101


def skewed(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.beta(0.2, 1.8, n)


def few_hidden(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """One speaker in ten ranks anywhere, the others near the top."""
    return np.where(rng.random(n) < 0.1, rng.random(n), rng.beta(0.5, 19.5, n))


def some_exposed(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Three speakers in ten rank first, the others anywhere in each of five trials."""
    return np.where(rng.random(n) < 0.3, 0.0, rng.random((n, 5)).mean(axis=1))


@pytest.mark.parametrize("n", [5, 10, 20])
@pytest.mark.parametrize(
    ("draw", "mean"), [(skewed, 0.1), (few_hidden, 0.0725), (some_exposed, 0.35)]
)
def test_intervals_hold_the_true_mean_rank(draw: Drawn, mean: float, n: int) -> None:
    """Student's interval holds the mean in 55 to 96 % of such sets."""
    rng = np.random.default_rng(11)
    truth = 1 + mean * (POPULATION - 1)
    make = rank_interval(POPULATION)
    held = 0
    for _ in range(150):
        interval = make(1 + draw(rng, n) * (POPULATION - 1), 0.95)
        held += interval.low <= truth <= interval.high
    assert held / 150 >= 0.92


def exact_ends(places: NDArray[np.float64]) -> tuple[float, float]:
    """Korn and Graubard's interval of a mean of varying shares, with the quantiles of SciPy."""
    n, mean = len(places), places.mean()
    worth = (
        mean
        * (1 - mean)
        / (places.var(ddof=1) / n)
        * (1.959963984540054 / t(n - 1).ppf(0.975)) ** 2
    )
    hits, misses = mean * worth, (1 - mean) * worth
    return beta(hits, misses + 1).ppf(0.025), beta(hits + 1, misses).ppf(0.975)


def test_an_interval_allows_for_one_more_speaker_at_either_end() -> None:
    ranks = np.array([1.0, 3.0, 2.0, 8.0, 4.0, 1.5])
    places = (ranks - 1) / (POPULATION - 1)
    low, _ = exact_ends(np.append(places, 0.0))
    _, high = exact_ends(np.append(places, 0.5))
    seen_low, seen_high = exact_ends(places)
    interval = rank_interval(POPULATION)(ranks, 0.95)
    assert interval.low == pytest.approx(1 + 100 * min(low, seen_low), abs=1e-6)
    assert interval.high == pytest.approx(1 + 100 * max(high, seen_high), abs=1e-6)


@given(
    st.lists(st.floats(1, POPULATION), min_size=1, max_size=30),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_ends_are_possible_ranks_around_the_mean(ranks: list[float], confidence: float) -> None:
    values = np.array(ranks)
    interval = rank_interval(POPULATION)(values, confidence)
    assert 1 <= interval.low <= values.mean() <= interval.high <= POPULATION + 1e-9
    normalised = rank_interval(POPULATION, POPULATION)(values / POPULATION, confidence)
    assert normalised.low * POPULATION == pytest.approx(interval.low, rel=1e-6)
    assert normalised.high * POPULATION == pytest.approx(interval.high, rel=1e-6)


def test_equal_ranks_leave_doubt() -> None:
    interval = rank_interval(POPULATION)(np.ones(20), 0.95)
    assert interval.low == 1
    assert interval.high == pytest.approx(1 + 100 * (1 - 0.025 ** (1 / 20)))
