"""Conversations, and where the true speaker stands: blocks against one whole matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.measure import population
from sottovoce.measure.conversations import Trials, make_conversations, make_trials
from sottovoce.measure.identification import mean_by_speaker
from sottovoce.measure.population import LOWEST, Scoring, check_dimensions, stand
from sottovoce.measure.population_sizes import all_populations, default_populations
from sottovoce.speaker import Cosine, Embeddings, Euclidean, LinkageFunction, Plda

Array = NDArray[np.float64]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def tagged(counts: dict[str, int], name: str = "trial") -> Embeddings:
    """Vectors (1, 2ⁿ) that tell which utterances of a speaker were averaged."""
    who = [speaker for speaker, count in counts.items() for _ in range(count)]
    powers = [2.0**i for count in counts.values() for i in range(count)]
    order = rng(1).permutation(len(who))
    vectors = np.column_stack((np.ones(len(who)), powers))[order].astype(np.float32)
    return Embeddings.of(vectors, np.array(who)[order], name=name)


def used(trials: Trials, speaker: int) -> list[set[int]]:
    """Numbers of the utterances in each conversation of a speaker."""
    sums = trials.vectors[trials.speakers == speaker, 1].astype(np.float64) * trials.length
    return [{i for i in range(24) if round(total) >> i & 1} for total in sums]


# ================================================================================= conversations


ENROL = tagged({"ann": 1, "bob": 2, "cyd": 1, "dee": 1}, "enrol")


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=4),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(0, 99),
)
def test_conversations_share_no_utterance(
    counts: list[int], length: int, most: int, seed: int
) -> None:
    names = ["ann", "bob", "cyd", "dee"]
    trial = tagged(dict(zip(names, counts, strict=False)))
    made = [min(count // length, most) for count in counts]
    if not any(made):
        with raises_code("too-few", TooFewError):
            make_trials(trial, ENROL, length=length, most=most, rng=rng(seed))
        return
    trials = make_trials(trial, ENROL, length=length, most=most, rng=rng(seed))
    for speaker, (wanted, count) in enumerate(zip(made, counts, strict=True)):
        groups = used(trials, speaker)
        assert [len(group) for group in groups] == [length] * wanted
        assert len(set().union(*groups)) == wanted * length
        assert all(max(group) < count for group in groups)
    assert np.all(trials.vectors[:, 0] == 1.0)  # a mean, not a sum
    assert trials.too_short == sum(not one for one in made)
    assert trials.without_enrolment == 0 and trials.length == length


def test_who_is_left_out_is_counted() -> None:
    trial = tagged({"ann": 4, "bob": 1, "eve": 9, "dee": 2, "zoe": 1})
    trials = make_trials(trial, ENROL, length=2, most=9, rng=rng())
    assert trials.speakers.tolist() == [0, 0, 3]  # numbers of the enrolment: ann and dee
    assert (trials.without_enrolment, trials.too_short) == (2, 1)
    pairs = make_conversations(trial, length=2, most=9, rng=rng(), at_least=2)
    assert pairs.speakers.tolist() == [0, 0, 3, 3, 3, 3]  # ann and eve, enrolled or not
    assert pairs.too_short == 3


def test_other_draws_make_other_conversations() -> None:
    trial = tagged({"ann": 12})
    groups = {
        tuple(sorted(map(tuple, used(one, 0))))
        for one in (make_trials(trial, ENROL, length=3, most=1, rng=rng(i)) for i in range(20))
    }
    assert len(groups) > 10
    one, again = (make_trials(trial, ENROL, length=3, most=2, rng=rng(5)) for _ in range(2))
    assert np.array_equal(one.vectors, again.vectors)


def test_too_few_says_how_many_are_needed() -> None:
    trial = tagged({"ann": 5, "eve": 50}, "short")
    with raises_code("too-few", TooFewError):
        make_conversations(trial, length=60, most=9, rng=rng(), at_least=2)
    with raises_code("not-enrolled", TooFewError):
        make_trials(trial, ENROL, length=6, most=9, rng=rng())


# ======================================================================================= scoring


def crowd(
    enrolled: int = 23, utterances: int | None = 3, trials: int = 41, seed: int = 0
) -> tuple[Embeddings, Trials]:
    """Models and trials of 12 of their speakers; ``utterances`` None: one to four a model."""
    draw = rng(seed)
    counts = draw.integers(1, 5, enrolled) if utterances is None else [utterances] * enrolled
    who = np.repeat(np.arange(enrolled), counts)
    places = draw.normal(size=(enrolled, 9))
    vectors = places[who] + 0.7 * draw.normal(size=(len(who), 9))
    enrol = Embeddings.of(vectors, [f"s{i:03d}" for i in who])
    true = np.sort(draw.integers(0, 12, trials))
    spoken = (places[true] + 0.9 * draw.normal(size=(trials, 9))).astype(np.float32)
    return enrol, Trials(spoken, true, 1, 0, 0)


def trained() -> Plda:
    draw = rng(99)
    who = np.repeat(np.arange(60), 5)
    vectors = draw.normal(size=(60, 9))[who] + 0.7 * draw.normal(size=(300, 9))
    return Plda.fit(Embeddings.of(vectors, who))


class Blocks:
    """Keeps every block of scores that it is shown."""

    def __init__(self) -> None:
        self.blocks: list[tuple[NDArray[np.float32], int]] = []

    def __call__(self, scores: NDArray[np.float32], first: int) -> None:
        self.blocks.append((scores.copy(), first))

    def empty(self) -> Blocks:
        return Blocks()

    def add(self, part: Blocks) -> None:
        self.blocks += part.blocks


def matrix(enrol: Embeddings, trials: Trials, linkage: LinkageFunction) -> Array:
    """All scores at once, in float64, from the definitions where there are any."""
    means = np.array(
        [enrol.vectors[enrol.speakers == s].mean(axis=0) for s in range(len(enrol.names))],
        np.float64,
    )
    spoken = trials.vectors.astype(np.float64)
    if isinstance(linkage, Cosine):
        lengths = np.outer(np.linalg.norm(spoken, axis=1), np.linalg.norm(means, axis=1))
        return np.asarray(spoken @ means.T / lengths)
    if isinstance(linkage, Euclidean):
        return np.asarray(-((spoken[:, None] - means[None]) ** 2).sum(axis=2))
    found = [
        linkage.trial(trials.vectors, int(n)) @ linkage.enrol(m[None].astype(np.float32), int(n)).T
        for m, n in zip(means, enrol.counts, strict=True)
    ]
    return np.hstack(found).astype(np.float64)


LINKAGES: list[LinkageFunction] = [Cosine(), Euclidean(), trained()]


@pytest.mark.parametrize(("models", "rows"), [(1 << 16, 256), (5, 7), (1, 1), (23, 41)])
@pytest.mark.parametrize("utterances", [1, 3, None])
@pytest.mark.parametrize("linkage", LINKAGES, ids=lambda one: one.name)
def test_blocks_count_what_the_whole_matrix_holds(
    linkage: LinkageFunction,
    utterances: int | None,
    models: int,
    rows: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(population, "MODELS", models)
    monkeypatch.setattr(population, "TRIALS", rows)
    enrol, trials = crowd(utterances=utterances)
    whole = matrix(enrol, trials, linkage)
    own = whole[np.arange(41), trials.speakers]
    core = np.array([11, 2, 0, 19])  # in any order
    shown = Blocks()
    standing = stand(
        Scoring(enrol, trials, linkage),
        core=core,
        visit=shown,
    )
    assert standing.above.tolist() == (whole > own[:, None]).sum(axis=1).tolist()
    in_core = (whole > own[:, None])[:, core].sum(axis=1)
    assert standing.core_above.tolist() == in_core.tolist()
    assert not standing.equal.any() and not standing.core_equal.any()
    assert (standing.models, standing.core) == (23, 4)
    assert standing.speakers is trials.speakers
    assert standing.true_scores == pytest.approx(own, abs=1e-4)
    assert (standing.low, standing.high) == pytest.approx((whole.min(), whole.max()), abs=1e-4)
    # every score was shown once, with the true speakers masked
    seen = np.full(whole.shape, np.nan)
    row = 0
    for scores, first in shown.blocks:
        part = seen[row : row + len(scores), first : first + scores.shape[1]]
        assert np.isnan(part).all()
        part[:] = scores
        row = (row + len(scores)) % 41
    masked = whole.copy()
    masked[np.arange(41), trials.speakers] = LOWEST
    assert seen == pytest.approx(masked, abs=1e-4)


def test_progress_counts_blocks_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "MODELS", 10)
    monkeypatch.setattr(population, "TRIALS", 20)
    told: list[tuple[int, int]] = []
    stand(Scoring(*crowd(), Cosine()), progress=lambda done, total: told.append((done, total)))
    assert told == [(i, 3) for i in range(1, 4)]  # 3 blocks of models, all trials in one part


def test_a_mapped_enrolment_counts_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(population, "MODELS", 7)
    enrol, trials = crowd(utterances=1)
    np.save(tmp_path / "vectors.npy", enrol.vectors)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    there = Embeddings.of(mapped, enrol.names)
    scoring = Scoring(there, trials, Cosine())
    assert isinstance(scoring.means, np.memmap)
    found, expected = stand(scoring), stand(Scoring(enrol, trials, Cosine()))
    for name in ("above", "equal", "true_scores", "low", "high"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


# ========================================================================================== ties


def twins(count: int, apart: int, dimension: int = 16) -> tuple[Embeddings, Trials]:
    """Every model has a twin so far away in the table; a trial a model."""
    draw = rng(count)
    vectors = draw.normal(size=(count, dimension)).astype(np.float32)
    numbers = np.arange(count)
    vectors = vectors[numbers - apart * (numbers // apart % 2)]
    trials = draw.normal(size=(count, dimension)).astype(np.float32)
    enrol = Embeddings.of(vectors, [f"{i:05d}" for i in numbers])
    return enrol, Trials(trials, numbers, 1, 0, 0)


@pytest.mark.parametrize("linkage", LINKAGES[:2], ids=lambda one: one.name)
def test_neighbouring_twins_tie(linkage: LinkageFunction) -> None:
    standing = stand(Scoring(*twins(64, 1), linkage))
    assert np.all(standing.equal == 1)


def test_twins_tie_wherever_they_stand() -> None:
    for count, apart in ((10, 5), (50, 25), (100, 50), (500, 250), (1024, 16)):
        standing = stand(Scoring(*twins(count, apart), Cosine()))
        assert np.all(standing.equal == 1)


# ======================================================================================== helpers


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(0, 99))
def test_means_by_speaker_are_in_order_of_speakers(who: list[int], seed: int) -> None:
    speakers = np.array(who)
    values = rng(seed).normal(size=(len(who), 3))
    expected = [values[speakers == s].mean(axis=0) for s in sorted(set(who))]
    assert mean_by_speaker(values, speakers) == pytest.approx(np.array(expected))
    assert mean_by_speaker(values[:, 0], speakers) == pytest.approx(np.array(expected)[:, 0])


def test_default_populations_double_up_to_everybody() -> None:
    assert default_populations(1) == []
    assert default_populations(7) == [2, 5, 7]
    assert default_populations(20) == [2, 5, 10, 20]
    assert default_populations(21) == [2, 5, 10, 20, 21]
    assert default_populations(100) == [2, 5, 10, 20, 40, 80, 100]
    assert default_populations(22_024)[-2:] == [20_480, 22_024]


def test_all_populations_are_every_size_or_200_of_them() -> None:
    assert all_populations(2) == [2]
    assert all_populations(200) == list(range(2, 201))
    many = all_populations(22_024)
    assert many == sorted(set(many)) and len(many) <= 200
    assert (many[0], many[-1]) == (2, 22_024)


def test_different_dimensions_and_single_speakers_are_refused() -> None:
    enrol = tagged({"ann": 1, "bob": 1}, "known")
    with raises_code("mismatch", InputError):
        check_dimensions(enrol, Embeddings.of(np.ones((1, 3)), ["ann"], name="wide"))
    with raises_code("too-few", TooFewError):
        check_dimensions(tagged({"ann": 3}, "alone"), enrol)
