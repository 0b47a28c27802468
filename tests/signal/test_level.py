"""Pauses found by loudness."""

from __future__ import annotations

import numpy as np
import pytest
from signals import noise, tone

from sottovoce.core.types import Audio
from sottovoce.signal.level import speech_frames, without_pauses

RATE = 16000


def talk(parts: list[tuple[float, float]], floor: float = 1e-4, rate: int = RATE) -> Audio:
    """Return tones of some seconds and levels each, over noise."""
    tones = [tone(150, seconds, rate=rate, level=level) for seconds, level in parts]
    seconds = sum(duration for duration, _ in parts)
    return np.asarray(np.concatenate(tones) + noise(seconds, rate=rate, level=floor), np.float32)


@pytest.mark.parametrize("gain", [1.0, 0.003])
@pytest.mark.parametrize("rate", [8000, 16000, 44100])
def test_speech_stays_and_pauses_go(gain: float, rate: int) -> None:
    audio = talk([(1, 0), (1, 0.2), (1, 0), (0.5, 0.1), (1, 0)], rate=rate) * np.float32(gain)
    kept = without_pauses(audio, rate)
    # a tenth of a second at each of the four edges may stay
    assert 1.5 <= len(kept) / rate <= 1.5 + 4 * 0.125
    found = speech_frames(audio, rate)
    assert found[105:195].all() and not found[:85].any() and not found[215:285].any()


def test_speech_without_pauses_stays_whole() -> None:
    for audio in (talk([(2, 0.2)]), talk([(2, 0.0)], floor=0.1), talk([(0.01, 0.1)])):
        np.testing.assert_array_equal(without_pauses(audio, RATE), audio)


def test_silence_is_left_to_others() -> None:
    audio = np.zeros(RATE, np.float32)
    np.testing.assert_array_equal(without_pauses(audio, RATE), audio)
