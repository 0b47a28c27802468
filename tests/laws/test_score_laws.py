"""Laws of the score measures: a table of measures for each law, every law over its whole table.

A new measure joins a law with one name in the law's table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sottovoce.core.errors import SottovoceError
from sottovoce.measure import (
    Scores,
    Tally,
    cllr,
    disclosure,
    ece_profile,
    eer,
    linkability,
    min_cllr,
    roc,
    rocch_eer,
    tpr_at_fpr,
)
from sottovoce.measure.detection_cost import OperatingPoint, min_dcf
from sottovoce.measure.disclosure import FULL_DISCLOSURE, TAGS

Floats = NDArray[np.floating[Any]]
Number = float | Floats
Source = Scores | Tally

PRIORS = [-7.0, -1.5, 0.0, 0.3, 4.0]

# ------------------------------------------------------------------ the measures and their laws


def _tpr(scores: Source) -> float:
    """TPR at FPR 1/4, where there are scores enough to see such a rate."""
    return tpr_at_fpr(scores, 0.25) if scores.n_nonmated >= 4 else 0.0


MEASURES: dict[str, Callable[[Source], Number]] = {
    "eer": eer,
    "rocch_eer": rocch_eer,
    "tpr_at_fpr": _tpr,
    "cllr": cllr,
    "min_cllr": min_cllr,
    "ece": lambda scores: ece_profile(scores, PRIORS).ece,
    "d_ece": lambda scores: disclosure(scores).d_ece,
    "worst_case": lambda scores: disclosure(scores).worst_case_log10_lr,
    "tag": lambda scores: float(list(TAGS).index(disclosure(scores).tag)),
    "min_dcf": lambda scores: min_dcf(scores, OperatingPoint(0.2)),
    "attainable": lambda scores: disclosure(scores).attainable_log10_lr,
}

EVERY = tuple(MEASURES)
THRESHOLD = tuple(name for name in MEASURES if name != "cllr")
"""See the order of scores only."""
SYMMETRIC = ("eer", "rocch_eer", "cllr", "min_cllr", "d_ece", "worst_case", "tag", "attainable")
"""Treat both classes alike (ECE, TPR and minDCF have a side: they are tested apart)."""
DUPLICATION_FREE = ("eer", "rocch_eer", "tpr_at_fpr", "cllr", "min_cllr", "ece", "d_ece", "min_dcf")
"""See shares only (the worst case grows with the number of scores)."""
NO_EVIDENCE = {"eer": 0.5, "rocch_eer": 0.5, "min_cllr": 1.0, "d_ece": 0.0, "min_dcf": 1.0}
FULL_EVIDENCE = {
    "eer": 0.0,
    "rocch_eer": 0.0,
    "min_cllr": 0.0,
    "d_ece": FULL_DISCLOSURE,
    "min_dcf": 0.0,
}


def same(names: Iterable[str], one: Source, other: Source) -> None:
    """Both sources give exactly the same numbers."""
    for name in names:
        np.testing.assert_array_equal(MEASURES[name](one), MEASURES[name](other), err_msg=name)


def alike(names: Iterable[str], one: Source, other: Source) -> None:
    """Both sources give the same numbers up to rounding."""
    for name in names:
        found, wanted = MEASURES[name](one), MEASURES[name](other)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12, err_msg=name)


# ----------------------------------------------------------------------------- sets of scores

TIED = st.integers(-4, 4).map(float)
DYADIC = st.integers(-(2**16), 2**16).map(lambda k: k / 1024)
"""Sums, cubes and products with powers of two of these are exact."""
REAL = st.floats(-100, 100)


def sides(values: st.SearchStrategy[float]) -> st.SearchStrategy[Scores]:
    side = st.lists(values, min_size=1, max_size=60)
    return st.builds(Scores, side, side)


EXACT_SETS = st.one_of(sides(TIED), sides(DYADIC))
SETS = st.one_of(sides(TIED), sides(DYADIC), sides(REAL))


@st.composite
def enough_for_a_histogram(draw: st.DrawFn) -> Scores:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mated = rng.normal(draw(st.floats(-2, 4)), draw(st.floats(0.1, 3)), draw(st.integers(20, 90)))
    nonmated = rng.normal(0, 1, draw(st.integers(1, 300)))
    places = draw(st.sampled_from([0, 1, 12]))
    mated, nonmated = mated.round(places), nonmated.round(places)
    assume(min(mated.min(), nonmated.min()) < max(mated.max(), nonmated.max()))
    return Scores(mated, nonmated)


def d_sys(scores: Scores) -> float:
    return linkability(scores, permutations=0).d_sys


# -------------------------------------------------------------- 1: increasing maps of the scores


def _ranks(values: Floats) -> Floats:
    return np.unique(values, return_inverse=True)[1].astype(np.float64)


INCREASING: dict[str, Callable[[Floats], Floats]] = {
    "scale and shift": lambda s: 4 * s + 3,
    "shrink and shift": lambda s: s / 8 - 1000,
    "cube": lambda s: s**3,
    "ranks": _ranks,
    "arctan of ranks": lambda s: np.arctan(_ranks(s) / 8),
    "exp of ranks": lambda s: np.exp(_ranks(s)),
}


@pytest.mark.parametrize("how", INCREASING)
@given(scores=EXACT_SETS)
def test_an_increasing_map_changes_no_threshold_measure(how: str, scores: Scores) -> None:
    mapped = INCREASING[how](np.concatenate((scores.mated, scores.nonmated)))
    same(THRESHOLD, Scores(mapped[: scores.n_mated], mapped[scores.n_mated :]), scores)


@given(scores=enough_for_a_histogram(), power=st.integers(-20, 20))
def test_a_change_of_unit_changes_no_linkability(scores: Scores, power: int) -> None:
    unit = 2.0**power
    assert d_sys(Scores(scores.mated * unit, scores.nonmated * unit)) == d_sys(scores)


# -------------------------------------------------------------------------- 2: swapping classes


@given(scores=SETS)
def test_swapped_classes_with_negated_scores_are_the_same_evidence(scores: Scores) -> None:
    alike(SYMMETRIC, Scores(-scores.nonmated, -scores.mated), scores)


@given(scores=SETS)
def test_swapped_classes_swap_prior_and_costs(scores: Scores) -> None:
    swapped = Scores(-scores.nonmated, -scores.mated)
    value = min_dcf(scores, OperatingPoint(0.2, 3, 2))
    assert min_dcf(swapped, OperatingPoint(0.8, 2, 3)) == pytest.approx(value, abs=1e-12)


@given(scores=SETS)
def test_swapped_classes_mirror_the_ece_profile(scores: Scores) -> None:
    swapped = Scores(-scores.nonmated, -scores.mated)
    mirrored = ece_profile(swapped, [-prior for prior in PRIORS])
    profile = ece_profile(scores, PRIORS)
    np.testing.assert_allclose(mirrored.ece, profile.ece, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(mirrored.zero_evidence, profile.zero_evidence, rtol=1e-12)


# --------------------------------------------------------------------------- 3: no evidence


def zero_evidence(scores: Scores) -> None:
    for name, value in NO_EVIDENCE.items():
        np.testing.assert_allclose(MEASURES[name](scores), value, rtol=0, atol=1e-15, err_msg=name)
    profile = ece_profile(scores, PRIORS)
    np.testing.assert_allclose(profile.ece, profile.zero_evidence, rtol=1e-14)
    if scores.n_nonmated >= 4:
        assert tpr_at_fpr(scores, 0.25) == pytest.approx(0.25, abs=1e-15)
    if scores.n_mated == scores.n_nonmated:
        found = disclosure(scores)
        assert (found.worst_case_log10_lr, found.tag) == (0.0, "0")


@given(value=REAL, mated=st.integers(1, 60), nonmated=st.integers(1, 60))
def test_constant_scores_are_no_evidence(value: float, mated: int, nonmated: int) -> None:
    scores = Scores([value] * mated, [value] * nonmated)
    zero_evidence(scores)
    with pytest.raises(SottovoceError):
        linkability(scores)


@given(
    side=st.lists(st.one_of(TIED, REAL), min_size=1, max_size=60),
    copies=st.sampled_from([(1, 1), (2, 1), (1, 3), (5, 2)]),
)
def test_identical_samples_are_no_evidence(side: list[float], copies: tuple[int, int]) -> None:
    zero_evidence(Scores(side * copies[0], side * copies[1]))


@given(scores=enough_for_a_histogram(), copies=st.integers(1, 4))
def test_identical_samples_are_not_linkable(scores: Scores, copies: int) -> None:
    assume(scores.mated.min() < scores.mated.max())
    assert d_sys(Scores(scores.mated, np.tile(scores.mated, copies))) == 0.0


# ------------------------------------------------------------------------ 4: perfect separation


@given(scores=SETS, gap=st.sampled_from([1e-3, 1.0, 1e6]))
def test_separated_classes_are_fully_disclosed(scores: Scores, gap: float) -> None:
    mated = scores.mated - scores.mated.min() + (scores.nonmated.max() + gap)
    apart = Scores(mated, scores.nonmated)
    for name, value in FULL_EVIDENCE.items():
        np.testing.assert_allclose(MEASURES[name](apart), value, rtol=1e-15, atol=0, err_msg=name)
    assert np.all(ece_profile(apart, PRIORS).ece == 0.0)
    found = disclosure(apart)
    assert found.worst_case_log10_lr == found.attainable_log10_lr
    if apart.n_nonmated >= 4:
        assert tpr_at_fpr(apart, 0.25) == 1.0


@given(scores=SETS)
def test_separation_the_wrong_way_is_nothing_to_a_threshold(scores: Scores) -> None:
    mated = scores.mated - scores.mated.max() + (scores.nonmated.min() - 1)
    reversed_ = Scores(mated, scores.nonmated)
    assert eer(reversed_) == pytest.approx(1.0, abs=1e-15)
    assert rocch_eer(reversed_) == pytest.approx(0.5, abs=1e-15)
    assert min_cllr(reversed_) == 1.0
    assert disclosure(reversed_).d_ece == 0.0


@given(scores=enough_for_a_histogram(), sign=st.sampled_from([-1, 1]))
def test_separated_classes_are_fully_linkable(scores: Scores, sign: int) -> None:
    width = scores.high - scores.low
    apart = Scores(scores.mated + sign * 3 * width, scores.nonmated)
    assert d_sys(apart) == pytest.approx(1.0, abs=1e-12)


# ----------------------------------------------------------------------------- 5: tallies add


def pieces(values: Floats, count: int, seed: int) -> list[Floats]:
    """Any partition into ``count`` parts, empty ones too."""
    part = np.random.default_rng(seed).integers(0, count, len(values))
    return [values[part == k] for k in range(count)]


def same_counts(one: Tally, other: Tally) -> None:
    np.testing.assert_array_equal(one.cuts, other.cuts)
    np.testing.assert_array_equal(one.mated, other.mated)
    np.testing.assert_array_equal(one.nonmated, other.nonmated)


@given(scores=SETS, count=st.integers(1, 5), seed=st.integers(0, 99))
def test_any_chunking_gives_the_same_tally(scores: Scores, count: int, seed: int) -> None:
    whole = Tally.of(scores, costs=True)
    chunks = pieces(scores.nonmated, count, seed)
    chunked = Tally.on(whole.cuts, scores.mated, chunks, costs=True)
    same_counts(chunked, whole)
    alike(EVERY, chunked, whole)


@given(scores=SETS, count=st.integers(1, 5), seed=st.integers(0, 99), bins=st.integers(0, 3))
def test_tallies_of_parts_add_up_to_the_whole(
    scores: Scores, count: int, seed: int, bins: int
) -> None:
    assume(not bins or scores.low < scores.high)
    whole = Tally.of(scores, bins=bins, costs=True)
    total: Tally | None = None
    mated, nonmated = pieces(scores.mated, count, seed), pieces(scores.nonmated, count, seed + 1)
    for few, many in zip(mated, nonmated, strict=True):
        part = Tally.on(whole.cuts, few, [many], edges=whole.edges, costs=True)
        total = part if total is None else total + part
    assert total is not None
    same_counts(total, whole)
    same(THRESHOLD, total, whole)
    alike(["cllr"], total, whole)
    if bins:
        np.testing.assert_array_equal(total.binned(), whole.binned())


# ------------------------------------------------------------------- 6: duplicates, 8: order


@given(scores=SETS, copies=st.sampled_from([2, 3, 5]))
def test_repeating_every_score_changes_no_share(scores: Scores, copies: int) -> None:
    # a quota of non-mated scores exists in the one if it exists in the other
    assume(scores.n_nonmated >= 4)
    repeated = Scores(np.repeat(scores.mated, copies), np.tile(scores.nonmated, copies))
    alike(DUPLICATION_FREE, repeated, scores)


@given(scores=SETS, seed=st.integers(0, 2**16))
def test_the_order_of_scores_means_nothing(scores: Scores, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = Scores(rng.permutation(scores.mated), rng.permutation(scores.nonmated))
    same(THRESHOLD, shuffled, scores)
    alike(["cllr"], shuffled, scores)


@given(scores=enough_for_a_histogram())
def test_the_order_of_scores_means_nothing_to_linkability(scores: Scores) -> None:
    turned = Scores(scores.mated[::-1], scores.nonmated[::-1])
    assert linkability(turned).to_dict() == linkability(scores).to_dict()


# ----------------------------------------------------------------------------- 7: bounds

TINY = 1e-12


@given(scores=SETS)
def test_bounds(scores: Scores) -> None:
    found = disclosure(scores)
    assert 0.0 <= eer(scores) <= 1.0
    assert 0.0 <= rocch_eer(scores) <= min(eer(scores), 0.5) + TINY
    assert 0.0 <= min_cllr(scores) <= min(cllr(scores), 1.0) + TINY
    assert -1e-15 <= found.d_ece <= FULL_DISCLOSURE + 1e-15
    assert 1 / (2 * math.log(2)) == FULL_DISCLOSURE
    assert 0.0 <= found.worst_case_log10_lr <= found.attainable_log10_lr


@given(scores=SETS)
def test_evidence_never_adds_uncertainty(scores: Scores) -> None:
    profile = ece_profile(scores)
    assert np.all(profile.ece >= 0)
    assert np.all(profile.ece <= profile.zero_evidence + 1e-14)


@given(scores=SETS)
def test_ece_of_a_flat_prior_is_min_cllr(scores: Scores) -> None:
    assert ece_profile(scores, 0.0).ece[0] == pytest.approx(min_cllr(scores), rel=1e-12, abs=1e-14)


@given(scores=SETS)
def test_the_error_of_the_best_guess_bounds_both_sides(scores: Scores) -> None:
    """Flat prior: an entropy h(p) is at least 2·min(p, 1 − p), an EER at least the best error."""
    curve = roc(scores)
    best_guess = float((curve.miss + curve.false_alarm).min()) / 2
    assert min_cllr(scores) >= 2 * best_guess - TINY
    assert rocch_eer(scores) >= best_guess - TINY


@given(scores=enough_for_a_histogram(), omega=st.sampled_from([0.1, 1.0, 7.0]))
def test_bounds_of_linkability(scores: Scores, omega: float) -> None:
    found = linkability(scores, omega=omega, permutations=3)
    assert 0.0 <= found.d_sys <= 1.0 + TINY
    assert 0.0 <= found.chance <= 1.0 + TINY
    assert np.all((found.local >= 0) & (found.local <= 1))
    more = linkability(scores, omega=2 * omega, permutations=0)
    assert more.d_sys >= found.d_sys - TINY


# --------------------------------------------------------------------------- 9: single precision


@given(scores=SETS, which=st.sampled_from(["both", "mated", "nonmated"]))
def test_single_precision_gives_the_same_numbers(scores: Scores, which: str) -> None:
    mated, nonmated = scores.mated.astype(np.float32), scores.nonmated.astype(np.float32)
    double = Scores(mated.astype(np.float64), nonmated.astype(np.float64))
    single = Scores(
        mated if which != "nonmated" else double.mated,
        nonmated if which != "mated" else double.nonmated,
    )
    same(EVERY, single, double)


@given(scores=enough_for_a_histogram())
def test_single_precision_gives_the_same_linkability(scores: Scores) -> None:
    mated, nonmated = scores.mated.astype(np.float32), scores.nonmated.astype(np.float32)
    double = Scores(mated.astype(np.float64), nonmated.astype(np.float64))
    assert linkability(Scores(mated, nonmated)).to_dict() == linkability(double).to_dict()


# ------------------------------------------------------------------------------ 10: the cuts


@given(scores=SETS, extra=st.lists(st.one_of(TIED, REAL), max_size=8))
def test_more_cuts_change_nothing(scores: Scores, extra: list[float]) -> None:
    plain = Tally.of(scores, costs=True)
    cuts = np.union1d(plain.cuts, np.array(extra, np.float64))
    alike(EVERY, Tally.on(cuts, scores.mated, [scores.nonmated], costs=True), plain)


@given(scores=SETS, bins=st.integers(2, 40))
def test_histogram_bins_change_no_threshold_measure(scores: Scores, bins: int) -> None:
    assume(scores.high - scores.low > 1e-6)
    alike(THRESHOLD, Tally.of(scores, bins=bins), Tally.of(scores))


@given(scores=SETS)
def test_cuts_at_either_class_give_the_same(scores: Scores) -> None:
    mated, nonmated = scores.mated, scores.nonmated
    at_mated = Tally.on(np.unique(mated), mated, [nonmated], costs=True)
    at_nonmated = Tally.on(np.unique(nonmated), mated, [nonmated], costs=True)
    at_all = Tally.on(np.union1d(mated, nonmated), mated, [nonmated], costs=True)
    alike(EVERY, at_mated, at_all)
    alike(EVERY, at_nonmated, at_all)
