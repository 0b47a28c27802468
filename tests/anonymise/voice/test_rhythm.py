"""Maps of time: the length and the order are kept, the speed stays within its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.voice.rhythm import STRETCH, TimeMap, random_time_map, rows_at


@given(
    seconds=st.floats(0.01, 20),
    change=st.floats(0, 0.4),
    seed=st.integers(0, 2**32),
)
def test_length_order_and_limits_are_kept(seconds: float, change: float, seed: int) -> None:
    time_map = random_time_map(seconds, change, np.random.default_rng(seed))
    assert time_map.output[-1] == pytest.approx(seconds)
    assert time_map.recording[-1] == pytest.approx(seconds)
    speed = np.diff(time_map.recording) / np.diff(time_map.output)
    assert np.abs(speed - 1).max() <= change + 1e-9
    positions = time_map.frames(50, 8.0)
    assert (np.diff(positions) >= 0).all() and positions[0] == 0 and positions[-1] <= 49


def test_without_change_every_frame_stays() -> None:
    time_map = random_time_map(4.0, 0.0, np.random.default_rng(0))
    np.testing.assert_allclose(time_map.frames(400, 8.0), np.arange(400), atol=1e-9)


def test_words_move() -> None:
    positions = random_time_map(4.0, 0.3, np.random.default_rng(0)).frames(500, 8.0)
    moved = np.abs(positions - np.arange(500)).max() * 0.008
    assert 0.05 < moved < 4 / STRETCH * 0.3 * STRETCH  # seconds


def test_both_clocks_follow_one_map() -> None:
    time_map = TimeMap(np.array([0, 0.4, 0.8]), np.array([0, 0.2, 0.8]))
    np.testing.assert_allclose(time_map.frames(101, 8.0)[[0, 25, 50, 75]], [0, 12.5, 25, 62.5])
    np.testing.assert_allclose(time_map.frames(161, 5.0)[[0, 40, 80, 120]], [0, 20, 40, 100])


def test_rows_are_read_between_frames() -> None:
    rows = np.array([[0.0, 10.0], [2.0, 20.0], [4.0, 0.0]])
    read = rows_at(rows, np.array([0, 0.5, 2.0]))
    np.testing.assert_allclose(read, [[0, 10], [1, 15], [4, 0]])
    np.testing.assert_allclose(rows_at(np.array([3.0]), np.array([0.0])), [3.0])
