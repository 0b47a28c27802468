"""Several draws of one attacker: joined embeddings, honest splits, and what they are for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.attack.draws import first_draws, join_draws, number_of_draws
from sottovoce.attack.score import ScoreTable, score_all
from sottovoce.attack.speech import AnonymiserSpec, attackers_secret, operators_secret
from sottovoce.attack.training import Judging, LinkageTrainer, _split_scores
from sottovoce.core.types import FloatArray
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.judging import _sides
from sottovoce.speaker.linkage_functions import Cosine
from sottovoce.speaker.readers import read_embeddings

SPEAKERS, EACH, SIZE = 20, 4, 16
PSEUDO = slice(0, 8)
"""Dimensions in which a pseudo-voice is heard instead of the speaker."""


def drawn(seed: int, *, per_speaker: bool, people: FloatArray, prefix: str = "t") -> Embeddings:
    """The same recordings with a pseudo-voice for each speaker, or for each recording."""
    rng = np.random.default_rng(seed)
    speakers = np.repeat(np.arange(len(people)), EACH)
    noise = np.random.default_rng(99).normal(size=(len(speakers), SIZE))
    vectors = people[speakers] + 0.5 * noise
    pseudo = rng.normal(size=(len(people) if per_speaker else len(speakers), 8))
    vectors[:, PSEUDO] = 6 * (pseudo[speakers] if per_speaker else pseudo)
    return Embeddings.of(
        vectors,
        [f"{prefix}{speaker:02}" for speaker in speakers],
        utterances=[f"{prefix}-{row}" for row in range(len(speakers))],
        gender=["f"] * len(speakers),
    )


@pytest.fixture(scope="module")
def people() -> FloatArray:
    return np.random.default_rng(0).normal(size=(SPEAKERS, SIZE))


@pytest.fixture(scope="module")
def twice(people: FloatArray) -> Embeddings:
    first = drawn(1, per_speaker=True, people=people)
    return join_draws([first, drawn(2, per_speaker=False, people=people)])


def test_joined_draws_keep_the_ids_of_their_recordings(twice: Embeddings, tmp_path: Path) -> None:
    assert twice.draws is not None and twice.utterances is not None
    assert len(twice) == 2 * SPEAKERS * EACH and number_of_draws(twice) == 2
    np.testing.assert_array_equal(
        twice.utterances[twice.draws == 1], twice.utterances[SPEAKERS * EACH :]
    )
    twice.write(tmp_path / "twice.npz")
    stored = read_embeddings(tmp_path / "twice.npz")
    assert stored.digest() == twice.digest()
    np.testing.assert_array_equal(stored.draws, twice.draws)
    once = first_draws(twice, 1)
    assert once.draws is None and first_draws(twice, 5) is twice
    assert replace(twice, draws=twice.draws[::-1]).digest() != twice.digest()
    assert once.digest() != twice.digest()


def test_the_first_of_several_draws_is_the_only_one(people: FloatArray) -> None:
    first = drawn(1, per_speaker=True, people=people)
    assert join_draws([first]) is first
    assert join_draws([first, first]) is first  # an anonymiser that draws nothing
    joined = join_draws([first, drawn(2, per_speaker=True, people=people)])
    assert first_draws(joined, 1).digest() == first.digest()


def test_ids_are_unique_within_a_draw(people: FloatArray) -> None:
    first = drawn(1, per_speaker=True, people=people)
    with raises_code("duplicate-id"):
        Embeddings.of(np.eye(3), list("aab"), utterances=["u", "u", "v"], draws=[1, 1, 2])
    with raises_code("wrong-type"):
        Embeddings.of(np.eye(3), list("aab"), draws=[0, 1, 2])
    nameless = Embeddings.of(first.vectors + 1, first.names[first.speakers])
    with raises_code("missing-ids"):
        join_draws([first, nameless])


@pytest.mark.parametrize("across", [True, False])
def test_no_recording_is_enrolled_and_tried(
    twice: Embeddings, across: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Embeddings, Embeddings]] = []

    def spy(enrol: Embeddings, trial: Embeddings, linkage: Cosine) -> ScoreTable:
        seen.append((enrol, trial))
        return score_all(enrol, trial, linkage)

    monkeypatch.setattr("sottovoce.attack.training.score_all", spy)
    judging = Judging(seed=3, across_draws=across)
    _split_scores(twice, np.arange(SPEAKERS), Cosine(), judging)
    ((enrol, trial),) = seen
    assert enrol.utterances is not None and trial.utterances is not None
    assert not set(enrol.utterances) & set(trial.utterances)
    assert set(enrol.utterances) | set(trial.utterances) == {
        f"t-{row}" for row in range(SPEAKERS * EACH)
    }
    assert set(np.asarray(trial.draws)) == {1}  # as the operator draws
    assert set(np.asarray(enrol.draws)) == ({2} if across else {1})


def test_one_draw_is_split_as_before(people: FloatArray) -> None:
    first = drawn(1, per_speaker=True, people=people)
    recordings, tried, enrolled = _sides(first, True)
    assert tried.all() and enrolled.all() and len(set(recordings)) == len(first)


def test_one_pseudo_voice_a_speaker_teaches_pseudo_voices(people: FloatArray) -> None:
    """The defect that several draws repair: held-out speakers flatter what cannot attack."""
    attacked = np.random.default_rng(5).normal(size=(SPEAKERS, SIZE))
    once = drawn(1, per_speaker=True, people=people)
    twice = join_draws([once, drawn(2, per_speaker=False, people=people)])
    enrol = drawn(3, per_speaker=True, people=attacked, prefix="e")
    trial = drawn(4, per_speaker=True, people=attacked, prefix="e")
    rates, held_out = {}, {}
    for name, train in (("once", once), ("twice", twice)):
        trained = LinkageTrainer().train("projection", train)
        table = score_all(enrol, trial, trained.linkage)
        mated, others = table.values[table.mated], table.values[table.nonmated]
        rates[name] = float(np.mean(mated[:, None] < others[None]))
        held_out[name] = trained.record.held_out_eer
    assert held_out["once"] == 0.0 and rates["once"] > 0.25  # believes itself perfect
    assert rates["twice"] < 0.05
    assert held_out["twice"] is not None and abs(held_out["twice"] - rates["twice"]) < 0.1


def test_secrets_of_draws_are_all_different() -> None:
    secrets = [attackers_secret(0, draw).digest("x") for draw in (1, 2, 3)]
    secrets += [attackers_secret(1).digest("x"), operators_secret(0).digest("x")]
    assert len(set(secrets)) == 5 and attackers_secret(0).digest("x") == secrets[0]


@pytest.mark.parametrize(
    ("method", "settings", "changed"),
    [
        ("xvector", {}, {"assignment": "utterance"}),
        ("xvector", {"assignment": "utterance"}, {"assignment": "utterance"}),
        ("mcadams", {"coefficient": "speaker"}, {"coefficient": "utterance"}),
        ("mcadams", {"coefficient": 0.8}, {"coefficient": 0.8}),
        ("mcadams", {}, {}),
        ("vtln", {"selection": "perm"}, {"selection": "rand"}),
        ("voicemask", {"draw": "speaker"}, {"draw": "utterance"}),
    ],
)
def test_draws_for_each_utterance(
    method: str, settings: dict[str, str | float], changed: dict[str, str | float]
) -> None:
    assert AnonymiserSpec(method, settings).per_utterance() == AnonymiserSpec(method, changed)
