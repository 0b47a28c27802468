"""Differences between score sets against brute force, and what they are paired by."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from paired_systems import paired_systems
from scipy.stats import studentized_range, t

from sottovoce.findings import Comparison, PairedDifference
from sottovoce.measure import Scores, Speakers, compare_scores, measure_scores, pair_sets
from sottovoce.measure.calibration import oracle_blocks
from sottovoce.measure.catalogue import MEASURES
from sottovoce.measure.detection_cost import OperatingPoint, false_alarms_of_min_dcf
from sottovoce.measure.joint_draws import degrees_of_freedom, simultaneous_half_widths
from sottovoce.measure.paired import ROUGH
from sottovoce.measure.paired_draws import resample_together
from sottovoce.measure.resampling import draw_weights
from sottovoce.measure.score_stream import ScoreStream
from sottovoce.measure.tally import Tally

Weights = NDArray[np.int64]


def only(comparison: Comparison, name: str = "eer") -> PairedDifference:
    (difference,) = comparison.differences[name]
    return difference


def without_speakers(scores: Scores) -> Scores:
    return Scores(scores.mated, scores.nonmated, name=scores.name)


def slow_eer(mated: NDArray[np.floating], nonmated: NDArray[np.floating]) -> float:
    """Crossing of the ROC, threshold by threshold, in fractions."""
    before: tuple[Fraction, Fraction] | None = None
    for threshold in [*sorted({*mated.tolist(), *nonmated.tolist()}), math.inf]:
        alarm = Fraction(int(np.sum(nonmated >= threshold)), len(nonmated))
        miss = Fraction(int(np.sum(mated < threshold)), len(mated))
        if before is not None and alarm <= miss:
            gap, gap_before = alarm - miss, before[0] - before[1]
            return float(before[1] + (miss - before[1]) * gap_before / (gap_before - gap))
        before = (alarm, miss)
    raise AssertionError("the ROC goes from (1, 0) to (0, 1)")


def brute_force_difference(first: Scores, second: Scores, weights: Weights) -> float:
    """EER of the first less that of the second, every trial written out as often as it counts."""
    values = []
    for scores in (first, second):
        who = scores.speakers
        assert who is not None
        mated: list[float] = []
        for score, speaker in zip(scores.mated.tolist(), who.mated.tolist(), strict=True):
            mated += [score] * int(weights[speaker])
        nonmated: list[float] = []
        sides = (scores.nonmated.tolist(), who.nonmated_enrol.tolist(), who.nonmated_trial.tolist())
        for score, a, b in zip(*sides, strict=True):
            nonmated += [score] * int(weights[a] * weights[b])
        values.append(slow_eer(np.array(mated), np.array(nonmated)))
    return values[0] - values[1]


# ------------------------------------------------------------------------------- brute force


def test_the_same_weights_give_the_difference_of_brute_force() -> None:
    sets = paired_systems([0.8, 1.4], speakers=7, utterances=4)
    both = sets[0], sets[1]
    paired = pair_sets(sets)
    assert paired.paired_by == "speaker"
    tallies = [Tally.of(scores) for scores in sets]
    draws = resample_together(paired, tallies, replicates=8, rng=np.random.default_rng(4))
    weights = draw_weights(7, np.random.default_rng(4))
    for (first, second), column in zip(draws, weights.T, strict=False):
        difference = slow_eer(*written_out(first)) - slow_eer(*written_out(second))
        assert difference == pytest.approx(brute_force_difference(*both, column), abs=1e-12)


def written_out(tally: Tally) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores with the weighted counts of a tally: one number per cell."""
    cells = np.arange(len(tally.mated), dtype=np.float64)
    mated, nonmated = (counts.astype(np.int64) for counts in (tally.mated, tally.nonmated))
    return np.repeat(cells, mated), np.repeat(cells, nonmated)


def test_shares_of_resamples_agree_with_a_brute_force_paired_bootstrap() -> None:
    """The bootstrap here draws speakers by name, one resample at a time."""
    sets = paired_systems([0.6, 1.0], speakers=12, utterances=5)
    both = sets[0], sets[1]
    comparison = compare_scores(sets, only=["eer"], replicates=2000)
    rng = np.random.default_rng(99)
    draws = np.array(
        [
            quick_difference(*both, np.bincount(rng.integers(0, 12, 12), minlength=12))
            for _ in range(1500)
        ]
    )
    value = slow_eer(sets[0].mated, sets[0].nonmated) - slow_eer(sets[1].mated, sets[1].nonmated)
    difference = only(comparison)
    assert difference.value == pytest.approx(value, abs=1e-12)
    assert difference.share_above == pytest.approx(np.mean(draws > 0), abs=0.04)
    assert difference.share_below == pytest.approx(np.mean(draws < 0), abs=0.04)
    # every pair of speakers meets once here, and resamples exaggerate the noise of single pairs
    assert 0.6 < width(difference) / (2 * t.ppf(0.975, 11) * draws.std()) < 1.0


def test_intervals_agree_with_brute_force_subsamples() -> None:
    """Speakers are left out, and pairs weighted, one subsample at a time and without a tally."""
    sets = paired_systems([0.6, 1.0], speakers=12, utterances=5)
    both = sets[0], sets[1]
    difference = only(compare_scores(sets, only=["eer"], replicates=4000))
    rng = np.random.default_rng(99)
    everybody = np.ones(12, np.int64)
    left_out, tilted = [], []
    for _ in range(800):
        order = rng.permutation(12)
        weights = everybody.copy()
        weights[order[:5]] = 0  # two fifths of 12 speakers
        left_out.append(quick_difference(*both, weights))
        signs = everybody.copy()
        signs[order[:6]] = -1
        # pairs within a half count three times as often as pairs across
        tilted.append(quick_difference(*both, everybody, 2 + np.outer(signs, signs)))
    variance = np.var(left_out, ddof=1) * 7 / 5 - np.var(tilted, ddof=1) * (1 + 5 / 7) / 0.5**2
    half_width = t.ppf(0.975, 11) * np.sqrt(variance)
    assert difference.value is not None
    assert difference.low == pytest.approx(difference.value - half_width, abs=0.1 * half_width)
    assert difference.high == pytest.approx(difference.value + half_width, abs=0.1 * half_width)


def quick_difference(
    first: Scores, second: Scores, weights: Weights, of_pairs: Weights | None = None
) -> float:
    """The difference of EERs by sorting all repeated scores; no tally."""
    table = np.outer(weights, weights) if of_pairs is None else of_pairs
    values = []
    for scores in (first, second):
        who = scores.speakers
        assert who is not None
        pairs = table[who.nonmated_enrol, who.nonmated_trial]
        mated = np.sort(np.repeat(scores.mated, weights[who.mated]))
        nonmated = np.sort(np.repeat(scores.nonmated, pairs))
        thresholds = np.append(np.unique(np.concatenate((mated, nonmated))), np.inf)
        miss = np.searchsorted(mated, thresholds) / len(mated)
        alarm = 1 - np.searchsorted(nonmated, thresholds) / len(nonmated)
        after = int(np.argmax(alarm - miss <= 0))
        gap = (alarm - miss)[[after - 1, after]]
        share = gap[0] / (gap[0] - gap[1])
        values.append(miss[after - 1] + share * (miss[after] - miss[after - 1]))
    return float(values[0] - values[1])


def test_trials_of_unknown_speakers_are_drawn_together() -> None:
    sets = [without_speakers(scores) for scores in paired_systems([0.8, 1.4], speakers=6)]
    paired = pair_sets(sets, same_trials=True)
    assert paired.paired_by == "trial"
    tallies = [Tally.of(scores, costs=True) for scores in sets]
    draws = resample_together(paired, tallies, replicates=5, rng=np.random.default_rng(4))
    rng = np.random.default_rng(4)
    m, n = len(sets[0].mated), sets[0].n_nonmated
    mated, nonmated = draw_weights(m, rng), draw_weights(n, rng)
    for number, drawn in enumerate(draws):
        for tally, resampled, scores in zip(tallies, drawn, sets, strict=True):
            literal = Tally.on(
                tally.cuts,
                np.repeat(scores.mated, mated[:, number]),
                [np.repeat(scores.nonmated, nonmated[:, number])],
                costs=True,
            )
            np.testing.assert_array_equal(resampled.mated, literal.mated)
            np.testing.assert_array_equal(resampled.nonmated, literal.nonmated)
            assert resampled.costs is not None
            assert literal.costs is not None
            for side in (0, 1):
                assert resampled.costs[side].total == pytest.approx(literal.costs[side].total)


# --------------------------------------------------------------------------- what is compared


def test_separate_intervals_overlap_where_the_paired_difference_excludes_zero() -> None:
    first, second = paired_systems([0.8, 1.2], speakers=24, shared=0.95)
    low, high = (measure_scores(scores, only=["eer"]).measures["eer"] for scores in (second, first))
    assert low.high is not None
    assert high.low is not None
    assert low.high > high.low
    difference = only(compare_scores([first, second], only=["eer"]))
    assert difference.excludes_zero
    assert difference.discloses_more == second.name


def test_unpaired_sets_are_resampled_separately_and_say_so() -> None:
    sets = paired_systems([0.8, 1.2], speakers=40, shared=0.95)
    paired = compare_scores(sets, only=["eer"])
    unpaired = compare_scores([without_speakers(scores) for scores in sets], only=["eer"])
    assert paired.warnings == ()
    assert unpaired.paired_by == "nothing"
    assert len(unpaired.warnings) == 1
    separate = compare_scores(
        paired_systems([0.8, 1.2], speakers=40, shared=0.95, named=False), only=["eer"]
    )
    assert separate.paired_by == "nothing"
    assert width(only(paired)) < 0.8 * width(only(separate))


def width(difference: PairedDifference) -> float:
    assert difference.low is not None
    assert difference.high is not None
    return difference.high - difference.low


def renamed(scores: Scores, names: list[str]) -> Scores:
    who = scores.speakers
    assert who is not None
    table = np.array(names)
    speakers = Speakers.from_names(
        table[who.mated], table[who.nonmated_enrol], table[who.nonmated_trial]
    )
    return Scores(scores.mated, scores.nonmated, speakers=speakers, name=scores.name)


def test_only_common_speakers_are_compared() -> None:
    first, second = paired_systems([0.8, 1.2], speakers=10)
    names = [f"s{k:03d}" for k in range(10)]
    partly = renamed(second, [*names[:7], "x", "y", "z"])
    comparison = compare_scores([first, partly], interval=None, only=["eer", "min_cllr"])
    assert comparison.paired_by == "speaker"
    assert [part.n_mated for part in comparison.sets] == [70, 70]
    assert [part.n_nonmated for part in comparison.sets] == [42, 42]
    assert [part.left_out for part in comparison.sets] == [78, 78]
    assert len(comparison.warnings) == 2
    who = first.speakers
    assert who is not None
    common = np.flatnonzero(who.mated < 7)
    both = np.flatnonzero((who.nonmated_enrol < 7) & (who.nonmated_trial < 7))
    expected = [slow_eer(scores.mated[common], scores.nonmated[both]) for scores in (first, second)]
    assert only(comparison).value == pytest.approx(expected[0] - expected[1], abs=1e-12)


def test_the_order_of_names_does_not_matter() -> None:
    first, second = paired_systems([0.8, 1.2], speakers=8)
    names = [f"s{k:03d}" for k in range(8)]
    mixed = [names[k] for k in (3, 0, 7, 1, 6, 2, 5, 4)]
    straight = compare_scores([first, second], only=["eer"])
    turned = compare_scores([renamed(first, mixed), renamed(second, mixed)], only=["eer"])
    assert only(straight).value == only(turned).value
    assert width(only(straight)) == pytest.approx(width(only(turned)), rel=0.15)


def test_too_few_common_speakers_are_not_paired() -> None:
    first, second = paired_systems([0.8, 1.2], speakers=8)
    names = [f"s{k:03d}" for k in range(8)]
    apart = renamed(second, [*names[:4], *"wxyz"])
    assert pair_sets([first, apart]).paired_by == "nothing"
    assert pair_sets([first, renamed(second, list("abcdefgh"))]).paired_by == "nothing"


def test_streams_are_compared_without_pairs() -> None:
    first, second = (without_speakers(one) for one in paired_systems([0.8, 1.2]))
    stream = ScoreStream(
        "stream",
        "stream",
        second.mated,
        second.n_nonmated,
        parts=[lambda: iter([second.nonmated])],
        refuse_bad_scores=lambda: None,
    )
    comparison = compare_scores([first, stream], only=["eer"])
    assert comparison.paired_by == "nothing"
    assert only(comparison).low is not None
    assert pair_sets([first, stream], same_trials=True).paired_by == "nothing"


def test_few_speakers_are_warned_of() -> None:
    few, enough = (
        compare_scores(paired_systems([0.8, 1.2], speakers=k), only=["eer"], replicates=40)
        for k in (20, 30)
    )
    (warning,) = few.warnings
    assert "20 speakers" in warning
    assert enough.warnings == ()
    without = compare_scores(paired_systems([0.8, 1.2]), only=["eer"], interval=None)
    assert without.warnings == ()


def test_trials_of_unknown_speakers_are_warned_of() -> None:
    sets = [without_speakers(scores) for scores in paired_systems([0.8, 1.2])]
    paired = pair_sets(sets, same_trials=True)
    (warning,) = compare_scores(paired, only=["eer"], replicates=40).warnings
    assert "speakers are unknown" in warning


def test_what_cannot_be_compared_is_refused() -> None:
    first, second = paired_systems([0.8, 1.2])
    with raises_code("too-few"):
        pair_sets([first])
    with raises_code("duplicate-name"):
        pair_sets([first, first])
    with raises_code("mismatch"):
        pair_sets([first, Scores([1.0], [0.0])], same_trials=True)
    with raises_code("out-of-range"):
        compare_scores([first, second], interval=1.5)


def test_a_measure_that_one_set_cannot_have_is_noted() -> None:
    first = Scores(np.arange(30.0), np.arange(30.0), name="few")
    second = Scores(np.arange(30.0), np.arange(5000.0), name="many")
    comparison = compare_scores([first, second], only=["tpr_at_fpr_0.001", "worst_case_log10_lr"])
    refused = only(comparison, "tpr_at_fpr_0.001")
    assert refused.first_value is None
    assert refused.second_value is not None
    assert refused.value is refused.low is refused.share_above is None
    assert refused.note
    maximum = only(comparison, "worst_case_log10_lr")
    assert maximum.low is None
    assert maximum.note
    assert maximum.share_above is not None


def test_too_few_trials_have_no_intervals() -> None:
    sets = [Scores([1.0, 2.0], [0.0, 1.5], name=name) for name in "ab"]
    comparison = compare_scores(sets, only=["eer"])
    assert comparison.interval is None
    assert only(comparison).low is None
    assert any("too few" in warning for warning in comparison.warnings)
    assert compare_scores(sets, only=["eer"], interval=None).warnings == comparison.warnings[:1]


def test_a_difference_that_all_resamples_repeat_is_no_certainty() -> None:
    """Both systems separate mated from non-mated scores: the EER is 0 in every resample."""
    sets = paired_systems([20.0, 30.0], speakers=8)
    difference = only(compare_scores(sets, only=["eer"]))
    single = measure_scores(sets[0], only=["eer"]).measures["eer"]
    assert difference.value == 0
    assert single.high is not None
    assert single.high > 0
    assert (difference.low, difference.high) == pytest.approx((-single.high, single.high))
    assert difference.discloses_more is None


def test_a_set_whose_resamples_all_agree_adds_what_it_may_hide() -> None:
    """The first system separates the scores, so that only the second varies."""
    sets = paired_systems([20.0, 1.5], speakers=8)
    difference = only(compare_scores(sets, only=["eer"], replicates=400))
    single = measure_scores(sets[0], only=["eer"]).measures["eer"]
    assert (difference.low or 0.0) < (difference.value or 0.0)
    half_width = (difference.value or 0.0) - (difference.low or 0.0)
    assert difference.value is not None
    assert single.high is not None
    assert difference.high == pytest.approx(difference.value + math.hypot(half_width, single.high))


# ------------------------------------------------------------------------------ several systems


def test_intervals_of_several_systems_hold_together() -> None:
    sets = paired_systems([0.8, 1.0, 1.2, 1.0])
    together = compare_scores(sets, only=["eer"], replicates=2000).differences["eer"]
    assert [(d.first[-1], d.second[-1]) for d in together] == [
        ("0", "1"),
        ("0", "2"),
        ("0", "3"),
        ("1", "2"),
        ("1", "3"),
        ("2", "3"),
    ]
    alone = [
        only(compare_scores([sets[i], sets[j]], only=["eer"], replicates=2000))
        for i in range(4)
        for j in range(i + 1, 4)
    ]
    ratios = np.array([width(a) / width(b) for a, b in zip(together, alone, strict=True)])
    # Tukey's factor for four groups is 1.31 times that of one pair with many degrees of freedom
    assert np.all(ratios > 1.1)
    assert np.all(ratios < 1.6)


def test_simultaneous_widths_of_normal_quantities() -> None:
    rng = np.random.default_rng(0)
    deviations = rng.normal(0, 1, (50_000, 3))
    errors = np.array([1.0, 2.0, 5.0])
    # all of three independent quantities, each with a standard error of its own
    each = (1 + 0.95 ** (1 / 3)) / 2
    for degrees in (5.0, 1e6):
        widths = simultaneous_half_widths(errors, deviations, 0.95, np.full(3, degrees))
        assert widths == pytest.approx(t.ppf(each, degrees) * errors, rel=0.02)
    with_constant = simultaneous_half_widths(
        np.array([2.0, 0.0]), deviations[:, :2], 0.9, np.array([50.0, 3.0])
    )
    assert with_constant == pytest.approx([2 * t.ppf(0.95, 50), 0.0])


def test_simultaneous_widths_of_differences_are_a_little_wider_than_those_of_tukey() -> None:
    """Tukey's have one standard error for all differences, ours have one each."""
    means = np.random.default_rng(0).normal(0, np.sqrt(0.5), (50_000, 4))
    pairs = [(i, j) for i in range(4) for j in range(i)]
    deviations = np.stack([means[:, i] - means[:, j] for i, j in pairs], axis=1)
    for degrees, relative in ((1e6, 0.02), (12.0, 0.06)):
        widths = simultaneous_half_widths(np.ones(6), deviations, 0.95, np.full(6, degrees))
        tukey = studentized_range.ppf(0.95, 4, degrees) / np.sqrt(2)
        bonferroni = t.ppf(1 - 0.025 / 6, degrees)
        assert widths == pytest.approx(tukey, rel=relative)
        assert np.all(widths < bonferroni)


@given(seed=st.integers(0, 2**32 - 1), distance=st.floats(0, 4))
@settings(max_examples=8, deadline=None)
def test_exchanging_the_sets_turns_the_sign(seed: int, distance: float) -> None:
    sets = paired_systems([1.0, distance], speakers=6, utterances=4, seed=seed)
    names = ["eer", "d_ece", "cllr"]
    there = compare_scores(sets, only=names, replicates=60)
    back = compare_scores(sets[::-1], only=names, replicates=60)
    for name in names:
        one, other = only(there, name), only(back, name)
        assert one.value is not None
        assert one.value == pytest.approx(-(other.value or 0.0), abs=1e-12)
        assert one.low == pytest.approx(-(other.high or 0.0), abs=1e-9)
        assert one.share_below == other.share_above
        assert one.discloses_more == other.discloses_more
        assert one.low is not None
        assert one.high is not None
        assert one.low <= one.value <= one.high


def test_a_system_never_differs_from_itself() -> None:
    (scores,) = paired_systems([1.0])
    copy = Scores(scores.mated, scores.nonmated, speakers=scores.speakers, name="copy")
    names = ["eer", "min_cllr", "d_sys"]
    comparison = compare_scores([scores, copy], only=names, replicates=100)
    for name in names:
        difference = only(comparison, name)
        assert difference.value == difference.low == difference.high == 0
        assert difference.share_below == difference.share_above == 0
        assert difference.discloses_more is None


def test_false_alarms_are_rare_among_equal_systems() -> None:
    """Of 100 pairs of equal systems, 5 % may differ; benchmarks/paired_coverage.py draws more."""
    alarms = 0
    for seed in range(100):
        sets = paired_systems([1.0, 1.0], speakers=15, utterances=6, seed=seed, shared=0.5)
        alarms += only(compare_scores(sets, only=["eer"], replicates=150)).excludes_zero
    assert alarms <= 11


def test_a_comparison_survives_its_json() -> None:
    from sottovoce.core.records import from_json, to_json

    comparison = compare_scores(paired_systems([0.8, 1.2, 1.0]), only=["eer"], replicates=50)
    assert from_json(Comparison, to_json(comparison)) == replace(
        comparison, differences=dict(comparison.differences)
    )


def test_few_false_alarms_are_noted() -> None:
    """At d′ = 1 the threshold of a prior of 0.01 accepts next to no non-mated pair."""
    sets = paired_systems([1.0, 1.2], speakers=20)
    comparison = compare_scores(sets, only=["eer", "dcf_0.01", "fmr_at_0"], replicates=20)
    assert only(comparison, "dcf_0.01").note == ROUGH
    assert only(comparison, "eer").note is None
    assert only(comparison, "fmr_at_0").note is None


@pytest.mark.parametrize("prior", [0.01, 0.3, 0.9])
def test_false_alarms_of_the_best_threshold(prior: float) -> None:
    """Against every threshold tried in turn."""
    (scores,) = paired_systems([1.5], speakers=8)
    point = OperatingPoint(prior)
    thresholds = np.append(np.unique(np.concatenate((scores.mated, scores.nonmated))), np.inf)
    costs = [
        point.normalised(np.mean(scores.mated < cut), np.mean(scores.nonmated >= cut))
        for cut in thresholds
    ]
    best = thresholds[int(np.argmin(costs))]
    found = false_alarms_of_min_dcf(oracle_blocks(Tally.of(scores)), point)
    assert found == np.sum(scores.nonmated >= best)


def test_few_errors_leave_few_degrees_of_freedom() -> None:
    scores, eer = paired_systems([1.0])[0], MEASURES["eer"]
    many = degrees_of_freedom(eer, scores, errors=1000.0)
    assert degrees_of_freedom(eer, scores, errors=3.0) == 6 < many
    assert degrees_of_freedom(eer, scores, errors=0.0) == 1
