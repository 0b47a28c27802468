"""WADA-SNR finds the ratio that was mixed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from sottovoce.signal.noise_level import _table, wada_snr


@pytest.mark.parametrize("ratio", [0.0, 10.0, 20.0, 40.0])
def test_a_mixed_ratio_is_found(ratio: float) -> None:
    rng = np.random.default_rng(1)
    speech = rng.gamma(0.4, 1.0, 400_000) * rng.choice([-1, 1], 400_000)
    noise = rng.normal(0, np.sqrt(0.4 * 1.4 * 10 ** (-ratio / 10)), 400_000)
    assert wada_snr(speech + noise) == pytest.approx(ratio, abs=0.7)


def test_the_ends_are_those_of_the_two_distributions() -> None:
    ratios, statistics = _table()
    gaussian = math.log(math.sqrt(2 / math.pi)) + (np.euler_gamma + math.log(2)) / 2
    gamma = math.log(0.4) - special.digamma(0.4)
    assert statistics[0] == pytest.approx(gaussian, abs=1e-3)
    assert gamma - 0.03 < statistics[-1] < gamma
    assert (np.diff(statistics) >= 0).all() and len(ratios) == 121


def test_scale_and_silence_do_not_matter() -> None:
    speech = np.random.default_rng(2).gamma(0.4, 0.01, 50_000)
    assert wada_snr(speech) == pytest.approx(wada_snr(speech * 7), abs=1e-6)
    assert wada_snr(np.concatenate((speech, np.zeros(9000)))) == wada_snr(speech)
    assert wada_snr(np.zeros(100)) == 100.0
