"""Write what is measured of each voice method, which the service's page shows beside it.

    uv run python recipes/write_method_results.py AUDIT... --origin "40 speakers of …"

Each AUDIT is the folder of an audit, or a file with its findings. Anonymisers with other than
default settings are left out. Of several attacks the one with the highest upper end is kept. With
``--keep`` methods that no AUDIT has keep the figures of the present file; then ``--origin`` must
say so.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sottovoce.core.files import read_json
from sottovoce.core.records import from_json, write_json
from sottovoce.findings import AttackRow, AuditFindings, CurvePoint
from sottovoce.findings.files import read_findings
from sottovoce.report.verdicts import headline_point
from sottovoce.serve import method_results
from sottovoce.serve.method_results import MethodResult, MethodResults

TARGET = Path(method_results.__file__).with_name(method_results.FILE)
KNOWS_DRAWS = 3
"""Rank from which an attacker knows the draws."""


def read(path: Path) -> AuditFindings:
    """Read the findings of an audit from its folder or from a file."""
    if path.is_dir():
        return read_findings(path)
    return from_json(AuditFindings, read_json(path, "name an audit"), source=str(path))


def highest(rows: list[AttackRow]) -> CurvePoint | None:
    """Return the Linkability of the attack whose interval reaches highest."""
    points = [headline_point(row.reidentification.linkability) for row in rows]
    return max((point for point in points if point), key=upper_end, default=None)


def upper_end(point: CurvePoint) -> float:
    """Return the upper end of the interval, or the value where there is none."""
    return point.value if point.high is None else point.high


def measure(method: str, audits: list[AuditFindings]) -> MethodResult | None:
    """Put together the figures of a method; None where people or words were not measured."""
    rows = [
        row
        for findings in audits
        for row in findings.rows
        if row.method == method and not row.settings
    ]
    point = highest([row for row in rows if row.attacker_rank < KNOWS_DRAWS])
    known = highest([row for row in rows if row.attacker_rank >= KNOWS_DRAWS])
    rates = [
        anonymiser.utility["wer"].value
        for findings in audits
        for anonymiser in findings.anonymisers
        if anonymiser.method == method and not anonymiser.settings and "wer" in anonymiser.utility
    ]
    wrong = next((rate for rate in rates if rate is not None), None)
    if point is None or wrong is None:
        return None
    return MethodResult(
        method,
        round(point.value, 3),
        round(upper_end(point), 3),
        round(wrong, 3),
        None if known is None else round(known.value, 3),
    )


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("audits", nargs="+", type=Path)
    parser.add_argument("--origin", required=True, help="corpus and attackers, for people")
    parser.add_argument("--keep", action="store_true", help="keep methods that no audit has")
    options = parser.parse_args()
    audits = [read(path) for path in options.audits]
    methods = dict.fromkeys(row.method for findings in audits for row in findings.rows)
    results = [measure(method, audits) for method in methods]
    if options.keep:
        present = method_results.read_method_results().methods
        results += [result for result in present if result.method not in methods]
    before = [findings.original_utility["wer"].value for findings in audits]
    people = max(findings.corpus.attacked_speakers for findings in audits)
    write_json(
        TARGET,
        MethodResults(
            options.origin,
            people,
            round(next(rate for rate in before if rate is not None), 3),
            tuple(result for result in results if result is not None),
        ),
    )


if __name__ == "__main__":
    main()
