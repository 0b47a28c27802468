"""Utterances and corpora, whatever format they come from."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from sottovoce.core.errors import InputError
from sottovoce.corpus import Corpus, Utterance


def make(*speakers: str, split: str = "") -> Corpus:
    said = [
        Utterance(f"u{i}", Path(f"u{i}.wav"), who, split=split) for i, who in enumerate(speakers)
    ]
    return Corpus("made", Path("."), tuple(said))


@pytest.mark.parametrize(
    ("given", "kept"),
    [("F", "f"), ("Male", "m"), ("female", "f"), ("", ""), ("non-binary", "non-binary")],
)
def test_gender_is_normalised(given: str, kept: str) -> None:
    assert Utterance("u", Path("u.wav"), "a", gender=given).gender == kept


@pytest.mark.parametrize(
    ("start", "end"),
    [(-1.0, None), (2.0, 1.0), (1.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))],
)
def test_impossible_times_are_refused(start: float, end: float | None) -> None:
    with pytest.raises(InputError, match=r"utterance 'u' from .* 0 ≤ start < end"):
        Utterance("u", Path("u.wav"), "a", start=start, end=end)


def test_an_utterance_needs_id_speaker_and_a_channel_that_can_be() -> None:
    with pytest.raises(InputError, match="without id"):
        Utterance(" ", Path("u.wav"), "a")
    with pytest.raises(InputError, match="no speaker"):
        Utterance("u", Path("u.wav"), "")
    with pytest.raises(InputError, match="the first is 0"):
        Utterance("u", Path("u.wav"), "a", channel=-1)


def test_utterances_are_frozen_hashable_and_can_be_sent_to_another_process() -> None:
    one = Utterance("u", Path("u.wav"), "a", extra={"x": "1"})
    assert pickle.loads(pickle.dumps(one)) == one and len({one, one}) == 1
    with pytest.raises(AttributeError):
        one.speaker = "b"  # type: ignore[misc]


def test_equal_ids_are_refused() -> None:
    one = Utterance("u", Path("u.wav"), "a")
    with pytest.raises(InputError, match="made: utterance ids occur twice: u;"):
        Corpus("made", Path("."), (one, one))


def test_speakers_are_sorted_and_keep_their_own() -> None:
    corpus = make("b", "a", "b")
    assert corpus.speakers == ("a", "b") and len(corpus) == 3
    by_speaker = corpus.by_speaker()
    assert list(by_speaker) == ["a", "b"]
    assert [one.id for one in by_speaker["b"]] == ["u0", "u2"]


def test_select_combines_conditions_and_keeps_places() -> None:
    said = make("a", "b", "a", split="trial").utterances
    corpus = Corpus("made", Path("."), said, ("m:2", "m:3", "m:4"))
    chosen = corpus.select(lambda one: one.id != "u0", split="trial", speakers=["a"])
    assert [one.id for one in chosen] == ["u2"] and chosen.where(0) == "m:4"


def test_a_split_or_speaker_that_does_not_exist_is_an_error_not_an_empty_corpus() -> None:
    corpus = make("a", "b", split="train")
    with pytest.raises(InputError, match="no split 'tain'; this corpus has train"):
        corpus.select(split="tain")
    with pytest.raises(InputError, match="no speaker 'c'; this corpus has a, b"):
        corpus.select(speakers=["a", "c"])
