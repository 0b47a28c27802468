"""The estimate of quality: what the model's own package says, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, MissingExtraError
from sottovoce.measure import quality
from sottovoce.measure.quality import QualityModel

RATE = 16_000


def tone(seconds: float, noise: float = 0.0) -> NDArray[np.float32]:
    """A voice-like hum whose pitch and loudness move."""
    times = np.arange(int(seconds * RATE)) / RATE
    phase = 2 * np.pi * np.cumsum(120 * (1 + 0.1 * np.sin(2 * np.pi * 0.7 * times))) / RATE
    hum = sum(np.sin(k * phase) / k for k in range(1, 20))
    loud = 0.5 + 0.5 * np.sin(2 * np.pi * 3 * times) ** 2
    hiss = noise * np.random.default_rng(0).normal(size=len(times))
    return (0.1 * hum * loud).astype(np.float32) + hiss.astype(np.float32)


@pytest.fixture(scope="module")
def model() -> QualityModel:
    pytest.importorskip("onnxruntime")
    return QualityModel()


def test_as_the_package_has_it(model: QualityModel) -> None:
    # speechmos 0.0.1.1, dnsmos.run(tone(9.5), 16000)["ovrl_mos"]
    assert model.overall(tone(9.5)) == pytest.approx(1.3411535, abs=1e-4)
    assert model.overall(tone(9.5, 0.02)) == pytest.approx(1.0799365, abs=1e-4)


def test_short_recordings_are_repeated(model: QualityModel) -> None:
    short = tone(4.0)
    assert model.overall(short) == pytest.approx(model.overall(np.tile(short, 3)), abs=1e-6)
    with raises_code("empty", InputError):
        model.overall(short[:0])


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "PACKAGE", "no_such_package_here")
    with raises_code("missing-extra", MissingExtraError):
        QualityModel()
