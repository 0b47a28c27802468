"""WORLD takes a voice apart and puts it together again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import pyworld
from scipy.signal import butter, sosfilt
from signals import noise, resonate, vowel

from sottovoce.signal.world import BINS, analyse, analyse_envelope, find_f0, synthesise

plain_vowel = partial(vowel, bandwidth=103.0, noise_level=0.0)
"""A vowel of exact pulses, with broad formants."""


def test_a_copy_sounds_the_same() -> None:
    """Log-spectral distance of long-term spectra below 1 dB; phases are WORLD's own."""
    signal = plain_vowel()
    copy = synthesise(analyse(signal))[: len(signal)]
    spectra = [
        np.log10(np.mean(np.abs(np.fft.rfft(x[1600:-1600].reshape(-1, 640))) ** 2, axis=0))
        for x in (signal, copy)
    ]
    loud = slice(5, 130)  # 125 Hz to 3.2 kHz, where the vowel has its energy
    distance = 10 * (spectra[0] - spectra[1])[loud][::5]
    assert np.sqrt(np.mean((distance - distance.mean()) ** 2)) < 1.0


@pytest.mark.parametrize("pitch", [80, 125, 250])
def test_pitch_is_found(pitch: int) -> None:
    f0, times = find_f0(plain_vowel(pitch=pitch))
    assert len(f0) == len(times)
    assert np.median(f0[f0 > 0]) == pytest.approx(pitch, rel=0.01)


@pytest.mark.parametrize("kind", ["telephone", "noise"])
def test_pitch_is_found_where_dio_finds_none(kind: str) -> None:
    signal = plain_vowel(seconds=2.0)
    if kind == "telephone":  # without the fundamental, which DIO looks for
        signal = sosfilt(butter(6, 300, "highpass", fs=16000, output="sos"), signal)
    else:
        signal = signal + noise(2.0, level=0.1)
    rough, _ = pyworld.dio(signal, 16000, frame_period=5.0)
    assert np.mean(rough > 0) < 0.05
    f0, _ = find_f0(signal)
    assert np.mean(f0 > 0) > 0.9 and np.median(f0[f0 > 0]) == pytest.approx(125, rel=0.02)


def test_whispering_has_no_pitch() -> None:
    whisper = resonate(noise(3.0, level=1.0), (700, 1200, 2600), bandwidth=103)
    f0, _ = find_f0(whisper)
    assert np.mean(f0 > 0) < 0.02


def test_shapes_and_repeatability_over_threads() -> None:
    signal = plain_vowel(seconds=0.5)
    voice = analyse(signal)
    assert voice.envelope.shape == voice.aperiodicity.shape == (len(voice.f0), BINS)
    np.testing.assert_array_equal(analyse_envelope(signal)[1], voice.envelope)
    alone = synthesise(voice)
    with ThreadPoolExecutor(3) as pool:
        for other in pool.map(lambda _: synthesise(analyse(signal)), range(6)):
            np.testing.assert_array_equal(other, alone)
