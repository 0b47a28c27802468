"""VoiceMask: draws within their range, distortion 0 is a copy, formants go where the warp says."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from signals import vowel

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice import VoiceMask
from sottovoce.anonymise.voice.conditioning import condition
from sottovoce.anonymise.voice.pitch import LogPitch
from sottovoce.anonymise.voice.voicemask import Warp, distortion, draw_warp, mask
from sottovoce.core.errors import UsageError
from sottovoce.signal.world import analyse, find_f0, synthesise


def test_the_published_draws() -> None:
    """Figures of an independent computation of the same draws."""
    assert distortion(Warp(-0.08, 1.25)) == pytest.approx(0.33, abs=0.01)
    assert distortion(Warp(0.094, -1.46)) == pytest.approx(0.385, abs=0.005)


def test_the_distortion_is_the_integral() -> None:
    warp = Warp(0.09, 1.1)
    exact, _ = quad(lambda w: abs(float(warp(np.array([w]))[0]) - w), 0, np.pi, limit=200)
    assert distortion(warp) == pytest.approx(exact, rel=1e-4)


@given(st.integers(0, 10_000))
def test_draws_lie_in_their_range(seed: int) -> None:
    warp = draw_warp(np.random.default_rng(seed), 0.32, 0.40)
    assert 0.08 <= abs(warp.alpha) <= 0.10 and abs(warp.beta) <= 2
    assert 0.32 <= distortion(warp) <= 0.40


def test_without_distortion_it_is_a_copy() -> None:
    audio = vowel().astype(np.float32)
    method = VoiceMask(Secret.reproducible(0), high=0)
    output = method.transform(audio, 16000, speaker="ann", utterance="a")
    copy = condition(lambda samples: synthesise(analyse(samples)), audio, 16000)
    np.testing.assert_array_equal(output, copy)


def test_formants_go_where_the_warp_says() -> None:
    signal = vowel((1500,))
    warp = Warp(0.09, 1.2)
    before = analyse(signal).envelope[40:-40].mean(axis=0).argmax()
    after = analyse(mask(signal, warp)[: len(signal)]).envelope[40:-40].mean(axis=0).argmax()
    moved = warp(np.array([after * np.pi / 512]))[0] * 512 / np.pi
    assert after < before - 10 and moved == pytest.approx(before, abs=6)


def test_pitch_is_mapped_on_demand() -> None:
    signal = vowel(pitch=125)
    for pitch, expected in ((None, 125), (LogPitch(float(np.log(200)), 0.1), 200)):
        f0, _ = find_f0(mask(signal, Warp(0.0, 0.0), pitch))
        assert np.median(f0[f0 > 0]) == pytest.approx(expected, rel=0.02)


def test_ranges_out_of_reach() -> None:
    with raises_code("out-of-range", UsageError) as caught:
        VoiceMask(low=1.49, high=1.5)
    assert "between 1.49 and 1.5" in str(caught.value)
    with raises_code("out-of-range", UsageError) as caught:
        VoiceMask(low=0.5, high=0.4)
    assert "low=0.5" in str(caught.value)
