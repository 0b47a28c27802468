"""One voice within a session, another in the next; every method that draws offers it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.draw_scope import DrawScope
from sottovoce.anonymise.voice.method import METHODS, make_method
from sottovoce.core.errors import InputError
from sottovoce.corpus.utterance import Corpus, Utterance

SECRET = Secret.reproducible(3)
CORPUS = Corpus(
    "sessions",
    Path(),
    tuple(
        Utterance(f"{speaker}{i}", Path("a.wav"), speaker, session="monday" if i < 2 else "friday")
        for speaker in ("ann", "bob")
        for i in range(4)
    ),
)
WITHOUT = Corpus(
    "none", Path(), tuple(replace(utterance, session="") for utterance in CORPUS.utterances)
)


def scope_of(kind: str) -> DrawScope:
    scope = DrawScope(kind, SECRET)
    scope.fit(CORPUS)
    return scope


@pytest.mark.parametrize(("kind", "draws"), [("speaker", 1), ("session", 2), ("utterance", 4)])
def test_draws_per_speaker(kind: str, draws: int) -> None:
    scope = scope_of(kind)
    names = {scope.names("ann", f"ann{i}") for i in range(4)}
    others = {scope.names("bob", f"bob{i}") for i in range(4)}
    assert len(names) == len(others) == draws and not names & others


def test_a_recording_without_session_has_a_draw_of_its_own() -> None:
    scope = scope_of("session")
    assert scope.names("ann", "new1") != scope.names("ann", "new2")


def test_a_corpus_without_sessions_is_refused() -> None:
    with raises_code("missing-column", InputError):
        DrawScope("session", SECRET).fit(WITHOUT)
    DrawScope("speaker", SECRET).fit(WITHOUT)


def test_other_sessions_give_another_record() -> None:
    method = make_method("mcadams", SECRET, coefficient="session").fit(CORPUS)
    moved = tuple(replace(utterance, session="sunday") for utterance in CORPUS.utterances)
    other = make_method("mcadams", SECRET, coefficient="session").fit(
        Corpus("moved", Path(), moved)
    )
    assert method.record() != other.record()
    assert "sessions" not in make_method("mcadams", SECRET).fit(CORPUS).record()


@pytest.mark.parametrize("name", ["mcadams", "voicemask", "vtln", "xvector", "dar"])
def test_every_method_that_draws_offers_sessions(name: str) -> None:
    card = METHODS[name].card
    assert card.draws and card.per_utterance is not None
    (setting,) = [setting for setting in card.settings if setting.name == card.per_utterance[0]]
    assert "session" in setting.words


def test_a_speaker_sounds_alike_within_a_session_only() -> None:
    method = make_method("mcadams", SECRET, coefficient="session").fit(CORPUS)
    audio = np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32)
    heard = [method.transform(audio, 16_000, speaker="ann", utterance=f"ann{i}") for i in range(4)]
    assert np.array_equal(heard[0], heard[1]) and np.array_equal(heard[2], heard[3])
    assert not np.array_equal(heard[0], heard[2])
