"""The corrected D_sys: its terms against slow definitions, its bias where the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from sottovoce.core.types import RealArray
from sottovoce.measure import Scores, Speakers, Tally, d_sys_corrected, linkability, measure_scores
from sottovoce.measure.corrected_linkability import (
    _excess,
    d_sys_corrected_of,
    fine_bin_count,
    refinement,
    with_fine_bins,
)
from sottovoce.measure.linkability import d_sys_of, default_bins

RNG = np.random.default_rng(4)


def gaussian(mated: int, nonmated: int, distance: float) -> Scores:
    return Scores(RNG.normal(distance, 1, mated), RNG.normal(0, 1, nonmated))


def true_d_sys(distance: float) -> float:
    """The integral over the densities, by the midpoint rule."""
    x = np.arange(-8, 12, 0.001)
    p, q = (np.exp(-((x - mean) ** 2) / 2) / math.sqrt(2 * math.pi) for mean in (distance, 0.0))
    return float(np.where(p > q, p * (p - q) / (p + q), 0).sum() * 0.001)


def tally_finely(scores: Scores) -> Tally:
    return with_fine_bins(scores, Tally.of(scores, bins=fine_bin_count(len(scores.mated))))


# -------------------------------------------------------------------------------------- terms


@pytest.mark.parametrize(
    ("p", "q", "p_error", "q_error"),
    [(0.1, 0.1, 0.01, 0.004), (0.2, 0.05, 0.02, 0.01), (0.05, 0.06, 0.01, 0.01), (0.3, 0.2, 0, 0)],
)
def test_the_excess_of_a_bin_is_that_of_normal_noise(
    p: float, q: float, p_error: float, q_error: float
) -> None:
    def term(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(p * (p - q) / (p + q), 0)

    noise = np.random.default_rng(0).normal(size=(2, 400_000))
    noisy = term(np.abs(p + p_error * noise[0]), np.abs(q + q_error * noise[1]))
    expected = noisy.mean() - float(term(np.array(p), np.array(q)))
    (value,) = _excess(*(np.array([x]) for x in (p, q, p_error, q_error)))
    assert value == pytest.approx(expected, abs=4 * noisy.std() / math.sqrt(400_000) + 1e-5)


def test_the_errors_of_shares_are_those_of_speakers() -> None:
    """Speaker by speaker: the excess of their trials in a bin over the share of all trials."""
    rng = np.random.default_rng(1)
    speakers = 8
    who = np.repeat(np.arange(speakers), 6)
    first, second = np.where(~np.eye(speakers, dtype=bool))
    scores = Scores(
        rng.normal(1, 1, len(who)) + 0.3 * who,
        rng.normal(0, 1, len(first)),
        speakers=Speakers(who, first, second, speakers),
    )
    tally = tally_finely(scores)
    fine = tally.fine
    assert fine is not None
    sides: list[tuple[RealArray, list[NDArray[np.int64]], NDArray[np.float64]]] = [
        (scores.mated, [who], fine.mated_error),
        (scores.nonmated, [first, second], fine.nonmated_error),
    ]
    for values, roles, errors in sides:
        for i, (low, high) in enumerate(zip(fine.edges, fine.edges[1:], strict=False)):
            last = i == len(fine.edges) - 2
            inside = (values >= low) & ((values < high) | last)
            total = 0.0
            for speaker in range(speakers):
                for_speaker = sum((inside[role == speaker] - inside.mean()).sum() for role in roles)
                total += float(for_speaker) ** 2
            expected = math.sqrt(total * speakers / (speakers - 1)) / len(values)
            assert errors[i] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_without_speakers_the_errors_are_binomial() -> None:
    tally = tally_finely(gaussian(60, 500, 1))
    assert tally.fine is not None
    mated, _ = tally.binned_finely()
    share = mated / mated.sum()
    np.testing.assert_allclose(tally.fine.mated_error, np.sqrt(share * (1 - share) / 60))


@pytest.mark.parametrize("mated", [20, 50, 99, 100, 1500])
def test_fine_bins_divide_the_documented_ones_exactly(mated: int) -> None:
    scores = gaussian(mated, 700, 1)
    tally = tally_finely(scores)
    bins = default_bins(mated)
    assert tally.edges is not None and tally.fine is not None
    assert len(tally.fine.edges) - 1 == bins * refinement(bins) >= 16
    documented = linkability(scores, permutations=0)
    np.testing.assert_array_equal(tally.edges, documented.edges)
    assert d_sys_of(*tally.binned()) == documented.d_sys
    assert d_sys_of(*tally.binned_finely()) >= documented.d_sys - 1e-12


# --------------------------------------------------------------------------------------- laws

score_arrays = arrays(np.float64, st.integers(20, 60), elements=st.integers(-40, 40).map(float))


@given(mated=score_arrays, nonmated=score_arrays)
def test_it_lies_between_0_and_what_fine_bins_show(
    mated: NDArray[np.float64], nonmated: NDArray[np.float64]
) -> None:
    scores = Scores(np.append(mated, -41.0), np.append(nonmated, 41.0))
    tally = tally_finely(scores)
    assert 0.0 <= d_sys_corrected_of(tally) <= d_sys_of(*tally.binned_finely()) <= 1 + 1e-12


def test_equal_samples_show_nothing_and_separated_ones_everything() -> None:
    values = RNG.normal(size=200)
    assert d_sys_corrected(Scores(values, np.tile(values, 3))) == 0.0
    assert d_sys_corrected(Scores(values + 50, values)) == pytest.approx(1.0)


def test_it_sees_non_mated_scores_in_between() -> None:
    between = Scores(
        np.concatenate((RNG.normal(-4, 1, 100), RNG.normal(4, 1, 100))), RNG.normal(0, 1, 2000)
    )
    estimate = measure_scores(between, only=["d_sys_corrected"], replicates=60)
    low = estimate.measures["d_sys_corrected"].low
    assert low is not None and low > 0.7


def test_too_few_scores_are_refused() -> None:
    with raises_code("too-few"):
        d_sys_corrected(Scores(range(19), range(19)))


# --------------------------------------------------------------------------------------- bias


@pytest.mark.parametrize(("distance", "allowed"), [(0.0, 0.03), (0.5, 0.02), (2.0, 0.02)])
def test_its_bias_is_small_with_and_without_evidence(distance: float, allowed: float) -> None:
    """100 sets; the mean of d_sys itself is 0.06 where the truth is 0."""
    rng = np.random.default_rng(2)
    values = [
        d_sys_corrected(Scores(rng.normal(distance, 1, 100), rng.normal(0, 1, 2000)))
        for _ in range(100)
    ]
    assert np.mean(values) == pytest.approx(true_d_sys(distance), abs=allowed)


def test_its_interval_holds_0_without_evidence_and_d_sys_shares_it() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(40):
        scores = Scores(rng.normal(size=100), rng.normal(size=2000))
        names = ["d_sys", "d_sys_corrected"]
        measures = measure_scores(scores, only=names, replicates=60).measures
        corrected, documented = measures["d_sys_corrected"], measures["d_sys"]
        assert corrected.low is not None and documented.low is not None
        assert documented.low == pytest.approx(corrected.low, abs=0.2)
        held += corrected.low == 0 == documented.low
    assert held >= 36
