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
    DISTANCES,
    GENDERS,
    MINIMUM_AVERAGED,
    PROXIMITIES,
    MemberSelection,
    PseudoSpeaker,
    average_voice,
    ranked_clusters,
)
from sottovoce.core.errors import TooFewError

POOL = simulated_pool()
SOURCE = POOL.vectors[10] + np.float32(0.2)
SHIPPED = Pool.load()


def pseudo_speaker(
    selection: MemberSelection,
    seed: int = 1,
    names: tuple[str, ...] = ("ann",),
    gender: str = "f",
    pool: Pool = POOL,
) -> PseudoSpeaker:
    source = SOURCE if pool is POOL else pool.vectors[10]
    return selection.make(pool, source, gender, Secret.reproducible(seed), names)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(DISTANCES),
    st.sampled_from(PROXIMITIES),
    st.sampled_from(GENDERS),
    st.integers(0, 30),
    st.sampled_from("fm"),
)
def test_every_choice_gives_a_voice_as_far_out_as_others(
    distance: str, proximity: str, gender: str, seed: int, source: str
) -> None:
    voice = pseudo_speaker(MemberSelection(distance, proximity, gender), seed, gender=source)
    assert np.isfinite(voice.vector).all() and len(voice.members) >= MINIMUM_AVERAGED
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
        ranked_clusters(POOL, allowed, "plda", largest=True, smallest=4),
        key=lambda cluster: affinity[cluster].mean(),
    )
    for proximity in ("dense", "sparse"):
        for seed in range(40):
            assert not set(
                pseudo_speaker(MemberSelection(proximity=proximity), seed).members
            ) & set(nearest)


@pytest.mark.parametrize("proximity", PROXIMITIES)
@pytest.mark.parametrize("distance", DISTANCES)
def test_no_pseudo_speaker_is_the_voice_of_a_reader(proximity: str, distance: str) -> None:
    """The nearest reader is farther away than 0.45 times the typical distance from the centre."""
    for seed in range(60):
        selection = MemberSelection(distance, proximity, "random")
        voice = pseudo_speaker(selection, seed, pool=SHIPPED)
        nearest = np.linalg.norm(SHIPPED.vectors - voice.vector, axis=1).min()
        assert nearest > 0.45 * SHIPPED.norm and len(voice.members) >= MINIMUM_AVERAGED


def test_clusters_of_one_are_refused() -> None:
    alone = replace(POOL, exemplars=np.arange(len(POOL)))
    for proximity in ("dense", "sparse"):
        with raises_code("too-few", TooFewError):
            MemberSelection(proximity=proximity).make(
                alone, SOURCE, "m", Secret.reproducible(1), ("ann",)
            )


@pytest.mark.parametrize("proximity", ["dense", "sparse"])
def test_clusters_are_those_of_the_distance(proximity: str) -> None:
    by_plda, by_cosine = (SHIPPED.exemplars_by(distance) for distance in DISTANCES)
    assert len(np.unique(by_plda)) != len(np.unique(by_cosine))
    same_members = 0
    for seed in range(40):
        members = [
            pseudo_speaker(MemberSelection(distance, proximity), seed, pool=SHIPPED).members
            for distance in DISTANCES
        ]
        assert len(np.unique(by_plda[members[0]])) == len(np.unique(by_cosine[members[1]])) == 1
        same_members += set(members[0]) == set(members[1])
    assert same_members <= 8


def test_a_number_of_voices_holds_for_clusters_too() -> None:
    for proximity in PROXIMITIES:
        assert len(pseudo_speaker(MemberSelection("plda", proximity, averaged=4)).members) == 4
    with raises_code("too-few", TooFewError):
        pseudo_speaker(MemberSelection(averaged=100))


@pytest.mark.parametrize("averaged", [1, MINIMUM_AVERAGED - 1])
def test_too_few_voices_are_never_averaged(averaged: int) -> None:
    with raises_code("out-of-range"):
        MemberSelection(proximity="random", averaged=averaged)


@pytest.mark.parametrize("proximity", ["dense", "sparse", "random"])
def test_candidates_are_not_ignored(proximity: str) -> None:
    with raises_code("unused-setting"):
        MemberSelection(proximity=proximity, candidates=20)


def test_the_same_secret_repeats_and_another_differs() -> None:
    for proximity in PROXIMITIES:
        voices = [
            pseudo_speaker(MemberSelection(proximity=proximity), seed).members.tolist()
            for seed in range(12)
        ]
        assert voices[0] == pseudo_speaker(MemberSelection(proximity=proximity), 0).members.tolist()
        assert len({tuple(members) for members in voices}) > 1


def test_members_and_gender_follow_the_names() -> None:
    selection = MemberSelection(proximity="random", gender="random")
    voices = [pseudo_speaker(selection, names=("ann", f"u{i}")) for i in range(20)]
    assert len({voice.gender for voice in voices}) == 2
    assert len({tuple(voice.members) for voice in voices}) == 20
    again = pseudo_speaker(selection, names=("ann", "u0"))
    assert again.gender == voices[0].gender and (again.members == voices[0].members).all()


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
