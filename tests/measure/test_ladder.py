"""Scores rounded down to a ladder: exact counts of rounded scores, and the same spread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.measure import Scores, Speakers, Tally, cllr, ladder, measure_scores
from sottovoce.measure.calibration import oracle_blocks
from sottovoce.measure.catalogue import MEASURES, Evidence
from sottovoce.measure.intervals import Interval
from sottovoce.measure.ladder import FINENESS, round_down
from sottovoce.measure.linkability import d_sys_of
from sottovoce.measure.resampling import SpeakerTallies, draw_weights
from sottovoce.measure.summary import _moved

SPEAKERS = 150


def large_set(count: int = 15_000, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    who = rng.integers(0, SPEAKERS, count)
    enrol = rng.integers(0, SPEAKERS, count)
    trial = (enrol + rng.integers(1, SPEAKERS, count)) % SPEAKERS
    ease = rng.normal(0, 0.5, SPEAKERS)
    speakers = Speakers(who, enrol, trial, SPEAKERS)
    return Scores(rng.normal(2, 1, count) + ease[who], rng.normal(size=count), speakers=speakers)


@pytest.fixture(scope="module")
def scores() -> Scores:
    return large_set()


@pytest.fixture(scope="module")
def tally(scores: Scores) -> Tally:
    return Tally.of(scores, bins=50, thresholds=[0.5, float(scores.mated[7])], costs=True)


def literally_rounded(tally: Tally, scores: Scores) -> Scores:
    """Every score replaced by the highest cut that is not above it."""
    cuts = np.append(-100.0, tally.cuts)
    sides = (
        cuts[np.searchsorted(cuts, values, side="right") - 1]
        for values in (scores.mated, scores.nonmated)
    )
    return Scores(*sides, speakers=scores.speakers)


def test_a_ladder_is_much_shorter_and_counts_the_same_scores(tally: Tally) -> None:
    rounded = round_down(tally)
    assert len(rounded.cuts) < len(tally.cuts) / 3
    assert (rounded.n_mated, rounded.n_nonmated) == (tally.n_mated, tally.n_nonmated)
    assert cllr(rounded) == cllr(tally)


def test_counts_are_those_of_literally_rounded_scores(tally: Tally, scores: Scores) -> None:
    rounded = round_down(tally)
    literal = Tally.of(literally_rounded(rounded, scores))
    blocks, expected = oracle_blocks(rounded), oracle_blocks(literal)
    assert blocks.mated.tolist() == expected.mated.tolist()
    assert blocks.nonmated.tolist() == expected.nonmated.tolist()


def test_histogram_and_thresholds_stay_exact(tally: Tally, scores: Scores) -> None:
    rounded = round_down(tally)
    assert d_sys_of(*rounded.binned()) == d_sys_of(*tally.binned())
    for threshold in (0.5, float(scores.mated[7])):
        assert rounded.counts_below(threshold) == tally.counts_below(threshold)


def test_steps_hold_a_small_part_of_what_lies_beyond(tally: Tally) -> None:
    """Of the class that makes the cuts; the other one is between them anyway."""
    cells = round_down(tally).mated
    filled = cells[cells > 0]
    few = FINENESS // 4
    assert max(filled[:few].max(), filled[-few:].max()) <= 2
    upto = np.cumsum(cells)
    beyond = np.minimum(upto, upto[-1] - upto + cells)
    assert np.all(cells <= 2 + 2.5 * beyond / FINENESS)


def test_few_cuts_are_left_alone() -> None:
    tally = Tally.of(large_set(ladder.MOST_CUTS))
    assert round_down(tally) is tally
    assert round_down(replace(tally)).rounded_down is False


def test_weighted_tallies_are_those_of_literally_rounded_scores(
    tally: Tally, scores: Scores, engine: str
) -> None:
    rounded = round_down(tally)
    weights = draw_weights(SPEAKERS, np.random.default_rng(3), 3)
    literal = literally_rounded(rounded, scores)
    assert scores.speakers is not None
    drawn = SpeakerTallies(scores, scores.speakers, rounded)(weights)
    expected = SpeakerTallies(literal, scores.speakers, Tally.of(literal))(weights)
    for ours, theirs in zip(drawn, expected, strict=True):
        assert ours is not None
        assert theirs is not None
        blocks, literal_blocks = oracle_blocks(ours), oracle_blocks(theirs)
        np.testing.assert_allclose(blocks.mated, literal_blocks.mated)
        np.testing.assert_allclose(blocks.nonmated, literal_blocks.nonmated)


def test_resamples_on_the_ladder_deviate_as_resamples_of_all_scores(
    tally: Tally, scores: Scores
) -> None:
    """With the same weights: the deviation from the value, in standard deviations."""
    names = ("eer", "rocch_eer", "min_cllr", "d_ece", "tpr_at_fpr_0.01")
    measures = [MEASURES[name] for name in names]
    weights = draw_weights(SPEAKERS, np.random.default_rng(4), 40)
    assert scores.speakers is not None
    deviations = []
    for some in (tally, round_down(tally)):
        value = np.array([measure.compute(Evidence(some)) for measure in measures])
        drawn = SpeakerTallies(scores, scores.speakers, some)(weights)
        draws = [[m.compute(Evidence(t)) for m in measures] for t in drawn if t is not None]
        deviations.append(np.array(draws) - value)
    exact, rounded = deviations
    spread = exact.std(axis=0)
    assert np.all(np.abs((rounded - exact).mean(axis=0)) < 0.03 * spread)
    assert np.all(np.abs(rounded.std(axis=0) / spread - 1) < 0.02)


def test_an_interval_is_moved_by_the_difference_of_the_values_and_clipped() -> None:
    measures = [MEASURES["eer"], MEASURES["min_cllr"]]
    intervals = {"eer": Interval(0.1, 0.3), "min_cllr": Interval(0.5, 0.99)}
    rounded, exact = {"eer": 0.2, "min_cllr": 0.9}, {"eer": 0.15, "min_cllr": 0.95}
    moved = _moved(intervals, measures, rounded, exact)
    assert (moved["eer"].low, moved["eer"].high) == pytest.approx((0.05, 0.25))
    assert (moved["min_cllr"].low, moved["min_cllr"].high) == pytest.approx((0.55, 1.0))


def test_intervals_on_the_ladder_are_moved_to_the_exact_values(
    scores: Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = measure_scores(scores, replicates=60, seed=1).measures
    monkeypatch.setattr(ladder, "MOST_CUTS", 10**9)
    exact = measure_scores(scores, replicates=60, seed=1).measures
    for name, estimate in exact.items():
        assert ours[name].value == estimate.value
        if estimate.low is None or estimate.high is None:
            continue
        width = estimate.high - estimate.low
        assert ours[name].low == pytest.approx(estimate.low, abs=0.05 * width), name
        assert ours[name].high == pytest.approx(estimate.high, abs=0.05 * width), name
