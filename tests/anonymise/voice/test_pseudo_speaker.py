"""Pseudo-speakers obey the choices that were made, and nobody but the secret decides the draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from voice_pools import invented_pool

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.pool import Pool
from sottovoce.anonymise.voice.pseudo_speaker import (
    ASSIGNMENTS,
    DISTANCES,
    GENDERS,
    PROXIMITIES,
    PseudoSpeaker,
    Selection,
    mean_voice,
    ranked_clusters,
)
from sottovoce.core.errors import TooFewError

POOL = invented_pool()
SOURCE = POOL.vectors[10] + np.float32(0.2)


def made(
    selection: Selection,
    seed: int = 1,
    speaker: str = "ann",
    utterance: str = "u",
    gender: str = "f",
) -> PseudoSpeaker:
    return selection.make(POOL, SOURCE, gender, Secret.reproducible(seed), speaker, utterance)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(DISTANCES),
    st.sampled_from(PROXIMITIES),
    st.sampled_from(GENDERS),
    st.sampled_from(ASSIGNMENTS),
    st.integers(0, 30),
    st.sampled_from("fm"),
)
def test_every_choice_gives_a_voice_as_far_out_as_others(
    distance: str, proximity: str, gender: str, assignment: str, seed: int, own: str
) -> None:
    voice = made(Selection(distance, proximity, gender, assignment), seed, gender=own)
    assert np.isfinite(voice.vector).all() and len(voice.members) >= 1
    assert len(set(voice.members.tolist())) == len(voice.members)
    assert np.linalg.norm(voice.vector - POOL.centre) == pytest.approx(POOL.norm, rel=1e-4)
    assert set(POOL.gender[voice.members]) == {voice.gender}
    if gender != "random":
        assert (voice.gender == own) == (gender == "same")
    assert (np.diff(voice.pitch) >= 0).all() and (voice.pitch > 0).all()


@pytest.mark.parametrize("distance", DISTANCES)
def test_near_is_nearer_than_random_than_far(distance: str) -> None:
    affinity = POOL.affinity(SOURCE, distance)
    means = [
        np.mean([affinity[made(Selection(distance, one), seed).members] for seed in range(20)])
        for one in ("near", "random", "far")
    ]
    assert means[0] > means[1] > means[2]


def test_dense_clusters_are_larger_than_sparse_ones() -> None:
    def size(proximity: str, seed: int) -> int:
        voice = made(Selection(proximity=proximity), seed)
        home = POOL.exemplars[voice.members[0]]
        assert (POOL.exemplars[voice.members] == home).all()
        return int(np.sum((POOL.exemplars == home) & (POOL.gender == voice.gender)))

    dense, sparse = ([size(one, seed) for seed in range(20)] for one in ("dense", "sparse"))
    assert min(dense) > max(sparse)


def test_the_cluster_nearest_the_source_is_never_taken() -> None:
    allowed = np.flatnonzero(POOL.gender == "f")
    affinity = POOL.affinity(SOURCE, "plda")
    nearest = max(
        ranked_clusters(POOL, allowed, largest=True), key=lambda one: affinity[one].mean()
    )
    for proximity in ("dense", "sparse"):
        for seed in range(40):
            assert not set(made(Selection(proximity=proximity), seed).members) & set(nearest)


def test_a_cluster_of_one_gives_its_voice() -> None:
    alone = replace(POOL, exemplars=np.arange(len(POOL)))
    for proximity in ("dense", "sparse"):
        voice = Selection(proximity=proximity).make(
            alone, SOURCE, "m", Secret.reproducible(1), "ann", "u"
        )
        assert len(voice.members) == 1 and np.isfinite(voice.vector).all()


def test_the_same_secret_repeats_and_another_differs() -> None:
    for proximity in PROXIMITIES:
        voices = [made(Selection(proximity=proximity), seed).members.tolist() for seed in range(12)]
        assert voices[0] == made(Selection(proximity=proximity), 0).members.tolist()
        assert len({tuple(one) for one in voices}) > 1


def test_assignment_decides_whether_the_utterance_matters() -> None:
    for_speaker, for_utterance = (Selection(proximity="random", assignment=x) for x in ASSIGNMENTS)
    assert (made(for_speaker).members == made(for_speaker, utterance="v").members).all()
    assert (made(for_utterance).members != made(for_utterance, utterance="v").members).any()
    assert (made(for_speaker).members != made(for_speaker, speaker="bob").members).any()


def test_a_random_gender_is_drawn_once_for_a_speaker() -> None:
    selection = Selection(gender="random", assignment="utterance")
    assert len({made(selection, utterance=f"u{i}").gender for i in range(20)}) == 1
    assert len({made(selection, speaker=f"s{i}").gender for i in range(20)}) == 2


def test_numbers_may_be_given() -> None:
    voice = made(Selection(proximity="far", candidates=5, averaged=3))
    order = np.argsort(np.where(POOL.gender == "f", POOL.affinity(SOURCE, "plda"), np.inf))
    assert len(voice.members) == 3 and set(voice.members) <= set(order[:5])
    with pytest.raises(TooFewError, match="lower n_averaged"):
        made(Selection(proximity="far", candidates=5, averaged=6))


def test_a_mean_at_the_centre_stays_there() -> None:
    even = Pool(
        POOL.speakers[:2],
        POOL.gender[:2],
        np.array([[1.0, 0], [-1.0, 0]], np.float32),
        POOL.pitch[:2],
        POOL.exemplars[:2],
        POOL.plda,
        {},
    )
    assert not mean_voice(even, np.array([0, 1])).any()
