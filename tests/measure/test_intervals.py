"""Resamples by speaker are literal resamples, only faster; intervals hold their value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sottovoce.measure import (
    Scores,
    Speakers,
    Tally,
    cllr,
    disclosure,
    eer,
    linkability,
    measure_scores,
    min_cllr,
    rocch_eer,
)
from sottovoce.measure.intervals import Method, interval_of, share_interval
from sottovoce.measure.resampling import (
    MIN_SPEAKERS,
    SpeakerTallies,
    by_speaker,
    draw_weights,
    resample,
)

FEW, MANY = 7, 400
"""Speakers: few enough for a table of all pairs, and too many for one."""


def trials_of(speakers: int, *, dtype: Any = np.float64, seed: int = 0) -> Scores:
    """Scores with speakers, many of them tied.

    The first trial of speaker k has the score 100 + k, which no other trial has: how often it
    occurs in a resample tells how often the speaker was drawn.
    """
    rng = np.random.default_rng(seed)
    marks = 100.0 + np.arange(speakers)
    more = rng.integers(0, speakers, 3 * speakers)
    mated = np.concatenate((marks, rng.normal(1, 1, len(more)).round(1)))
    enrol = rng.integers(0, speakers, max(6000, speakers))
    trial = (enrol + rng.integers(1, speakers, len(enrol))) % speakers
    nonmated = rng.normal(0, 1, len(enrol)).round(1)
    nonmated[::50] += 100
    who = Speakers(np.concatenate((np.arange(speakers), more)), enrol, trial, speakers)
    return Scores(mated.astype(dtype), nonmated.astype(dtype), speakers=who)


def speakers_of(scores: Scores) -> Speakers:
    assert scores.speakers is not None
    return scores.speakers


def drawn_weights(drawn: Tally, scores: Scores) -> NDArray[np.int64]:
    """How often each speaker is in a resample, read off the speakers' own scores."""
    marks = scores.mated[: speakers_of(scores).count]
    weights = drawn.mated[2 * np.searchsorted(drawn.cuts, marks) + 1]
    whole: NDArray[np.int64] = weights.astype(np.int64)
    assert np.array_equal(whole, weights)
    return whole


def literally(scores: Scores, weights: NDArray[np.int64]) -> Scores:
    """Write a mated trial of a w_a times, a non-mated trial of a and b w_a·w_b times."""
    who = speakers_of(scores)
    pairs = weights[who.nonmated_enrol] * weights[who.nonmated_trial]
    return Scores(np.repeat(scores.mated, weights[who.mated]), np.repeat(scores.nonmated, pairs))


MEASURES: dict[str, Callable[[Scores | Tally], float]] = {
    "eer": eer,
    "rocch_eer": rocch_eer,
    "cllr": cllr,
    "min_cllr": min_cllr,
    "d_ece": lambda scores: disclosure(scores).d_ece,
    "worst_case": lambda scores: disclosure(scores).worst_case_log10_lr,
}


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("speakers", [FEW, 60, MANY])
def test_a_resample_by_speaker_is_a_literal_one(speakers: int, dtype: Any) -> None:
    scores = trials_of(speakers, dtype=dtype)
    tally = Tally.of(scores, bins=20, costs=True, squares=True)
    rng = np.random.default_rng(5)
    for drawn in resample(scores, tally, replicates=4, rng=rng):
        literal = literally(scores, drawn_weights(drawn, scores))
        expected = Tally.on(tally.cuts, literal.mated, [literal.nonmated], edges=tally.edges)
        np.testing.assert_array_equal(drawn.mated, expected.mated)
        np.testing.assert_array_equal(drawn.nonmated, expected.nonmated)
        np.testing.assert_array_equal(drawn.binned(), expected.binned())
        for name, measure in MEASURES.items():
            assert measure(drawn) == pytest.approx(measure(literal), rel=1e-6, abs=1e-9), name
        d_sys = [linkability(one, permutations=0).d_sys for one in (drawn, expected)]
        assert d_sys[0] == pytest.approx(d_sys[1], rel=1e-6)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("speakers", [FEW, MANY])
def test_given_weights_count_each_trial_by_its_speakers(speakers: int) -> None:
    scores = trials_of(speakers)
    assert scores.speakers is not None
    tally = Tally.of(scores, costs=True, squares=True)
    weights = draw_weights(speakers, np.random.default_rng(3), 5)
    assert np.all(weights.sum(axis=0) == speakers)
    weights[:, 4] = 0
    *drawn, nothing = SpeakerTallies(scores, scores.speakers, tally)(weights)
    assert nothing is None
    for resampled, column in zip(drawn, weights.T, strict=False):
        literal = literally(scores, column)
        assert resampled is not None
        assert eer(resampled) == pytest.approx(eer(literal), abs=1e-9)
        assert cllr(resampled) == pytest.approx(cllr(literal), rel=1e-6)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("speakers", [FEW, MANY])
def test_speakers_are_drawn_with_replacement(speakers: int) -> None:
    scores = trials_of(speakers)
    draws = resample(scores, Tally.of(scores), replicates=150, rng=np.random.default_rng(0))
    weights = np.array([drawn_weights(drawn, scores) for drawn in draws])
    assert weights.shape == (150, speakers)
    assert np.all(weights.sum(axis=1) == speakers)
    assert len(np.unique(weights, axis=0)) > 100
    error = 5 / math.sqrt(150 * speakers)
    assert weights.var() == pytest.approx(1 - 1 / speakers, abs=2 * error)
    assert np.mean(weights == 0) == pytest.approx((1 - 1 / speakers) ** speakers, abs=error)
    # no speaker is left out or preferred
    assert weights.mean(axis=0).min() > 0.5
    assert weights.mean(axis=0).max() < 1.5


@pytest.mark.usefixtures("engine")
def test_the_same_seed_gives_the_same_resamples() -> None:
    scores = trials_of(FEW)
    tally = Tally.of(scores, costs=True, squares=True)

    def first(seed: int) -> list[float]:
        rng = np.random.default_rng(seed)
        return [cllr(drawn) for drawn in resample(scores, tally, replicates=3, rng=rng)]

    assert first(1) == first(1)
    assert first(1) != first(2)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("replicates", [1, 31, 32, 65, 200])
def test_as_many_resamples_as_asked_for_and_none_without_a_class(replicates: int) -> None:
    """One speaker has all mated trials and a third of the draws miss her: they are drawn again."""
    who = Speakers.from_names(["a", "a"], ["a", "b", "c"], ["b", "d", "e"])
    scores = Scores([1, 2], [0, 1, 1], speakers=who)
    tally = Tally.of(scores)
    draws = list(resample(scores, tally, replicates=replicates, rng=np.random.default_rng(0)))
    assert len(draws) == replicates
    assert all(drawn.n_mated > 0 and drawn.n_nonmated > 0 for drawn in draws)


def test_few_speakers_are_no_sample() -> None:
    names = [str(k) for k in range(MIN_SPEAKERS)]
    enough = Speakers.from_names(names, names, names[1:] + names[:1])
    few = Speakers.from_names(names[:-1], names[:-1], names[1:-1] + names[:1])
    sides = list(range(MIN_SPEAKERS))
    assert by_speaker(Scores(sides, sides, speakers=enough))
    assert not by_speaker(Scores(sides[:-1], sides[:-1], speakers=few))
    assert not by_speaker(Scores(sides, sides))


# ------------------------------------------------------------------------------------ by trial


def plain(mated: int, nonmated: int, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores(rng.normal(1, 1, mated).round(1), rng.normal(0, 1, nonmated).round(1))


def test_a_resample_by_trial_keeps_the_number_of_trials() -> None:
    tally = Tally.of(plain(30, 200), costs=True, squares=True)
    for drawn in resample(plain(30, 200), tally, replicates=20, rng=np.random.default_rng(0)):
        assert (drawn.n_mated, drawn.n_nonmated) == (30, 200)
        assert np.all(drawn.mated[tally.mated == 0] == 0)
        assert np.all(drawn.nonmated[tally.nonmated == 0] == 0)


def test_resamples_by_trial_scatter_as_literal_ones_do() -> None:
    scores = plain(60, 300)
    tally = Tally.of(scores, costs=True, squares=True)
    rng = np.random.default_rng(1)
    drawn = list(resample(scores, tally, replicates=600, rng=rng))
    literal = [
        Scores(rng.choice(scores.mated, 60), rng.choice(scores.nonmated, 300)) for _ in range(600)
    ]
    for name in ("eer", "cllr", "min_cllr", "d_ece"):
        fast = np.array([MEASURES[name](one) for one in drawn])
        slow = np.array([MEASURES[name](one) for one in literal])
        error = slow.std() / math.sqrt(600)
        assert fast.mean() == pytest.approx(slow.mean(), abs=6 * error), name
        assert fast.std() == pytest.approx(slow.std(), rel=0.2), name


def test_a_set_of_one_score_a_side_has_one_resample() -> None:
    scores = Scores([1.0], [0.0])
    tally = Tally.of(scores, costs=True, squares=True)
    for drawn in resample(scores, tally, replicates=5, rng=np.random.default_rng(0)):
        assert eer(drawn) == 0.0
        assert cllr(drawn) == pytest.approx(cllr(scores))


# ----------------------------------------------------------------------------------- intervals

METHODS: list[Method] = ["centred", "reflected", "range"]


@given(
    value=st.floats(-5, 5),
    draws=st.lists(st.floats(-5, 5), min_size=1, max_size=40),
    confidence=st.floats(0.01, 0.99),
    method=st.sampled_from(METHODS),
)
def test_an_interval_holds_its_value(
    value: float, draws: list[float], confidence: float, method: Method
) -> None:
    found = interval_of(value, np.array(draws), confidence, method=method)
    assert found.low <= value <= found.high


@given(
    value=st.floats(0, 1),
    draws=st.lists(st.floats(0, 1), min_size=1, max_size=40),
    method=st.sampled_from(METHODS),
)
def test_an_interval_stays_within_bounds(value: float, draws: list[float], method: Method) -> None:
    found = interval_of(value, np.array(draws), 0.95, method=method, bounds=(0.0, 1.0))
    assert 0.0 <= found.low <= value <= found.high <= 1.0


def test_the_three_kinds_of_interval() -> None:
    draws = np.linspace(0.2, 1.2, 101)  # the middle 80 %: 0.3 … 1.1, mean 0.7

    def ends(value: float, method: Method) -> tuple[float, float]:
        found = interval_of(value, draws, 0.8, method=method)
        return found.low, found.high

    assert ends(0.6, "range") == pytest.approx((0.3, 1.1))
    assert ends(0.6, "centred") == pytest.approx((0.2, 1.0))
    assert ends(0.6, "reflected") == pytest.approx((0.1, 0.9))
    assert ends(1.3, "range") == pytest.approx((0.3, 1.3))
    assert ends(0.1, "reflected") == pytest.approx((-0.9, 0.1))


def test_a_wider_confidence_is_a_wider_interval() -> None:
    draws = np.random.default_rng(0).normal(size=500)
    for method in METHODS:
        wide, narrow = (interval_of(0.0, draws, c, method=method) for c in (0.99, 0.5))
        assert wide.low < narrow.low <= narrow.high < wide.high


@pytest.mark.parametrize("speakers", [0, FEW])
def test_intervals_of_real_measures_hold_their_values(speakers: int) -> None:
    scores = trials_of(speakers) if speakers else plain(50, 400)
    summary = measure_scores(scores, replicates=40)
    for name, one in summary.measures.items():
        if one.value is None:
            continue
        assert one.low is not None
        assert one.high is not None
        assert one.low <= one.value <= one.high, name


def test_more_trials_make_narrower_intervals() -> None:
    def width(size: int) -> float:
        one = measure_scores(plain(size, size), only=["eer"], replicates=200).measures["eer"]
        assert one.low is not None
        assert one.high is not None
        return one.high - one.low

    assert width(2000) < width(50) / 3


def test_repeating_trials_within_speakers_makes_no_interval_narrower() -> None:
    """Each speaker's trials are copied 20 times: by trial that looks like more data."""
    rng = np.random.default_rng(3)
    names = np.arange(30)
    mated, nonmated = rng.normal(1, 1, 30), rng.normal(0, 1, 30)

    def width(copies: int, *, known: bool) -> float:
        columns = [np.tile(side, copies) for side in (names, names, np.roll(names, 1))]
        who = Speakers.from_names(*columns) if known else None
        scores = Scores(np.tile(mated, copies), np.tile(nonmated, copies), speakers=who)
        one = measure_scores(scores, only=["eer"], replicates=300).measures["eer"]
        assert one.low is not None
        assert one.high is not None
        return one.high - one.low

    assert width(20, known=True) == pytest.approx(width(1, known=True), rel=1e-6)
    assert width(20, known=False) < width(1, known=False) / 2


def wilson(share: float, count: float, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson 1927, eq. 4, solved for the share of the population."""
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    root = np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    half = z / (1 + z * z / count) * root
    return centre - half, centre + half


@pytest.mark.parametrize(("successes", "count"), [(1, 5), (3, 12), (20, 40), (99, 100)])
def test_shares_of_yes_or_no_have_wilsons_interval_with_one_speaker_less(
    successes: int, count: int
) -> None:
    shares = np.repeat([1.0, 0.0], [successes, count - successes])
    interval = share_interval(shares, 0.95)
    expected = wilson(successes / count, count - 1)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-12)


def test_shares_that_vary_little_are_worth_more_speakers() -> None:
    shares = np.array([0.4, 0.5, 0.6, 0.5, 0.45, 0.55])
    worth = 0.25 * 6 / shares.var(ddof=1)
    interval = share_interval(shares, 0.95)
    assert (interval.low, interval.high) == pytest.approx(wilson(0.5, worth), abs=1e-12)
