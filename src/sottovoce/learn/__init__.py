"""Differentially private training: lots, clipping, noise, accounting, normalisation and audits.

``account`` needs ``dp-accounting`` and training needs PyTorch: both come with the extra ``learn``.
What needs PyTorch is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sottovoce.core.errors import MissingExtraError
from sottovoce.learn.accounting import PrivacySpent, account, calibrate_noise
from sottovoce.learn.draws import Draws
from sottovoce.learn.gaussian import GaussianNoise, gaussian_noise
from sottovoce.learn.settings import PrivateRun, PrivateSettings

if TYPE_CHECKING:
    from sottovoce.learn.lstm import Lstm
    from sottovoce.learn.normalisation import (
        LotStatistics,
        PublicBatchNorm,
        PublicStatistics,
        RunningStatistics,
        WithPublicSamples,
    )
    from sottovoce.learn.trainer import NoisyStep, PrivateTrainer

__all__ = [
    "Draws",
    "GaussianNoise",
    "LotStatistics",
    "Lstm",
    "NoisyStep",
    "PrivacySpent",
    "PrivateRun",
    "PrivateSettings",
    "PrivateTrainer",
    "PublicBatchNorm",
    "PublicStatistics",
    "RunningStatistics",
    "WithPublicSamples",
    "account",
    "calibrate_noise",
    "gaussian_noise",
]

_NEEDING_TORCH = {
    "LotStatistics": "normalisation",
    "Lstm": "lstm",
    "NoisyStep": "trainer",
    "PrivateTrainer": "trainer",
    "PublicBatchNorm": "normalisation",
    "PublicStatistics": "normalisation",
    "RunningStatistics": "normalisation",
    "WithPublicSamples": "normalisation",
}


def __getattr__(name: str) -> object:
    """Import what needs PyTorch at its first use."""
    if name not in _NEEDING_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_NEEDING_TORCH[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError("private training", "learn") from None
