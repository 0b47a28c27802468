"""Pseudo-speakers follow their settings, and all draws follow from the secret."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st
from voice_pools import CARD, simulated_pool

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.pool import Pool
from sottovoce.anonymise.voice.pseudo_speaker import (
    ASSIGNMENTS,
    DISTANCES,
    GENDERS,
    PROXIMITIES,
    MemberSelection,
    PseudoSpeaker,
    average_voice,
    ranked_clusters,
)
from sottovoce.core.errors import TooFewError

POOL = simulated_pool()
SOURCE = POOL.vectors[10] + np.float32(0.2)


def pseudo_speaker(
    selection: MemberSelection,
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
    distance: str, proximity: str, gender: str, assignment: str, seed: int, source: str
) -> None:
    voice = pseudo_speaker(
        MemberSelection(distance, proximity, gender, assignment), seed, gender=source
    )
    assert np.isfinite(voice.vector).all() and len(voice.members) >= 1
    assert len(set(voice.members.tolist())) == len(voice.members)
    assert np.linalg.norm(voice.vector - POOL.centre) == pytest.approx(POOL.norm, rel=1e-4)
    assert set(POOL.gender[voice.members]) == {voice.gender}
    if gender != "random":
        assert (voice.gender == source) == (gender == "same")
    assert (np.diff(voice.pitch) >= 0).all() and (voice.pitch > 0).all()


@pytest.mark.parametrize("distance", DISTANCES)
def test_near_is_nearer_than_random_than_far(distance: str) -> None:
    affinity = POOL.affinity(SOURCE, distance)
    means = [
        np.mean(
            [
                affinity[pseudo_speaker(MemberSelection(distance, proximity), seed).members]
                for seed in range(20)
            ]
        )
        for proximity in ("near", "random", "far")
    ]
    assert means[0] > means[1] > means[2]


def test_dense_clusters_are_larger_than_sparse_ones() -> None:
    def size(proximity: str, seed: int) -> int:
        voice = pseudo_speaker(MemberSelection(proximity=proximity), seed)
        exemplar = POOL.exemplars[voice.members[0]]
        assert (POOL.exemplars[voice.members] == exemplar).all()
        return int(np.sum((POOL.exemplars == exemplar) & (POOL.gender == voice.gender)))

    dense, sparse = (
        [size(proximity, seed) for seed in range(20)] for proximity in ("dense", "sparse")
    )
    assert min(dense) > max(sparse)


def test_the_cluster_nearest_the_source_is_never_taken() -> None:
    allowed = np.flatnonzero(POOL.gender == "f")
    affinity = POOL.affinity(SOURCE, "plda")
    nearest = max(
        ranked_clusters(POOL, allowed, largest=True), key=lambda cluster: affinity[cluster].mean()
    )
    for proximity in ("dense", "sparse"):
        for seed in range(40):
            assert not set(
                pseudo_speaker(MemberSelection(proximity=proximity), seed).members
            ) & set(nearest)


def test_a_cluster_of_one_gives_its_voice() -> None:
    alone = replace(POOL, exemplars=np.arange(len(POOL)))
    for proximity in ("dense", "sparse"):
        voice = MemberSelection(proximity=proximity).make(
            alone, SOURCE, "m", Secret.reproducible(1), "ann", "u"
        )
        assert len(voice.members) == 1 and np.isfinite(voice.vector).all()


def test_the_same_secret_repeats_and_another_differs() -> None:
    for proximity in PROXIMITIES:
        voices = [
            pseudo_speaker(MemberSelection(proximity=proximity), seed).members.tolist()
            for seed in range(12)
        ]
        assert voices[0] == pseudo_speaker(MemberSelection(proximity=proximity), 0).members.tolist()
        assert len({tuple(members) for members in voices}) > 1


def test_assignment_decides_whether_the_utterance_matters() -> None:
    for_speaker, for_utterance = (
        MemberSelection(proximity="random", assignment=x) for x in ASSIGNMENTS
    )
    assert (
        pseudo_speaker(for_speaker).members == pseudo_speaker(for_speaker, utterance="v").members
    ).all()
    assert (
        pseudo_speaker(for_utterance).members
        != pseudo_speaker(for_utterance, utterance="v").members
    ).any()
    assert (
        pseudo_speaker(for_speaker).members != pseudo_speaker(for_speaker, speaker="bob").members
    ).any()


def test_a_random_gender_is_drawn_once_for_a_speaker() -> None:
    selection = MemberSelection(gender="random", assignment="utterance")
    assert len({pseudo_speaker(selection, utterance=f"u{i}").gender for i in range(20)}) == 1
    assert len({pseudo_speaker(selection, speaker=f"s{i}").gender for i in range(20)}) == 2


def test_numbers_may_be_given() -> None:
    voice = pseudo_speaker(MemberSelection(proximity="far", candidates=5, averaged=3))
    order = np.argsort(np.where(POOL.gender == "f", POOL.affinity(SOURCE, "plda"), np.inf))
    assert len(voice.members) == 3 and set(voice.members) <= set(order[:5])
    with raises_code("too-few", TooFewError):
        pseudo_speaker(MemberSelection(proximity="far", candidates=5, averaged=6))


def test_a_mean_at_the_centre_stays_there() -> None:
    even = Pool(
        POOL.speakers[:2],
        POOL.gender[:2],
        np.array([[1.0, 0], [-1.0, 0]], np.float32),
        POOL.pitch[:2],
        POOL.exemplars[:2],
        POOL.plda,
        CARD,
    )
    assert not average_voice(even, np.array([0, 1])).any()
