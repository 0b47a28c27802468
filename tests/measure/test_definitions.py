"""The measures against slow definitions, written from the papers in plain Python.

Nothing here uses a tally: scores are sorted and walked one by one, counts are whole numbers, and
rates are fractions, so that a tie is a tie. ZEBRA = Nautsch et al., "The Privacy ZEBRA", 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.measure import (
    Scores,
    Tally,
    calibrate,
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

Side = Sequence[float]
Point = tuple[Fraction, Fraction]

# ------------------------------------------------------------------------- sets to compare on


def _random_set(seed: int) -> Scores:
    """Small sets of every kind: ties, no ties, unbalanced, reversed, separated, in between."""
    rng = np.random.default_rng(seed)
    n_mated, n_nonmated = (int(k) for k in rng.integers(1, 70, 2))
    kind = seed % 6
    mated: NDArray[np.float64] = rng.normal(1, 1, n_mated)
    nonmated: NDArray[np.float64] = rng.normal(0, 1, n_nonmated)
    if kind == 1:
        mated = rng.integers(0, 5, n_mated).astype(np.float64)
        nonmated = rng.integers(-1, 4, n_nonmated).astype(np.float64)
    elif kind == 2:
        mated, nonmated = mated.round(1), nonmated.round(1)
    elif kind == 3:
        mated = mated - 2
    elif kind == 4:
        mated = mated + 4
    elif kind == 5:
        mated = np.where(rng.random(n_mated) < 0.5, mated - 3, mated + 3).round(0)
    return Scores(mated, nonmated, name=f"random {seed}")


RANDOM_SETS = [_random_set(seed) for seed in range(48)]
EDGE_SETS = [
    Scores([1], [0], name="one of each, apart"),
    Scores([0], [1], name="one of each, reversed"),
    Scores([2], [2], name="one of each, tied"),
    Scores([3, 5, 7, 8], [1, 2, 4, 6], name="Maouche case 1"),
    Scores([3, 5, 6, 8], [1, 2, 4, 7], name="Maouche case 2"),
    Scores([3, 5, 6, 7], [1, 2, 4, 8], name="Maouche case 3"),
    Scores([0, 0, 1], [0] * 50, name="few mated"),
    Scores([0] * 50, [0, -1], name="few non-mated"),
    Scores([-0.0, 0.0, 1e-300], [0.0, -1e-300], name="around zero"),
]
SETS = [*RANDOM_SETS, *EDGE_SETS]

each_set = pytest.mark.parametrize("scores", SETS, ids=lambda scores: scores.name)

# ------------------------------------------------------------------------------- definitions


def pav(mated: Side, nonmated: Side) -> list[tuple[float, int, int]]:
    """Pool adjacent violators over distinct scores: (highest score, mated, non-mated) a block."""
    blocks: list[tuple[float, int, int]] = []
    for score in sorted({*mated, *nonmated}):
        block = (score, list(mated).count(score), list(nonmated).count(score))
        while blocks and _posterior(blocks[-1]) >= _posterior(block):
            _, m, n = blocks.pop()
            block = (score, m + block[1], n + block[2])
        blocks.append(block)
    return blocks


def _posterior(block: tuple[float, int, int]) -> Fraction:
    return Fraction(block[1], block[1] + block[2])


def likelihood_ratio(score: float, blocks: list[tuple[float, int, int]], m: int, n: int) -> float:
    """Posterior odds of the score's block over the odds of the classes."""
    _, mated, nonmated = next(block for block in blocks if score <= block[0])
    return math.inf if not nonmated else float(Fraction(mated, nonmated) / Fraction(m, n))


def oracle(scores: Scores) -> tuple[list[float], list[float]]:
    """Likelihood ratios of the mated and of the non-mated scores after PAV."""
    mated, nonmated = scores.mated.tolist(), scores.nonmated.tolist()
    blocks = pav(mated, nonmated)
    m, n = len(mated), len(nonmated)
    return (
        [likelihood_ratio(score, blocks, m, n) for score in mated],
        [likelihood_ratio(score, blocks, m, n) for score in nonmated],
    )


def roc_points(scores: Scores) -> list[Point]:
    """(False alarm, miss) when scores at or above a threshold are called mated, every threshold."""
    mated, nonmated = scores.mated.tolist(), scores.nonmated.tolist()
    thresholds = [*sorted({*mated, *nonmated}), math.inf]
    return [
        (
            Fraction(sum(s >= t for s in nonmated), len(nonmated)),
            Fraction(sum(s < t for s in mated), len(mated)),
        )
        for t in thresholds
    ]


def crossing(points: list[Point]) -> Fraction:
    """Where a path of straight segments, false alarm falling, meets the line of equal errors."""
    for (fa, miss), (next_fa, next_miss) in pairwise(points):
        before, after = fa - miss, next_fa - next_miss
        if before >= 0 >= after and before != after:
            return miss + (next_miss - miss) * before / (before - after)
    raise AssertionError("the path goes from (1, 0) to (0, 1)")


def lower_hull(points: list[Point]) -> list[Point]:
    """Andrew's monotone chain; back in the order of falling false alarms."""
    hull: list[Point] = []
    for point in sorted(set(points), key=lambda p: (p[0], -p[1])):
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    return hull[::-1]


def _turn(a: Point, b: Point, c: Point) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def tpr_on(points: list[Point], fpr: Fraction) -> Fraction:
    """The highest share of mated found on any segment that reaches the false-alarm rate."""
    best = Fraction(0)
    for (fa, miss), (next_fa, next_miss) in pairwise(points):
        if next_fa <= fpr <= fa:
            share = (fa - fpr) / (fa - next_fa) if fa > next_fa else Fraction(0)
            best = max(best, 1 - (miss + (next_miss - miss) * share))
    return best


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def cllr_of(mated_llrs: Side, nonmated_llrs: Side) -> float:
    """Maouche et al. 2020 eq. 2 with the factor 1/2 of Brümmer & du Preez 2006."""
    return (mean([_log2_1p_exp(-s) for s in mated_llrs]) / 2) + (
        mean([_log2_1p_exp(s) for s in nonmated_llrs]) / 2
    )


def _log2_1p_exp(x: float) -> float:
    return 0.0 if x == -math.inf else math.log2(1 + math.exp(x))


def ece_of(a: Side, b: Side, prior: float) -> float:
    """ZEBRA eq. 4: a and b are likelihood ratios of mated and non-mated scores."""
    return prior * mean([math.log2(1 + (1 - prior) / (x * prior)) for x in a]) + (1 - prior) * mean(
        [math.log2(1 + x * prior / (1 - prior)) for x in b]
    )


def zero_evidence(prior: float) -> float:
    """ZEBRA footnote 5."""
    return ece_of([1.0], [1.0], prior)


@cache
def _priors() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss-Legendre over (0, 1), crowded at the ends where an entropy is steep."""
    x, w = np.polynomial.legendre.leggauss(300)
    u = (x + 1) / 2
    return u**3 * (10 - 15 * u + 6 * u**2), w / 2 * 30 * u**2 * (1 - u) ** 2


def d_ece_by_integration(a: Side, b: Side) -> float:
    """ZEBRA eq. 5: the area between zero evidence and ECE over a flat prior of the prior."""
    prior, weight = _priors()
    odds = prior / (1 - prior)
    gain = -prior * np.log2(prior) - (1 - prior) * np.log2(1 - prior)
    gain -= prior * np.mean([np.log2(1 + 1 / (x * odds)) for x in a], axis=0)
    gain -= (1 - prior) * np.mean([np.log2(1 + x * odds) for x in b], axis=0)
    return float(weight @ gain)


def worst_case(scores: Scores) -> float:
    """ZEBRA eq. 8 with footnote 6: four dummies go in, PAV is run, the dummies come out."""
    mated, nonmated = scores.mated.tolist(), scores.nonmated.tolist()
    ends = [-math.inf, math.inf]
    blocks = pav([*mated, *ends], [*nonmated, *ends])
    m, n = len(mated), len(nonmated)
    ratios = [likelihood_ratio(score, blocks, m, n) for score in (*mated, *nonmated)]
    return max(abs(math.log10(ratio)) for ratio in ratios)


def d_sys(scores: Scores, bins: int, omega: float) -> float:
    """Maouche et al. 2020 eq. 3 and the integral after it, over a histogram."""
    edges = np.linspace(scores.low, scores.high, bins + 1)
    p = np.histogram(scores.mated, edges)[0] / len(scores.mated)
    q = np.histogram(scores.nonmated, edges)[0] / len(scores.nonmated)
    total = 0.0
    for mated, nonmated in zip(p.tolist(), q.tolist(), strict=True):
        if mated and not nonmated:
            total += mated
        elif mated:
            lr = mated / nonmated
            total += mated * max(0.0, 2 * omega * lr / (1 + omega * lr) - 1)
    return total


# ---------------------------------------------------------------------------------- comparison


def about(value: float | Fraction) -> object:
    return pytest.approx(float(value), rel=1e-12, abs=1e-13)


@each_set
def test_eer_is_where_the_roc_crosses(scores: Scores) -> None:
    assert eer(scores) == about(crossing(roc_points(scores)))


@each_set
def test_rocch_eer_is_where_the_convex_hull_crosses(scores: Scores) -> None:
    assert rocch_eer(scores) == about(crossing(lower_hull(roc_points(scores))))


@each_set
def test_the_hull_of_the_roc_is_the_convex_hull(scores: Scores) -> None:
    found = roc(scores, hull=True)
    expected = np.array(lower_hull(roc_points(scores)), np.float64)
    np.testing.assert_allclose(np.c_[found.false_alarm, found.miss], expected, atol=1e-13)


@each_set
def test_the_roc_goes_through_every_threshold(scores: Scores) -> None:
    """Points on a straight run of one class may be left out; the others are all there."""
    points = roc_points(scores)
    found = roc(scores)
    kept = set(zip(found.false_alarm.round(9), found.miss.round(9), strict=True))
    corners = [
        point
        for before, point, after in zip(points, points[1:], points[2:], strict=False)
        if _turn(before, point, after) != 0
    ]
    assert {(round(float(fa), 9), round(float(miss), 9)) for fa, miss in corners} <= kept
    assert (found.false_alarm[0], found.miss[0]) == (1.0, 0.0)
    assert (found.false_alarm[-1], found.miss[-1]) == (0.0, 1.0)


@pytest.mark.parametrize("fpr", [Fraction(1, 2), Fraction(1, 4), Fraction(3, 10), Fraction(1, 10)])
@each_set
def test_tpr_at_fpr_is_read_off_the_roc(scores: Scores, fpr: Fraction) -> None:
    if scores.n_nonmated * fpr >= 1:
        assert tpr_at_fpr(scores, float(fpr)) == about(tpr_on(roc_points(scores), fpr))


@each_set
def test_cllr_is_its_formula(scores: Scores) -> None:
    assert cllr(scores) == about(cllr_of(scores.mated.tolist(), scores.nonmated.tolist()))


@each_set
def test_min_cllr_is_cllr_of_the_oracle_llrs(scores: Scores) -> None:
    a, b = oracle(scores)
    expected = cllr_of([math.log(x) for x in a], [math.log(x) if x else -math.inf for x in b])
    assert min_cllr(scores) == about(expected)


@each_set
def test_calibration_gives_the_oracle_llrs(scores: Scores) -> None:
    a, b = oracle(scores)
    found = calibrate(scores)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(found.llr(scores.mated), np.log(a), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found.llr(scores.nonmated), np.log(b), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("prior", [0.5, 0.001, 0.3, 0.97])
@each_set
def test_ece_is_its_formula(scores: Scores, prior: float) -> None:
    a, b = oracle(scores)
    found = ece_profile(scores, math.log(prior / (1 - prior)))
    assert found.ece[0] == pytest.approx(ece_of(a, b, prior), rel=1e-11, abs=1e-13)
    assert found.zero_evidence[0] == pytest.approx(zero_evidence(prior), rel=1e-11)
    assert found.prior[0] == pytest.approx(prior, rel=1e-12)


@each_set
def test_d_ece_is_the_area_under_zero_evidence(scores: Scores) -> None:
    a, b = oracle(scores)
    assert disclosure(scores).d_ece == pytest.approx(d_ece_by_integration(a, b), rel=0, abs=1e-8)


@each_set
def test_worst_case_is_the_largest_llr_with_four_dummies(scores: Scores) -> None:
    assert disclosure(scores).worst_case_log10_lr == about(worst_case(scores))


@pytest.mark.parametrize("omega", [1.0, 0.2, 3.0])
@pytest.mark.parametrize("seed", range(12))
def test_linkability_is_a_plain_sum_over_the_histogram(seed: int, omega: float) -> None:
    rng = np.random.default_rng(seed)
    mated = rng.normal(1, 1, int(rng.integers(20, 1500))).round(1 if seed % 3 == 0 else 15)
    nonmated = rng.normal(0, 1, int(rng.integers(1, 3000))).round(1 if seed % 3 == 0 else 15)
    scores = Scores(mated, nonmated)
    default = min(len(mated) // 10, 100)
    for bins in (None, 2, 7, 64):
        found = linkability(scores, omega=omega, bins=bins, permutations=0)
        assert found.d_sys == about(d_sys(scores, bins or default, omega))


# ----------------------------------------------------------------- stable where terms cancel


def _exact_d_ece(steps: Sequence[tuple[int, int]]) -> float:
    """ZEBRA eq. 6 with 60 digits, on steps of increasing likelihood ratio."""
    with localcontext() as context:
        context.prec = 60
        m, n = Decimal(sum(a for a, _ in steps)), Decimal(sum(b for _, b in steps))

        def z(x: Decimal) -> Decimal:
            return ((x - 3) * (x - 1) + 2 * x.ln()) / (4 * (x - 1) ** 2) if x != 1 else Decimal(0)

        total = Decimal(0)
        for mated, nonmated in steps:
            a, b = mated / m, nonmated / n
            total += a * (z(a / b) if b else Decimal("0.25")) if a else 0
            total += b * (z(b / a) if a else Decimal("0.25")) if b else 0
        return float(total / Decimal(2).ln())


def _tally(steps: Sequence[tuple[int, int]]) -> Tally:
    """A tally with these counts at the cuts 0, 1, 2, … and nothing in between."""
    mated, nonmated = (np.zeros(2 * len(steps) + 1, np.int64) for _ in range(2))
    mated[1::2], nonmated[1::2] = np.array(steps).T
    return Tally(np.arange(len(steps), dtype=np.float64), mated, nonmated)


@pytest.mark.parametrize("n", [1, 3, 18, 19, 20, 21, 39, 40, 41, 100, 10**4, 10**6, 10**8])
def test_d_ece_is_exact_where_likelihood_ratios_are_near_one(n: int) -> None:
    steps = [(n, n + 1), (n + 1, n)]
    found = disclosure(_tally(steps)).d_ece
    assert found == pytest.approx(_exact_d_ece(steps), rel=1e-12, abs=2e-14)


def test_d_ece_at_infinity_and_beside_it() -> None:
    apart = [(0, 7), (3, 0)]
    assert disclosure(_tally(apart)).d_ece == pytest.approx(1 / (2 * math.log(2)), rel=1e-15)
    nearly = [(1, 10**9), (10**9, 1)]
    assert disclosure(_tally(nearly)).d_ece == pytest.approx(_exact_d_ece(nearly), rel=1e-14)
    mixed = [(0, 5), (2, 2), (6, 0)]
    assert disclosure(_tally(mixed)).d_ece == pytest.approx(_exact_d_ece(mixed), rel=1e-14)


HUGE: dict[str, tuple[Callable[[], Scores], float]] = {
    "right": (lambda: Scores([1e6, 2e6], [-1e6]), 0.0),
    "wrong": (lambda: Scores([-1e6, -3e6], [4e6]), (2e6 + 4e6) / 2 / math.log(2)),
    "single precision": (
        lambda: Scores(np.array([-1e6], np.float32), np.array([1e6], np.float32)),
        1e6 / math.log(2),
    ),
    "past the range of exp": (lambda: Scores([-800], [800]), 800 / math.log(2)),
}


@pytest.mark.parametrize("name", HUGE)
def test_cllr_of_huge_scores_is_finite_and_right(name: str) -> None:
    make, expected = HUGE[name]
    assert cllr(make()) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_ece_keeps_its_digits_at_extreme_priors() -> None:
    """At log-odds ±30 the prior itself is 1 − 1e-13: ECE must not be lost in that rounding."""
    scores = Scores([3, 5, 7, 8], [1, 2, 4, 6])
    found = ece_profile(scores, [-30.0, 30.0])
    with localcontext() as context:
        context.prec = 60
        odds = Decimal(-30).exp()
        prior = odds / (1 + odds)
        a, b = oracle(scores)
        ln2 = Decimal(2).ln()
        # no mated score has a likelihood ratio of 0: for infinity the term is 0
        finite = [Decimal(x) for x in a if x < math.inf]
        mated = sum(((1 + 1 / (x * odds)).ln() for x in finite), Decimal(0)) / len(a)
        nonmated = sum(((1 + Decimal(x) * odds).ln() for x in b), Decimal(0)) / len(b)
        expected = float((prior * mated + (1 - prior) * nonmated) / ln2)
    assert found.ece[0] == pytest.approx(expected, rel=1e-12)
    assert found.ece[1] == pytest.approx(expected, rel=1e-12)  # the set is its own mirror image
