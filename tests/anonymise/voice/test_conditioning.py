"""Conditioning keeps rate, length and loudness, whatever the method does."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from signals import noise, tone

from sottovoce.anonymise.voice import conditioning
from sottovoce.anonymise.voice.conditioning import condition, match_loudness
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.types import Audio, FloatArray


def level(samples: np.ndarray) -> float:
    return float(np.std(samples.astype(np.float64)))


def clipped_noise(seconds: float, rate: int, level: float = 0.1) -> Audio:
    return noise(seconds, rate=rate, level=level).clip(-1, 1).astype(np.float32)


def same(samples: FloatArray) -> FloatArray:
    assert samples.dtype == np.float64 and np.abs(samples).max() > 1e-3
    return samples


def test_nothing_changed_is_nothing_lost() -> None:
    audio = clipped_noise(1, 16000)
    audio -= audio.mean()
    np.testing.assert_allclose(condition(same, audio, 16000), audio, atol=1e-6)


@given(
    st.sampled_from([8000, 11025, 16000, 22050, 44100, 48000, 96000]),
    st.floats(0.01, 0.3),
    st.floats(1e-4, 0.9),
    st.sampled_from(["shift", "shrink", "grow", "tone"]),
)
def test_length_loudness_and_range(rate: int, seconds: float, size: float, kind: str) -> None:
    def change(samples: FloatArray) -> FloatArray:
        rng = np.random.default_rng(1)
        return {
            "shift": np.roll(samples, 7),
            "shrink": 1e-3 * samples[:-5],
            "grow": np.concatenate([samples, samples]) * 100,
            "tone": np.sin(np.arange(len(samples))) + rng.standard_normal(len(samples)),
        }[kind]

    audio = clipped_noise(seconds, rate, size)
    changed = condition(change, audio, rate)
    assert changed.shape == audio.shape and changed.dtype == np.float32
    assert np.isfinite(changed).all() and np.abs(changed).max() <= 1
    assert abs(20 * np.log10(level(changed) / level(audio))) < 1


def test_loud_peaks_are_bent_and_loudness_kept() -> None:
    rng = np.random.default_rng(2)
    full = rng.uniform(-1, 1, 16000)  # loud without peaks; normal noise of that level has many
    matched = match_loudness(rng.standard_normal(16000), full)
    assert np.abs(matched).max() < 1
    assert abs(20 * np.log10(level(matched) / level(full))) < 0.1
    assert len(np.unique(matched)) > 15000  # nothing was cut flat


@pytest.mark.parametrize("offset", [0.0, 0.25, 1e-6])
def test_silence_stays_silence(offset: float) -> None:
    audio = np.full(800, offset, np.float32)
    assert not condition(same, audio, 8000).any()
    assert len(condition(same, np.zeros(0, np.float32), 8000)) == 0


def test_what_nothing_is_left_of_becomes_silence() -> None:
    audio = clipped_noise(0.2, 16000)
    assert not condition(np.zeros_like, audio, 16000).any()
    above = tone(30_000, 0.1, rate=96_000, level=1.0) * np.hanning(9600)
    assert not condition(same, above.astype(np.float32), 96_000).any()


def test_long_recordings_are_changed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditioning, "LONGEST", 16_000)
    monkeypatch.setattr(conditioning, "SEARCH", 6_400)
    sizes = []

    def change(samples: FloatArray) -> FloatArray:
        sizes.append(len(samples))
        return samples

    audio = clipped_noise(4.3, 16000)
    audio -= audio.mean()
    np.testing.assert_allclose(condition(change, audio, 16000), audio, atol=1e-5)
    assert len(sizes) > 4 and max(sizes) <= 16_000


def test_what_is_refused() -> None:
    with raises_code("wrong-shape", InputError):
        condition(same, np.zeros((10, 2), np.float32), 16000)
    with raises_code("not-finite", InputError):
        condition(same, np.array([0, np.nan], np.float32), 16000)
    with raises_code("out-of-range", UsageError):
        condition(same, np.zeros(10, np.float32), 10)
