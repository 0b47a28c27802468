"""ROC, EER, TPR at low FPR, C_llr: small sets worked out by hand, and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.measure import (
    Scores,
    Tally,
    cllr,
    eer,
    min_cllr,
    roc,
    rocch_eer,
    tpr_at_fpr,
)
from sottovoce.measure.verification import as_tally


def test_roc_of_four_scores() -> None:
    curve = roc(Scores([2, 4], [1, 3]))
    assert curve.false_alarm.tolist() == [1, 0.5, 0.5, 0, 0]
    assert curve.miss.tolist() == [0, 0, 0.5, 0.5, 1]
    hull = roc(Scores([2, 4], [1, 3]), hull=True)
    assert hull.false_alarm.tolist() == [1, 0.5, 0, 0]
    assert hull.miss.tolist() == [0, 0, 0.5, 1]


def test_a_tie_is_one_straight_segment() -> None:
    curve = roc(Scores([1, 1, 1], [1, 1]))
    assert curve.false_alarm.tolist() == [1, 0]
    assert curve.miss.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("mated", "nonmated", "expected", "on_hull"),
    [
        ([1], [0], 0.0, 0.0),
        ([0], [1], 1.0, 0.5),
        ([1], [1], 0.5, 0.5),
        ([0, 2], [1, 1], 0.5, 1 / 3),
        ([1, 1], [0, 2], 0.5, 1 / 3),
        ([0.2, 0.9], [0.1, 0.3, 0.5], 0.5, 2 / 7),
        ([0, 1], [0, 1], 0.5, 0.5),
        ([0, 1, 1, 1], [0, 0, 0, 1], 0.25, 0.25),
        ([0, 0, 1, 1], [0, 0, 0, 1], 0.4, 0.4),
    ],
)
def test_eer_by_hand(
    mated: list[float], nonmated: list[float], expected: float, on_hull: float
) -> None:
    scores = Scores(mated, nonmated)
    assert eer(scores) == pytest.approx(expected, abs=1e-15)
    assert rocch_eer(scores) == pytest.approx(on_hull, abs=1e-15)


def test_min_cllr_of_maouche_2020_table_1() -> None:
    """Table 1 prints 0.50, 0.59 and 0.65; the third is 0.655639 exactly."""
    cases = [
        ([3, 5, 7, 8], [1, 2, 4, 6]),
        ([3, 5, 6, 8], [1, 2, 4, 7]),
        ([3, 5, 6, 7], [1, 2, 4, 8]),
    ]
    found = [min_cllr(Scores(*case)) for case in cases]
    assert found == pytest.approx([0.5, 0.594361, 0.655639], abs=1e-6)
    assert [eer(Scores(*case)) for case in cases] == pytest.approx([0.25] * 3)


def test_tpr_by_hand() -> None:
    """Ten non-mated scores 0 … 9: at a rate of 2/10 the threshold lies just above 7."""
    scores = Scores([7.5, 8.5, 9.5, 1.0], np.arange(10))
    assert tpr_at_fpr(scores, 0.1) == pytest.approx(0.5)
    assert tpr_at_fpr(scores, 0.2) == pytest.approx(0.75)
    assert tpr_at_fpr(scores, 0.9) == pytest.approx(1.0)


def test_tpr_inside_a_tie_is_shared() -> None:
    """All is tied: whoever calls a tenth of the non-mated mated, calls a tenth of the mated so."""
    assert tpr_at_fpr(Scores([1] * 5, [1] * 10), 0.1) == pytest.approx(0.1)
    assert tpr_at_fpr(Scores([1, 1, 2, 2], [1] * 10), 0.1) == pytest.approx(0.5 + 0.5 * 0.1)


@pytest.mark.parametrize(("n", "fpr"), [(99, 0.01), (999, 0.001), (9_999, 0.0001), (1, 0.5)])
def test_a_rate_that_cannot_be_seen_is_refused(n: int, fpr: float) -> None:
    with raises_code("too-few", TooFewError):
        tpr_at_fpr(Scores([1.0], np.zeros(n)), fpr)
    enough = round(1 / fpr)
    assert tpr_at_fpr(Scores([1.0], np.zeros(enough)), fpr) == 1.0


@pytest.mark.parametrize("fpr", [0.0, 1.0, -0.1, 2.0, math.nan])
def test_a_rate_lies_between_0_and_1(fpr: float) -> None:
    with raises_code("out-of-range", InputError):
        tpr_at_fpr(Scores([1.0], np.zeros(100)), fpr)


def test_cllr_by_hand() -> None:
    assert cllr(Scores([0], [0])) == 1.0
    assert cllr(Scores([math.log(3)], [-math.log(3)])) == pytest.approx(math.log2(4 / 3))
    assert cllr(Scores([-math.log(3)], [math.log(3)])) == pytest.approx(2.0)
    assert cllr(Scores([0, 0, 0], [math.log(7)])) == pytest.approx((1 + 3) / 2)


def test_cllr_weighs_both_classes_alike() -> None:
    assert cllr(Scores([0] * 100, [math.log(7)])) == pytest.approx(2.0)


def test_cllr_of_a_tally_needs_its_costs() -> None:
    scores = Scores([1, 2], [0, 1])
    assert cllr(Tally.of(scores, costs=True)) == cllr(scores)
    with raises_code("missing-costs", InputError):
        cllr(Tally.of(scores))


def test_a_tally_does_as_well_as_scores() -> None:
    scores = Scores([1, 2, 3, 5], [0, 1, 2, 2])
    tally = Tally.of(scores)
    assert as_tally(tally) is tally
    for measure in (eer, rocch_eer, min_cllr):
        assert measure(tally) == measure(scores)
    assert tpr_at_fpr(tally, 0.25) == tpr_at_fpr(scores, 0.25)
    np.testing.assert_array_equal(roc(tally).miss, roc(scores).miss)
