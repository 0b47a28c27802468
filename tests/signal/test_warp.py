"""Warps keep the ends, never turn back, and are read off straight between bins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.signal.spectrum import axis, bilinear, power, quadratic, read_at

OMEGA = axis(513)


@given(st.floats(-0.1, 0.1), st.floats(-2, 2), st.floats(-0.2, 0.2))
def test_increasing_with_fixed_ends(alpha: float, beta: float, exponent: float) -> None:
    for warped in (
        bilinear(OMEGA, alpha),
        quadratic(OMEGA, beta),
        quadratic(bilinear(OMEGA, alpha), beta),
        power(OMEGA, exponent),
    ):
        assert warped[[0, -1]] == pytest.approx([0, np.pi], abs=1e-12)
        assert (np.diff(warped) > 0).all()


@given(st.floats(-0.9, 0.9))
def test_bilinear_is_the_phase_of_an_all_pass(alpha: float) -> None:
    z = np.exp(1j * OMEGA)
    expected = np.abs(np.angle((z - alpha) / (1 - alpha * z)))
    np.testing.assert_allclose(bilinear(OMEGA, alpha), expected, atol=1e-7)


def test_reading_is_numpy_s_interpolation() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(7, 65))
    for omega in (quadratic(OMEGA, 1.3), np.linspace(-1, 4, 30)):
        expected = [np.interp(omega, axis(65), row) for row in rows]
        np.testing.assert_allclose(read_at(rows, omega), expected, atol=1e-12)
        each = np.stack([omega * (1 + i / 50) for i in range(7)])
        expected = [np.interp(o, axis(65), row) for o, row in zip(each, rows, strict=True)]
        np.testing.assert_allclose(read_at(rows, each), expected, atol=1e-12)
    np.testing.assert_allclose(read_at(rows, axis(65)), rows, atol=1e-12)
