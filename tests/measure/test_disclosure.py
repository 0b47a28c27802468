"""Categories of the worst case, what is attainable, profiles."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.measure import Scores, Tally, disclosure, ece_profile
from sottovoce.measure.calibration import oracle_blocks
from sottovoce.measure.disclosure import (
    FULL_DISCLOSURE,
    TAGS,
    attainable,
    tag_of,
    worst_case_of,
    worst_case_of_places,
)

BOUNDARIES = {
    1.0: ("A", "B"),
    2.0: ("B", "C"),
    4.0: ("C", "D"),
    5.0: ("D", "E"),
    6.0: ("E", "F"),
}


@pytest.mark.parametrize("log10_lr", BOUNDARIES)
def test_a_boundary_belongs_to_the_higher_category(log10_lr: float) -> None:
    """ZEBRA Table 1: B from 10¹, C from 10², D from 10⁴, E from 10⁵, F from 10⁶."""
    below, at = BOUNDARIES[log10_lr]
    assert tag_of(log10_lr) == at
    assert tag_of(math.nextafter(log10_lr, 0)) == below
    assert tag_of(math.nextafter(log10_lr, 9)) == at


@pytest.mark.parametrize(
    ("log10_lr", "tag"), [(0.0, "0"), (1e-12, "A"), (3.0, "C"), (9.0, "F"), (math.inf, "F")]
)
def test_categories_between_the_boundaries(log10_lr: float, tag: str) -> None:
    assert tag_of(log10_lr) == tag


def test_every_tag_is_explained() -> None:
    assert list(TAGS) == list("0ABCDEF")
    assert all(TAGS.values())


def apart(mated: int, nonmated: int) -> Scores:
    """Perfectly separated classes: the worst case is the larger of (m+1)n/m and (n+1)m/n."""
    return Scores(np.arange(mated) + 1.0, -np.arange(nonmated) - 1.0)


@pytest.mark.parametrize(
    ("size", "log10_lr", "tag"),
    [
        (8, math.log10(9), "A"),
        (9, 1.0, "B"),
        (98, math.log10(99), "B"),
        (99, 2.0, "C"),
        (9_998, math.log10(9_999), "C"),
        (9_999, 4.0, "D"),
        (99_999, 5.0, "E"),
    ],
)
def test_score_sets_whose_worst_case_is_a_power_of_ten(
    size: int, log10_lr: float, tag: str
) -> None:
    found = disclosure(apart(size, size))
    assert found.worst_case_log10_lr == log10_lr
    assert found.tag == tag


@pytest.mark.parametrize(("size", "tag"), [(999_998, "E"), (999_999, "F")])
def test_a_million_to_one(size: int, tag: str) -> None:
    nothing, all_ = np.array([0, 0, size]), np.array([size, 0, 0])
    assert disclosure(Tally(np.array([0.0]), nothing, all_)).tag == tag


def test_powers_of_ten_of_unequal_classes() -> None:
    # (m+1)·n/m = 5·8/4 = 10, for either class the smaller one
    assert disclosure(apart(4, 8)).worst_case_log10_lr == 1.0
    assert disclosure(apart(8, 4)).worst_case_log10_lr == 1.0
    assert disclosure(apart(4, 80)).worst_case_log10_lr == 2.0
    assert disclosure(apart(4, 80)).tag == "C"


def test_power_of_ten_in_overlapping_classes() -> None:
    """Nine mated scores on top, one among ten non-mated: (9 + 1) : 1 by the rule of succession."""
    mated = [5.0] * 9 + [0.0]
    nonmated = [0.0] * 10
    found = disclosure(Scores(mated, nonmated))
    assert found.worst_case_log10_lr == 1.0
    assert found.tag == "B"


def test_evidence_against_a_pair_counts_as_much() -> None:
    one = disclosure(Scores([0.0] * 10, [-5.0] * 9 + [0.0]))
    assert (one.worst_case_log10_lr, one.tag) == (1.0, "B")


def test_no_evidence_is_category_0() -> None:
    for scores in (Scores([1] * 7, [1] * 7), Scores([0], [1]), Scores([1, 2, 3], [1, 2, 3])):
        assert disclosure(scores).tag == "0"
        assert disclosure(scores).worst_case_log10_lr == 0.0


def test_rule_of_succession_of_unequal_classes() -> None:
    """Constant scores 10 : 1000 keep the prior of the original counts: 11·1000/(1001·10)."""
    found = disclosure(Scores([3] * 10, [3] * 1000))
    assert found.worst_case_log10_lr == pytest.approx(math.log10(11 * 1000 / (1001 * 10)))
    assert found.tag == "A"


@pytest.mark.parametrize(("mated", "nonmated"), [(1, 1), (5, 5), (100, 100), (3, 50), (50, 3)])
def test_attainable_is_the_worst_case_of_separated_classes(mated: int, nonmated: int) -> None:
    found = disclosure(apart(mated, nonmated))
    assert found.attainable_log10_lr == found.worst_case_log10_lr
    mixed = Scores([0.0] * mated, [0.0] * nonmated)
    assert disclosure(mixed).attainable_log10_lr == found.attainable_log10_lr
    assert attainable(Tally.of(mixed)) == found.attainable_log10_lr


def test_attainable_of_five_and_of_a_hundred() -> None:
    assert disclosure(apart(5, 5)).attainable_log10_lr == pytest.approx(0.778, abs=5e-4)
    assert disclosure(apart(100, 100)).attainable_log10_lr == pytest.approx(2.004, abs=5e-4)


def test_full_disclosure() -> None:
    assert pytest.approx(0.7213475204444817) == FULL_DISCLOSURE
    assert disclosure(apart(3, 8)).d_ece == pytest.approx(FULL_DISCLOSURE, rel=1e-15)


def test_to_dict() -> None:
    found = disclosure(apart(5, 5)).to_dict()
    assert list(found) == ["d_ece", "worst_case_log10_lr", "tag", "attainable_log10_lr"]
    assert found["tag"] == "A"
    json.dumps(found, allow_nan=False)


def test_a_tally_does_as_well_as_scores() -> None:
    scores = Scores([1, 2, 3, 5], [0, 1, 2, 2])
    assert disclosure(Tally.of(scores)) == disclosure(scores)


def test_default_profile() -> None:
    profile = ece_profile(Scores([1, 2, 3, 5], [0, 1, 2, 2]))
    assert len(profile.prior_log_odds) == len(profile.ece) == len(profile.zero_evidence) == 201
    assert (profile.prior_log_odds[0], profile.prior_log_odds[-1]) == (-10, 10)
    middle = 100
    assert profile.prior_log_odds[middle] == pytest.approx(0.0, abs=1e-12)
    assert profile.zero_evidence[middle] == pytest.approx(1.0)
    assert profile.prior[middle] == pytest.approx(0.5)
    assert np.all(np.diff(profile.prior) > 0)
    entry = profile.to_dict()
    assert sorted(entry) == ["ece", "prior_log_odds", "zero_evidence"]
    json.dumps(entry, allow_nan=False)


def test_profile_of_one_prior() -> None:
    profile = ece_profile(Scores([1], [0]), 0.0)
    assert profile.ece.tolist() == [0.0]
    assert profile.zero_evidence.tolist() == [1.0]


@given(few=st.integers(1, 12), more=st.integers(0, 60), seed=st.integers(0, 2**32 - 1))
def test_the_worst_case_of_places_is_that_of_pav_on_all_scores(
    few: int, more: int, seed: int
) -> None:
    many = few + more
    places = np.sort(np.random.default_rng(seed).choice(many + few, few, replace=False))
    everything = np.arange(many + few)
    others = np.setdiff1d(everything, places)
    expected = worst_case_of(oracle_blocks(Tally.of(Scores(places, others))))
    assert worst_case_of_places(places, many) == pytest.approx(expected, rel=1e-12, abs=1e-12)
