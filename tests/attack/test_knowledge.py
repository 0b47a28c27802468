"""What attackers know and need, and material that would make their figures lie."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from attack_voices import simulated

from sottovoce.attack import ATTACKERS, Material
from sottovoce.attack.embedding_sets import check_disjoint
from sottovoce.core.errors import InputError, UsageError
from sottovoce.speaker.embeddings import Embeddings

ORIGINALS = {("enrol", "original"), ("trial", "original"), ("train", "original")}
BEYOND = {
    "ignorant": set(),
    "lazy-informed": {("enrol", "own")},
    "near-informed": {("enrol", "similar"), ("train", "similar")},
    "semi-informed": {("enrol", "own"), ("train", "own")},
    "informed": {("enrol", "theirs"), ("train", "own")},
}


def test_the_table_of_knowledge() -> None:
    assert set(ATTACKERS) == set(BEYOND)
    for name, beyond in BEYOND.items():
        needs = ATTACKERS[name].needs
        assert set(needs) == ORIGINALS | beyond
        assert len(needs) == len(set(needs))
        assert ATTACKERS[name].name == name and ATTACKERS[name].summary
    with pytest.raises(UsageError, match="did you mean 'semi-informed'"):
        ATTACKERS["semi-inform"]


def but(material: Material, what: Any, **changed: Any) -> Material:
    """The same with one set of embeddings changed."""
    old = material[what]
    given = {
        "vectors": old.vectors,
        "speakers": old.names[old.speakers],
        "utterances": old.utterances,
        "origin": old.origin,
        **changed,
    }
    return replace(material, embeddings={**material.embeddings, what: Embeddings.of(**given)})


@pytest.mark.parametrize("name", list(BEYOND))
def test_good_material_passes_and_what_is_missing_is_named(name: str) -> None:
    attacker, whole = ATTACKERS[name], simulated(0, evaluated=3, trained=3)
    assert whole.checked(attacker) is whole
    for what in (*attacker.needs, ("trial", "theirs")):
        less = {key: one for key, one in whole.embeddings.items() if key != what}
        with pytest.raises(InputError, match=f"no {what[1]} {what[0]} speech"):
            Material(less).checked(attacker)


@pytest.mark.parametrize("form", ["original", "own"])
def test_speakers_trained_on_are_not_attacked(form: str) -> None:
    whole = simulated(0, evaluated=3, trained=3, each=2)
    mixed = but(whole, ("train", form), speakers=["e00", "e00", "e02", "e02", "t01", "t01"])
    with pytest.raises(InputError, match="e00, e02: in the evaluation and in the training"):
        mixed.checked(ATTACKERS["semi-informed"])
    if form == "own":
        assert mixed.checked(ATTACKERS["ignorant"]) is mixed  # it does not use them


def test_enrolled_speakers_are_not_trained_on_either() -> None:
    whole = simulated(0, evaluated=3, trained=3, each=2)
    more = but(
        whole,
        ("enrol", "own"),
        speakers=["e00", "e01", "e02", "t01", "t01", "t01"],
    )
    with pytest.raises(InputError, match="t01: in the evaluation and in the training"):
        more.checked(ATTACKERS["semi-informed"])


def test_speakers_reserved_for_something_else() -> None:
    whole = replace(simulated(0, evaluated=3, trained=3), reserved={"pool": frozenset({"t02"})})
    with pytest.raises(InputError, match="t02: in the training and in the pool speakers"):
        whole.checked(ATTACKERS["ignorant"])
    check_disjoint({"a": ["x"], "b": ["y"], "c": []})
    with pytest.raises(InputError, match="p0, p1, p2 and 7 more: in the a and in the b"):
        check_disjoint({"a": [f"p{i}" for i in range(10)], "b": [f"p{i}" for i in range(10)]})


@pytest.mark.parametrize("what", [("enrol", "original"), ("enrol", "own"), ("trial", "original")])
def test_a_recording_is_not_compared_with_itself(what: Any) -> None:
    whole = simulated(0, evaluated=3, trained=3, each=2)
    ids = [f"{'enrol' if what[0] == 'trial' else 'trial'}-0", *(f"x{i}" for i in range(5))]
    with pytest.raises(InputError, match=f"{ids[0]}: both enrolment and trial"):
        but(whole, what, utterances=ids).checked(ATTACKERS["semi-informed"])


def test_embeddings_without_ids_cannot_be_held_against_each_other() -> None:
    whole = but(simulated(0, evaluated=3, trained=3), ("enrol", "original"), utterances=None)
    assert whole.checked(ATTACKERS["ignorant"]) is whole


@pytest.mark.parametrize("what", [("train", "own"), ("enrol", "own"), ("trial", "original")])
def test_all_come_from_one_encoder(what: Any) -> None:
    whole = simulated(0, evaluated=3, trained=3)
    narrow = but(whole, what, vectors=np.ones((12, 5)), origin="odd.npz")
    with pytest.raises(InputError, match=r"odd\.npz: vectors of 5 numbers, trial-theirs has 24"):
        narrow.checked(ATTACKERS["semi-informed"])


@pytest.mark.parametrize("form", ["original", "own"])
def test_every_speaker_of_the_trials_is_enrolled(form: Any) -> None:
    whole = simulated(0, evaluated=3, trained=3, each=1)
    fewer = but(whole, ("enrol", form), speakers=["e00", "e00", "e02"])
    with pytest.raises(InputError, match="no enrolment of e01"):
        fewer.checked(ATTACKERS["semi-informed"])
