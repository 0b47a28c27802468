"""Training and attacking on simulated voices: choices, order of attackers, controls, records."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from attack_voices import simulated

from sottovoce.attack import ATTACKERS, Manner, Material, attack, training
from sottovoce.attack.linking import EXCHANGES, _control
from sottovoce.attack.score import ScoreTable, score_all
from sottovoce.attack.training import BEST, FOLDS, TRIED, fit
from sottovoce.core.errors import InputError, TooFewError, UsageError
from sottovoce.measure import eer
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage import LINKAGES, make_linkage


@pytest.fixture(scope="module")
def material() -> Material:
    return simulated(0)


# ======================================================================================== training


def test_the_best_is_what_does_best_on_held_out_speakers(material: Material) -> None:
    train = material["train", "own"]
    best = fit(BEST, train)
    alone = {name: fit(name, train).held_out_eer for name in TRIED}
    assert best.name in TRIED and best.held_out_eer == alone[best.name]
    assert best.held_out_eer is not None
    assert best.held_out_eer <= min(one for one in alone.values() if one is not None) + 0.02
    assert best.settings in LINKAGES[best.name].candidate_settings
    assert (best.speakers, best.vectors) == (24, 96)
    assert best.training_eer is not None and best.training_eer <= best.held_out_eer + 0.05
    assert "linkage" not in json.loads(json.dumps(best.to_dict()))


def test_one_recording_a_speaker_trains_what_it_can(material: Material) -> None:
    train = material["train", "own"]
    single = train.rows(np.unique(train.speakers, return_index=True)[1])
    with pytest.raises(TooFewError):
        fit("plda", single)
    assert fit(BEST, single).name == "cosine"


def test_whom_is_judged_on_was_not_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fit but the last is on other speakers than the scores that follow it."""
    train = simulated(0)["train", "own"]  # never fitted before: what is known is not fitted again
    seen: list[tuple[str, frozenset[str]]] = []

    def spy(name: str, voices: Any, **settings: Any) -> Any:
        seen.append(("fit", frozenset(voices.names)))
        return make_linkage(name, voices, **settings)

    def score(enrol: Embeddings, trial: Embeddings, linkage: Any) -> ScoreTable:
        seen.append(("score", frozenset(enrol.names) | frozenset(trial.names)))
        return score_all(enrol, trial, linkage)

    monkeypatch.setattr(training, "make_linkage", spy)
    monkeypatch.setattr(training, "score_all", score)
    fit("whitening", train)
    pairs = list(zip(seen[::2], seen[1::2], strict=True))
    assert len(pairs) == len(LINKAGES["whitening"].candidate_settings) * FOLDS + 1
    for (fitted, kept), (scored, out) in pairs[:-1]:
        assert (fitted, scored) == ("fit", "score")
        assert not kept & out and kept | out == set(train.names)
    assert pairs[-1][0][1] == set(train.names)
    judged = set().union(*(out for _, (_, out) in pairs[:FOLDS]))
    assert judged == set(train.names)


def test_too_few_speakers_to_hold_any_out() -> None:
    few = simulated(0, trained=3)["train", "original"]
    fitted = fit("cosine", few)
    assert fitted.held_out_eer is None and fitted.training_eer is not None
    assert fit(BEST, few).name == "cosine"  # where nothing can be compared, the simplest
    single = Embeddings.of(np.eye(3), list("abc"))
    assert fit("cosine", single).training_eer is None
    with pytest.raises(TooFewError):
        fit("whitening", single)
    with pytest.raises(UsageError, match="no linkage function is called 'cosines'"):
        fit("cosines", few)


def test_the_same_seed_gives_the_same_and_the_same_voices_are_not_fitted_again() -> None:
    first, second = (simulated(0)["train", "own"] for _ in range(2))
    one, again = (fit("plda", voices, seed=3) for voices in (first, second))
    assert one is not again and one.to_dict() == again.to_dict()
    assert fit("plda", first, seed=3) is one


# ======================================================================================= attacking


def test_who_knows_more_links_better(material: Material) -> None:
    found = {name: attack(material, ATTACKERS[name], Manner("whitening")) for name in ATTACKERS}
    rate = {name: one.trust.evidence.attack for name, one in found.items()}
    assert rate["ignorant"] > 0.35
    assert rate["ignorant"] > rate["semi-informed"] + 0.1
    assert rate["lazy-informed"] > rate["semi-informed"] + 0.05
    assert rate["near-informed"] > rate["semi-informed"]
    assert rate["informed"] < rate["semi-informed"]
    for one in found.values():
        assert one.trust.evidence.control == pytest.approx(0.5, abs=0.06)
        assert one.trust.evidence.originals < 0.05
        assert one.trust.evidence.attack == eer(one.table.scores())
        assert one.trust.evidence.originals == eer(one.originals.scores())
    ignorant = found["ignorant"]
    assert ignorant.fitted is ignorant.fitted_originals
    below = {name: set(one.trust.evidence.less_informed) for name, one in found.items()}
    assert below == {
        "ignorant": set(),
        "lazy-informed": {"ignorant"},
        "near-informed": {"ignorant"},
        "semi-informed": {"ignorant", "lazy-informed"},
        "informed": {"ignorant", "lazy-informed"},
    }
    evidence = found["semi-informed"].trust.evidence
    assert evidence.less_informed["ignorant"] == pytest.approx(rate["ignorant"])
    assert evidence.less_informed["lazy-informed"] == pytest.approx(rate["lazy-informed"])


def test_the_record_can_be_written(material: Material) -> None:
    found = attack(material, ATTACKERS["semi-informed"], Manner("cosine", norm="as-norm"))
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["attacker"]["name"] == "semi-informed"
    assert record["manner"] == {
        "linkage": "cosine",
        "over": "model",
        "norm": "as-norm",
        "nearest": 100,
        "seed": 0,
    }
    assert (record["enrolled_speakers"], record["trials"]) == (20, 80)
    assert record["trained"]["name"] == record["trained_on_originals"]["name"] == "cosine"
    assert record["eer"] == record["trust"]["evidence"]["attack"]
    assert record["eer_on_originals"] == record["trust"]["evidence"]["originals"]
    assert set(record["trust"]["evidence"]["linkages"]) == {"whitening", "projection", "plda"}


def test_the_same_attack_twice_and_speakers_under_attack_decide_nothing() -> None:
    one, again = (attack(simulated(4), ATTACKERS["informed"], Manner("cosine")) for _ in range(2))
    np.testing.assert_array_equal(one.table.values, again.table.values)
    other = simulated(4)
    trial = other["trial", "theirs"]
    moved = Embeddings.of(
        trial.vectors[::-1] + 1, trial.names[trial.speakers], utterances=trial.utterances
    )
    changed = Material({**other.embeddings, ("trial", "theirs"): moved})
    third = attack(changed, ATTACKERS["informed"], Manner("cosine"))
    assert third.fitted.to_dict() == one.fitted.to_dict()


@pytest.mark.parametrize("norm", ["none", "s-norm", "as-norm"])
@pytest.mark.parametrize("over", ["model", "mean", "max"])
def test_all_manners(over: Any, norm: Any) -> None:
    small = simulated(1, evaluated=6, trained=9)
    manner = Manner("cosine", over, norm, nearest=4)
    found = attack(small, ATTACKERS["ignorant"], manner)
    assert found.trust.evidence.originals < 0.1


def test_bad_material_is_refused() -> None:
    whole = simulated(0, evaluated=3, trained=3)
    less = {key: one for key, one in whole.embeddings.items() if key != ("train", "own")}
    with pytest.raises(InputError, match="no own train speech"):
        attack(Material(less), ATTACKERS["semi-informed"])


# ========================================================================================= control


@pytest.mark.parametrize("speakers", [3, 4, 6, 30])
def test_the_control_is_chance_however_well_the_attack_works(speakers: int) -> None:
    names = np.array([f"{i:02}" for i in range(speakers)])
    who = np.repeat(names, 40)
    found = []
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(size=(speakers, len(who)))
        values = noise + 50 * (names[:, None] == who)
        found.append(_control(ScoreTable(values, names, who, who), seed))
    assert EXCHANGES >= 10 and np.mean(np.array(found, float)) == pytest.approx(0.5, abs=0.04)


def test_two_speakers_have_no_control() -> None:
    names = np.array(["a", "b"])
    assert _control(ScoreTable(np.eye(2), names, names, names), 0) is None
