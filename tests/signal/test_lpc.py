"""Linear prediction of all frames at once equals the textbook, one frame at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.signal import lfilter

from sottovoce.signal.spectrum import burg, poles_of, predictors_of, refilter

Floats = NDArray[np.float64]


def burg_of_one(frame: Floats, order: int) -> Floats:
    """Burg's recursion as in the literature, sample by sample."""
    forward, backward = list(frame), list(frame)
    found = [1.0]
    for step in range(1, order + 1):
        top, bottom = 0.0, 0.0
        for n in range(step, len(frame)):
            top += forward[n] * backward[n - 1]
            bottom += forward[n] ** 2 + backward[n - 1] ** 2
        k = -2 * top / bottom
        longer, mirrored = [*found, 0.0], [0.0, *found[::-1]]
        found = [a + k * b for a, b in zip(longer, mirrored, strict=True)]
        before = list(forward)
        for n in range(len(frame) - 1, step - 1, -1):
            forward[n] = before[n] + k * backward[n - 1]
            backward[n] = backward[n - 1] + k * before[n]
    return np.array(found)


def some_frames(seed: int, count: int = 6, length: int = 80) -> Floats:
    rng = np.random.default_rng(seed)
    return np.asarray(lfilter([1], [1, -1.3, 0.8], rng.standard_normal((count, length))))


@given(st.integers(0, 1000), st.integers(1, 12))
def test_burg_is_the_textbook_recursion(seed: int, order: int) -> None:
    frames = some_frames(seed, count=2)
    expected = np.stack([burg_of_one(frame, order) for frame in frames])
    np.testing.assert_allclose(burg(frames, order), expected, atol=1e-9)


def test_burg_finds_the_process() -> None:
    frames = some_frames(3, count=1, length=50_000)
    np.testing.assert_allclose(burg(frames, 2)[0], [1, -1.3, 0.8], atol=0.02)


@given(st.integers(0, 1000))
def test_poles_and_predictors_are_each_others_inverse(seed: int) -> None:
    predictors = burg(some_frames(seed), 10)
    poles = poles_of(predictors)
    assert np.abs(poles).max() < 1 + 1e-9
    np.testing.assert_allclose(predictors_of(poles), predictors, atol=1e-8)


@given(st.integers(0, 1000))
def test_refiltering_is_an_ordinary_filter(seed: int) -> None:
    frames = some_frames(seed)
    before, after = burg(frames, 8), burg(some_frames(seed + 1), 8)
    expected = [lfilter(b, a, frame) for b, a, frame in zip(before, after, frames, strict=True)]
    np.testing.assert_allclose(refilter(frames, before, after), expected, atol=1e-8)
    np.testing.assert_allclose(refilter(frames, before, before), frames, atol=1e-8)


def test_silence_has_no_poles() -> None:
    predictors = burg(np.zeros((2, 320)), 20)
    np.testing.assert_array_equal(predictors[:, 1:], 0)
    assert not poles_of(predictors).any()
    assert not refilter(np.zeros((2, 320)), predictors, predictors).any()
