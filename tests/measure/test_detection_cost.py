"""Detection costs and error rates against slow definitions in plain Python.

The definitions count score by score, in fractions, and go through all thresholds; nothing of them
is shared with the code. Prior and costs are as in the NIST evaluations (prior 0.01; 0.01 with a
miss that costs 10) and the VoxCeleb challenges (prior 0.05).
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from reference_sets import large_reference_sets, read_reference_set, small_reference_sets

from sottovoce.measure import Scores, Tally, measure_scores
from sottovoce.measure.catalogue import MEASURES
from sottovoce.measure.detection_cost import (
    ErrorRates,
    OperatingPoint,
    dcf,
    error_rates,
    min_dcf,
)

POINTS = [
    OperatingPoint(0.05),
    OperatingPoint(0.01),
    OperatingPoint(0.001),
    OperatingPoint(0.01, 10, 1),
    OperatingPoint(0.5),
    OperatingPoint(0.9, 1, 3),
]
SMALL = small_reference_sets()
LARGE = large_reference_sets()
ABSENT = pytest.param(Path(), marks=pytest.mark.skip(reason="reference sets not at hand"))
each_small_set = pytest.mark.parametrize("scores", SMALL, ids=lambda scores: scores.name)
each_point = pytest.mark.parametrize("point", POINTS, ids=str)

# ------------------------------------------------------------------------------- definitions


def cost_at(scores: Scores, threshold: float, point: OperatingPoint) -> Fraction:
    """The cost of accepting from a threshold on, over that of the better constant decision."""
    rejected = int(np.count_nonzero(scores.mated < threshold))
    accepted = int(np.count_nonzero(scores.nonmated >= threshold))
    prior = Fraction(point.prior)
    miss_cost = Fraction(point.cost_miss) * prior
    alarm_cost = Fraction(point.cost_false_alarm) * (1 - prior)
    cost = miss_cost * Fraction(rejected, len(scores.mated))
    cost += alarm_cost * Fraction(accepted, len(scores.nonmated))
    return cost / min(miss_cost, alarm_cost)


def slow_min_dcf(scores: Scores, point: OperatingPoint) -> float:
    thresholds = {*scores.mated.tolist(), *scores.nonmated.tolist(), math.inf}
    return float(min(cost_at(scores, threshold, point) for threshold in thresholds))


def slow_dcf(scores: Scores, point: OperatingPoint) -> float:
    odds = point.cost_false_alarm * (1 - point.prior) / (point.cost_miss * point.prior)
    return float(cost_at(scores, math.log(odds), point))


def sorted_min_dcf(scores: Scores, point: OperatingPoint) -> float:
    """The same minimum for large sets: both error rates at every distinct score."""
    thresholds = np.append(np.unique(np.concatenate((scores.mated, scores.nonmated))), np.inf)
    miss = np.searchsorted(np.sort(scores.mated), thresholds) / len(scores.mated)
    below = np.searchsorted(np.sort(scores.nonmated), thresholds)
    alarm = (len(scores.nonmated) - below) / len(scores.nonmated)
    costs = point.cost_miss * point.prior, point.cost_false_alarm * (1 - point.prior)
    return float((costs[0] * miss + costs[1] * alarm).min() / min(costs))


# ------------------------------------------------------------------------------------ equality


@each_small_set
@each_point
def test_costs_equal_the_definitions(scores: Scores, point: OperatingPoint) -> None:
    if scores.n_mated + scores.n_nonmated > 400:
        assert min_dcf(scores, point) == pytest.approx(sorted_min_dcf(scores, point), abs=1e-12)
    else:
        assert min_dcf(scores, point) == pytest.approx(slow_min_dcf(scores, point), abs=1e-12)
    assert dcf(scores, point) == pytest.approx(slow_dcf(scores, point), rel=1e-12)


@pytest.mark.parametrize("path", LARGE or [ABSENT], ids=lambda path: path.stem)
def test_costs_of_all_reference_sets(path: Path) -> None:
    scores = read_reference_set(path)
    for point in POINTS:
        assert min_dcf(scores, point) == pytest.approx(sorted_min_dcf(scores, point), abs=1e-9)
        assert dcf(scores, point) == pytest.approx(slow_dcf(scores, point), rel=1e-9)


@each_small_set
def test_the_summary_gives_the_same_numbers(scores: Scores) -> None:
    """One tally with bins, costs and all thresholds together."""
    thresholds = [-1.0, 0.0, float(scores.mated[0]), 1e6]
    names = ["min_dcf_0.3", "dcf_0.3", "dcf_0.01_10_1", "eer", "cllr"]
    names += [f"{family}_{t:.12g}" for family in ("fmr_at", "fnmr_at") for t in thresholds]
    measured = measure_scores(scores, interval=None, only=names).measures
    assert measured["dcf_0.3"].value == dcf(scores, OperatingPoint(0.3))
    assert measured["dcf_0.01_10_1"].value == dcf(scores, OperatingPoint(0.01, 10))
    value = measured["min_dcf_0.3"].value
    assert value is None or value == min_dcf(scores, OperatingPoint(0.3))
    for rates in error_rates(scores, [float(f"{t:.12g}") for t in thresholds]):
        threshold = f"{rates.threshold:.12g}"
        assert measured[f"fmr_at_{threshold}"].value == rates.false_match
        assert measured[f"fnmr_at_{threshold}"].value == rates.false_non_match


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_error_rates_compare_with_at_least(dtype: type) -> None:
    scores = Scores(np.array([0.1, 0.2, 0.3], dtype), np.array([0.0, 0.2, 0.2, 0.4], dtype))
    thresholds = [-1.0, 0.1, 0.2, float(dtype(0.2)), 0.25, 0.4, 0.5]
    for rates in error_rates(scores, thresholds):
        t = rates.threshold
        assert rates.false_match == np.mean(scores.nonmated.astype(np.float64) >= t)
        assert rates.false_non_match == np.mean(scores.mated.astype(np.float64) < t)


def test_normalised_costs_depend_on_the_effective_prior_only() -> None:
    scores = SMALL[-1]
    for point in POINTS:
        same = OperatingPoint(point.effective_prior)
        assert min_dcf(scores, same) == pytest.approx(min_dcf(scores, point), rel=1e-12)
        assert same.threshold == pytest.approx(point.threshold, rel=1e-12, abs=1e-12)


def test_calibrated_decisions_cost_the_minimum() -> None:
    """Oracle calibration makes the threshold of every operating point the best one."""
    from sottovoce.measure import calibrate

    for scores in SMALL:
        calibration = calibrate(scores)
        llrs = [np.clip(calibration.llr(side), -50, 50) for side in (scores.mated, scores.nonmated)]
        for point in POINTS:
            cost = dcf(Scores(*llrs), point)
            assert cost == pytest.approx(min_dcf(scores, point), abs=1e-9)


# ------------------------------------------------------------------------------ names and limits


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("min_dcf_.05", "min_dcf_0.05"),
        ("dcf_0.01_1_1", "dcf_0.01"),
        ("dcf_1e-2_10_1.0", "dcf_0.01_10_1"),
        ("fnmr_at_-1.50", "fnmr_at_-1.5"),
        ("tpr_at_fpr_5e-1", "tpr_at_fpr_0.5"),
    ],
)
def test_names_of_families(name: str, canonical: str) -> None:
    assert MEASURES[name].name == canonical
    assert name in MEASURES


@pytest.mark.parametrize(
    "name", ["min_dcf", "min_dcf_", "min_dcf_x", "dcf_0.1_1_1_1", "fmr_at_1_2", "fmr_at_nan"]
)
def test_names_that_no_family_has(name: str) -> None:
    assert name not in MEASURES
    with raises_code("unknown-name"):
        MEASURES[name]


@pytest.mark.parametrize("name", ["min_dcf_0", "dcf_1", "dcf_-0.1", "dcf_0.5_0_1", "dcf_0.5_1_-2"])
def test_impossible_operating_points(name: str) -> None:
    with raises_code("out-of-range"):
        MEASURES[name]


def test_too_few_scores_for_a_prior() -> None:
    scores = Scores(np.linspace(1, 2, 30), np.linspace(0, 1.5, 98))
    measured = measure_scores(scores, interval=None).measures
    assert measured["min_dcf_0.01"].value is None
    assert "98 non-mated scores" in str(measured["min_dcf_0.01"].note)
    assert measured["min_dcf_0.05"].value is not None
    assert measured["dcf_0.01"].value is not None


def test_a_tally_must_be_cut_at_the_threshold() -> None:
    with raises_code("missing-cuts"):
        error_rates(Tally.of(Scores([1, 2], [0, 3])), [0.5])
    with raises_code("out-of-range"):
        error_rates(Scores([1], [0]), [math.inf])


def test_rates_at_the_ends() -> None:
    scores = Scores([1.0, 2.0], [0.0, 1.5])
    assert error_rates(scores, [-9, 9]) == (ErrorRates(-9, 1.0, 0.0), ErrorRates(9, 0.0, 1.0))


# ------------------------------------------------------------------------------------ intervals


def test_intervals_hold_the_value() -> None:
    rng = np.random.default_rng(3)
    scores = Scores(rng.normal(2, 2, 200), rng.normal(-2, 2, 3000))
    names = ["min_dcf_0.05", "dcf_0.05", "fmr_at_0", "fnmr_at_0", "fmr_at_100", "fnmr_at_-100"]
    for name, estimate in measure_scores(scores, only=names, replicates=200).measures.items():
        assert estimate.low is not None and estimate.high is not None
        assert estimate.value is not None, name
        assert estimate.low <= estimate.value <= estimate.high, name
        assert estimate.low < estimate.high, name
