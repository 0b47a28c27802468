"""Settings of a private training run, and what it hands over. Nothing here needs torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sottovoce.core.errors import UsageError
from sottovoce.core.records import Record, optional
from sottovoce.learn.accounting import Accountant, PrivacySpent

Guarantee = Literal["differential privacy", "none"]


@dataclass(frozen=True, slots=True)
class PrivateSettings(Record):
    """Settings of a run of DPSGD; give either the budget or the noise.

    Parameters
    ----------
    lot_size : int
        L, the expected number of units (records, or people) in a lot.
    steps : int
        T, the number of lots.
    clip : float
        C, the largest norm of a unit's gradient, over all parameters.
    delta : float
        δ, less than one over the number of units.
    epsilon : float, optional
        ε of the whole run; the noise is calibrated to it.
    noise_multiplier : float, optional
        z, the noise as a multiple of C. 0 trains without noise and without a guarantee.
    accountant : {"rdp", "pld"}, default "rdp"
        Which accountant the noise is calibrated with.
    chunk : int, default 128
        Records whose gradients are in memory at once.
    """

    lot_size: int
    steps: int
    clip: float
    delta: float
    epsilon: float | None = optional()
    noise_multiplier: float | None = optional()
    accountant: Accountant = "rdp"
    chunk: int = 128

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.noise_multiplier is None):
            raise UsageError("give either epsilon or noise_multiplier", code="bad-usage")
        if min(self.lot_size, self.steps, self.chunk) < 1 or not self.clip > 0:
            raise UsageError(
                f"lot of {self.lot_size}, {self.steps} steps, chunk of {self.chunk}, clip "
                f"{self.clip}: all must be above 0",
                code="out-of-range",
            )
        if self.noise_multiplier is not None and not self.noise_multiplier >= 0:
            raise UsageError(
                f"noise multiplier {self.noise_multiplier}: use 0 or a positive number",
                code="out-of-range",
            )


@dataclass(frozen=True, slots=True)
class PrivateRun(Record):
    """What a private training run guarantees, and under which assumptions."""

    guarantee: Guarantee
    """``none`` if the noise was zero, the draws are public, or records are coupled; ε of
    ``spent`` is then nominal."""
    reasons: tuple[str, ...]
    """Why there is no guarantee; empty if there is one."""
    spent: PrivacySpent | None
    """ε by both accountants; None without noise."""
    clip: float
    lot_size: int
    units: int
    """How many units (records, or people) there are."""
    unit: str
    """What is protected: a record, or all records of one person."""
    normalisation: str
    draws: str
    parameters: int
    """Numbers that were trained."""
    torch: str
    """Version of torch."""
    measured_sensitivity: float | None = optional()
    """Where records are coupled: by how much a single record was seen to change the clipped sum,
    as a multiple of C. The accountants assume at most 1."""
