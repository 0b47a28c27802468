"""The recogniser: tokens, pauses, and two recordings that its package carries."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.asr import recogniser as recogniser_module
from sottovoce.asr.content import RATE
from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import MoonshineTiny, cut_at_pauses, make_recogniser, read_tokens
from sottovoce.core.errors import InputError
from sottovoce.corpus import load_audio
from sottovoce.measure.utility import word_errors

installed = pytest.mark.skipif(
    find_spec(recogniser_module.PACKAGE) is None,
    reason="needs the extra asr: its decoder and recordings",
)


@pytest.fixture(scope="module")
def recogniser() -> MoonshineTiny:
    return MoonshineTiny()


def asset(name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return load_audio(recogniser_module._model_folder().parent / name, RATE)


@installed
def test_a_short_recording_word_for_word(recogniser: MoonshineTiny) -> None:
    # Samuel Beckett's words, read in a recording that comes with the package
    transcript = recogniser.transcribe(asset("beckett.wav"), RATE)
    assert (
        normalise(transcript) == "ever tried ever failed no matter try again fail again fail better"
    )


@installed
def test_a_long_recording_in_pieces(recogniser: MoonshineTiny) -> None:
    # the opening of A Tale of Two Cities (Dickens 1859), as read in the package's recording
    text = (
        "It was the best of times, it was the worst of times, it was the age of wisdom, it was the "
        "age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was "
        "the season of Light, it was the season of Darkness, it was the spring of hope, it was the "
        "winter of despair, we had everything before us, we had nothing before us, we were all "
        "going direct to Heaven, we were all going direct the other way - in short, the period was "
        "so far like the present period, that some of its noisiest authorities insisted on its "
        "being received, for good or for evil, in the superlative degree of comparison only."
    )
    audio = asset("two_cities.wav")
    assert len(audio) > recogniser_module.MAX_SECONDS * RATE
    errors = word_errors(normalise(text), normalise(recogniser.transcribe(audio, RATE)))
    assert errors.words == 119 and errors.total <= 6


@installed
def test_noise_does_not_make_it_talk_for_ever(recogniser: MoonshineTiny) -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, 2 * RATE).astype(np.float32)
    assert len(recogniser.transcribe(noise, RATE).split()) <= 2 * 6.5 + 4
    tokens = recogniser._decode(recogniser._encoder.encode(noise), limit=3)
    assert len(tokens) <= 3


@installed
def test_silence_and_damaged_audio_are_refused(recogniser: MoonshineTiny) -> None:
    for audio in (np.zeros(RATE, np.float32), np.full(RATE, np.nan, np.float32)):
        with pytest.raises(InputError):
            recogniser.transcribe(audio, RATE)


def test_without_the_package_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recogniser_module, "find_spec", lambda _: None)
    with raises_code("missing-extra") as error:
        make_recogniser()
    assert "pip install 'sottovoce[asr]'" in str(error.value)


def test_a_package_without_its_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(recogniser_module, "find_spec", lambda _: Spec)
    with raises_code("not-found") as error:
        MoonshineTiny()
    assert "moonshine-voice==0.0.73" in str(error.value)


@given(st.lists(st.binary(max_size=400), max_size=20))
def test_tokens_are_read_back(tokens: list[bytes]) -> None:
    data = b""
    for token in tokens:
        length = len(token)
        data += bytes([length] if length < 128 else [128 + length % 128, length // 128]) + token
    assert read_tokens(data) == tokens


@given(st.integers(1, 100), st.integers(0, 2**32 - 1))
def test_pieces_are_the_whole_and_none_is_too_long(seconds: int, seed: int) -> None:
    audio = np.random.default_rng(seed).normal(size=seconds * 1600).astype(np.float32)
    pieces = cut_at_pauses(audio, max_seconds=2.0)
    np.testing.assert_array_equal(np.concatenate(pieces), audio)
    assert max(map(len, pieces)) <= 2.0 * RATE
    if len(pieces) > 1:
        assert min(map(len, pieces)) > 0.5 * RATE


def test_a_pause_is_where_it_is_cut() -> None:
    audio = np.ones(3 * RATE, np.float32)
    audio[int(1.3 * RATE) : int(1.6 * RATE)] = 0
    first, _ = cut_at_pauses(audio, max_seconds=2.0)
    assert 1.3 * RATE <= len(first) <= 1.6 * RATE
