"""What holds of every anonymiser here, whatever recording comes in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signals import noise, tone, vowel

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice import make_method
from sottovoce.core.types import Audio

MADE: dict[str, dict[str, Any]] = {
    "dar": {},
    "mcadams": {},
    "voicemask": {"pitch": "gaussian"},
    "vtln": {},
    "xvector": {"assignment": "utterance"},
}
RATES = (8000, 11025, 16000, 22050, 44100, 48000, 96000)


def recording(kind: str, seconds: float, rate: int, seed: int) -> Audio:
    rng = np.random.default_rng(seed)
    count = max(1, round(seconds * rate))
    hiss = noise(seconds, rate=rate, level=1.0, seed=seed)
    signal = {
        "white": noise(seconds, rate=rate, level=1.0, seed=seed, uniform=True),
        "clicks": (rng.random(count) < 0.003) * rng.choice([-1.0, 1.0], count),
        "square": 0.8 * np.sign(tone(150, seconds, rate=rate) + 0.05),
        "quiet": 1e-3 * hiss,
        "pauses": 0.2 * hiss * (np.arange(count) % 4000 < 2000),
        "offset": 0.5 + 0.1 * hiss,
    }[kind]
    return np.asarray(np.clip(signal, -1, 1), np.float32)


KINDS = ("white", "clicks", "square", "quiet", "pauses", "offset")


@settings(max_examples=25)
@given(
    st.sampled_from(sorted(MADE)),
    st.sampled_from(KINDS),
    st.sampled_from([0.01, 0.013, 0.1, 0.35]),
    st.sampled_from(RATES),
    st.integers(0, 5),
)
def test_length_loudness_and_range_are_kept(
    name: str, kind: str, seconds: float, rate: int, seed: int
) -> None:
    audio = recording(kind, seconds, rate, seed)
    method = make_method(name, Secret.reproducible(seed), **MADE[name])
    changed = method.transform(audio, rate, speaker="ann", utterance="u")
    assert changed.shape == audio.shape and changed.dtype == np.float32
    assert np.isfinite(changed).all() and np.abs(changed).max() <= 1
    before, after = float(np.std(audio)), float(np.std(changed))
    if before > 1e-4:
        assert abs(20 * np.log10(after / before)) < 1
    else:
        assert after <= 1e-3


@pytest.mark.parametrize("name", sorted(MADE))
def test_laws_on_a_voice(name: str) -> None:
    audio = (0.5 * vowel(seconds=0.6)).astype(np.float32)

    def voice(seed: int, utterance: str = "u") -> np.ndarray:
        method = make_method(name, Secret.reproducible(seed), **MADE[name])
        return method.transform(audio, 16000, speaker="ann", utterance=utterance)

    np.testing.assert_array_equal(voice(1), voice(1))
    assert not np.array_equal(voice(1), voice(2))
    assert not np.array_equal(voice(1), voice(1, "v"))
    assert not np.allclose(voice(1), audio, atol=0.05)
    quiet = make_method(name, Secret.reproducible(1), **MADE[name])
    silence = quiet.transform(np.zeros(8000, np.float32), 16000, speaker="ann", utterance="u")
    assert not silence.any() and len(silence) == 8000
    assert "secret" not in str(quiet.record()).lower()
