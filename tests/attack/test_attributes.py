"""Attributes told from embeddings: right where they are in the voice, chance where they are not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.attack import infer
from sottovoce.attack.attributes import FOLDS, PENALTY, _folds, _train
from sottovoce.core.errors import TooFewError
from sottovoce.speaker.embeddings import Embeddings


def voices(seed: int, speakers: int = 24, each: int = 4, size: int = 6) -> Embeddings:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(speakers), each)
    vectors = rng.normal(size=(speakers, size))[who] + 0.3 * rng.normal(size=(len(who), size))
    return Embeddings.of(vectors, [f"{one:02}" for one in who])


def test_what_is_in_the_voice_is_told() -> None:
    plain = voices(0)
    female = plain.speakers % 3 == 0
    moved = plain.vectors.copy()
    moved[:, 0] += np.where(female, 8, -8)
    found = infer(Embeddings.of(moved, plain.speakers), np.where(female, "f", "m"))
    assert found.accuracy == found.balanced == 1.0
    assert found.values == ("f", "m") and (found.speakers, found.utterances) == (24, 96)
    assert found.majority == pytest.approx(2 / 3)
    assert found.better_than_guessing and found.low <= found.accuracy <= found.high
    record = json.loads(json.dumps(found.to_dict()))
    assert record["better_than_guessing"] is True and record["values"] == ["f", "m"]


def test_what_is_not_in_the_voice_is_chance() -> None:
    """Over many seeds the interval has the chance in it, and nothing is claimed."""
    found = []
    for seed in range(40):
        labels = np.random.default_rng(seed).permutation(["f", "m"] * 12)
        embeddings = voices(1000 + seed)
        found.append(infer(embeddings, labels[embeddings.speakers], seed=seed))
    assert np.mean([one.accuracy for one in found]) == pytest.approx(0.5, abs=0.06)
    inside = [one.low <= 0.5 <= one.high for one in found]
    assert np.mean(inside) >= 0.85
    assert np.mean([one.better_than_guessing for one in found]) <= 0.1


def test_a_speakers_voice_is_not_taken_for_the_attribute() -> None:
    """With a speaker on both sides of a split any label would be told; here none is."""
    embeddings = voices(3, speakers=12, each=20, size=40)
    labels = np.random.default_rng(2).permutation(["f", "m"] * 6)[embeddings.speakers]
    assert infer(embeddings, labels).accuracy < 0.8


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(2, 4), st.integers(2, 9))
def test_folds_are_disjoint_in_speakers_and_each_value_can_be_learnt(
    seed: int, count: int, speakers: int
) -> None:
    rng = np.random.default_rng(seed)
    own = rng.permutation(np.repeat(np.arange(count), speakers))
    who = rng.permutation(np.repeat(np.arange(len(own)), 3))
    group = _folds(who, own[who], count, "accent", seed)
    assert ((group >= 0) & (group < FOLDS)).all()
    for one in range(len(own)):
        assert len(set(group[who == one])) == 1
    for fold in range(FOLDS):
        assert set(own[who[group != fold]]) == set(range(count))


def test_regression_is_where_its_loss_is_flat() -> None:
    rng = np.random.default_rng(0)
    vectors, answers = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    weights = _train(vectors, answers, 3)
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
    found = infer(embeddings, labels.tolist())
    assert (found.speakers, found.utterances) == (20, 80)


def test_an_attribute_that_changes_within_a_speaker() -> None:
    """Sessions: every speaker has all values, and each value counts with its own recordings."""
    embeddings = voices(0, each=6)
    values = np.arange(len(embeddings)) % 3
    moved = 0.1 * embeddings.vectors
    moved[:, :3] += 5 * np.eye(3)[values]
    labels = np.array(["mon", "tue", "wed"])[values]
    # the first recording of a speaker stands for it in the folds; vary it
    turned = np.concatenate([np.roll(np.arange(6), s) + 6 * s for s in range(24)])
    found = infer(Embeddings.of(moved[turned], embeddings.speakers[turned]), labels[turned])
    assert found.accuracy == found.balanced == 1.0


@pytest.mark.parametrize(
    ("labels", "what"),
    [
        (["f"] * 8, "1 values, the rarest with 4"),
        ([""] * 8, "0 values, the rarest with 0"),
        (["f", "f", "m", "m", "m", "m", "m", "m"], "2 values, the rarest with 1"),
    ],
)
def test_too_few_to_learn_from(labels: list[str], what: str) -> None:
    with pytest.raises(TooFewError, match=f"accent: {what} speakers; at least 2 values"):
        infer(voices(0, speakers=4, each=2), labels, attribute="accent")
