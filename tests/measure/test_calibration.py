"""PAV, Laplace's rule and the map from score to likelihood ratio."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from sottovoce.measure import Scores, Tally, calibrate
from sottovoce.measure.calibration import Blocks, block_llrs, laplace_blocks, oracle_blocks, pool


def counts(blocks: Blocks) -> list[tuple[int, int]]:
    return list(zip(blocks.mated.tolist(), blocks.nonmated.tolist(), strict=True))


def blocks_of(steps: list[tuple[int, int]]) -> Blocks:
    mated, nonmated = np.array(steps, np.int64).T
    return pool(mated, nonmated)


pytestmark = pytest.mark.usefixtures("engine")


def test_violators_are_pooled_until_posteriors_increase() -> None:
    blocks = blocks_of([(0, 2), (3, 1), (1, 2), (0, 1), (2, 0)])
    assert counts(blocks) == [(0, 2), (4, 4), (2, 0)]
    assert blocks.first.tolist() == [0, 1, 4]


def test_equal_posteriors_are_one_block() -> None:
    assert counts(blocks_of([(1, 2), (2, 4), (3, 6)])) == [(6, 12)]


@pytest.mark.parametrize(
    "steps",
    [
        [(963, 1717), (946, 1746), (881, 1807), (2376, 4488)],
        [(1923, 1719), (1883, 1741), (8734, 7940)],
        [(896, 652), (871, 653), (826, 673), (791, 701), (2064, 1634)],
        [(432, 2195), (415, 2247), (392, 2284), (168, 912)],
    ],
)
def test_posteriors_that_differ_only_by_rounding_are_pooled(steps: list[tuple[int, int]]) -> None:
    """The last step has the posterior of the others together, which as doubles seem to differ."""
    total = (sum(mated for mated, _ in steps), sum(nonmated for _, nonmated in steps))
    blocks = blocks_of(steps)
    assert counts(blocks) == [total]
    assert blocks.first.tolist() == [0]


def test_large_counts_are_compared_exactly() -> None:
    big = 3 * 10**9
    assert counts(blocks_of([(big, big), (big + 1, big + 1)])) == [(2 * big + 1, 2 * big + 1)]
    assert len(counts(blocks_of([(big, big + 10**4), (big + 10**4, big)]))) == 2


def chain_of_violators(length: int) -> Blocks:
    """Posteriors that rise up to one last step, which pools with them one after the other."""
    odds = np.arange(1, length + 1, dtype=np.int64)
    return Blocks(np.append(odds, 0), np.append(odds[::-1], 7 * length), np.arange(length + 1))


def random_steps(seed: int) -> Blocks:
    mated, nonmated = np.random.default_rng(seed).integers(0, 4, (2, 500))
    return Blocks(mated, nonmated, np.arange(500))


@pytest.mark.parametrize(
    "steps",
    [
        chain_of_violators(300),
        chain_of_violators(20_000),
        *(random_steps(seed) for seed in range(5)),
    ],
    ids=lambda steps: str(len(steps.mated)),
)
def test_pooling_equals_isotonic_regression(steps: Blocks) -> None:
    """Of scipy: an independent implementation; also where rounds pool one block each."""
    blocks = pool(steps.mated, steps.nonmated)
    weight = steps.mated + steps.nonmated
    filled = weight > 0
    fit = isotonic_regression(steps.mated[filled] / weight[filled], weights=weight[filled])
    posterior = blocks.mated / (blocks.mated + blocks.nonmated)
    of_step = np.searchsorted(blocks.first, np.flatnonzero(filled), side="right") - 1
    np.testing.assert_allclose(posterior[of_step], fit.x, rtol=1e-12, atol=1e-15)
    assert np.all(np.diff(posterior) > 0)


def test_weighted_counts_keep_their_fractions() -> None:
    """Where only one class is weighted; a chain, so that rounds and loop are both used."""
    steps = chain_of_violators(300)
    blocks = pool(steps.mated, (steps.nonmated + 0.25).astype(np.float64))
    assert blocks.nonmated.sum() == pytest.approx(steps.nonmated.sum() + 0.25 * 301)


def test_pooling_its_own_outcome_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        mated, nonmated = rng.integers(0, 4, (2, 30))
        keep = mated + nonmated > 0
        once = pool(mated[keep], nonmated[keep])
        assert counts(pool(once.mated, once.nonmated)) == counts(once)


def test_posteriors_strictly_increase_and_counts_are_kept() -> None:
    rng = np.random.default_rng(1)
    scores = Scores(rng.integers(0, 30, 200), rng.integers(-5, 25, 500))
    blocks = oracle_blocks(Tally.of(scores))
    assert (blocks.mated.sum(), blocks.nonmated.sum()) == (200, 500)
    assert np.all(np.diff(blocks.mated / (blocks.mated + blocks.nonmated)) > 0)
    assert np.all(np.diff(blocks.first) > 0)


@pytest.mark.parametrize("order", [1, -1])
def test_a_tie_is_pooled_whatever_comes_first(order: int) -> None:
    tied = calibrate(Scores([1.0, 1.0][::order], [1.0, 1.0][::order]))
    assert tied.llr([0.0, 1.0, 2.0]).tolist() == [0.0, 0.0, 0.0]


def test_laplace_leaves_no_class_missing() -> None:
    blocks = laplace_blocks(blocks_of([(0, 5), (5, 0)]))
    assert counts(blocks) == [(1, 6), (6, 1)]
    assert blocks.first.tolist() == [0, 1]


def test_laplace_on_one_pooled_block() -> None:
    assert counts(laplace_blocks(blocks_of([(4, 4)]))) == [(6, 6)]


def test_dummies_that_pool_with_no_data_are_dropped() -> None:
    # below one half the upper pair stays alone, above one half the lower one does
    assert counts(laplace_blocks(blocks_of([(0, 8), (2, 6)]))) == [(1, 9), (2, 6)]
    assert counts(laplace_blocks(blocks_of([(6, 2), (8, 0)]))) == [(6, 2), (9, 1)]
    assert counts(laplace_blocks(blocks_of([(2, 6)]))) == [(3, 7)]
    assert counts(laplace_blocks(blocks_of([(6, 2)]))) == [(7, 3)]
    first = laplace_blocks(blocks_of([(6, 2), (8, 0)])).first
    assert first.tolist() == [0, 1]


def test_laplace_blocks_start_where_the_data_do() -> None:
    blocks = laplace_blocks(blocks_of([(0, 3), (1, 3), (1, 2), (3, 2), (4, 1), (3, 0)]))
    first = blocks.first.tolist()
    assert first[0] == 0
    assert first == sorted(set(first))
    assert len(first) == len(blocks.mated)


def test_llrs_take_the_proportion_of_the_classes_out() -> None:
    blocks = blocks_of([(0, 2), (1, 3), (2, 0)])
    llrs = block_llrs(blocks, 3, 5)
    assert llrs[0] == -math.inf
    assert llrs[1] == pytest.approx(math.log((1 / 3) / (3 / 5)))
    assert llrs[2] == math.inf


def test_calibration_of_maouche_2020_case_1() -> None:
    found = calibrate(Scores([3, 5, 7, 8], [1, 2, 4, 6]))
    np.testing.assert_allclose(
        found.llr([1, 2, 3, 4, 5, 6, 7, 8]), [-np.inf, -np.inf, 0, 0, 0, 0, np.inf, np.inf]
    )


def test_calibrated_scores_never_decrease_and_reach_both_ends() -> None:
    rng = np.random.default_rng(2)
    scores = Scores(rng.normal(1, 1, 100).round(1), rng.normal(0, 1, 300).round(1))
    for laplace in (False, True):
        found = calibrate(scores, laplace=laplace)
        llrs = found.llr(np.linspace(-1e3, 1e3, 999))
        assert np.all(llrs[1:] >= llrs[:-1])
        assert found.starts[0] == -np.inf
        assert found.llr([-np.inf])[0] == found.llrs[0]
        assert found.llr([np.inf])[0] == found.llrs[-1]
        assert np.all(np.diff(found.starts) > 0)
        assert np.all(np.diff(found.llrs) > 0)


def test_calibrating_oracle_llrs_gives_them_back() -> None:
    rng = np.random.default_rng(3)
    scores = Scores(rng.normal(1, 1, 200), rng.normal(0, 1, 300))
    first = calibrate(scores)
    mated, nonmated = (np.clip(first.llr(s), -9, 9) for s in (scores.mated, scores.nonmated))
    again = calibrate(Scores(mated, nonmated))
    np.testing.assert_allclose(again.llr(mated), first.llr(scores.mated), rtol=1e-12)
    np.testing.assert_allclose(again.llr(nonmated), first.llr(scores.nonmated), rtol=1e-12)


def test_laplace_makes_every_llr_finite() -> None:
    apart = Scores([5, 6, 7], [0, 1, 2, 3])
    assert np.isinf(calibrate(apart).llrs).all()
    llrs = calibrate(apart, laplace=True).llr([0, 7])
    np.testing.assert_allclose(llrs, [math.log((1 / 3) / (5 / 4)), math.log((4 / 3) / (1 / 4))])


def test_to_dict_holds_two_lists_of_one_length() -> None:
    found = calibrate(Scores([1, 2, 3, 4], [0, 1, 2, 3])).to_dict()
    assert sorted(found) == ["llrs", "starts"]
    assert len(found["llrs"]) == len(found["starts"]) == 3
