"""How much the measures of several score sets differ, resampled together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.core.records import Record, optional
from sottovoce.findings.scores import Resampling


@dataclass(frozen=True, slots=True)
class ComparedSet(Record):
    """One of the score sets of a comparison, as far as it is compared."""

    name: str
    n_mated: int
    n_nonmated: int
    left_out: int
    """Trials that are not compared because another set has no such speaker or trial."""


@dataclass(frozen=True, slots=True)
class PairedDifference(Record):
    """Difference of one measure between two score sets."""

    first: str
    """Name of a score set."""
    second: str
    """Name of the score set whose value is subtracted."""
    first_value: float | None
    """None where the measure could not be computed; ``note`` says why."""
    second_value: float | None
    value: float | None
    """``first_value`` − ``second_value``."""
    low: float | None = optional()
    """Lower end of the interval; the intervals of all pairs of sets hold together."""
    high: float | None = optional()
    share_below: float | None = optional()
    """Share of resamples in which the difference is below zero."""
    share_above: float | None = optional()
    """Share of resamples in which the difference is above zero."""
    discloses_more: str | None = optional()
    """The set that discloses more; left out while the interval holds zero."""
    note: str | None = optional()

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class Comparison(Record):
    """Differences of every measure between all pairs of some score sets."""

    sets: tuple[ComparedSet, ...]
    paired_by: str
    """What the sets share and is resampled together: ``speaker``, ``trial`` or ``nothing``."""
    same_trials: bool
    """Whether the sets hold scores of the same trials."""
    interval: Resampling | None
    """How the intervals were made; None without intervals."""
    differences: Mapping[str, tuple[PairedDifference, ...]]
    """By the name of the measure; one per pair of sets, in their order."""
    warnings: tuple[str, ...] = ()
    """What has to be known before any of the differences is used."""


@dataclass(frozen=True, slots=True)
class RowsComparison(Record):
    """Attacks that differ in their anonymiser only, or in their attacker only."""

    subject: str
    """What differs: ``anonymisers`` or ``attackers``; their names are those of the score sets."""
    under: str
    """The attack on all anonymisers, or the anonymiser that was attacked."""
    scores: Comparison
    linkability: tuple[PairedDifference, ...]
    """Of Linkability among all speakers at the shortest conversation length, paired by speaker."""
