"""The findings that the tables of docs/results.md are made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sottovoce.audit.differences import LocatedRow, compare_rows
from sottovoce.core.files import read_json
from sottovoce.core.records import from_json
from sottovoce.findings import AttackRow, AuditFindings, RowsComparison


@dataclass(frozen=True, slots=True)
class Run:
    """The findings of one study."""

    findings: AuditFindings

    @property
    def corpus(self) -> str:
        """Name of the attacked corpus."""
        return str(self.findings.study["corpus"])

    @property
    def seed(self) -> int:
        """Seed of the draws of the released speech."""
        return int(str(self.findings.study["release_seed"]))


def variant(row: AttackRow) -> str:
    """Which attack a row is: a representation linked with best, ``fused`` or ``strongest``."""
    return row.encoder if row.linkage == "best" else row.linkage


class Results:
    """All rows of all runs; of two equal attacks, the one that tried more is kept.

    Parameters
    ----------
    runs : list of Run
        In any order.
    audit : Path
        Folder with the scores.
    """

    def __init__(self, runs: list[Run], audit: Path) -> None:
        self.runs, self.audit = runs, audit
        self.rows: dict[tuple[str, int, str, str, str], AttackRow] = {}
        for run in runs:
            for row in run.findings.rows:
                key = (run.corpus, run.seed, row.method, row.attacker, variant(row))
                if key not in self.rows or len(row.techniques) > len(self.rows[key].techniques):
                    self.rows[key] = row

        self._compared: dict[tuple[str, str], RowsComparison] = {}

    def compare(self, first: AttackRow, second: AttackRow) -> RowsComparison:
        """Compare two attacks on one method, paired by speaker, once."""
        key = (first.score_file, second.score_file)
        if key not in self._compared:
            located = [LocatedRow(row, self.audit) for row in (first, second)]
            (self._compared[key],) = compare_rows(located, interval=0.95)
        return self._compared[key]

    def row(
        self, method: str, attacker: str, kind: str, *, corpus: str = "libri40", seed: int = 0
    ) -> AttackRow | None:
        """Return the row of an attack, or None where it was not run."""
        return self.rows.get((corpus, seed, method, attacker, kind))

    def findings(self, corpus: str, method: str | None = None) -> AuditFindings | None:
        """Return the findings of the complete run of a method on a corpus, with seed 0."""
        for run in self.runs:
            methods = {row.method for row in run.findings.rows}
            complete = any(row.attacker == "ignorant" for row in run.findings.rows)
            first = run.corpus == corpus and run.seed == 0 and complete
            if first and (method is None or method in methods):
                return run.findings
        return None


def read_runs(folder: Path) -> list[Run]:
    """Read the findings of all runs."""
    return [
        Run(from_json(AuditFindings, read_json(path, "run the studies first"), source=str(path)))
        for path in sorted(folder.glob("*.json"))
    ]
