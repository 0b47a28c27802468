"""Attributes told from embeddings: right where they are in the voice, chance where they are not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.attack import infer_attribute
from sottovoce.attack.attributes import FOLDS, PENALTY, attribute_folds
from sottovoce.attack.logistic import train_logistic
from sottovoce.speaker.embeddings import Embeddings


def voices(seed: int, speakers: int = 24, each: int = 4, size: int = 6) -> Embeddings:
    rng = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(speakers), each)
    vectors = rng.normal(size=(speakers, size))[numbers] + 0.3 * rng.normal(
        size=(len(numbers), size)
    )
    return Embeddings.of(vectors, [f"{number:02}" for number in numbers])


def test_what_is_in_the_voice_is_told() -> None:
    plain = voices(0)
    female = plain.speakers % 3 == 0
    moved = plain.vectors.copy()
    moved[:, 0] += np.where(female, 8, -8)
    result = infer_attribute(Embeddings.of(moved, plain.speakers), np.where(female, "f", "m"))
    assert result.accuracy == result.balanced == 1.0
    assert result.values == ("f", "m") and (result.speakers, result.utterances) == (24, 96)
    assert result.majority == pytest.approx(2 / 3)
    assert result.better_than_guessing and result.low <= result.accuracy <= result.high
    record = json.loads(json.dumps(result.to_dict()))
    assert record["better_than_guessing"] is True and record["values"] == ["f", "m"]


def test_what_is_not_in_the_voice_is_chance() -> None:
    """Over many seeds the interval has the chance in it, and nothing is claimed."""
    results = []
    for seed in range(40):
        labels = np.random.default_rng(seed).permutation(["f", "m"] * 12)
        embeddings = voices(1000 + seed)
        results.append(infer_attribute(embeddings, labels[embeddings.speakers], seed=seed))
    assert np.mean([result.accuracy for result in results]) == pytest.approx(0.5, abs=0.06)
    inside = [result.low <= 0.5 <= result.high for result in results]
    assert np.mean(inside) >= 0.85
    assert np.mean([result.better_than_guessing for result in results]) <= 0.1


def test_a_speakers_voice_is_not_taken_for_the_attribute() -> None:
    """With a speaker on both sides of a split any label would be told; here none is."""
    embeddings = voices(3, speakers=12, each=20, size=40)
    labels = np.random.default_rng(2).permutation(["f", "m"] * 6)[embeddings.speakers]
    assert infer_attribute(embeddings, labels).accuracy < 0.8


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(2, 4), st.integers(2, 9))
def test_folds_are_disjoint_in_speakers_and_each_value_can_be_learnt(
    seed: int, count: int, speakers: int
) -> None:
    rng = np.random.default_rng(seed)
    value_of = rng.permutation(np.repeat(np.arange(count), speakers))
    speaker_of = rng.permutation(np.repeat(np.arange(len(value_of)), 3))
    group = attribute_folds(speaker_of, value_of[speaker_of], count, "accent", seed)
    assert ((group >= 0) & (group < FOLDS)).all()
    for speaker in range(len(value_of)):
        assert len(set(group[speaker_of == speaker])) == 1
    for fold in range(FOLDS):
        assert set(value_of[speaker_of[group != fold]]) == set(range(count))


def test_regression_is_where_its_loss_is_flat() -> None:
    rng = np.random.default_rng(0)
    vectors, answers = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    weights = train_logistic(vectors, answers, 3, penalty=PENALTY)
    inputs = np.column_stack((vectors, np.ones(60)))
    odds = np.exp(inputs @ weights)
    shares = odds / odds.sum(1, keepdims=True)
    gradient = inputs.T @ (shares - np.eye(3)[answers])
    gradient[:-1] += PENALTY * weights[:-1]
    np.testing.assert_allclose(gradient, 0, atol=2e-3)


def test_recordings_without_a_label_are_left_out() -> None:
    embeddings = voices(0)
    labels = np.where(embeddings.speakers % 2, "f", "m").astype(object)
    labels[embeddings.speakers < 4] = ""
    result = infer_attribute(embeddings, labels.tolist())
    assert (result.speakers, result.utterances) == (20, 80)


def test_an_attribute_that_changes_within_a_speaker() -> None:
    """Sessions: every speaker has all values, and each value counts with its own recordings."""
    embeddings = voices(0, each=6)
    values = np.arange(len(embeddings)) % 3
    moved = 0.1 * embeddings.vectors
    moved[:, :3] += 5 * np.eye(3)[values]
    labels = np.array(["mon", "tue", "wed"])[values]
    # the first recording of a speaker stands for it in the folds; vary it
    turned = np.concatenate([np.roll(np.arange(6), s) + 6 * s for s in range(24)])
    result = infer_attribute(
        Embeddings.of(moved[turned], embeddings.speakers[turned]), labels[turned]
    )
    assert result.accuracy == result.balanced == 1.0


@pytest.mark.parametrize(
    ("labels", "counts"),
    [
        (["f"] * 8, "1 values, the rarest with 4"),
        ([""] * 8, "0 values, the rarest with 0"),
        (["f", "f", "m", "m", "m", "m", "m", "m"], "2 values, the rarest with 1"),
    ],
)
def test_too_few_to_learn_from(labels: list[str], counts: str) -> None:
    with raises_code("too-few") as caught:
        infer_attribute(voices(0, speakers=4, each=2), labels, attribute="accent")
    assert f"accent: {counts} speakers" in str(caught.value)
