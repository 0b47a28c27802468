"""Lists of trials, and the laws that made trials obey."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.core.errors import InputError, UsageError
from sottovoce.corpus import Corpus, Utterance, trials
from sottovoce.corpus.defects import DefectsError
from sottovoce.corpus.trials import (
    all_pairs,
    cross_pairs,
    partition_speakers,
    read_trials,
    split_sides,
)

GENDER = {"a": "f", "b": "m", "c": "f", "d": "m", "e": "f"}

said = st.tuples(st.sampled_from("abcde"), st.sampled_from(["", "1", "2", "3"]))


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    rows = draw(st.lists(said, min_size=1, max_size=40))
    return Corpus(
        "drawn",
        Path("."),
        tuple(
            Utterance(f"u{i:02}", Path(f"u{i}.wav"), who, gender=GENDER[who], session=session)
            for i, (who, session) in enumerate(rows)
        ),
    )


# ========================================================================================== sides


@given(corpora(), st.integers(0, 5), st.sampled_from([0.1, 0.5, 0.9]))
def test_sides_are_disjoint_and_share_no_session(corpus: Corpus, seed: int, share: float) -> None:
    sides = split_sides(corpus, enrol_share=share, seed=seed)
    enrol, trial = set(sides.enrol.tolist()), set(sides.trial.tolist())
    assert not enrol & trial
    out = {i for i, one in enumerate(corpus) if one.speaker in sides.left_out}
    assert enrol | trial | out == set(range(len(corpus)))
    by_session = 0
    for name, own in corpus.by_speaker().items():
        mine = [i for i, one in enumerate(corpus) if one.speaker == name]
        if len(own) == 1:
            assert name in sides.left_out
            continue
        assert set(mine) & enrol and set(mine) & trial
        if len({one.session for one in own}) > 1:
            by_session += 1
            first, second = (
                {corpus.utterances[i].session for i in set(mine) & side} for side in (enrol, trial)
            )
            assert not first & second
    assert sides.how.get("session", 0) == by_session
    assert sum(sides.how.values()) + len(sides.left_out) == len(corpus.speakers)


@given(corpora(), st.randoms(use_true_random=False))
def test_the_order_of_the_list_means_nothing(corpus: Corpus, random: st.DataObject) -> None:
    order = list(corpus.utterances)
    random.shuffle(order)  # type: ignore[attr-defined]
    other = Corpus("drawn", Path("."), tuple(order))
    ids = [
        {one.utterances[i].id for i in split_sides(one, seed=3).enrol} for one in (corpus, other)
    ]
    assert ids[0] == ids[1]


def test_a_split_column_decides_for_all() -> None:
    splits = ["enrol", "trial", "train", "Enrol", "test"]
    said = [Utterance(str(i), Path("x"), "ab"[i > 2], split=s) for i, s in enumerate(splits)]
    sides = split_sides(Corpus("c", Path("."), tuple(said)))
    assert sides.enrol.tolist() == [0, 3] and sides.trial.tolist() == [1, 4]
    assert sides.how == {"split": 2}


def test_random_sides_follow_the_seed_and_the_share() -> None:
    said = tuple(Utterance(f"{i:03}", Path("x"), "a") for i in range(100))
    corpus = Corpus("c", Path("."), said)
    one, same, other = (split_sides(corpus, enrol_share=0.2, seed=s) for s in (1, 1, 2))
    assert len(one.enrol) == 20 and one.how == {"random": 1}
    assert np.array_equal(one.enrol, same.enrol) and not np.array_equal(one.enrol, other.enrol)
    with pytest.raises(UsageError, match="between 0 and 1"):
        split_sides(corpus, enrol_share=1.0)


# ========================================================================================== pairs


def naive(
    corpus: Corpus, enrol: list[int], trial: list[int], once: bool, same_gender: bool, across: bool
) -> set[tuple[int, int, bool]]:
    """Pairs as the definition has them, one at a time."""
    found = set()
    for i in enrol:
        for j in trial:
            one, two = corpus.utterances[i], corpus.utterances[j]
            mated = one.speaker == two.speaker
            if i == j or (once and i > j) or (same_gender and one.gender != two.gender):
                continue
            if across and mated and one.session and one.session == two.session:
                continue
            found.add((i, j, mated))
    return found


@given(corpora(), st.booleans(), st.booleans(), st.integers(1, 100))
def test_pairs_are_those_of_the_definition(
    corpus: Corpus, same_gender: bool, across: bool, size: int
) -> None:
    everyone = list(range(len(corpus)))
    sides = split_sides(corpus)
    for plan, expected in (
        (
            all_pairs(corpus, same_gender=same_gender, across_sessions=across),
            naive(corpus, everyone, everyone, True, same_gender, across),
        ),
        (
            cross_pairs(corpus, sides, same_gender=same_gender, across_sessions=across),
            naive(corpus, sides.enrol.tolist(), sides.trial.tolist(), False, same_gender, across),
        ),
    ):
        found = [
            row
            for block in plan.blocks(size)
            for row in zip(
                block.enrol.tolist(), block.trial.tolist(), block.mated.tolist(), strict=True
            )
        ]
        assert len(found) == len(expected) and set(found) == expected
        mated = sum(row[2] for row in expected)
        assert plan.count() == (mated, len(expected) - mated)
        assert len(plan.pairs()) == len(expected)


def test_all_pairs_of_n_utterances_are_n_over_two() -> None:
    said = tuple(Utterance(str(i), Path("x"), str(i // 4)) for i in range(400))
    assert all_pairs(Corpus("c", Path("."), said)).count() == (600, 79200)  # 100·6, C(400,2)−600


def test_a_block_is_bounded() -> None:
    said = tuple(Utterance(str(i), Path("x"), str(i % 50)) for i in range(1000))
    blocks = all_pairs(Corpus("c", Path("."), said)).blocks(5000)
    assert max(len(block) for block in blocks) <= 5000


def test_too_many_pairs_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "IN_MEMORY", 5)
    said = tuple(Utterance(str(i), Path("x"), "a") for i in range(4))
    with pytest.raises(InputError, match=r"6 pairs; at most 5 .* blocks\(\)"):
        all_pairs(Corpus("c", Path("."), said)).pairs()


def test_unknown_genders_are_not_left_out_silently() -> None:
    said = (Utterance("1", Path("x"), "a", gender="f"), Utterance("2", Path("y"), "b"))
    with pytest.raises(InputError, match="c: gender is unknown for b"):
        all_pairs(Corpus("c", Path("."), said), same_gender=True)


# ====================================================================================== partition


@given(corpora(), st.integers(0, 5), st.sampled_from([0.2, 0.5, 0.8]))
def test_parts_share_no_speaker_and_lose_nobody(corpus: Corpus, seed: int, share: float) -> None:
    if len(corpus.speakers) < 2:
        with pytest.raises(InputError, match="at least 2"):
            partition_speakers(corpus, share=share, seed=seed)
        return
    first, second = partition_speakers(corpus, share=share, seed=seed)
    assert len(first) and len(second)
    assert not set(first.speakers) & set(second.speakers)
    assert {*first, *second} == set(corpus) and len(first) + len(second) == len(corpus)


def test_parts_keep_the_balance_of_genders() -> None:
    said = tuple(
        Utterance(str(i), Path("x"), f"s{i}", gender="f" if i < 12 else "m") for i in range(40)
    )
    first, second = partition_speakers(Corpus("c", Path("."), said), share=0.5, seed=4)
    assert len(first) == len(second) == 20
    assert [sum(one.gender == "f" for one in part) for part in (first, second)] == [6, 6]


# ========================================================================================== lists


def write(folder: Path, text: str) -> Path:
    path = folder / "trials"
    path.write_text(text)
    return path


@pytest.fixture
def corpus() -> Corpus:
    said = [Utterance(f"{who}/{i}", Path("x"), who) for who in "ab" for i in (1, 2)]
    return Corpus("four", Path("."), tuple(said))


@pytest.mark.parametrize(
    "text",
    [
        "a/1 a/2 target\na/1 b/1 nontarget\n\nb/2 a/2 nontarget\n",
        "1 a/1.wav a/2.wav\n0 a/1.wav b/1.wav\n0 b/2.wav a/2.wav\n",
    ],
)
def test_both_forms_are_read(tmp_path: Path, text: str, corpus: Corpus) -> None:
    found = read_trials(write(tmp_path, text), corpus)
    pairs = found.pairs
    named = [
        (found.enrol_ids[i], found.trial_ids[j])
        for i, j in zip(pairs.enrol, pairs.trial, strict=True)
    ]
    assert named == [("a/1", "a/2"), ("a/1", "b/1"), ("b/2", "a/2")]
    assert pairs.mated.tolist() == [True, False, False]
    assert len(read_trials(tmp_path / "trials").pairs) == 3  # a list also stands alone


def test_enrolment_by_speaker(tmp_path: Path, corpus: Corpus) -> None:
    found = read_trials(write(tmp_path, "a a/2 target\nb a/2 nontarget\n"), corpus)
    assert found.enrol_ids == ("a", "b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b\n", ":1: not a trial"),
        ("a/1 a/2 target\na/1 b/1 0\n", ":2: not 'enrol trial target|nontarget'"),
        ("1 a/1 a/2\n2 a/1 b/1\n", ":2: not '1|0 enrol trial'"),
        ("a/1 a/2 target\n\na/1 a/2 target\n", ":3: the same pair again"),
        ("a/1 a/2 target\na/1 c/1 nontarget\n", ":2: c/1 is not in four"),
        ("a/1 a/2 target\na/1 b/1 target\n", ":2: the label contradicts the speakers"),
        ("\n", "no trials"),
    ],
)
def test_faults_have_their_line(tmp_path: Path, text: str, words: str, corpus: Corpus) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_trials(path, corpus)
    assert str(caught.value).startswith(f"{path}{words}" if words[0] == ":" else f"{path}: {words}")


def test_all_faulty_lines_are_told(tmp_path: Path) -> None:
    with pytest.raises(DefectsError) as caught:
        read_trials(write(tmp_path, "a b target\nc\nd e f\n"))
    assert len(caught.value.defects) == 2
