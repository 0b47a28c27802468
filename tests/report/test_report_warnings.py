"""Warnings about the numbers stand in the report of an audit, each once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from audit_case import findings_in

from sottovoce.findings import ScoreSummary
from sottovoce.report.audit_details import attack_details


def test_warnings_about_reidentification_are_shown_once(tmp_path: Path) -> None:
    findings = findings_in(tmp_path)
    row = findings.rows[0]
    curves = replace(row.reidentification, warnings=("curves",), warning_codes=("few-speakers",))
    silent = replace(row.scores, warnings=(), warning_codes=())
    both = replace(row.scores, warnings=("scores",), warning_codes=("few-speakers",))

    def page(scores: ScoreSummary) -> str:
        changed = replace(row, reidentification=curves, scores=scores)
        return str(attack_details(replace(findings, rows=(changed,))))

    assert "Careful: curves." in page(silent)
    assert "Careful: scores." in page(both)
    assert "Careful: curves." not in page(both)
