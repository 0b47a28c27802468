"""Methods that declare an inverse: who knows the numbers of a change can undo it, nearly."""

from __future__ import annotations

import numpy as np
import pytest
from signals import vowel

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice import METHODS, make_method
from sottovoce.anonymise.voice.mcadams import bend_poles
from sottovoce.anonymise.voice.method import InvertibleAnonymiser
from sottovoce.anonymise.voice.voicemask import Warp
from sottovoce.core.types import Audio, FloatArray
from sottovoce.signal import world
from sottovoce.signal.spectrum import axis

RATE = 16_000
INVERTIBLE = [name for name in METHODS if METHODS[name].card.inverse]


def speech(seed: int = 0) -> Audio:
    """Three vowels after each other, with a little noise."""
    formants = [(700, 1200, 2600, 3500), (300, 2200, 3000, 3700), (350, 800, 2300, 3300)]
    parts = [
        vowel(each, 0.5, seed=[seed, at], noise_level=1e-3) for at, each in enumerate(formants)
    ]
    return (0.3 * np.concatenate(parts)).astype(np.float32)


def spectral_distance(first: Audio, second: Audio) -> float:
    """Root mean square difference of log envelopes without their level, below 4 kHz, in dB."""
    shapes = []
    for audio in (first, second):
        _, envelope = world.analyse_envelope(audio.astype(np.float64))
        logs = 10 * np.log10(envelope[20:-20, 8:257])
        shapes.append(logs - logs.mean(axis=1, keepdims=True))
    return float(np.sqrt(np.mean((shapes[0] - shapes[1]) ** 2)))


def invertible(name: str, seed: int) -> InvertibleAnonymiser:
    method = make_method(name, Secret.reproducible(seed))
    assert isinstance(method, InvertibleAnonymiser)
    return method


def test_some_methods_declare_an_inverse_and_have_it() -> None:
    assert set(INVERTIBLE) >= {"mcadams", "voicemask", "vtln"}
    for name in ("mcadams", "voicemask", "vtln", "xvector"):
        has_inverse = hasattr(METHODS[name], "undo")
        assert has_inverse == bool(METHODS[name].card.inverse)


@pytest.mark.parametrize("name", ["mcadams", "voicemask", "vtln"])
def test_undoing_brings_the_spectrum_back(name: str) -> None:
    audio, nearer = speech(), []
    for seed in range(4):
        method = invertible(name, seed)
        ids = {"speaker": "ann", "utterance": "u1"}
        change = method.change_of(audio, RATE, **ids)
        assert change.shape == (len(METHODS[name].card.inverse),)
        changed = method.transform(audio, RATE, **ids)
        undone = method.undo(changed, RATE, change)
        assert len(undone) == len(audio)
        nearer.append(spectral_distance(undone, audio) / spectral_distance(changed, audio))
    assert np.mean(nearer) < 0.75


@pytest.mark.parametrize("name", ["mcadams", "voicemask", "vtln"])
def test_numbers_out_of_range_are_moved_into_it(name: str) -> None:
    method = invertible(name, 0)
    undone = method.undo(speech(), RATE, np.full(len(METHODS[name].card.inverse), 1e3))
    assert np.isfinite(undone).all()


def test_poles_bent_back_are_the_poles() -> None:
    angles = np.linspace(0.05, 3.1, 20)
    poles = 0.9 * np.exp(1j * angles)
    for coefficient in (0.5, 0.8):
        np.testing.assert_allclose(
            bend_poles(bend_poles(poles, coefficient), 1 / coefficient), poles
        )


@pytest.mark.parametrize("warp", [Warp(0.09, -1.5), Warp(-0.08, 1.25), Warp(0.0, 0.0)])
def test_the_inverse_of_a_warp(warp: Warp) -> None:
    omega: FloatArray = axis(101)
    np.testing.assert_allclose(warp.inverse(warp(omega)), omega, atol=1e-4)
    np.testing.assert_allclose(warp(warp.inverse(omega)), omega, atol=1e-4)


def test_the_change_follows_from_secret_and_ids_alone() -> None:
    audio = speech()
    for name in ("mcadams", "voicemask"):
        first, again, other = (
            invertible(name, seed).change_of(audio, RATE, speaker="ann", utterance="u1")
            for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)
