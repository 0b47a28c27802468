"""Pitch maps: the target's statistics are met, a speaker onto themselves changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sottovoce.anonymise.voice.pitch import (
    LogPitch,
    gaussian_pitch,
    log_pitch,
    percentile_pitch,
    smoothed_pitch,
)

Floats = NDArray[np.float64]
contours = st.lists(st.one_of(st.just(0.0), st.floats(60, 500)), max_size=60).map(np.array)
rounded = st.lists(st.sampled_from([0.0, 100.0, 110.0, 120.0, 200.0]), max_size=60).map(np.array)


def voice(mean: float, sd: float, count: int = 400, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    f0 = np.exp(rng.normal(np.log(mean), sd, count))
    f0[::3] = 0.0
    return np.asarray(f0)


@given(st.one_of(contours, rounded))
def test_onto_themselves_nothing_changes(f0: Floats) -> None:
    np.testing.assert_allclose(percentile_pitch(f0, f0, source=f0), f0)


@given(contours, contours, contours)
def test_unvoiced_frames_stay_and_voiced_stay_voiced(f0: Floats, a: Floats, b: Floats) -> None:
    for mapped in (percentile_pitch(f0, a, source=b), percentile_pitch(f0, a)):
        np.testing.assert_array_equal(mapped > 0, f0 > 0)
        assert np.isfinite(mapped).all()
    before, after = log_pitch(f0), log_pitch(a)
    if before and after:
        mapped = gaussian_pitch(f0, before, after)
        np.testing.assert_array_equal(mapped > 0, f0 > 0)
        assert (mapped[mapped > 0] >= 49.99).all() and (mapped <= 600.01).all()


@given(contours, contours)
def test_order_is_kept(f0: Floats, target: Floats) -> None:
    mapped = percentile_pitch(f0, target, source=f0)
    order = np.argsort(f0, kind="stable")
    assert (np.diff(mapped[order]) >= -1e-9).all()


def test_the_target_s_statistics_are_met() -> None:
    source, target = voice(110, 0.15), voice(210, 0.25, seed=1)
    before, after = log_pitch(source), log_pitch(target)
    assert before and after
    pitch = log_pitch(gaussian_pitch(source, before, after))
    assert pitch == pytest.approx(after, abs=1e-6)
    mapped = percentile_pitch(source, target)
    shares = np.linspace(0, 100, 21)
    expected = np.percentile(target[target > 0], shares)
    np.testing.assert_allclose(np.percentile(mapped[mapped > 0], shares), expected, rtol=0.01)


def test_a_high_utterance_of_a_known_speaker_stays_high() -> None:
    """F_o is the distribution of the speaker, not of the utterance."""
    speaker, target = voice(120, 0.2, 4000), voice(220, 0.2, 4000, seed=1)
    excited = voice(140, 0.08, 300, seed=2)
    known, unknown = (
        log_pitch(percentile_pitch(excited, target, source=source)) for source in (speaker, None)
    )
    assert known and unknown
    assert np.exp(known.mean) == pytest.approx(220 * 140 / 120, rel=0.03)
    assert known.sd == pytest.approx(0.08, rel=0.1)
    assert np.exp(unknown.mean) == pytest.approx(220, rel=0.03)
    assert unknown.sd == pytest.approx(0.2, rel=0.1)


def test_short_utterances_are_not_stretched() -> None:
    syllable = np.array([0.0, 118, 119, 120, 121, 122, 0.0])
    speaker, target = voice(120, 0.2, 4000), voice(220, 0.2, 4000, seed=1)
    mapped = percentile_pitch(syllable, target, source=speaker)
    assert mapped[3] == pytest.approx(220, rel=0.05)
    assert np.ptp(mapped[1:-1]) < 15  # alone it would span the target's whole range
    alone = percentile_pitch(syllable, target)
    np.testing.assert_allclose(alone[1:-1] / syllable[1:-1], np.median(target[target > 0]) / 120)


def test_a_monotone_voice_is_not_blown_up() -> None:
    flat = np.full(50, 100.0)
    flat[3] = 100.1
    pitch = log_pitch(flat)
    assert pitch
    mapped = gaussian_pitch(flat, pitch, LogPitch(np.log(200), 0.3))
    assert np.abs(mapped - 200).max() < 5


def test_nothing_voiced() -> None:
    silence = np.zeros(10)
    assert log_pitch(silence) is None
    np.testing.assert_array_equal(percentile_pitch(silence, voice(100, 0.1)), silence)
    np.testing.assert_array_equal(percentile_pitch(voice(100, 0.1), silence), voice(100, 0.1))


@given(contours, st.floats(0, 40))
@example(voice(100, 0.1), 5e-180)
def test_smoothing_keeps_voicing_and_mean(f0: Floats, width: float) -> None:
    smooth = smoothed_pitch(f0, width)
    np.testing.assert_array_equal(smooth > 0, f0 > 0)
    before, after = log_pitch(f0), log_pitch(smooth)
    if before is not None and after is not None:
        assert after.mean == pytest.approx(before.mean)


def test_smoothing_takes_a_ripple_and_leaves_the_course() -> None:
    frames = np.arange(400)
    course, ripple = 0.3 * np.sin(frames / 60), 0.1 * np.sin(frames / 2)
    smooth = np.log(smoothed_pitch(np.exp(5 + course + ripple), 10))[50:350]
    assert np.abs(smooth - smooth.mean() - (course - course[50:350].mean())[50:350]).max() < 0.02
    np.testing.assert_array_equal(smoothed_pitch(np.exp(5 + ripple), 0), np.exp(5 + ripple))
