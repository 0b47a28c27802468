"""McAdams: 1 changes nothing, formants go where the power says, draws follow the secret."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from signals import vowel

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice import McAdams
from sottovoce.anonymise.voice.mcadams import bend_formants, bend_poles
from sottovoce.core.errors import UsageError
from sottovoce.signal.spectrum import burg, poles_of

Floats = NDArray[np.float64]


def snr(signal: Floats, other: Floats) -> float:
    return float(10 * np.log10(np.sum(signal**2) / np.sum((signal - other) ** 2)))


@pytest.mark.parametrize("length", [1600, 16000, 16001, 15999, 16159])
def test_one_reconstructs_the_input(length: int) -> None:
    signal = vowel((700, 1200, 2600), 1.1)[:length]
    assert snr(signal, bend_formants(signal, 1.0)) > 150


def test_one_reconstructs_white_noise() -> None:
    signal = np.random.default_rng(1).uniform(-1, 1, 8000)
    assert snr(signal, bend_formants(signal, 1.0)) > 150


@pytest.mark.parametrize("coefficient", [0.6, 0.8, 1.1])
def test_formants_go_where_the_power_says(coefficient: float) -> None:
    formants = np.array([600.0, 1300.0, 4000.0])
    moved = bend_formants(vowel(tuple(formants)), coefficient)
    poles = poles_of(burg(moved[None, 4000:12000], 20))[0]
    sharp = np.sort(np.angle(poles[(poles.imag > 0) & (np.abs(poles) > 0.97)]))
    measured = sharp * 16000 / (2 * np.pi)
    expected = (formants * 2 * np.pi / 16000) ** coefficient * 16000 / (2 * np.pi)
    for hertz in expected:
        assert np.abs(measured - hertz).min() < 0.06 * hertz


@given(
    st.lists(st.floats(0, 1.2), min_size=4, max_size=4),
    st.lists(st.floats(-np.pi, np.pi), min_size=4, max_size=4),
    st.floats(0.3, 1.5),
)
def test_bent_poles_are_stable_and_pairs(
    moduli: list[float], angles: list[float], power: float
) -> None:
    half = np.array(moduli) * np.exp(1j * np.array(angles))
    half = half[half.imag != 0]
    bent = bend_poles(np.concatenate([half, half.conj()]), power)
    assert np.abs(bent).max(initial=0) <= 0.999 + 1e-12
    np.testing.assert_array_equal(bent[: len(half)], bent[len(half) :].conj())


def test_real_poles_stay_and_angles_end_at_pi() -> None:
    np.testing.assert_array_equal(bend_poles(np.array([0.5 + 0j, -0.9 + 0j]), 0.5), [0.5, -0.9])
    assert np.angle(bend_poles(np.array([0.5 * np.exp(3j)]), 1.5))[0] == pytest.approx(np.pi)


def test_who_gets_a_coefficient_of_their_own() -> None:
    secret = Secret.reproducible(1)
    audio = vowel((600, 1500)).astype(np.float32)[:4000]

    def voices(coefficient: float | str) -> list[bytes]:
        method = McAdams(secret, coefficient=coefficient)
        pairs = [("ann", "a1"), ("ann", "a2"), ("bob", "b1")]
        return [
            method.transform(audio, 16000, speaker=speaker, utterance=utterance).tobytes()
            for speaker, utterance in pairs
        ]

    assert len(set(voices(0.8))) == 1
    by_speaker = voices("speaker")
    assert by_speaker[0] == by_speaker[1] != by_speaker[2]
    assert len(set(voices("utterance"))) == 3


def test_drawn_coefficients_fill_their_range() -> None:
    method = McAdams(Secret.reproducible(0))
    drawn = [method._coefficient("ann", str(i)) for i in range(400)]
    assert 0.5 <= min(drawn) < 0.51 and 0.89 < max(drawn) <= 0.9


def test_a_range_the_wrong_way_round() -> None:
    with raises_code("out-of-range", UsageError) as caught:
        McAdams(low=0.9, high=0.5)
    assert "low=0.9" in str(caught.value)
