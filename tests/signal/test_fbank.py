"""Filter banks equal Kaldi's."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.signal.fbank import fbank, mel_triangles

PLACES = [0, 10, 20, 40, 60, 79]
GOLDEN = {
    0: [-11.449411, -3.625907, -14.958321, -15.942385, -15.942385, -15.942385],
    50: [-12.586946, -15.942385, -15.942385, 0.827718, -15.942385, -15.942385],
    97: [-15.396795, -15.942385, -15.942385, -15.942385, -13.232121, -15.942385],
}
"""Frames of a chirp by kaldi-native-fbank 1.22.4 (no dither, povey, 20 Hz, 80 bins)."""


def chirp() -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    t = np.arange(16000) / 16000
    tones = 0.1 * np.sin(2 * np.pi * (200 + 1500 * t) * t) + 0.01 * np.sin(2 * np.pi * 3100 * t)
    return tones.astype(np.float32)


def test_equal_to_kaldi() -> None:
    found = fbank(chirp())
    assert found.shape == (98, 80) and found.dtype == np.float32
    assert found.mean() == pytest.approx(-13.237701, abs=1e-3)
    for frame, values in GOLDEN.items():
        np.testing.assert_allclose(found[frame, PLACES], values, atol=2e-3)


@pytest.mark.parametrize(("samples", "frames"), [(0, 0), (399, 0), (400, 1), (559, 1), (560, 2)])
def test_frames_are_cut_off_at_the_end(samples: int, frames: int) -> None:
    assert fbank(np.ones(samples, np.float32)).shape == (frames, 80)


def test_triangles_cover_the_band_once() -> None:
    weights = mel_triangles(80)
    assert weights.shape == (80, 256) and weights.min() >= 0
    inside = weights[:, 20:245].sum(axis=0)
    np.testing.assert_allclose(inside, 1.0, atol=1e-4)
