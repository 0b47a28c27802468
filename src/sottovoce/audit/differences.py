"""Which anonymiser protects better, and which attacker finds more: attacks compared in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.core.types import Progress
from sottovoce.findings import FROZEN, AttackRow, RowsComparison
from sottovoce.measure import compare_scores, compare_shares
from sottovoce.measure.readers.score_files import pair_files, read_score_file

COMPARED = ("eer", "min_cllr", "d_ece", "d_sys", "d_sys_corrected")
"""Score measures whose differences an audit holds, beside Linkability."""


@dataclass(frozen=True, slots=True)
class LocatedRow:
    """An attack and where its scores are."""

    row: AttackRow
    folder: Path
    """Of the audit."""
    audit: str = ""
    """Name of the audit, where several are compared."""

    @property
    def anonymiser(self) -> str:
        """The anonymiser and, where several audits are compared, the audit."""
        return f"{self.audit}: {self.row.anonymiser}" if self.audit else self.row.anonymiser

    @property
    def attack(self) -> str:
        """The attacker, and what the study says of how it attacked."""
        row = self.row
        names = [row.attacker]
        if row.encoder != FROZEN:
            names.append(row.encoder)
        if row.draws > 1:
            names.append(f"{row.draws} draws")
        return ", ".join([*names, row.linkage])


def compare_rows(
    rows: Sequence[LocatedRow],
    *,
    interval: float,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[RowsComparison, ...]:
    """Compare anonymisers under each attacker, and attackers on each anonymiser.

    Parameters
    ----------
    rows : sequence of LocatedRow
        Attacks of one audit or of several.
    interval : float
        Confidence of the intervals, between 0 and 1.
    seed : int, default 0
        Of the resamples.
    progress : callable, optional
        Called with the number of comparisons done and to do.

    Returns
    -------
    tuple of RowsComparison
        Anonymisers first; nothing is compared with itself.
    """
    anonymisers: dict[str, dict[str, LocatedRow]] = {}
    attackers: dict[str, dict[str, LocatedRow]] = {}
    for located in rows:
        anonymisers.setdefault(located.attack, {})[located.anonymiser] = located
        attackers.setdefault(located.anonymiser, {})[located.attack] = located
    planned = [
        (subject, under, named)
        for subject, groups in (("anonymisers", anonymisers), ("attackers", attackers))
        for under, named in groups.items()
        if len(named) > 1
    ]
    comparisons = []
    for done, (subject, under, named) in enumerate(planned):
        if progress:
            progress(done, len(planned))
        comparisons.append(_compare(subject, under, named, interval, seed))
    return tuple(comparisons)


def _compare(
    subject: str, under: str, named: dict[str, LocatedRow], interval: float, seed: int
) -> RowsComparison:
    files = [read_score_file(located.folder / located.row.score_file) for located in named.values()]
    return RowsComparison(
        subject=subject,
        under=under,
        scores=compare_scores(
            pair_files(files, list(named)), interval=interval, only=COMPARED, seed=seed
        ),
        linkability=compare_shares(
            {name: _linkability(located.row) for name, located in named.items()},
            interval=interval,
            seed=seed,
        ),
    )


def _linkability(row: AttackRow) -> dict[str, float]:
    """How often each speaker is linked among all, in conversations of the shortest length."""
    risks = row.reidentification.speakers
    shortest = min((risk.length for risk in risks), default=0)
    return {risk.speaker: risk.linkability for risk in risks if risk.length == shortest}
