"""Singling Out: the fast way gives what the published steps give, draw by draw."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sottovoce.measure import isolation
from sottovoce.measure.isolation import Draws, included, isolations, literal
from sottovoce.measure.singling_out import CHANCE, no_evidence

Scores = NDArray[np.float32]
SHARED_FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def vectors_of(counts: list[int]) -> isolation.TestVectors:
    return isolation.TestVectors.of(np.repeat(np.arange(len(counts)), counts))


# ==================================================================== the published definition


def slow_share(scores: list[float], counts: list[int], true: int, population: set[int]) -> float:
    """Written from the paper alone: section 2.1, section 3.4 and footnote 4.

    Each speaker has K vectors; in a fold one of them is for test, K − 1 are for calibration. The
    threshold is the average of the 9th and 10th calibration scores, or of the (K−1)-th and K-th
    where the enrolled speaker has K < 10. Isolated: one test vector passes, whoever's it is.
    """
    own: dict[int, list[float]] = {}
    values = iter(scores)
    for speaker, count in enumerate(counts):
        own[speaker] = [next(values) for _ in range(count)]
    isolated = 0
    for fold in range(10):
        test: list[float] = []
        calibration: list[float] = []
        for speaker in population:
            for number, score in enumerate(own[speaker]):
                held_out = fold % counts[speaker] == number
                (test if held_out else calibration).append(score)
        calibration.sort(reverse=True)
        k = counts[true] - 1
        threshold = (calibration[k - 1] + calibration[k]) / 2
        isolated += sum(score > threshold for score in test) == 1
    return isolated / 10


@st.composite
def crowds(draw: st.DrawFn) -> tuple[Scores, list[int], int, int, list[int]]:
    """Scores, vectors a speaker, true speaker, seed, population sizes."""
    speakers = draw(st.integers(2, 30))
    most = draw(st.sampled_from([2, 3, 10]))
    counts = draw(st.lists(st.integers(2, most), min_size=speakers, max_size=speakers))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    levels = draw(st.sampled_from([1, 3, 12, 10**6]))
    scores = rng.integers(0, levels, sum(counts)).astype(np.float32) - levels // 2
    true = draw(st.integers(0, speakers - 1))
    if draw(st.booleans()):  # the enrolled speaker stands out
        first = sum(counts[:true])
        scores[first : first + counts[true]] += levels / 2
    sizes = draw(st.sets(st.integers(2, speakers), min_size=1, max_size=3))
    return scores, counts, true, seed, sorted({*sizes, speakers})


@SHARED_FIXTURES
@given(crowds(), st.sampled_from([0, 4, 200]))
def test_the_fast_way_gives_the_same_outcomes(
    engine: str, made: tuple[Scores, list[int], int, int, list[int]], gather: int
) -> None:
    scores, counts, true, seed, sizes = made
    vectors = vectors_of(counts)
    draws = Draws.make(len(counts), 2, 3, np.random.default_rng(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolation, "GATHER", gather)
        found = isolations(scores, vectors, true, 1, draws, sizes)
    assert found.shape == (3, len(sizes))
    assert np.array_equal(found, literal(scores, vectors, true, 1, draws, sizes))


@given(crowds())
def test_the_published_steps_written_twice(
    made: tuple[Scores, list[int], int, int, list[int]],
) -> None:
    scores, counts, true, seed, sizes = made
    draws = Draws.make(len(counts), 1, 2, np.random.default_rng(seed))
    found = literal(scores, vectors_of(counts), true, 0, draws, sizes)
    for draw in range(2):
        for column, size in enumerate(sizes):
            chosen = included(draws.places(0, draw), true, size)
            population = set(np.flatnonzero(chosen).tolist())
            assert true in population and len(population) == size
            slow = slow_share(scores.tolist(), counts, true, population)
            assert found[draw, column] == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("levels", [30, 10**6])
@pytest.mark.parametrize("most", [2, 10])
def test_large_crowds_give_the_same_outcomes(
    engine: str, most: int, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists are walked, not gathered, beyond ``GATHER``; with K = 2 they are walked far."""
    monkeypatch.setattr(isolation, "GATHER", 50)
    rng = np.random.default_rng(most)
    counts = rng.integers(2, most + 1, 700)
    vectors = vectors_of(counts.tolist())
    draws = Draws.make(700, 3, 4, rng)
    for enrolled, true in enumerate([0, 350, 699]):
        scores = rng.integers(0, levels, len(vectors.owner)).astype(np.float32)
        arguments = (scores, vectors, true, enrolled, draws, [2, 50, 51, 300, 700])
        assert np.array_equal(isolations(*arguments), literal(*arguments))


def test_few_orders_serve_many_draws() -> None:
    draws = Draws.make(40, 5, 50, np.random.default_rng(0))
    assert draws.orders.shape == (20, 40) and draws.shifts.shape == (5, 50)
    for draw in (0, 19, 20, 49):
        assert sorted(draws.places(3, draw).tolist()) == list(range(40))


# =================================================================================== populations


@pytest.mark.parametrize("true", [0, 3])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_every_population_with_the_true_speaker_is_equally_likely(true: int, size: int) -> None:
    speakers, rounds = 6, 6000
    rng = np.random.default_rng(size)
    seen: Counter[frozenset[int]] = Counter()
    for _ in range(rounds // 20):
        draws = Draws.make(speakers, 1, 20, rng)
        for draw in range(20):
            chosen = included(draws.places(0, draw), true, size)
            seen[frozenset(np.flatnonzero(chosen).tolist())] += 1
    others = [j for j in range(speakers) if j != true]
    every = [frozenset({true, *rest}) for rest in combinations(others, size - 1)]
    assert set(seen) == set(every)
    expected = rounds / len(every)
    chi_square = sum((seen[one] - expected) ** 2 / expected for one in every)
    freedom = len(every) - 1
    assert chi_square < freedom + 4 * math.sqrt(2 * freedom)


def test_populations_grow_by_adding_speakers() -> None:
    places = np.random.default_rng(1).permutation(12).astype(np.int32)
    for true in range(12):
        smaller = included(places, true, 2)
        for size in range(3, 13):
            larger = included(places, true, size)
            assert larger.sum() == size and not (smaller & ~larger).any()
            smaller = larger


# ======================================================================================== levels


def test_separated_speakers_are_always_singled_out(engine: str) -> None:
    rng = np.random.default_rng(2)
    for most in (2, 5, 10):
        counts = rng.integers(2, most + 1, 250)
        vectors = vectors_of(counts.tolist())
        draws = Draws.make(250, 1, 5, rng)
        scores = rng.normal(size=len(vectors.owner)).astype(np.float32)
        scores[vectors.owner == 17] += 100
        assert np.all(isolations(scores, vectors, 17, 0, draws, [2, 20, 201, 250]) == 1.0)


def test_whoever_is_isolated_counts(engine: str) -> None:
    """The vectors of somebody else on top: nobody is linked, and yet somebody is singled out."""
    vectors = vectors_of([10] * 30)
    scores = np.random.default_rng(3).normal(size=300).astype(np.float32)
    scores[vectors.owner == 4] += 100
    draws = Draws.make(30, 1, 3, np.random.default_rng(4))
    assert np.all(isolations(scores, vectors, 9, 0, draws, [30]) == 1.0)


def test_equal_scores_single_nobody_out(engine: str) -> None:
    vectors = vectors_of([10] * 25)
    draws = Draws.make(25, 1, 3, np.random.default_rng(5))
    same = np.full(250, 0.5, np.float32)
    assert np.all(isolations(same, vectors, 0, 0, draws, [2, 10, 25]) == 0.0)


def test_a_random_predicate_isolates_in_one_of_e_crowds() -> None:
    rng = np.random.default_rng(6)
    n = 500
    passing = rng.binomial(n, 1 / n, 40_000)
    assert np.mean(passing == 1) == pytest.approx(CHANCE, abs=0.008)
    assert pytest.approx(0.3679, abs=1e-4) == CHANCE


@pytest.mark.parametrize("k", [1, 4, 9])
@pytest.mark.parametrize("n", [2, 5, 20, 300])
def test_no_evidence_is_what_simulation_gives(n: int, k: int) -> None:
    """Uniform scores: a test score in the gap around the threshold is above it half the time."""
    rng = np.random.default_rng([n, k])
    rounds = 30_000 if n < 100 else 6_000
    isolated = 0
    for start in range(0, rounds, 3000):
        size = min(3000, rounds - start)
        calibration = -np.partition(-rng.random((size, k * n)), (k - 1, k), axis=1)
        threshold = (calibration[:, k - 1] + calibration[:, k]) / 2
        isolated += int(np.sum((rng.random((size, n)) > threshold[:, None]).sum(axis=1) == 1))
    expected = no_evidence(n, k)
    assert isolated / rounds == pytest.approx(expected, abs=4 * math.sqrt(0.25 / rounds))


def test_no_evidence_lies_a_little_below_chance() -> None:
    levels = [no_evidence(n) for n in (20, 40, 100, 1000, 22_024)]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] == pytest.approx(0.3497, abs=2e-4) and levels[0] < CHANCE
    # the more calibration vectors, the nearer to a predicate that one in N passes
    nearer = [no_evidence(1000, k) for k in (1, 2, 4, 9, 100, 1000)]
    assert nearer == sorted(nearer) and nearer[-1] == pytest.approx(CHANCE, abs=0.002)


def test_random_scores_give_no_evidence(engine: str) -> None:
    rng = np.random.default_rng(7)
    vectors, sizes = vectors_of([10] * 240), [2, 20, 240]
    draws = Draws.make(240, 150, 10, rng)
    shares = np.array(
        [
            isolations(rng.random(2400).astype(np.float32), vectors, i, i, draws, sizes).mean(
                axis=0
            )
            for i in range(150)
        ]
    )
    for column, size in enumerate(sizes):
        error = shares[:, column].std(ddof=1) / math.sqrt(150)
        assert shares[:, column].mean() == pytest.approx(no_evidence(size), abs=4 * error)
