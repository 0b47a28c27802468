"""devPAV against a slow definition, and calibration on held-out scores against scikit-learn.

The definition of devPAV is written from Vergeer et al. 2021: PAV by repeated pooling in fractions,
the curve through all scores, and the area between it and the identity line by a fine split of every
segment at its crossing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from reference_sets import large_reference_sets, read_reference_set, small_reference_sets

from sottovoce.core.types import RealArray
from sottovoce.measure import Scores, calibrate, cllr, measure_scores
from sottovoce.measure.calibration_error import dev_pav
from sottovoce.measure.held_out_calibration import fit_calibration, fit_logistic
from sottovoce.measure.score_stream import ScoreStream

SMALL = small_reference_sets()
OVERLAPPING = [scores for scores in SMALL if scores.mated.min() <= scores.nonmated.max()]
LARGE = large_reference_sets()
ABSENT = pytest.param(Path(), marks=pytest.mark.skip(reason="reference sets not at hand"))
GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "logistic_calibration.json").read_text("utf-8")
)["sets"]
by_name = {scores.name: scores for scores in SMALL}


def streamed_scores(mated: RealArray, nonmated: Sequence[RealArray]) -> ScoreStream:
    count = sum(map(len, nonmated))
    return ScoreStream(
        "stream",
        "stream",
        mated,
        count,
        parts=[lambda: iter(nonmated)],
        refuse_bad_scores=lambda: None,
    )


def slow_pav(scores: Scores) -> list[tuple[float, float]]:
    """Each distinct score with its log10 likelihood ratio, by pooling blocks until they rise."""
    mated, nonmated = scores.mated.tolist(), scores.nonmated.tolist()
    blocks: list[tuple[list[float], int, int]] = []
    values, counts = np.unique(mated + nonmated, return_inverse=True)
    same = np.bincount(counts[: len(mated)], minlength=len(values)).tolist()
    other = np.bincount(counts[len(mated) :], minlength=len(values)).tolist()
    for value, m, n in zip(values.tolist(), same, other, strict=True):
        block = ([value], m, n)
        while blocks and _share(blocks[-1]) >= _share(block):
            before = blocks.pop()
            block = (before[0] + block[0], before[1] + block[1], before[2] + block[2])
        blocks.append(block)
    points = []
    for members, m, n in blocks:
        rates = m / len(mated), n / len(nonmated)
        llr = math.inf if not n else -math.inf if not m else math.log10(rates[0] / rates[1])
        points += [(value / math.log(10), llr) for value in members]
    return points


def _share(block: tuple[list[float], int, int]) -> Fraction:
    return Fraction(block[1], block[1] + block[2])


def slow_dev_pav(scores: Scores) -> float:
    points = [(x, y) for x, y in slow_pav(scores) if math.isfinite(y)]
    if len({x for x, _ in points}) == 1:
        return abs(points[0][0] - points[0][1])
    area = 0.0
    for (x1, y1), (x2, y2) in pairwise(points):
        d1, d2 = y1 - x1, y2 - x2
        if d1 * d2 >= 0:
            area += (x2 - x1) * abs(d1 + d2) / 2
        else:  # two triangles on both sides of the crossing
            at = (x2 - x1) * d1 / (d1 - d2)
            area += at * abs(d1) / 2 + (x2 - x1 - at) * abs(d2) / 2
    return area / (points[-1][0] - points[0][0])


@pytest.mark.parametrize("scores", OVERLAPPING, ids=lambda scores: scores.name)
def test_dev_pav_equals_the_definition(scores: Scores) -> None:
    expected = slow_dev_pav(scores)
    assert dev_pav(scores) == pytest.approx(expected, rel=1e-11, abs=1e-12)
    measured = measure_scores(scores, interval=None, only=["eer", "dev_pav", "d_sys", "min_cllr"])
    assert measured.measures["dev_pav"].value == pytest.approx(expected, rel=1e-11, abs=1e-12)
    plain = measure_scores(scores, interval=None, only=["eer", "d_sys", "min_cllr"])
    for name in ("eer", "d_sys", "min_cllr"):
        values = plain.measures[name].value, measured.measures[name].value
        assert values[0] == (None if values[1] is None else pytest.approx(values[1], abs=1e-12))


@pytest.mark.parametrize("path", LARGE or [ABSENT], ids=lambda path: path.stem)
def test_dev_pav_of_all_reference_sets(path: Path) -> None:
    scores = read_reference_set(path)
    if scores.mated.min() > scores.nonmated.max():
        with raises_code("too-few"):
            dev_pav(scores)
    elif scores.n_nonmated <= 50_000:
        assert dev_pav(scores) == pytest.approx(slow_dev_pav(scores), rel=1e-9, abs=1e-12)


def test_dev_pav_of_oracle_likelihood_ratios_is_zero() -> None:
    for scores in OVERLAPPING:
        calibration = calibrate(scores)
        sides = [calibration.llr(side) for side in (scores.mated, scores.nonmated)]
        llrs = Scores(*(np.clip(side, -1e3, 1e3) for side in sides))
        assert dev_pav(llrs) == pytest.approx(0.0, abs=1e-12), scores.name


def test_dev_pav_grows_with_a_shift_of_the_scores() -> None:
    scores = by_name["gauss_d4_tiny_imb"]
    moved = Scores(scores.mated + 50, scores.nonmated + 50)
    difference = 50 / math.log(10)
    assert dev_pav(moved) == pytest.approx(difference, abs=dev_pav(scores) + 5)


def test_one_score_that_both_classes_share() -> None:
    assert dev_pav(Scores([2.0, 2.0], [2.0])) == pytest.approx(2 / math.log(10))


def test_dev_pav_has_no_value_for_separated_or_streamed_scores() -> None:
    apart = measure_scores(Scores([1, 2], [-1, 0]), interval=None, only=["dev_pav"])
    assert apart.measures["dev_pav"].value is None and apart.measures["dev_pav"].note
    stream = streamed_scores(np.array([1.0]), [np.array([2.0])])
    streamed = measure_scores(stream, interval=None, only=["dev_pav"])
    assert streamed.measures["dev_pav"].value is None


def test_dev_pav_has_an_interval_although_some_resamples_are_separated() -> None:
    rng = np.random.default_rng(0)
    scores = Scores(np.append(rng.normal(6, 1, 40), 0.2), np.append(rng.normal(-6, 1, 80), 0.3))
    estimate = measure_scores(scores, only=["dev_pav"], replicates=100).measures["dev_pav"]
    assert estimate.low is not None and estimate.high is not None and estimate.value is not None
    assert 0 <= estimate.low <= estimate.value <= estimate.high < 100


# ---------------------------------------------------------------------------- held-out calibration


@pytest.mark.parametrize("prior", ["0.5", "0.05"])
@pytest.mark.parametrize("name", GOLDEN)
def test_logistic_equals_scikit_learn(name: str, prior: str) -> None:
    slope, offset = GOLDEN[name][prior]
    fitted = fit_logistic(by_name[name], prior=float(prior))
    assert fitted.slope == pytest.approx(slope, rel=1e-9, abs=1e-12)
    assert fitted.offset == pytest.approx(offset, rel=1e-9, abs=1e-12)


def weighted_cost(scores: Scores, slope: float, offset: float, prior: float) -> float:
    log_odds = math.log(prior / (1 - prior))
    mated = np.logaddexp(0, -(slope * scores.mated + offset + log_odds)).mean()
    nonmated = np.logaddexp(0, slope * scores.nonmated + offset + log_odds).mean()
    return float(prior * mated + (1 - prior) * nonmated)


@given(seed=st.integers(0, 10**6), prior=st.sampled_from([0.5, 0.01, 0.9]))
def test_no_other_slope_and_offset_cost_less(seed: int, prior: float) -> None:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-6, 7)
    scores = Scores(
        scale * rng.normal(1, 1, 30), scale * np.append(rng.normal(0, 1, 50), [5.0, -5.0])
    )
    fitted = fit_logistic(scores, prior=prior)
    least = weighted_cost(scores, fitted.slope, fitted.offset, prior)
    for step in (1e-3, -1e-3):
        for slope, offset in ((step / scale, 0.0), (0.0, step), (step / scale, -step)):
            moved = fitted.slope + slope, fitted.offset + offset
            assert weighted_cost(scores, *moved, prior) > least


def test_logistic_of_a_stream_equals_memory() -> None:
    scores = by_name["ties_1dec"]
    parts = np.array_split(scores.nonmated, 7)
    stream = streamed_scores(scores.mated, parts)
    fitted, expected = fit_logistic(stream), fit_logistic(scores)
    assert fitted.slope == pytest.approx(expected.slope, rel=1e-12)
    assert fitted.offset == pytest.approx(expected.offset, rel=1e-12)


@pytest.mark.parametrize("sides", [([1, 2], [0, 1]), ([0, 1], [1, 2]), ([1], [1]), ([3], [1, 2])])
def test_separable_classes_are_refused(sides: tuple[list[float], list[float]]) -> None:
    with raises_code("separable"):
        fit_logistic(Scores(*sides))
    assert np.isfinite(fit_calibration(Scores(*sides), "pav").llr([-9, 1.5, 9])).all()


@pytest.mark.parametrize("prior", [0.0, 1.0, -1.0, math.nan])
def test_impossible_priors_are_refused(prior: float) -> None:
    with raises_code("out-of-range"):
        fit_logistic(SMALL[-1], prior=prior)


def test_calibration_repairs_a_shift_that_held_out_scores_share() -> None:
    rng = np.random.default_rng(1)
    train, evaluated = (
        Scores(3 * rng.normal(2, 2, 400) + 7, 3 * rng.normal(-2, 2, 4000) + 7) for _ in range(2)
    )
    for method in ("logistic", "pav"):
        calibration = fit_calibration(train, method)
        llrs = Scores(*(calibration.llr(side) for side in (evaluated.mated, evaluated.nonmated)))
        assert cllr(llrs) < 0.6 < cllr(evaluated)
