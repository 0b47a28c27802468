"""Utterances and corpora, whatever format they come from."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.corpus import Corpus, Utterance


def make(*speakers: str, split: str = "") -> Corpus:
    utterances = [
        Utterance(f"u{i}", Path(f"u{i}.wav"), name, split=split) for i, name in enumerate(speakers)
    ]
    return Corpus("made", Path("."), tuple(utterances))


@pytest.mark.parametrize(
    ("spelling", "gender"),
    [("F", "f"), ("Male", "m"), ("female", "f"), ("", ""), ("non-binary", "non-binary")],
)
def test_gender_is_normalised(spelling: str, gender: str) -> None:
    assert Utterance("u", Path("u.wav"), "a", gender=spelling).gender == gender


@pytest.mark.parametrize(
    ("start", "end"),
    [(-1.0, None), (2.0, 1.0), (1.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))],
)
def test_impossible_times_are_refused(start: float, end: float | None) -> None:
    with raises_code("out-of-range"):
        Utterance("u", Path("u.wav"), "a", start=start, end=end)


def test_an_utterance_needs_id_speaker_and_a_channel_that_can_be() -> None:
    with raises_code("empty"):
        Utterance(" ", Path("u.wav"), "a")
    with raises_code("empty"):
        Utterance("u", Path("u.wav"), "")
    with raises_code("out-of-range"):
        Utterance("u", Path("u.wav"), "a", channel=-1)


def test_utterances_are_frozen_hashable_and_can_be_sent_to_another_process() -> None:
    utterance = Utterance("u", Path("u.wav"), "a", extra={"x": "1"})
    assert pickle.loads(pickle.dumps(utterance)) == utterance and len({utterance, utterance}) == 1
    with pytest.raises(AttributeError):
        utterance.speaker = "b"  # type: ignore[misc]


def test_equal_ids_are_refused() -> None:
    utterance = Utterance("u", Path("u.wav"), "a")
    with raises_code("duplicate-id") as caught:
        Corpus("made", Path("."), (utterance, utterance))
    assert "twice: u;" in str(caught.value)


def test_speakers_are_sorted_and_keep_their_own() -> None:
    corpus = make("b", "a", "b")
    assert corpus.speakers == ("a", "b") and len(corpus) == 3
    by_speaker = corpus.by_speaker()
    assert list(by_speaker) == ["a", "b"]
    assert [utterance.id for utterance in by_speaker["b"]] == ["u0", "u2"]


def test_select_combines_conditions_and_keeps_places() -> None:
    utterances = make("a", "b", "a", split="trial").utterances
    corpus = Corpus("made", Path("."), utterances, ("m:2", "m:3", "m:4"))
    chosen = corpus.select(lambda utterance: utterance.id != "u0", split="trial", speakers=["a"])
    assert [utterance.id for utterance in chosen] == ["u2"] and chosen.where(0) == "m:4"


def test_a_split_or_speaker_that_does_not_exist_is_an_error_not_an_empty_corpus() -> None:
    corpus = make("a", "b", split="train")
    with raises_code("unknown-name") as caught:
        corpus.select(split="tain")
    assert "'tain'" in str(caught.value) and "train" in str(caught.value)
    with raises_code("unknown-name") as caught:
        corpus.select(speakers=["a", "c"])
    assert "'c'" in str(caught.value) and "a, b" in str(caught.value)
