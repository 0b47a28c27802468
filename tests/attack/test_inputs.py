"""From corpora to sets: who is enrolled, tried and trained on, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from error_codes import raises_code
from small_speech import Bands, small_corpus

from sottovoce.attack import ATTACKERS
from sottovoce.attack.attributes import infer_attributes
from sottovoce.attack.inputs import (
    AttackInputs,
    check_released,
    divide_speech,
    prepare_embeddings,
)
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, SpeechSet, operators_secret
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import AttributeInference, NotMeasured
from sottovoce.speaker.embeddings import Embeddings

SPEC = AnonymiserSpec("mcadams")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("speech") / "in", speakers=4)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("speech") / "others", speakers=3, prefix="t")


def ids(speech: SpeechSet) -> set[str]:
    return {one.id for one in speech.corpus}


def test_other_speakers_to_train_on_leave_all_to_attack(corpus: Corpus, others: Corpus) -> None:
    parts = divide_speech(SpeechSet.of(corpus), SpeechSet.of(others))
    enrol, trial, train = parts.enrol, parts.trial, parts.train
    assert parts.left_out == ()
    assert train.corpus is others
    assert not ids(enrol) & ids(trial) and ids(enrol) | ids(trial) == {one.id for one in corpus}
    assert enrol.corpus.speakers == trial.corpus.speakers == corpus.speakers


def test_without_them_half_of_the_speakers_are_trained_on(corpus: Corpus) -> None:
    whole = SpeechSet.of(corpus)
    parts = divide_speech(whole, None, seed=1)
    enrol, trial, train = parts.enrol, parts.trial, parts.train
    assert len(train.corpus.speakers) == 2
    assert set(train.corpus.speakers) | set(trial.corpus.speakers) == set(corpus.speakers)
    assert not set(train.corpus.speakers) & set(enrol.corpus.speakers)
    genders = {one.gender for one in train.corpus}
    assert genders == {"f", "m"}
    assert divide_speech(whole, None, seed=1).trial.key == trial.key
    assert divide_speech(whole, None, seed=2).trial.key != trial.key


def test_one_utterance_alone_is_in_no_part_and_named(corpus: Corpus, others: Corpus) -> None:
    whole = SpeechSet.of(corpus)
    lone = whole.with_ids({one.id for one in corpus if one.speaker != "s3"} | {"s3-2"})
    halves = [(None, seed) for seed in range(6)]  # whichever half it would have fallen into
    for train, seed in [*halves, (SpeechSet.of(others), 0)]:
        parts = divide_speech(lone, train, seed=seed)
        named = {one.speaker for part in (parts.enrol, parts.trial) for one in part.corpus}
        assert "s3" not in named and "s3" not in parts.train.corpus.speakers
        (why,) = parts.left_out
        assert why.startswith(lone.corpus.where(12)) and why.endswith("linking needs two")


def test_divisions_that_cannot_be(corpus: Corpus, others: Corpus) -> None:
    whole = SpeechSet.of(corpus)
    with raises_code("not-disjoint") as caught:
        divide_speech(whole, whole)
    assert "s0, s1, s2 and 1 more" in str(caught.value)
    single = whole.with_ids({"s0-0", "s1-0", "s2-0", "s3-0"})
    with raises_code("too-few"):
        divide_speech(single, SpeechSet.of(others))


def test_released_speech_must_be_that_of_the_trials(corpus: Corpus) -> None:
    whole = SpeechSet.of(corpus)
    check_released(whole, whole)
    with raises_code("not-found") as caught:
        check_released(whole, whole.with_ids(whole.ids - {"s0-0"}))
    assert "1 of 16 trials are not in it: s0-0" in str(caught.value)
    renamed = replace(
        corpus, utterances=tuple(replace(one, speaker="x" + one.speaker) for one in corpus)
    )
    with raises_code("mismatch"):
        check_released(whole, SpeechSet.of(renamed))


def inputs(corpus: Corpus, others: Corpus, cache: SpeechCache) -> AttackInputs:
    whole = SpeechSet.of(corpus)
    parts = divide_speech(whole, SpeechSet.of(others))
    anonymised = cache.anonymise(whole, SPEC, operators_secret(0), "released")
    similar = AnonymiserSpec("mcadams", {"coefficient": 0.8})
    return AttackInputs(parts.enrol, parts.trial, parts.train, anonymised, SPEC, similar)


def test_all_that_all_attackers_need(corpus: Corpus, others: Corpus, tmp_path: Path) -> None:
    encoder = Bands()
    cache = SpeechCache(tmp_path, encoder, 1)
    attackers = [ATTACKERS[name] for name in ATTACKERS]
    sets = prepare_embeddings(inputs(corpus, others, cache), attackers, cache)
    assert len(sets.embeddings) == 4 + 2 * 2 + 1
    for attacker in attackers:
        sets.check(attacker)
    made = {what: one.vectors.tobytes() for what, one in sets.embeddings.items()}
    assert len(set(made.values())) == len(made)  # own, similar and theirs are different speech
    count = encoder.embedded
    prepare_embeddings(inputs(corpus, others, cache), attackers, cache)
    assert encoder.embedded == count


def test_speech_made_elsewhere_is_taken(corpus: Corpus, others: Corpus, tmp_path: Path) -> None:
    cache = SpeechCache(tmp_path, Bands(), 1)
    plain = inputs(corpus, others, cache)
    prepared = {("enrol", "attacker"): plain.enrol, ("train", "attacker"): plain.train}
    sets = prepare_embeddings(
        replace(plain, anonymiser=None, prepared=prepared),  # type: ignore[arg-type]
        [ATTACKERS["semi-informed"]],
        cache,
    )
    own, original = sets["enrol", "attacker"], sets["enrol", "original"]
    assert own.vectors.tobytes() == original.vectors.tobytes()


def test_what_is_missing_is_said_before_anything_is_embedded(
    corpus: Corpus, others: Corpus, tmp_path: Path
) -> None:
    encoder = Bands()
    cache = SpeechCache(tmp_path, encoder, 1)
    plain = inputs(corpus, others, cache)
    less = replace(plain, anonymiser=None, similar=None)
    with raises_code("missing-speech") as caught:
        prepare_embeddings(less, [ATTACKERS["lazy-informed"]], cache)
    assert "--anonymiser" in str(caught.value)
    with raises_code("missing-speech") as caught:
        prepare_embeddings(less, [ATTACKERS["near-informed"]], cache)
    assert "--similar" in str(caught.value)
    trials = replace(plain, released=plain.released.with_ids(ids(plain.trial)))
    with raises_code("missing-speech"):
        prepare_embeddings(trials, [ATTACKERS["informed"]], cache)
    assert encoder.embedded == 0


def test_attributes_with_the_labels_of_a_corpus(corpus: Corpus, tmp_path: Path) -> None:
    coloured = tuple(
        replace(one, extra={"accent": "north" if one.speaker in ("s0", "s1") else "south"})
        for one in corpus
    )
    voices = SpeechCache(tmp_path, Bands(), 1).embed(SpeechSet.of(corpus), "")
    whole = replace(corpus, utterances=coloured)
    results = infer_attributes(voices, whole, ["gender", "accent", "shoe", "session"])
    gender, accent = results["gender"], results["accent"]
    assert isinstance(gender, AttributeInference) and gender.values == ("f", "m")
    assert isinstance(accent, AttributeInference) and accent.values == ("north", "south")
    for name in ("shoe", "session"):
        missing = results[name]
        assert isinstance(missing, NotMeasured) and missing.note.startswith(f"{name}: 0 values")
    nameless = Embeddings.of(voices.vectors, voices.speakers)
    assert isinstance(infer_attributes(nameless, whole, ["gender"])["gender"], NotMeasured)


def test_an_encoder_that_knows_the_attacked_speakers_is_refused(
    corpus: Corpus, others: Corpus, tmp_path: Path
) -> None:
    class Acquainted(Bands):
        trained_on = frozenset(corpus.speakers[:1])

    cache = SpeechCache(tmp_path, Acquainted(), 1)
    attacked = inputs(corpus, others, cache)
    with raises_code("not-disjoint"):
        prepare_embeddings(attacked, [ATTACKERS["ignorant"]], cache)
