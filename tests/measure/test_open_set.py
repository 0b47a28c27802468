"""Open-set verification in a growing crowd: the expected ROC against ROCs of drawn crowds."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.findings import OpenSetPoint
from sottovoce.measure import Scores, Tally, eer, linkability, min_cllr, population, rocch_eer
from sottovoce.measure.conversations import Trials
from sottovoce.measure.counting import make_edges
from sottovoce.measure.identification import Counter, open_set
from sottovoce.measure.linkability import default_bins
from sottovoce.measure.population import LOWEST, Scoring, stand
from sottovoce.speaker import Cosine, Embeddings

Matrix = NDArray[np.float32]
CORE = np.array([0, 2, 3])


def simulated(
    models: int = 9, trials: int = 30, *, levels: int | None = None, seed: int = 0
) -> tuple[Matrix, NDArray[np.int64]]:
    """Scores of trials × models and the true speakers, who are in the core."""
    rng = np.random.default_rng(seed)
    true = CORE[rng.integers(0, len(CORE), trials)]
    scores = rng.normal(size=(trials, models)) + rng.normal(0, 0.5, models)
    scores[np.arange(trials), true] += 1.2
    if levels:
        scores = np.round(scores * levels) / levels
    return scores.astype(np.float32), true


def counted(scores: Matrix, true: NDArray[np.int64], *, bins: int = 0, block: int = 4) -> Counter:
    """What ``stand`` would show a counter, in blocks of models and of trials."""
    own = scores[np.arange(len(true)), true]
    edges = make_edges(float(scores.min()), float(scores.max()), bins) if bins else None
    counter = Counter(own, CORE, edges=edges)
    masked = scores.copy()
    masked[np.arange(len(true)), true] = LOWEST
    for first in range(0, scores.shape[1], block):
        for row in range(0, len(true), 11):
            counter(np.ascontiguousarray(masked[row : row + 11, first : first + block]), first)
    return counter


def nonmated(
    scores: Matrix, true: NDArray[np.int64], population: Iterable[int]
) -> NDArray[np.float32]:
    columns = np.array(sorted(population))
    part = scores[:, columns]
    return np.asarray(part[true[:, None] != columns[None]])


def all_together(scores: Matrix, true: NDArray[np.int64], size: int) -> Scores:
    """The non-mated scores of all populations in one set: their mean ROC, as counts."""
    rest = [j for j in range(scores.shape[1]) if j not in CORE]
    every = [
        nonmated(scores, true, [*CORE.tolist(), *drawn])
        for drawn in combinations(rest, size - len(CORE))
    ]
    return Scores(scores[np.arange(len(true)), true], np.concatenate(every))


@pytest.mark.parametrize("levels", [None, 2])
def test_the_curve_is_that_of_the_mean_roc_over_all_populations(levels: int | None) -> None:
    scores, true = simulated(levels=levels)
    bins = default_bins(len(true))
    counter, binned = counted(scores, true), counted(scores, true, bins=bins)
    curve = open_set(counter, binned, list(range(1, 10)), 9, length=3)
    assert [one.population for one in curve] == list(range(3, 10))  # never below the core
    for one in curve:
        whole = all_together(scores, true, one.population)
        assert one.length == 3
        assert one.eer == pytest.approx(eer(whole), abs=1e-12)
        assert one.rocch_eer == pytest.approx(rocch_eer(whole), abs=1e-12)
        assert one.min_cllr == pytest.approx(min_cllr(whole), abs=1e-12)
        edges = make_edges(float(scores.min()), float(scores.max()), bins)
        hits = np.histogram(whole.mated, edges)[0] / len(whole.mated)
        others = np.histogram(whole.nonmated, edges)[0] / len(whole.nonmated)
        local = np.maximum(0, hits - others) / np.maximum(hits + others, 1e-300)
        assert one.d_sys == pytest.approx(hits @ local, abs=1e-12)


def test_the_mean_of_eers_is_near_the_eer_of_the_mean() -> None:
    scores, true = simulated(models=80, trials=400, seed=1)
    curve = open_set(counted(scores, true, block=33), None, [10, 40], 80, length=1)
    rng = np.random.default_rng(2)
    rest = np.setdiff1d(np.arange(80), CORE)
    own = scores[np.arange(400), true]
    for one in curve:
        drawn = [
            rocch_eer(Scores(own, nonmated(scores, true, [*CORE.tolist(), *some])))
            for some in (rng.permutation(rest)[: one.population - 3] for _ in range(60))
        ]
        error = np.std(drawn) / np.sqrt(60)
        assert one.rocch_eer == pytest.approx(np.mean(drawn), abs=4 * error + 0.002)


def test_the_core_alone_and_everybody() -> None:
    scores, true = simulated(models=40, trials=300, seed=3)
    own = scores[np.arange(300), true]
    counter, binned = counted(scores, true), counted(scores, true, bins=30)
    core, everybody = open_set(counter, binned, [3, 40], 40, length=1)
    among_core = Scores(own, nonmated(scores, true, CORE.tolist()))
    among_all = Scores(own, nonmated(scores, true, range(40)))
    for found, expected in ((core, among_core), (everybody, among_all)):
        assert found.eer == pytest.approx(eer(expected), abs=1e-12)
        assert found.min_cllr == pytest.approx(min_cllr(expected), abs=1e-12)
    # D_sys on the full set is the one of the score measure, bins and all
    assert everybody.d_sys == pytest.approx(linkability(among_all, permutations=0).d_sys, abs=1e-12)


def test_everybody_in_the_core_needs_no_share() -> None:
    scores, true = simulated(models=4, trials=30)
    scores = scores[:, [0, 2, 3]]
    renumbered = np.searchsorted(CORE, true)
    counter = Counter(scores[np.arange(30), renumbered], np.arange(3))
    scores[np.arange(30), renumbered] = LOWEST
    counter(scores, 0)
    (only,) = open_set(counter, None, [3], 3, length=1)
    assert only.population == 3 and only.d_sys is None


def test_a_tally_of_everybody_is_the_tally_of_all_scores() -> None:
    scores, true = simulated(seed=4, levels=3)
    found = counted(scores, true).tally()
    own = scores[np.arange(30), true]
    expected = Tally.of(Scores(own, nonmated(scores, true, range(9))))
    for name in ("cuts", "mated", "nonmated"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_a_counter_fed_by_real_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "MODELS", 8)
    monkeypatch.setattr(population, "TRIALS", 16)
    rng = np.random.default_rng(5)
    voices = rng.normal(size=(30, 12))
    enrol = Embeddings.of(voices + 0.5 * rng.normal(size=(30, 12)), [f"{i:02d}" for i in range(30)])
    true = np.sort(rng.integers(0, 10, 100))
    spoken = (voices[true] + 1.5 * rng.normal(size=(100, 12))).astype(np.float32)
    scoring = Scoring(enrol, Trials(spoken, true, 1, 0, 0), Cosine())
    counter = Counter(scoring.true_scores(), np.unique(true))
    standing = stand(scoring, visit=counter)
    everybody = open_set(counter, None, [30], 30, length=1)[0]
    whole = scoring.trials @ scoring.models(np.arange(30)).T
    expected = Scores(standing.true_scores, whole[true[:, None] != np.arange(30)])
    assert everybody.eer == pytest.approx(eer(expected), abs=1e-9)
    assert counter.tally().n_nonmated == 100 * 29


def test_by_name() -> None:
    one = OpenSetPoint(3, 20, 0.1, 0.09, 0.3, None)
    assert one.to_dict() == {
        "length": 3,
        "population": 20,
        "eer": 0.1,
        "rocch_eer": 0.09,
        "min_cllr": 0.3,
        "d_sys": None,
    }
