"""Comparisons of attacks on the page of an audit and in the terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from audit_case import findings_in
from paired_systems import paired_systems

from sottovoce.findings import PairedDifference, RowsComparison
from sottovoce.measure import compare_scores, compare_shares
from sottovoce.report.audit import render
from sottovoce.report.comparisons import (
    headline_comparison,
    print_rows_comparisons,
    rows_comparison_table,
)


def comparison_under(attacker: str, linkability: tuple[float, float]) -> RowsComparison:
    sets = paired_systems([0.6, 1.6], speakers=8, shared=0.9)
    shares = {
        scores.name: {f"s{k}": share + 0.01 * k for k in range(8)}
        for scores, share in zip(sets, linkability, strict=True)
    }
    return RowsComparison(
        subject="anonymisers",
        under=attacker,
        scores=compare_scores(sets, only=["eer", "d_ece"], replicates=100),
        linkability=compare_shares(shares, replicates=100),
    )


def test_the_page_says_which_protects_better(tmp_path: Path) -> None:
    weak = comparison_under("ignorant", (0.1, 0.2))
    strong = comparison_under("informed", (0.3, 0.8))
    findings = replace(findings_in(tmp_path), comparisons=(weak, strong))
    page = render(findings, tmp_path, audio=False)
    assert "Which protects better" in page
    assert page.index("against the attacker informed") < page.index("against the attacker ignorant")
    assert "<th" in page and "protects better" in page
    without = render(replace(findings, comparisons=()), tmp_path, audio=False)
    assert "Which protects better" not in without


def test_the_strongest_common_attacker_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    weak = comparison_under("ignorant", (0.1, 0.2))
    strong = comparison_under("informed", (0.3, 0.8))
    assert headline_comparison([weak, strong]) is strong
    assert headline_comparison([replace(weak, subject="attackers")]) is None
    print_rows_comparisons([weak, strong])
    shown = capsys.readouterr().out
    assert "informed" in shown and "ignorant" not in shown
    print_rows_comparisons([])
    assert capsys.readouterr().out == ""


def test_what_discloses_less_protects_better() -> None:
    table = rows_comparison_table(comparison_under("informed", (0.3, 0.8)))
    assert [row[-1] for row in table.rows] == ["system 0"] * 3
    attackers = replace(comparison_under("informed", (0.3, 0.8)), subject="attackers")
    assert [row[-1] for row in rows_comparison_table(attackers).rows] == ["system 1"] * 3
    unknown = replace(
        attackers, linkability=(PairedDifference("a", "b", None, None, None, note="too few"),)
    )
    assert rows_comparison_table(unknown).rows[0][-1] == "–"
