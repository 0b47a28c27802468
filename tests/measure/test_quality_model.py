"""The estimate of quality: what the model's own package says, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code
from numpy.typing import NDArray
from signals import harmonics, noise, tone

from sottovoce.core.errors import InputError, MissingExtraError
from sottovoce.measure import utility
from sottovoce.measure.utility import QualityModel

RATE = 16_000


def hum(seconds: float, hiss_level: float = 0.0) -> NDArray[np.float32]:
    """Harmonics of varying pitch and loudness, like a voice."""
    pitch = 120 * (1 + tone(0.7, seconds, level=0.1))
    buzz = harmonics(pitch, [1 / k for k in range(1, 20)], seconds)
    loudness = 0.5 + 0.5 * tone(3, seconds, level=1.0) ** 2
    hiss = noise(seconds, level=hiss_level)
    return (0.1 * buzz * loudness).astype(np.float32) + hiss.astype(np.float32)


@pytest.fixture(scope="module")
def model() -> QualityModel:
    pytest.importorskip("onnxruntime")
    return QualityModel()


def test_as_the_package_has_it(model: QualityModel) -> None:
    # speechmos 0.0.1.1, dnsmos.run(hum(9.5), 16000)["ovrl_mos"]
    assert model.overall(hum(9.5)) == pytest.approx(1.3411535, abs=1e-4)
    assert model.overall(hum(9.5, 0.02)) == pytest.approx(1.0799365, abs=1e-4)


def test_short_recordings_are_repeated(model: QualityModel) -> None:
    short = hum(4.0)
    assert model.overall(short) == pytest.approx(model.overall(np.tile(short, 3)), abs=1e-6)
    with raises_code("empty", InputError):
        model.overall(short[:0])


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utility, "QUALITY_PACKAGE", "no_such_package_here")
    with raises_code("missing-extra", MissingExtraError):
        QualityModel()
