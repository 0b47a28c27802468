"""Dividing a corpus into enrolment and trial utterances, and into two sets of speakers."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.core.errors import TooFewError
from sottovoce.corpus import Corpus, Utterance
from sottovoce.corpus.splits import partition_speakers, split_sides

GENDERS = {"a": "f", "b": "m", "c": "f", "d": "m", "e": "f"}

SPEAKERS_AND_SESSIONS = st.tuples(st.sampled_from("abcde"), st.sampled_from(["", "1", "2", "3"]))


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    rows = draw(st.lists(SPEAKERS_AND_SESSIONS, min_size=1, max_size=40))
    return Corpus(
        "drawn",
        Path("."),
        tuple(
            Utterance(f"u{i:02}", Path(f"u{i}.wav"), name, gender=GENDERS[name], session=session)
            for i, (name, session) in enumerate(rows)
        ),
    )


# ========================================================================================== sides


@given(corpora(), st.integers(0, 5), st.sampled_from([0.1, 0.5, 0.9]))
def test_sides_are_disjoint_and_share_no_session(corpus: Corpus, seed: int, share: float) -> None:
    sides = split_sides(corpus, enrol_share=share, seed=seed)
    enrol, trial = set(sides.enrol.tolist()), set(sides.trial.tolist())
    assert not enrol & trial
    left_out = {i for i, utterance in enumerate(corpus) if utterance.speaker in sides.left_out}
    assert enrol | trial | left_out == set(range(len(corpus)))
    by_session = 0
    for name, utterances in corpus.by_speaker().items():
        positions = {i for i, utterance in enumerate(corpus) if utterance.speaker == name}
        if len(utterances) == 1:
            assert name in sides.left_out
            continue
        assert positions & enrol and positions & trial
        if len({utterance.session for utterance in utterances}) > 1:
            by_session += 1
            first, second = (
                {corpus.utterances[i].session for i in positions & side} for side in (enrol, trial)
            )
            assert not first & second
    assert sides.criteria.get("session", 0) == by_session
    assert sum(sides.criteria.values()) + len(sides.left_out) == len(corpus.speakers)


@given(corpora(), st.randoms(use_true_random=False))
def test_the_order_of_the_corpus_has_no_influence(corpus: Corpus, random: Random) -> None:
    order = list(corpus.utterances)
    random.shuffle(order)
    ids = [
        {part.utterances[i].id for i in split_sides(part, seed=3).enrol}
        for part in (corpus, Corpus("drawn", Path("."), tuple(order)))
    ]
    assert ids[0] == ids[1]


def test_a_split_column_decides_for_all_speakers() -> None:
    splits = ["enrol", "trial", "train", "Enrol", "test"]
    utterances = [Utterance(str(i), Path("x"), "ab"[i > 2], split=s) for i, s in enumerate(splits)]
    sides = split_sides(Corpus("c", Path("."), tuple(utterances)))
    assert sides.enrol.tolist() == [0, 3] and sides.trial.tolist() == [1, 4]
    assert sides.criteria == {"split": 2}


def test_random_sides_follow_the_seed_and_the_share() -> None:
    utterances = tuple(Utterance(f"{i:03}", Path("x"), "a") for i in range(100))
    corpus = Corpus("c", Path("."), utterances)
    first, same, other = (split_sides(corpus, enrol_share=0.2, seed=s) for s in (1, 1, 2))
    assert len(first.enrol) == 20 and first.criteria == {"random": 1}
    assert np.array_equal(first.enrol, same.enrol) and not np.array_equal(first.enrol, other.enrol)


def test_a_share_of_none_or_all_is_refused() -> None:
    corpus = Corpus("c", Path("."), tuple(Utterance(name, Path("x"), name) for name in "ab"))
    for share in (0.0, 1.0):
        with raises_code("out-of-range"):
            split_sides(corpus, enrol_share=share)
        with raises_code("out-of-range"):
            partition_speakers(corpus, share=share)


# =================================================================================== partitions


@given(corpora(), st.integers(0, 5), st.sampled_from([0.2, 0.5, 0.8]))
def test_parts_share_no_speaker_and_lose_no_utterance(
    corpus: Corpus, seed: int, share: float
) -> None:
    if len(corpus.speakers) < 2:
        with raises_code("too-few", TooFewError):
            partition_speakers(corpus, share=share, seed=seed)
        return
    first, second = partition_speakers(corpus, share=share, seed=seed)
    assert len(first) and len(second)
    assert not set(first.speakers) & set(second.speakers)
    assert {*first, *second} == set(corpus) and len(first) + len(second) == len(corpus)


def test_parts_keep_the_balance_of_genders() -> None:
    utterances = tuple(
        Utterance(str(i), Path("x"), f"s{i}", gender="f" if i < 12 else "m") for i in range(40)
    )
    first, second = partition_speakers(Corpus("c", Path("."), utterances), share=0.5, seed=4)
    assert len(first) == len(second) == 20
    assert [sum(utterance.gender == "f" for utterance in part) for part in (first, second)] == [
        6,
        6,
    ]
