"""Training and attacking on simulated voices: choices, order of attackers, controls, records."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Any

import numpy as np
import pytest
from attack_voices import simulated
from error_codes import raises_code
from threadpoolctl import threadpool_info, threadpool_limits

from sottovoce.attack import (
    ATTACKERS,
    Attacker,
    AttackSettings,
    EmbeddingSets,
    LinkageTrainer,
    attack,
    training,
)
from sottovoce.attack.artifacts import attack_record
from sottovoce.attack.linking import PERMUTATIONS, _control
from sottovoce.attack.score import ScoreTable, score_all
from sottovoce.attack.techniques import try_all
from sottovoce.attack.training import BEST, Judging, linkages_tried_by_best
from sottovoce.core.errors import TooFewError, UsageError
from sottovoce.measure import eer
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.judging import FOLDS
from sottovoce.speaker.linkage import LINKAGES, LinkageKind, make_linkage
from sottovoce.speaker.linkage_functions import Cosine

BUILT_IN = ["cosine", "whitening", "projection", "plda"]


@pytest.fixture(scope="module")
def sets() -> EmbeddingSets:
    return simulated(0)


@pytest.fixture
def trainer() -> LinkageTrainer:
    return LinkageTrainer()


# ======================================================================================== training


def test_the_best_is_what_does_best_on_held_out_speakers(
    sets: EmbeddingSets, trainer: LinkageTrainer
) -> None:
    assert linkages_tried_by_best() == BUILT_IN
    train = sets["train", "attacker"]
    best = trainer.train(BEST, train).record
    alone = {name: trainer.train(name, train).record.held_out_eer for name in BUILT_IN}
    assert best.name in BUILT_IN and best.held_out_eer == alone[best.name]
    assert best.held_out_eer is not None
    assert best.held_out_eer <= min(rate for rate in alone.values() if rate is not None) + 0.02
    assert best.settings in LINKAGES[best.name].candidate_settings
    assert (best.speakers, best.vectors) == (24, 96)
    assert best.training_eer is not None and best.training_eer <= best.held_out_eer + 0.05
    assert set(json.loads(json.dumps(best.to_dict()))) == {
        "name",
        "settings",
        "speakers",
        "vectors",
        "held_out_eer",
        "training_eer",
    }


class Oracle:
    """A third-party linkage function that ignores the directions the anonymiser hides."""

    name = "oracle"

    def __init__(self, train: Embeddings | None) -> None:
        assert train is not None
        within = train.vectors - np.stack(
            [train.vectors[train.speakers == speaker].mean(0) for speaker in train.speakers]
        )
        self.weights = (1 / within.std(axis=0)).astype(np.float32)
        self.cosine = Cosine((train.vectors * self.weights).mean(axis=0))

    def enrol(self, vectors: Any, counts: Any = 1) -> Any:
        return self.cosine.enrol(vectors * self.weights)

    trial = enrol


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register it as an entry point would."""

    class Point:
        name = "oracle"

        @staticmethod
        def load() -> LinkageKind:
            return LinkageKind("weights by the noise of each dimension", Oracle, True)

    monkeypatch.setattr(
        "sottovoce.core.registry.entry_points",
        lambda group: [Point] if group == LINKAGES.group else entry_points(group=group),
    )


def test_best_tries_third_party_linkage_functions(
    oracle: None, sets: EmbeddingSets, trainer: LinkageTrainer
) -> None:
    assert linkages_tried_by_best() == [*BUILT_IN, "oracle"]
    train = sets["train", "attacker"]
    alone = {name: trainer.train(name, train).merit for name in linkages_tried_by_best()}
    assert trainer.train(BEST, train).name == min(alone, key=lambda name: alone[name]) == "oracle"
    result = attack(sets, ATTACKERS["semi-informed"], AttackSettings("cosine"), trainer=trainer)
    assert set(result.trust.evidence.linkages) == {*BUILT_IN[1:], "oracle"}


def test_one_recording_a_speaker_trains_what_it_can(
    sets: EmbeddingSets, trainer: LinkageTrainer
) -> None:
    train = sets["train", "attacker"]
    single = train.rows(np.unique(train.speakers, return_index=True)[1])
    with pytest.raises(TooFewError):
        trainer.train("plda", single)
    assert trainer.train(BEST, single).name == "cosine"


def test_held_out_speakers_were_not_trained_on(
    sets: EmbeddingSets, trainer: LinkageTrainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every training but the last is on other speakers than the scores that follow it."""
    train = sets["train", "attacker"]
    calls: list[tuple[str, frozenset[str]]] = []

    def spy(name: str, voices: Any, **settings: Any) -> Any:
        calls.append(("train", frozenset(voices.names)))
        return make_linkage(name, voices, **settings)

    def score(enrol: Embeddings, trial: Embeddings, linkage: Any) -> ScoreTable:
        calls.append(("score", frozenset(enrol.names) | frozenset(trial.names)))
        return score_all(enrol, trial, linkage)

    monkeypatch.setattr(training, "make_linkage", spy)
    monkeypatch.setattr(training, "score_all", score)
    trainer.train("whitening", train)
    pairs = list(zip(calls[::2], calls[1::2], strict=True))
    assert len(pairs) == len(LINKAGES["whitening"].candidate_settings) * FOLDS + 1
    for (first, trained_on), (second, held_out) in pairs[:-1]:
        assert (first, second) == ("train", "score")
        assert not trained_on & held_out and trained_on | held_out == set(train.names)
    assert pairs[-1][0][1] == set(train.names)
    judged = set().union(*(held_out for _, (_, held_out) in pairs[:FOLDS]))
    assert judged == set(train.names)


def test_too_few_speakers_to_hold_any_out(trainer: LinkageTrainer) -> None:
    few = simulated(0, trained=3)["train", "original"]
    record = trainer.train("cosine", few).record
    assert record.held_out_eer is None and record.training_eer is not None
    assert trainer.train(BEST, few).name == "cosine"  # where nothing can be compared, the simplest
    single = Embeddings.of(np.eye(3), list("abc"))
    assert trainer.train("cosine", single).record.training_eer is None
    with pytest.raises(TooFewError):
        trainer.train("whitening", single)
    with pytest.raises(UsageError) as caught:
        trainer.train("cosines", few)
    assert "'cosine'" in str(caught.value)


def test_the_same_content_is_trained_once_a_trainer(
    trainer: LinkageTrainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0

    def counting(name: str, voices: Any, **settings: Any) -> Any:
        nonlocal count
        count += 1
        return make_linkage(name, voices, **settings)

    monkeypatch.setattr(training, "make_linkage", counting)
    first, second = (simulated(0)["train", "attacker"] for _ in range(2))
    trained = trainer.train("plda", first, Judging(3))
    expected = len(LINKAGES["plda"].candidate_settings) * FOLDS + 1
    assert count == expected
    assert trainer.train("plda", second, Judging(3)) is trained
    assert trainer.linkage("plda", trained.record.settings, second) is trained.linkage
    assert count == expected
    assert trainer.train("plda", first, Judging(4)) is not trained
    repeated = LinkageTrainer().train("plda", first, Judging(3))  # nothing is shared by the process
    assert repeated is not trained and repeated.record == trained.record


# ======================================================================================= attacking


def test_attackers_that_know_more_link_better(sets: EmbeddingSets) -> None:
    trainer, settings = LinkageTrainer(), AttackSettings("whitening")
    results = {name: attack(sets, ATTACKERS[name], settings, trainer=trainer) for name in ATTACKERS}
    rate = {name: result.trust.evidence.attack for name, result in results.items()}
    assert rate["ignorant"] > 0.35
    assert rate["ignorant"] > rate["semi-informed"] + 0.1
    assert rate["lazy-informed"] > rate["semi-informed"] + 0.05
    assert rate["near-informed"] > rate["semi-informed"]
    assert rate["informed"] < rate["semi-informed"]
    for result in results.values():
        evidence = result.trust.evidence
        assert evidence.control == pytest.approx(0.5, abs=0.06)
        assert evidence.originals < 0.05
        assert evidence.attack == eer(result.table.scores())
        assert evidence.originals == eer(result.baseline.table.scores()) == result.baseline.eer
    assert results["ignorant"].trained is results["ignorant"].baseline.trained
    compared = {name: set(result.trust.evidence.less_informed) for name, result in results.items()}
    assert compared == {
        "ignorant": set(),
        "lazy-informed": {"ignorant"},
        "near-informed": {"ignorant"},
        "semi-informed": {"ignorant", "lazy-informed"},
        "informed": {"ignorant", "lazy-informed"},
    }
    evidence = results["semi-informed"].trust.evidence
    assert evidence.less_informed["ignorant"] == pytest.approx(rate["ignorant"])
    assert evidence.less_informed["lazy-informed"] == pytest.approx(rate["lazy-informed"])


def test_a_third_party_attacker_is_compared_by_its_rank(sets: EmbeddingSets) -> None:
    settings = AttackSettings("cosine")
    plain = Attacker("third-party", "released", "original", "came from elsewhere")
    compared = attack(sets, plain, settings).trust.evidence.less_informed
    assert set(compared) == {"ignorant", "lazy-informed"}
    ranked = attack(sets, replace(plain, rank=1), settings).trust.evidence.less_informed
    assert set(ranked) == {"ignorant"}


def test_the_record_of_an_attack(sets: EmbeddingSets) -> None:
    result = attack(sets, ATTACKERS["semi-informed"], AttackSettings("cosine", norm="as-norm"))
    record = json.loads(json.dumps(attack_record(result, sets).to_dict(), allow_nan=False))
    assert record["attacker"] == {
        "name": "semi-informed",
        "enrolment": "attacker",
        "training": "attacker",
        "rank": 2,
        "summary": ATTACKERS["semi-informed"].summary,
    }
    assert record["settings"] == {
        "linkage": "cosine",
        "over": "model",
        "norm": "as-norm",
        "nearest": 100,
        "seed": 0,
        "encoder": "frozen",
        "draws": 2,
    }
    assert (record["enrolled_speakers"], record["trials"]) == (20, 80)
    assert record["trained"]["name"] == record["trained_on_originals"]["name"] == "cosine"
    assert record["eer"] == record["trust"]["evidence"]["attack"]
    assert record["eer_on_originals"] == record["trust"]["evidence"]["originals"]
    assert set(record["trust"]["evidence"]["linkages"]) == {"whitening", "projection", "plda"}
    assert record["embeddings"]["trial"] == sets["trial", "released"].digest()
    assert record["embeddings"]["originals-train"] == sets["train", "original"].digest()


def test_attacks_repeat_and_attacked_speakers_decide_nothing() -> None:
    settings = AttackSettings("cosine")
    first, second = (attack(simulated(4), ATTACKERS["informed"], settings) for _ in range(2))
    np.testing.assert_array_equal(first.table.values, second.table.values)
    sets = simulated(4)
    trial = sets["trial", "released"]
    moved = Embeddings.of(
        trial.vectors[::-1] + 1, trial.names[trial.speakers], utterances=trial.utterances
    )
    changed = EmbeddingSets({**sets.embeddings, ("trial", "released"): moved})
    third = attack(changed, ATTACKERS["informed"], settings)
    assert third.trained.record == first.trained.record


@pytest.mark.parametrize("norm", ["none", "s-norm", "as-norm"])
@pytest.mark.parametrize("over", ["model", "mean", "max"])
def test_all_settings(over: str, norm: str) -> None:
    small = simulated(1, evaluated=6, trained=9)
    settings = AttackSettings("cosine", over, norm, nearest=4)
    assert attack(small, ATTACKERS["ignorant"], settings).trust.evidence.originals < 0.1


@pytest.mark.parametrize("settings", [AttackSettings(over="sum"), AttackSettings(norm="z-norm")])
def test_settings_that_nobody_knows(settings: AttackSettings) -> None:
    with raises_code("unknown-name"):
        attack(simulated(0, evaluated=3, trained=3), ATTACKERS["ignorant"], settings)


def test_incomplete_sets_are_refused() -> None:
    complete = simulated(0, evaluated=3, trained=3)
    less = {
        key: embeddings
        for key, embeddings in complete.embeddings.items()
        if key != ("train", "attacker")
    }
    with raises_code("missing-speech"):
        attack(EmbeddingSets(less), ATTACKERS["semi-informed"])


# ========================================================================================= control


@pytest.mark.parametrize("speakers", [3, 4, 6, 30])
def test_the_control_is_chance_however_well_the_attack_works(speakers: int) -> None:
    names = np.array([f"{i:02}" for i in range(speakers)])
    true = np.repeat(names, 40)
    rates = []
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(size=(speakers, len(true)))
        values = noise + 50 * (names[:, None] == true)
        rates.append(_control(ScoreTable(values, names, true, true), 0.0, seed).eer)
    assert PERMUTATIONS >= 10 and np.mean(np.array(rates, float)) == pytest.approx(0.5, abs=0.04)


def test_matrices_are_multiplied_by_one_thread(
    sets: EmbeddingSets, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that share small products wait for each other most of the time."""
    threads: list[int] = []

    def look(*given: Any) -> Any:
        libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
        threads.extend(library["num_threads"] for library in libraries)
        return try_all(*given)

    monkeypatch.setattr("sottovoce.attack.linking.try_all", look)
    with threadpool_limits(2, user_api="blas"):
        attack(sets, ATTACKERS["ignorant"], AttackSettings("cosine"))
    assert set(threads) == {1}


def test_two_speakers_have_no_control() -> None:
    names = np.array(["a", "b"])
    assert _control(ScoreTable(np.eye(2), names, names, names), 0.0, 0).eer is None


def test_random_labels_tell_chance_from_an_attack_that_links() -> None:
    """Under chance p is uniform: score tables without any evidence, and one with a little."""
    names = np.array([f"s{i}" for i in range(8)])
    trials = np.repeat(names, 4)

    def p_value(evidence: float, seed: int) -> float:
        values = np.random.default_rng(seed).normal(size=(8, 32))
        values[names[:, None] == trials] += evidence
        table = ScoreTable(values, names, trials, trials)
        found = _control(table, eer(table.scores()), seed).p_value
        assert found is not None
        return found

    chance = [p_value(0.0, seed) for seed in range(5)]
    assert 0.2 < np.mean(chance) < 0.8 and sum(p <= 0.05 for p in chance) <= 1
    assert p_value(1.5, 0) == 1 / (1 + PERMUTATIONS)
