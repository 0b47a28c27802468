"""``xvector`` with the networks that ship: what every anonymiser keeps, and its own settings."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code
from numpy.typing import NDArray
from signals import clicks, noise, vowel
from voice_pools import simulated_pool

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.frames import ENVELOPE, energy_of, with_energy_floor
from sottovoce.anonymise.voice.pool import Pool
from sottovoce.anonymise.voice.synthesis import (
    OnnxVocoder,
    WorldVocoder,
    every_5_ms,
    every_8_ms,
    keep_energy,
    parse_file_name,
)
from sottovoce.anonymise.voice.xvector import XVector
from sottovoce.core.errors import InputError, UsageError
from sottovoce.corpus import Corpus, Utterance, save_audio
from sottovoce.signal.world import find_f0

Audio = NDArray[np.float32]


def spoken(seconds: float = 1.2, pitch: int = 125) -> Audio:
    """Two vowels with a pause between."""
    half = seconds / 2
    first, second = vowel((700, 1200, 2600), half, pitch), vowel((300, 2200, 2900), half, pitch)
    second[: len(second) // 4] = 0
    return (0.4 * np.concatenate([first, second])).astype(np.float32)


@cache
def method(seed: int = 1, **settings: Any) -> XVector:
    return XVector(Secret.reproducible(seed), **settings)


def converted(xvector: XVector, audio: Audio, rate: int = 16000, utterance: str = "u") -> Audio:
    return xvector.transform(audio, rate, speaker="ann", utterance=utterance)


@pytest.mark.parametrize(("seconds", "rate"), [(0.01, 16000), (0.11, 8000), (0.7, 44100)])
@pytest.mark.parametrize("kind", ["voice", "noise", "clicks"])
def test_length_loudness_and_range_are_kept(kind: str, seconds: float, rate: int) -> None:
    count = int(seconds * rate)
    signals = {
        "voice": np.resize(spoken(), count),
        "noise": noise(seconds, rate=rate, level=1.0, seed=2, uniform=True)[:count],
        "clicks": clicks(seconds, rate=rate)[:count],
    }
    audio = np.asarray(signals[kind], np.float32)
    changed = converted(method(), audio, rate)
    assert changed.shape == audio.shape and changed.dtype == np.float32
    assert np.isfinite(changed).all() and np.abs(changed).max() <= 1
    before = float(np.std(audio))
    assert abs(20 * np.log10(float(np.std(changed)) / before)) < 1


def test_silence_stays_silence() -> None:
    assert not converted(method(), np.zeros(8000, np.float32)).any()


def test_a_pause_stays_quiet() -> None:
    audio = spoken()
    changed = converted(method(), audio)
    pause = slice(len(audio) // 2 + 800, len(audio) // 2 + len(audio) // 8 - 800)
    assert np.std(changed[pause]) < 0.1 * np.std(changed)


def test_the_secret_decides() -> None:
    audio = spoken(0.6)
    first = converted(method(1), audio)
    np.testing.assert_array_equal(first, converted(XVector(Secret.reproducible(1)), audio))
    assert not np.array_equal(first, converted(method(2), audio))
    np.testing.assert_array_equal(first, converted(method(1), audio, utterance="v"))
    each = method(1, assignment="utterance")
    assert not np.array_equal(converted(each, audio), converted(each, audio, utterance="v"))


@pytest.mark.parametrize(
    "settings",
    [
        {"pitch": "none"},
        {"pitch": "gaussian"},
        {"content_codebook": "on"},
        {"content_codebook": "off"},
        {"proximity": "far", "distance": "cosine", "n_candidates": 20, "n_averaged": 3},
        {"gender": "opposite", "source_gender": "f"},
        {"content_detail": 24},
        {"pitch_smoothing": 100, "energy_floor": 30, "rhythm": 0.2},
    ],
)
def test_every_setting_speaks(settings: dict[str, Any]) -> None:
    changed = converted(method(1, **settings), spoken(0.6))
    assert np.isfinite(changed).all() and np.std(changed) > 0.01


def test_pitch_goes_where_the_pseudo_speaker_is() -> None:
    audio = spoken(1.2)
    higher = converted(method(1, gender="opposite", source_gender="m"), audio)
    kept = converted(method(1, pitch="none"), audio)
    contours = [find_f0(x.astype(float))[0] for x in (higher, kept)]
    medians = [np.median(f0[f0 > 0]) for f0 in contours]
    assert medians[0] > 150 and medians[1] == pytest.approx(125, rel=0.05)


def test_fit_learns_voice_pitch_and_gender(tmp_path: Path) -> None:
    utterances = []
    for i, name in enumerate(("ann", "bob")):
        save_audio(tmp_path / f"{name}.wav", spoken(1.2, 120 + 80 * (1 - i)), 16000)
        gender = "f" if name == "ann" else ""
        utterances.append(Utterance(name, tmp_path / f"{name}.wav", name, gender=gender))
    xvector = XVector(Secret.reproducible(1)).fit(Corpus("two", tmp_path, tuple(utterances)))
    record = xvector.record()
    assert record["speakers_fitted"] == record["speakers_whose_pitch_is_known"] == 2
    assert record["speakers_whose_gender_was_guessed"] == 1  # bob's
    assert "secret" not in str(record).lower()
    assert np.isfinite(converted(xvector, spoken(0.5))).all()


def test_a_high_recording_of_a_known_speaker_stays_high(tmp_path: Path) -> None:
    """The pitch is mapped from the distribution of the speaker; from the recording's if unknown."""
    recordings = {"low": spoken(1.2, 110), "high": spoken(1.2, 165)}
    for name, audio in recordings.items():
        save_audio(tmp_path / f"{name}.wav", audio, 16000)
    utterances = tuple(Utterance(n, tmp_path / f"{n}.wav", "ann") for n in recordings)
    known = XVector(Secret.reproducible(1)).fit(Corpus("ann", tmp_path, utterances))

    def rise(xvector: XVector) -> float:
        contours = [find_f0(converted(xvector, x).astype(float))[0] for x in recordings.values()]
        low, high = (float(np.median(f0[f0 > 0])) for f0 in contours)
        return high / low

    assert rise(known) > 1.2
    assert rise(method(1)) == pytest.approx(1, abs=0.1)


def test_a_pool_of_another_encoder_is_refused(tmp_path: Path) -> None:
    simulated_pool().save(tmp_path / "pool.npz")
    with raises_code("mismatch", InputError) as caught:
        XVector(pool=tmp_path / "pool.npz")
    assert "'simulated'" in str(caught.value)


def test_the_shipped_pool_is_large_and_of_both_genders() -> None:
    pool = Pool.load()
    assert len(pool) > 200 and min(np.sum(pool.gender == gender) for gender in "fm") > 100
    assert len(np.unique(pool.exemplars)) > 10
    assert (pool.pitch > 0).all()


def test_bad_settings_and_files_are_named(tmp_path: Path) -> None:
    with raises_code("out-of-range", UsageError):
        XVector(proximity="dens")
    wrong = tmp_path / "net.onnx"
    wrong.write_bytes(b"nothing")
    with raises_code("damaged", InputError):
        converted(XVector(synthesiser=wrong), spoken(0.3))
    with raises_code("mismatch", InputError):
        XVector(vocoder=Path(f"{wrong}@{'0' * 64}"))
    digest = hashlib.sha256(b"nothing").hexdigest()
    assert parse_file_name(Path(f"{wrong}@{digest}")) == (wrong, digest)
    with raises_code("damaged", InputError):
        OnnxVocoder(wrong).synthesise(np.zeros((4, ENVELOPE + 1), np.float32), np.zeros(8), 500)


def test_frames_of_both_clocks_meet() -> None:
    rows = np.arange(11.0)[:, None]
    np.testing.assert_allclose(every_5_ms(rows, 17)[:, 0], np.arange(17) * 5 / 8)
    f0 = np.array([100.0, 0, 0, 0, 0, 0, 0, 0, 200.0])
    assert every_8_ms(f0, 6).tolist() == [100, 0, 0, 0, 0, 200]


def test_an_energy_floor_makes_pauses_alike() -> None:
    rng = np.random.default_rng(0)
    noises = [rng.normal(0, level, 19200).astype(np.float32) for level in (1e-4, 1e-3)]
    quiet, noisy = (with_energy_floor(energy_of(spoken() + each), 30) for each in noises)
    pause = slice(int(0.65 * 125), int(0.7 * 125))
    np.testing.assert_allclose(quiet[pause], -3 * np.log(10), rtol=1e-6)
    np.testing.assert_array_equal(noisy[pause], quiet[pause])
    np.testing.assert_array_equal(quiet[10:60], energy_of(spoken() + noises[0])[10:60])


def test_the_rhythm_is_drawn_for_each_utterance() -> None:
    audio = spoken(1.6)
    plain = converted(method(1), audio)
    first, second = (converted(method(1, rhythm=0.3), audio, utterance=name) for name in "uv")
    assert not np.array_equal(first, plain) and not np.array_equal(first, second)
    np.testing.assert_array_equal(first, converted(method(1, rhythm=0.3), audio))


def test_energy_is_brought_near_the_original() -> None:
    original = spoken(1.0).astype(float)
    flat = 0.1 * np.sin(np.arange(len(original)) / 10)
    pause = slice(9000, 9500)
    assert np.std(keep_energy(flat, energy_of(original))[pause]) < 0.2 * np.std(flat[pause])


def test_world_gives_as_many_samples_as_asked() -> None:
    envelopes = np.zeros((50, ENVELOPE + 1), np.float32)
    assert len(WorldVocoder().synthesise(envelopes, np.full(80, 100.0), 6001)) == 6001
