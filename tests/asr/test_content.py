"""Features of the content: the shipped encoder, and long recordings in pieces."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from signals import harmonics, noise, times

from sottovoce.asr import content
from sottovoce.asr.content import (
    EDGE,
    FADE,
    FRAME_RATE,
    HOP,
    PIECE,
    REACH,
    SIZE,
    ContentEncoder,
    frame_count,
    piece_bounds,
)
from sottovoce.core.types import Audio, Features
from sottovoce.signal.level import prepared


def babble(seconds: float, seed: int = 0) -> Audio:
    """Harmonics whose pitch, tilt and level change a few times a second."""
    rng = np.random.default_rng(seed)
    steps = rng.uniform(0.5, 1.5, (3, int(seconds * 6) + 2))
    at = 6 * times(seconds)
    pitch, tilt, level = (np.interp(at, np.arange(row.size), row) for row in steps)
    tone = harmonics(130 * pitch, [1 / k ** (1 + tilt) for k in range(1, 12)], seconds)
    return np.asarray(0.1 * level * tone + noise(seconds, level=0.002, seed=seed), np.float32)


@pytest.fixture(scope="module")
def encoder() -> ContentEncoder:
    return ContentEncoder()


def distance(features: Features, reference: Features) -> float:
    return float(np.linalg.norm(features - reference) / np.linalg.norm(reference))


def test_about_forty_two_frames_a_second(encoder: ContentEncoder) -> None:
    features = encoder.features(babble(3.0))
    assert features.shape == (123, SIZE) and features.dtype == np.float32
    assert abs(len(features) / FRAME_RATE - 3.0) < 0.06


def test_loudness_and_rate_do_not_matter(encoder: ContentEncoder) -> None:
    audio = babble(2.0)
    plain = encoder.features(audio)
    # the network computes in whole numbers of 8 bits, so the last bit of a sample can be felt
    assert distance(encoder.features(audio * np.float32(0.01)), plain) < 0.05
    fast = np.repeat(audio, 3)  # at 48 kHz, with steps that the resampler smooths
    assert distance(encoder.features(fast, 48000), plain) < 0.25


def test_a_long_recording_is_its_pieces_faded_into_each_other(encoder: ContentEncoder) -> None:
    audio = babble(26.0)
    long = encoder.features(audio)
    assert len(long) == frame_count(len(audio)) and np.isfinite(long).all()
    levelled = prepared(audio, 16000, 16000)
    (_, first), (second, third_from), (third, _) = piece_bounds(len(long))
    alone = encoder.encode(levelled[: (first - 1) * HOP + REACH])
    np.testing.assert_array_equal(long[: second + EDGE], alone[: second + EDGE])
    middle = encoder.encode(levelled[second * HOP : (third_from - 1) * HOP + REACH])
    only = slice(first - EDGE, third + EDGE)  # where neither neighbour has a say
    np.testing.assert_array_equal(long[only], middle[only.start - second : only.stop - second])


def test_no_jump_where_pieces_join(encoder: ContentEncoder) -> None:
    long = encoder.features(babble(26.0))
    steps = np.linalg.norm(np.diff(long, axis=0), axis=1)
    joins = [start for start, _ in piece_bounds(len(long))[1:]]
    for start in joins:
        assert steps[start : start + 2 * EDGE + FADE].mean() < 1.2 * steps.mean()


@given(st.integers(1, 5 * PIECE))
def test_pieces_cover_every_frame_and_overlap_enough(frames: int) -> None:
    cut = piece_bounds(frames)
    assert cut[0][0] == 0 and cut[-1][1] == frames
    assert all(0 < b - a <= PIECE for a, b in cut)
    assert all(b - a >= 2 * EDGE + FADE for (_, b), (a, _) in pairwise(cut))
    weight = np.zeros((frames, 1), np.float32)
    for a, b in cut:
        weight[a:b] += content._fade_weights(a, b, frames)
    assert (weight > 0).all()


@given(st.integers(REACH, 40_000))
def test_the_number_of_frames_is_that_of_the_three_convolutions(samples: int) -> None:
    length = samples
    for kernel, stride in ((127, 64), (7, 3), (3, 2)):
        length = (length - kernel) // stride + 1
    assert frame_count(samples) == length


def test_threads_share_an_encoder(encoder: ContentEncoder) -> None:
    audios = [babble(1.0, seed) for seed in range(4)]
    alone = [encoder.features(audio) for audio in audios]
    with ThreadPoolExecutor(4) as pool:
        for features, expected in zip(pool.map(encoder.features, audios), alone, strict=True):
            np.testing.assert_array_equal(features, expected)


@pytest.mark.parametrize(
    ("audio", "code"),
    [
        (np.zeros(16000, np.float32), "silent"),
        (np.full(16000, np.nan, np.float32), "not-finite"),
        (np.ones(100, np.float32), "too-few"),
    ],
)
def test_audio_without_content_is_refused(encoder: ContentEncoder, audio: Audio, code: str) -> None:
    with raises_code(code):
        encoder.features(audio)


def test_a_silent_stretch_gives_finite_features(encoder: ContentEncoder) -> None:
    audio = np.concatenate([babble(1.0), np.zeros(16000 * 16, np.float32)])
    assert np.isfinite(encoder.features(audio)).all()


def test_a_damaged_network_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "moonshine_tiny_encoder.ort").write_bytes(b"not a network")
    monkeypatch.setattr(content, "files", lambda _: tmp_path)
    with raises_code("mismatch"):
        ContentEncoder()
