"""One voice within a session, another in the next; every method that draws offers it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from buzzing_voices import write_voices
from error_codes import raises_code

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.draw_scope import DrawScope
from sottovoce.anonymise.voice.method import METHODS, make_method
from sottovoce.core.errors import InputError
from sottovoce.corpus import open_corpus
from sottovoce.corpus.audio import load_audio
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


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Two voices with two sessions of two recordings each."""
    folder = write_voices(tmp_path_factory.mktemp("voices"))
    corpus = open_corpus(folder).select(speakers=["v0", "v3"])
    sessions = [replace(u, session="ab"[int(u.id[-1]) // 2]) for u in corpus]
    return replace(corpus, utterances=tuple(sessions))


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].card.draws])
def test_a_speaker_sounds_alike_within_a_session_only(name: str, recorded: Corpus) -> None:
    """Every method that draws can draw for each session."""
    draw = METHODS[name].card.per_utterance
    assert draw is not None
    method = make_method(name, SECRET, **{draw[0]: "session"}).fit(recorded)
    ids = [utterance.id for utterance in recorded if utterance.speaker == "v0"]
    audio = load_audio(recorded.utterances[0], 16_000)
    heard = [method.transform(audio, 16_000, speaker="v0", utterance=id_) for id_ in ids]
    assert np.array_equal(heard[0], heard[1]) and np.array_equal(heard[2], heard[3])
    assert not np.array_equal(heard[0], heard[2])
