"""``dar`` with the network that ships: what every anonymiser keeps, and whose voice is taken."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code
from numpy.typing import NDArray
from signals import clicks, noise, vowel

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.dar import Dar
from sottovoce.core.errors import InputError
from sottovoce.corpus import Corpus, Utterance, save_audio
from sottovoce.signal.world import find_f0

Audio = NDArray[np.float32]
VOICE = (0.4 * vowel(seconds=0.8)).astype(np.float32)


@cache
def method(seed: int = 1, **settings: Any) -> Dar:
    return Dar(Secret.reproducible(seed), **settings)


def converted(
    dar: Dar, audio: Audio, rate: int = 16000, speaker: str = "ann", utterance: str = "u"
) -> Audio:
    return dar.transform(audio, rate, speaker=speaker, utterance=utterance)


@pytest.mark.parametrize(("seconds", "rate"), [(0.01, 16000), (0.11, 8000), (0.7, 44100)])
@pytest.mark.parametrize("kind", ["voice", "noise", "clicks"])
def test_length_loudness_and_range_are_kept(kind: str, seconds: float, rate: int) -> None:
    count = int(seconds * rate)
    signals = {
        "voice": np.resize(VOICE, count),
        "noise": noise(seconds, rate=rate, level=1.0, seed=2, uniform=True)[:count],
        "clicks": clicks(seconds, rate=rate)[:count],
    }
    audio = np.asarray(signals[kind], np.float32)
    changed = converted(method(), audio, rate)
    assert changed.shape == audio.shape and changed.dtype == np.float32
    assert np.isfinite(changed).all() and np.abs(changed).max() <= 1
    assert abs(20 * np.log10(float(np.std(changed)) / float(np.std(audio)))) < 1


def test_silence_stays_silence() -> None:
    assert not converted(method(), np.zeros(8000, np.float32)).any()


def test_targets_are_for_all_for_a_speaker_or_for_an_utterance() -> None:
    const, perm, rand = (method(1, selection=selection) for selection in ("const", "perm", "rand"))
    np.testing.assert_array_equal(converted(const, VOICE), converted(const, VOICE, speaker="bob"))
    np.testing.assert_array_equal(converted(perm, VOICE), converted(perm, VOICE, utterance="v"))
    assert not np.array_equal(converted(perm, VOICE), converted(perm, VOICE, speaker="bob"))
    assert not np.array_equal(converted(rand, VOICE), converted(rand, VOICE, utterance="v"))


def test_the_secret_decides() -> None:
    first = converted(method(1), VOICE)
    np.testing.assert_array_equal(first, converted(Dar(Secret.reproducible(1)), VOICE))
    assert not np.array_equal(first, converted(method(2), VOICE))


def test_pitch_goes_to_the_target() -> None:
    dar = method(1)
    target = np.exp(dar.pitch[dar.selection.target("ann", "u")].mean)
    f0 = find_f0(converted(dar, VOICE).astype(float))[0]
    assert np.median(f0[f0 > 0]) == pytest.approx(target, rel=0.08)
    unmapped = find_f0(converted(method(1, pitch="none"), VOICE).astype(float))[0]
    assert np.median(unmapped[unmapped > 0]) == pytest.approx(125, rel=0.05)


def test_fit_gives_different_speakers_different_targets(tmp_path: Path) -> None:
    save_audio(tmp_path / "a.wav", VOICE, 16000)
    corpus = Corpus(
        "six",
        tmp_path,
        tuple(Utterance(f"u{i}", tmp_path / "a.wav", f"s{i}") for i in range(6)),
    )
    dar = Dar(Secret.reproducible(1), selection="perm").fit(corpus)
    assert len({dar.selection.target(f"s{i}", "u") for i in range(6)}) == 6
    assert dar.record()["speakers_fitted"] == 6


def test_voices_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "voices.npz"
    np.savez(path, codes=np.zeros((3, 4)), pitch=np.zeros((2, 2)))
    with raises_code("wrong-shape", InputError):
        Dar(voices=path)
    np.savez(path, codes=np.zeros((3, 4), np.float32), pitch=np.zeros((3, 2)))
    with raises_code("mismatch", InputError):
        converted(Dar(voices=path), VOICE)
