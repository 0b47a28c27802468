"""From corpora to material: who is enrolled, tried and trained on, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_speech import Bands, small_corpus

from sottovoce.attack import ATTACKERS
from sottovoce.audit.attributes import attributes_of
from sottovoce.audit.scene import Scene, described, divide, prepare, released
from sottovoce.audit.steps import Recipe, Speech, Workshop, operators_secret
from sottovoce.core.errors import InputError
from sottovoce.corpus.utterance import Corpus
from sottovoce.speaker.embeddings import Embeddings

RECIPE = Recipe("mcadams")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("speech") / "in", speakers=4)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("speech") / "others", speakers=3, prefix="t")


def ids(speech: Speech) -> set[str]:
    return {one.id for one in speech.corpus}


def test_other_speakers_to_train_on_leave_all_to_attack(corpus: Corpus, others: Corpus) -> None:
    parts = divide(Speech.of(corpus), Speech.of(others))
    enrol, trial, train = parts.enrol, parts.trial, parts.train
    assert parts.left_out == ()
    assert train.corpus is others
    assert not ids(enrol) & ids(trial) and ids(enrol) | ids(trial) == {one.id for one in corpus}
    assert enrol.corpus.speakers == trial.corpus.speakers == corpus.speakers


def test_without_them_half_of_the_speakers_are_trained_on(corpus: Corpus) -> None:
    whole = Speech.of(corpus)
    parts = divide(whole, None, seed=1)
    enrol, trial, train = parts.enrol, parts.trial, parts.train
    assert len(train.corpus.speakers) == 2
    assert set(train.corpus.speakers) | set(trial.corpus.speakers) == set(corpus.speakers)
    assert not set(train.corpus.speakers) & set(enrol.corpus.speakers)
    genders = {one.gender for one in train.corpus}
    assert genders == {"f", "m"}
    assert divide(whole, None, seed=1).trial.key == trial.key
    assert divide(whole, None, seed=2).trial.key != trial.key


def test_one_utterance_alone_is_in_no_part_and_named(corpus: Corpus, others: Corpus) -> None:
    whole = Speech.of(corpus)
    lone = whole.only({one.id for one in corpus if one.speaker != "s3"} | {"s3-2"})
    halves = [(None, seed) for seed in range(6)]  # whichever half it would have fallen into
    for train, seed in [*halves, (Speech.of(others), 0)]:
        parts = divide(lone, train, seed=seed)
        named = {one.speaker for part in (parts.enrol, parts.trial) for one in part.corpus}
        assert "s3" not in named and "s3" not in parts.train.corpus.speakers
        (why,) = parts.left_out
        assert why.startswith(lone.corpus.where(12)) and why.endswith("linking needs two")


def test_divisions_that_cannot_be(corpus: Corpus, others: Corpus) -> None:
    whole = Speech.of(corpus)
    with pytest.raises(InputError, match="s0, s1, s2 and 1 more: in the evaluation and in the"):
        divide(whole, whole)
    single = whole.only({"s0-0", "s1-0", "s2-0", "s3-0"})
    with pytest.raises(InputError, match="in: no speaker has two utterances"):
        divide(single, Speech.of(others))


def test_released_speech_must_be_that_of_the_trials(corpus: Corpus) -> None:
    whole = Speech.of(corpus)
    released(whole, whole)
    with pytest.raises(InputError, match="in: 1 of 16 trials are not in it: s0-0; anonymise the"):
        released(whole, whole.only({one.id for one in corpus} - {"s0-0"}))
    renamed = replace(
        corpus, utterances=tuple(replace(one, speaker="x" + one.speaker) for one in corpus)
    )
    with pytest.raises(InputError, match="other speakers than in the originals for s0-0, s0-1"):
        released(whole, Speech.of(renamed))


def scene(corpus: Corpus, others: Corpus, workshop: Workshop) -> Scene:
    whole = Speech.of(corpus)
    parts = divide(whole, Speech.of(others))
    anonymised = workshop.anonymise(whole, RECIPE, operators_secret(0), "released")
    similar = Recipe("mcadams", {"coefficient": 0.8})
    return Scene(parts.enrol, parts.trial, parts.train, anonymised, RECIPE, similar)


def test_all_that_all_attackers_need(corpus: Corpus, others: Corpus, tmp_path: Path) -> None:
    encoder = Bands()
    workshop = Workshop(tmp_path, encoder, 1)
    attackers = [ATTACKERS[name] for name in ATTACKERS]
    material = prepare(scene(corpus, others, workshop), attackers, workshop)
    assert len(material.embeddings) == 4 + 2 * 2 + 1
    for attacker in attackers:
        assert material.checked(attacker) is material
    made = {what: one.vectors.tobytes() for what, one in material.embeddings.items()}
    assert len(set(made.values())) == len(made)  # own, similar and theirs are different speech
    count = encoder.embedded
    prepare(scene(corpus, others, workshop), attackers, workshop)
    assert encoder.embedded == count


def test_speech_made_elsewhere_is_taken(corpus: Corpus, others: Corpus, tmp_path: Path) -> None:
    workshop = Workshop(tmp_path, Bands(), 1)
    plain = scene(corpus, others, workshop)
    given = {("enrol", "own"): plain.enrol, ("train", "own"): plain.train}
    material = prepare(
        replace(plain, recipe=None, given=given),  # type: ignore[arg-type]
        [ATTACKERS["semi-informed"]],
        workshop,
    )
    own, original = material["enrol", "own"], material["enrol", "original"]
    assert own.vectors.tobytes() == original.vectors.tobytes()


def test_what_is_missing_is_said_before_anything_is_embedded(
    corpus: Corpus, others: Corpus, tmp_path: Path
) -> None:
    encoder = Bands()
    workshop = Workshop(tmp_path, encoder, 1)
    plain = scene(corpus, others, workshop)
    less = replace(plain, recipe=None, similar=None)
    with pytest.raises(InputError, match=r"attacker's own anonymisation .* with --anonymiser"):
        prepare(less, [ATTACKERS["lazy-informed"]], workshop)
    with pytest.raises(InputError, match=r"attacker's similar anonymisation .* with --similar"):
        prepare(less, [ATTACKERS["near-informed"]], workshop)
    trials = replace(plain, anonymised=plain.anonymised.only(ids(plain.trial)))
    with pytest.raises(InputError, match="not all enrol recordings are in it; the informed"):
        prepare(trials, [ATTACKERS["informed"]], workshop)
    assert encoder.embedded == 0


def test_attributes_with_the_labels_of_a_corpus(corpus: Corpus, tmp_path: Path) -> None:
    coloured = tuple(
        replace(one, extra={"accent": "north" if one.speaker in ("s0", "s1") else "south"})
        for one in corpus
    )
    voices = Workshop(tmp_path, Bands(), 1).embed(Speech.of(corpus), "")
    whole = replace(corpus, utterances=coloured)
    found = attributes_of(voices, whole, ["gender", "accent", "shoe", "session"])
    assert found["gender"]["values"] == ["f", "m"]
    assert found["accent"]["values"] == ["north", "south"]
    for name in ("shoe", "session"):
        assert found[name]["note"].startswith(f"{name}: 0 values")
    nameless = Embeddings.of(voices.vectors, voices.speakers)
    assert "note" in attributes_of(nameless, whole, ["gender"])["gender"]


def test_described(corpus: Corpus) -> None:
    assert described(corpus) == {"name": "in", "speakers": 4, "utterances": 16}


def test_an_encoder_that_knows_the_attacked_speakers_is_refused(
    corpus: Corpus, others: Corpus, tmp_path: Path
) -> None:
    class Acquainted(Bands):
        trained_on = frozenset(corpus.speakers[:1])

    workshop = Workshop(tmp_path, Acquainted(), 1)
    attacked = scene(corpus, others, workshop)
    with pytest.raises(InputError, match="encoder's training"):
        prepare(attacked, [ATTACKERS["ignorant"]], workshop)
