"""Attacks in the terminal."""

from __future__ import annotations

from typing import Any

import pytest
from rich.table import Table

from sottovoce.report import score_set
from sottovoce.report.attack import attack_table, print_attacks


def record(name: str = "ignorant", **changed: Any) -> dict[str, Any]:
    return {
        "attacker": {"name": name},
        "trained": {"name": "plda"},
        "enrolled_speakers": 1234,
        "trials": 40,
        "eer": 0.0929,
        "eer_on_originals": 0.0154,
        "trust": {"trustworthy": True, "reasons": []},
        "attributes": {},
        **changed,
    }


def told(**changed: Any) -> dict[str, Any]:
    plain = {"accuracy": 0.9, "low": 0.8, "high": 0.95, "majority": 0.5}
    return {**plain, "better_than_guessing": True, **changed}


def test_one_row_an_attack(capsys: pytest.CaptureFixture[str]) -> None:
    records = [record(), record("informed", trust={"trustworthy": False, "reasons": ["weak [b]"]})]
    assert attack_table(records).row_count == 2
    print_attacks(records, ["half were [trained] on"])
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert ["ignorant", "plda", "1,234", "40", "9.29%", "1.54%", "yes"] in rows
    assert ["informed", "plda", "1,234", "40", "9.29%", "1.54%", "no"] in rows
    assert "• informed is not trustworthy: weak [b]" in printed
    assert "ignorant is not trustworthy" not in printed
    assert "• half were [trained] on" in printed  # a user's words are no markup


def test_attributes_are_told_with_what_guessing_gives(capsys: pytest.CaptureFixture[str]) -> None:
    attributes = {
        "gender": told(),
        "accent": told(low=0.4, better_than_guessing=False),
        "shoe": {"note": "shoe: 0 values"},
    }
    print_attacks([record(attributes=attributes)])
    printed = " ".join(capsys.readouterr().out.split())
    assert "gender is told right for 90% (80% to 95%); always guessing" in printed
    assert "most frequent: 50%" in printed and "• shoe: 0 values" in printed
    assert printed.count("not surely better than guessing") == 1


def test_a_narrow_terminal_cuts_no_figure(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("measure", "value")
    table.add_row("TPR at a low false positive rate", "12.3456789 %")
    score_set.console_for(width=30).print(table)
    assert "low false positive rate" in (shown := capsys.readouterr().out)
    assert "12.3456789 %" in shown and "…" not in shown
