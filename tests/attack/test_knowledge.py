"""What attackers know and need, and embedding sets that would make their results lie."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from attack_voices import simulated
from error_codes import raises_code

from sottovoce.attack import ATTACKERS, Attacker, EmbeddingSets
from sottovoce.attack.knowledge import UNRANKED
from sottovoce.core.errors import UsageError
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.leakage import check_disjoint

ORIGINALS = {("enrol", "original"), ("trial", "original"), ("train", "original")}
FURTHER_NEEDS = {
    "ignorant": set(),
    "lazy-informed": {("enrol", "attacker")},
    "near-informed": {("enrol", "similar"), ("train", "similar")},
    "semi-informed": {("enrol", "attacker"), ("train", "attacker")},
    "informed": {("enrol", "released"), ("train", "attacker")},
}
RANKS = {
    "ignorant": 0,
    "lazy-informed": 1,
    "near-informed": 1,
    "semi-informed": 2,
    "informed": 3,
}


def test_the_table_of_attackers() -> None:
    assert set(ATTACKERS) == set(FURTHER_NEEDS)
    for name, further in FURTHER_NEEDS.items():
        attacker = ATTACKERS[name]
        assert set(attacker.needs) == ORIGINALS | further
        assert len(attacker.needs) == len(set(attacker.needs))
        assert attacker.name == name and attacker.summary
        assert attacker.describe().rank == attacker.rank == RANKS[name]
    with pytest.raises(UsageError) as caught:
        ATTACKERS["semi-inform"]
    assert "'semi-informed'" in str(caught.value)


def test_an_attacker_that_declares_no_rank_is_below_all_and_compared_with_all() -> None:
    plain = Attacker("third-party", "released", "attacker", "came from elsewhere")
    assert plain.rank == UNRANKED < min(RANKS.values())
    for name in RANKS:
        assert plain.knows_more_than(ATTACKERS[name])
        assert not plain.knows_more_than(plain)
    declared = replace(plain, rank=2)
    assert declared.knows_more_than(ATTACKERS["lazy-informed"])
    assert not declared.knows_more_than(ATTACKERS["semi-informed"])


def with_set(sets: EmbeddingSets, key: Any, **changes: Any) -> EmbeddingSets:
    """The same sets with one of them changed."""
    old = sets[key]
    arguments = {
        "vectors": old.vectors,
        "speakers": old.names[old.speakers],
        "utterances": old.utterances,
        "origin": old.origin,
        **changes,
    }
    return replace(sets, embeddings={**sets.embeddings, key: Embeddings.of(**arguments)})


@pytest.mark.parametrize("name", list(FURTHER_NEEDS))
def test_complete_sets_pass_and_a_missing_one_is_named(name: str) -> None:
    attacker, complete = ATTACKERS[name], simulated(0, evaluated=3, trained=3)
    complete.check(attacker)
    for key in (*attacker.needs, ("trial", "released")):
        less = {other: sets for other, sets in complete.embeddings.items() if other != key}
        with raises_code("missing-speech") as caught:
            EmbeddingSets(less).check(attacker)
        assert f"no {key[1]} {key[0]} speech" in str(caught.value)


@pytest.mark.parametrize("form", ["original", "attacker"])
def test_speakers_trained_on_are_not_attacked(form: str) -> None:
    sets = simulated(0, evaluated=3, trained=3, each=2)
    mixed = with_set(sets, ("train", form), speakers=["e00", "e00", "e02", "e02", "t01", "t01"])
    with raises_code("not-disjoint") as caught:
        mixed.check(ATTACKERS["semi-informed"])
    assert "e00, e02: in the training and in the evaluated" in str(caught.value)
    if form == "attacker":
        mixed.check(ATTACKERS["ignorant"])  # it does not use them


def test_enrolled_speakers_are_not_trained_on_either() -> None:
    sets = simulated(0, evaluated=3, trained=3, each=2)
    more = with_set(
        sets, ("enrol", "attacker"), speakers=["e00", "e01", "e02", "t01", "t01", "t01"]
    )
    with raises_code("not-disjoint") as caught:
        more.check(ATTACKERS["semi-informed"])
    assert "t01: in the training and in the evaluated" in str(caught.value)


def test_a_vector_that_is_trained_on_and_attacked_is_refused() -> None:
    sets = simulated(0, evaluated=3, trained=3)
    train, trial = sets["train", "original"], sets["trial", "released"]
    vectors = train.vectors.copy()
    vectors[0] = trial.vectors[0]
    leaking = Embeddings.of(vectors, train.names[train.speakers])
    with raises_code("not-disjoint"):
        EmbeddingSets({**sets.embeddings, ("train", "original"): leaking}).check(
            ATTACKERS["ignorant"]
        )


def test_groups_of_speakers_are_disjoint() -> None:
    check_disjoint({"a": ["x"], "b": ["y"], "c": []})
    with raises_code("not-disjoint") as caught:
        check_disjoint({"a": [f"p{i}" for i in range(10)], "b": [f"p{i}" for i in range(10)]})
    assert "p0, p1, p2 and 7 more: in the a and in the b" in str(caught.value)


@pytest.mark.parametrize(
    "key", [("enrol", "original"), ("enrol", "attacker"), ("trial", "original")]
)
def test_a_recording_is_not_compared_with_itself(key: Any) -> None:
    sets = simulated(0, evaluated=3, trained=3, each=2)
    ids = [f"{'enrol' if key[0] == 'trial' else 'trial'}-0", *(f"x{i}" for i in range(5))]
    with raises_code("not-disjoint") as caught:
        with_set(sets, key, utterances=ids).check(ATTACKERS["semi-informed"])
    assert f"{ids[0]}: both enrolment and trial" in str(caught.value)


def test_embeddings_without_ids_are_not_compared_by_id() -> None:
    sets = simulated(0, evaluated=3, trained=3)
    with_set(sets, ("enrol", "original"), utterances=None).check(ATTACKERS["ignorant"])


@pytest.mark.parametrize(
    "key", [("train", "attacker"), ("enrol", "attacker"), ("trial", "original")]
)
def test_all_come_from_one_encoder(key: Any) -> None:
    sets = simulated(0, evaluated=3, trained=3)
    narrow = with_set(sets, key, vectors=np.ones((12, 5)), origin="odd.npz")
    with raises_code("mismatch") as caught:
        narrow.check(ATTACKERS["semi-informed"])
    assert "odd.npz: vectors of 5 numbers, trial-released has 24" in str(caught.value)


@pytest.mark.parametrize("form", ["original", "attacker"])
def test_every_speaker_of_the_trials_is_enrolled(form: Any) -> None:
    sets = simulated(0, evaluated=3, trained=3, each=1)
    fewer = with_set(sets, ("enrol", form), speakers=["e00", "e00", "e02"])
    with raises_code("not-enrolled") as caught:
        fewer.check(ATTACKERS["semi-informed"])
    assert "no enrolment of e01" in str(caught.value)
