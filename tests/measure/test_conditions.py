"""Measures and differences by condition, and pooled."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from error_codes import raises_code
from paired_systems import paired_systems
from scipy.stats import chi2

from sottovoce.core.records import from_json, to_json
from sottovoce.findings import ComparisonByCondition, LeftOutTrials, MeasuresByCondition
from sottovoce.measure import Scores, Speakers, measure_scores, pair_sets
from sottovoce.measure.conditions import (
    ConditionSettings,
    compare_by_condition,
    measure_by_condition,
)
from sottovoce.measure.intervals import Interval
from sottovoce.measure.pairing import join_conditions, single_set
from sottovoce.measure.pooling import ConditionValues

NONE = LeftOutTrials(0, 0)
SETTINGS = ConditionSettings("device", only=("eer", "min_cllr"), replicates=200)


def of_condition(distance: float, speakers: int, seed: int, prefix: str = "s") -> Scores:
    """Scores of speakers whose names begin with a prefix."""
    (scores,) = paired_systems([distance], speakers=speakers, seed=seed)
    who = scores.speakers
    assert who is not None
    names = np.array([f"{prefix}{k:03d}" for k in range(speakers)])
    numbers = Speakers(who.mated, who.nonmated_enrol, who.nonmated_trial, speakers, names)
    return Scores(scores.mated, scores.nonmated, speakers=numbers, name=prefix)


def test_the_pooled_value_is_the_mean_by_speaker() -> None:
    conditions = {"a": of_condition(0.5, 10, 1, "f"), "b": of_condition(2.0, 30, 2, "m")}
    result = measure_by_condition("set", conditions, NONE, SETTINGS)
    values = {
        name: measure_scores(scores, only=["eer"], interval=None).measures["eer"].value or 0.0
        for name, scores in conditions.items()
    }
    pooled = result.pooled["eer"]
    assert pooled.value == pytest.approx((10 * values["a"] + 30 * values["b"]) / 40)
    assert result.weights == {"a": 10, "b": 30}
    assert result.weighted_by == "speaker"
    assert pooled.heterogeneity is not None
    assert (pooled.heterogeneity.lowest, pooled.heterogeneity.highest) == ("b", "a")
    assert pooled.heterogeneity.p_value < 0.01
    assert from_json(MeasuresByCondition, to_json(result)) == result


def test_equal_weights_are_the_mean_of_the_voiceprivacy_challenges() -> None:
    """There the EERs of women and men are averaged, however many there are of each."""
    conditions = {"f": of_condition(0.5, 10, 1, "f"), "m": of_condition(2.0, 30, 2, "m")}
    settings = replace(SETTINGS, column="gender", equal_weights=True)
    result = measure_by_condition("set", conditions, NONE, settings)
    values = [summary.measures["eer"].value or 0.0 for summary in result.conditions.values()]
    pooled = result.pooled["eer"]
    assert pooled.value == pytest.approx(sum(values) / 2)
    assert result.weights == {"f": 1, "m": 1} and result.weighted_by == "condition"
    assert pooled.value is not None and pooled.low is not None
    parts = [result.conditions[name].measures["eer"] for name in "fm"]
    below = math.hypot(*((part.value or 0) - (part.low or 0) for part in parts)) / 2
    assert pooled.value - pooled.low == pytest.approx(below)
    compared = compare_by_condition(
        {
            name: pair_sets([scores, scores], names=["a", "b"])
            for name, scores in conditions.items()
        },
        {"a": NONE, "b": NONE},
        settings,
    )
    first = compared.pooled["eer"][0].difference.first_value
    assert first == pytest.approx(sum(values) / 2)


def test_the_interval_of_independent_conditions_adds_squares() -> None:
    conditions = {"a": of_condition(1.0, 12, 1, "f"), "b": of_condition(1.2, 24, 2, "m")}
    result = measure_by_condition("set", conditions, NONE, SETTINGS)
    pooled = result.pooled["eer"]
    parts = [result.conditions[name].measures["eer"] for name in ("a", "b")]
    below = [
        share * ((part.value or 0.0) - (part.low or 0.0))
        for share, part in zip((1 / 3, 2 / 3), parts, strict=True)
    ]
    assert pooled.value is not None
    assert pooled.low == pytest.approx(pooled.value - math.hypot(*below))


def test_conditions_of_the_same_speakers_are_resampled_together() -> None:
    """A condition beside itself: the interval of the mean is that of the condition."""
    scores = of_condition(1.0, 12, 1)
    settings = ConditionSettings("device", only=("eer",), replicates=200)
    result = measure_by_condition("set", {"a": scores, "b": scores}, NONE, settings)
    single = result.conditions["a"].measures["eer"]
    pooled = result.pooled["eer"]
    assert (pooled.value, pooled.low, pooled.high) == pytest.approx(
        (single.value, single.low, single.high)
    )
    assert pooled.heterogeneity is not None
    assert pooled.heterogeneity.q == 0
    assert pooled.heterogeneity.i_squared == 0
    assert pooled.heterogeneity.p_value == 1


def test_speakers_of_several_conditions_are_numbered_alike() -> None:
    first, second = of_condition(1.0, 6, 1), of_condition(1.0, 8, 2)
    joined = join_conditions([single_set(first, "x"), single_set(second, "x")])
    assert joined is not None
    assert [scores.speakers.count for scores in joined.sets if scores.speakers] == [8, 8]
    apart = [single_set(first, "x"), single_set(of_condition(1.0, 8, 2, "t"), "x")]
    assert join_conditions(apart) is None
    unnamed = Scores(first.mated, first.nonmated)
    assert join_conditions([single_set(first, "x"), single_set(unnamed, "x")]) is None


def test_cochrans_q_of_independent_conditions() -> None:
    """Against the textbook formula, and the chi-squared distribution of Q under equality."""
    rng = np.random.default_rng(0)
    spread = np.array([0.5, 1.0, 2.0])
    values = np.array([0.0, 1.2, -1.0])
    draws = values + rng.normal(0, spread, (20_000, 3))
    quantity = ConditionValues(["x", "y", "z"], values, np.ones(3), draws, together=False)
    result = quantity.heterogeneity()
    assert result is not None
    weights = 1 / draws.std(axis=0, ddof=1) ** 2
    mean = np.average(values, weights=weights)
    q = float(np.sum(weights * (values - mean) ** 2))
    assert result.q == pytest.approx(q)
    assert result.degrees == 2
    assert result.i_squared == pytest.approx(max(0.0, (q - 2) / q))
    assert result.p_value == pytest.approx(chi2.sf(q, 2), abs=0.01)
    assert (result.lowest, result.highest) == ("z", "y")


def test_the_interval_of_correlated_conditions() -> None:
    rng = np.random.default_rng(1)
    covariance = np.array([[1.0, 0.6], [0.6, 4.0]])
    draws = rng.multivariate_normal([0.0, 0.0], covariance, 50_000)
    quantity = ConditionValues(["x", "y"], np.zeros(2), np.array([1.0, 3.0]), draws, together=True)
    ends = [Interval(-1.96, 1.96), Interval(-3.92, 3.92)]
    shares = np.array([0.25, 0.75])
    expected = 1.96 * math.sqrt(shares @ covariance @ shares)
    assert quantity.interval(ends).high == pytest.approx(expected, rel=0.02)


def test_equal_conditions_rarely_differ() -> None:
    alarms = 0
    settings = ConditionSettings("device", only=("eer",), replicates=100)
    for seed in range(60):
        conditions = {
            name: of_condition(1.0, 10, 2 * seed + number, name) for number, name in enumerate("fm")
        }
        result = measure_by_condition("set", conditions, NONE, settings)
        heterogeneity = result.pooled["eer"].heterogeneity
        alarms += heterogeneity is not None and heterogeneity.p_value < 0.05
    assert alarms <= 9


def test_differences_are_pooled_by_speaker() -> None:
    conditions = {}
    for number, (name, speakers) in enumerate({"f": 8, "m": 16}.items()):
        sets = paired_systems([0.6, 1.4], speakers=speakers, seed=number, shared=0.9)
        conditions[name] = pair_sets(sets, same_trials=True)
    left_out = {"system 0": LeftOutTrials(3, 0), "system 1": LeftOutTrials(0, 2)}
    result = compare_by_condition(conditions, left_out, SETTINGS)
    (pooled,) = result.pooled["eer"]
    parts = [result.conditions[name].differences["eer"][0].value or 0.0 for name in ("f", "m")]
    assert pooled.difference.value == pytest.approx((8 * parts[0] + 16 * parts[1]) / 24)
    assert pooled.difference.discloses_more == "system 1"
    assert pooled.heterogeneity is not None
    assert len(result.warnings) == 2
    assert from_json(ComparisonByCondition, to_json(result)) == result


def test_small_conditions_are_not_pooled() -> None:
    tiny = Scores([1.0, 2.0], [0.0, 1.5], name="tiny")
    result = measure_by_condition("set", {"a": of_condition(1.0, 10, 1), "b": tiny}, NONE, SETTINGS)
    assert set(result.conditions) == {"a", "b"}
    assert set(result.weights) == {"a"}
    assert len(result.warnings) == 1
    assert result.pooled["eer"].value == result.conditions["a"].measures["eer"].value


def test_no_condition_is_refused() -> None:
    with raises_code("empty"):
        measure_by_condition("set", {}, NONE, SETTINGS)
