"""Linkability: refusals, the prior ratio, bins, and what shuffled labels show."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.measure import Scores, Tally, linkability
from sottovoce.measure.linkability import MIN_MATED, d_sys_of, default_bins

linkability_module = importlib.import_module("sottovoce.measure.linkability")


def normal(mean: float, mated: int, nonmated: int, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores(rng.normal(mean, 1, mated), rng.normal(0, 1, nonmated))


@pytest.mark.parametrize("mated", [1, 9, 10, 19])
def test_too_few_mated_scores_are_an_error_never_zero(mated: int) -> None:
    scores = normal(3, mated, 500)
    with raises_code("too-few", TooFewError):
        linkability(scores)
    with pytest.raises(TooFewError):
        linkability(scores, bins=5)


def test_twenty_mated_scores_are_enough() -> None:
    assert MIN_MATED == 20
    assert len(linkability(normal(3, 20, 500)).local) == 2


def test_one_distinct_score_makes_no_histogram() -> None:
    with raises_code("constant", InputError):
        linkability(Scores([2.5] * 30, [2.5] * 30))


def test_scores_too_close_for_the_bins() -> None:
    near = float(np.nextafter(1.0, 2.0))
    with raises_code("too-close", InputError):
        linkability(Scores([1.0] * 30, [near] * 30))


@pytest.mark.parametrize("bins", [1, 0, -3])
def test_too_few_bins(bins: int) -> None:
    with raises_code("out-of-range", InputError):
        linkability(normal(1, 50, 50), bins=bins)


@pytest.mark.parametrize("omega", [0.0, -1.0, np.nan, np.inf])
def test_the_prior_ratio_must_be_a_number_above_zero(omega: float) -> None:
    with raises_code("out-of-range", InputError):
        linkability(normal(1, 50, 50), omega=omega)


def test_a_tally_without_bins_is_refused() -> None:
    with raises_code("missing-bins", InputError):
        linkability(Tally.of(normal(1, 50, 50)))


def test_a_tally_with_bins_does_as_well() -> None:
    scores = normal(1, 300, 900)
    assert linkability(Tally.of(scores, bins=30)).to_dict() == linkability(scores).to_dict()


@pytest.mark.parametrize(
    ("mated", "bins"), [(20, 2), (29, 2), (30, 3), (999, 99), (1000, 100), (10**6, 100)]
)
def test_a_bin_per_ten_mated_scores_and_a_hundred_at_most(mated: int, bins: int) -> None:
    assert default_bins(mated) == bins


def test_bins_span_the_range_of_all_scores() -> None:
    scores = normal(2, 60, 300)
    found = linkability(scores)
    assert (found.edges[0], found.edges[-1]) == (scores.low, scores.high)
    assert len(found.edges) - 1 == len(found.local) == len(found.mated) == len(found.nonmated) == 6
    assert found.mated.sum() == pytest.approx(1.0)
    assert found.nonmated.sum() == pytest.approx(1.0)
    assert found.d_sys == pytest.approx(float(found.mated @ found.local))


def test_local_linkability_by_hand() -> None:
    """Two bins, shares 3/4 against 1/4: D = (p − q)/(p + q) = 1/2, and 0 in the other bin."""
    mated, nonmated = np.array([5, 15]), np.array([30, 10])
    assert d_sys_of(mated, nonmated) == pytest.approx(3 / 4 * 1 / 2)
    # ω = 3: p counts three times: (3·¾ − ¼)/(3·¾ + ¼) and (3·¼ − ¾)/… = 0
    assert d_sys_of(mated, nonmated, 3.0) == pytest.approx(3 / 4 * 8 / 10)
    # ω = 1/3 leaves nothing to link: ¼ against ¼
    assert d_sys_of(mated, nonmated, 1 / 3) == pytest.approx(0.0, abs=1e-15)


def test_omega_of_scores() -> None:
    scores = Scores([0.0] * 5 + [1.0] * 15, [0.0] * 30 + [1.0] * 10)
    assert linkability(scores).d_sys == pytest.approx(3 / 8)
    assert linkability(scores, omega=3.0).d_sys == pytest.approx(3 / 4 * 8 / 10)
    assert linkability(scores, omega=1 / 3).d_sys == pytest.approx(0.0, abs=1e-15)


def test_mated_scores_alone_in_a_bin_are_linked() -> None:
    scores = Scores([0.0] * 5 + [1.0] * 15, [0.0] * 30)
    found = linkability(scores)
    assert found.local.tolist() == [0.0, 1.0]
    assert found.d_sys == 0.75


def test_an_empty_bin_links_nothing() -> None:
    found = linkability(Scores([0.0] * 15 + [9.0] * 15, [0.0] * 9), bins=3)
    assert found.local.tolist() == [0.0, 0.0, 1.0]


def test_non_mated_in_between_is_seen() -> None:
    """Maouche et al. 2020 section 4.2: no threshold tells these apart, the histogram does."""
    rng = np.random.default_rng(0)
    mated = np.concatenate((rng.normal(1, 0.1, 500), rng.normal(3, 0.1, 500)))
    assert linkability(Scores(mated, rng.normal(2, 0.1, 1000))).d_sys > 0.99


def test_chance_shows_the_bias_of_the_histogram() -> None:
    """Two identical Gaussians, 548 against 11,196: mean D_sys was measured as 0.060."""
    found = [linkability(normal(0, 548, 11_196, seed), permutations=60) for seed in range(12)]
    assert np.mean([one.d_sys for one in found]) == pytest.approx(0.060, abs=0.006)
    assert np.mean([one.chance for one in found]) == pytest.approx(0.060, abs=0.004)


def test_chance_is_the_mean_over_literally_shuffled_labels() -> None:
    scores = normal(1, 60, 200)
    rng = np.random.default_rng(1)
    together = np.concatenate((scores.mated, scores.nonmated))
    shuffled = []
    for _ in range(1500):
        rng.shuffle(together)
        again = Scores(together[:60], together[60:])
        shuffled.append(linkability(again, permutations=0).d_sys)
    chance = linkability(scores, permutations=1500).chance
    standard_error = float(np.std(shuffled)) / np.sqrt(1500) * np.sqrt(2)
    assert chance == pytest.approx(float(np.mean(shuffled)), abs=5 * standard_error)


def test_chance_takes_the_prior_ratio_in() -> None:
    scores = normal(0, 100, 400)
    low, high = (linkability(scores, omega=omega).chance for omega in (0.5, 2.0))
    assert low < linkability(scores).chance < high


def test_results_repeat_and_follow_the_generator() -> None:
    scores = normal(0, 100, 400)
    assert linkability(scores).chance == linkability(scores).chance
    one, other = (
        linkability(scores, rng=np.random.default_rng(seed), permutations=5) for seed in (1, 2)
    )
    assert one.chance != other.chance
    assert one.d_sys == other.d_sys


def test_no_permutations_no_chance() -> None:
    assert np.isnan(linkability(normal(0, 100, 400), permutations=0).chance)


def test_to_dict() -> None:
    entry = linkability(normal(1, 40, 100)).to_dict()
    assert list(entry) == ["d_sys", "chance", "edges", "local", "mated", "nonmated"]
    json.dumps(entry, allow_nan=False)


def test_labels_of_very_many_scores_are_drawn_from_the_same_distribution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    total = np.array([300, 50, 8, 0, 142])
    few = linkability_module._draw_labels(total, 60, 4000, np.random.default_rng(1))
    monkeypatch.setattr(linkability_module, "_MOST_DRAWN", 100)
    many = linkability_module._draw_labels(total, 60, 4000, np.random.default_rng(2))
    assert (many.sum(axis=1) == 60).all() and (many <= total).all()
    assert np.allclose(many.mean(axis=0), few.mean(axis=0), atol=0.25)
    assert np.allclose(many.std(axis=0), few.std(axis=0), atol=0.15)
