"""Showing attacks in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from sottovoce.report.score_set import console_for


def print_attacks(records: Sequence[dict[str, Any]], notes: Sequence[str] = ()) -> None:
    """One row an attack, then what must be said about it."""
    console = console_for()
    console.print(attack_table(records))
    console.print()
    for line in (*_remarks(records), *notes):
        console.print(f"• {line}", highlight=False, markup=False)


def attack_table(records: Sequence[dict[str, Any]]) -> Table:
    """Attackers, what they linked with, and their EERs."""
    table = Table(box=None, pad_edge=False)
    for name in ("attacker", "linkage", "speakers", "trials"):
        table.add_column(name)
    for name in ("EER", "on originals", "trustworthy"):
        table.add_column(name, justify="right")
    for one in records:
        table.add_row(
            one["attacker"]["name"],
            one["trained"]["name"],
            f"{one['enrolled_speakers']:,}",
            f"{one['trials']:,}",
            f"{one['eer']:.2%}",
            f"{one['eer_on_originals']:.2%}",
            "yes" if one["trust"]["trustworthy"] else "no",
        )
    return table


def _remarks(records: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        f"{one['attacker']['name']} is not trustworthy: {reason}"
        for one in records
        for reason in one["trust"]["reasons"]
    ]
    for name, found in records[0]["attributes"].items():
        if "note" in found:
            lines.append(found["note"])
            continue
        better = "" if found["better_than_guessing"] else "; not surely better than guessing"
        lines.append(
            f"{name} is told right for {found['accuracy']:.0%} ({found['low']:.0%} to "
            f"{found['high']:.0%}); always guessing the most frequent: {found['majority']:.0%}"
            f"{better}"
        )
    return lines
