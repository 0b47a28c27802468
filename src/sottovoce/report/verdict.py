"""The findings of an audit in the terminal: who could do what, at what rate, against chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from sottovoce.report.score_set import console_for


def print_verdict(findings: dict[str, Any]) -> None:
    """A table of all rows, then what must be said about them."""
    console = console_for()
    if findings["synthetic"]:
        console.print("The corpus is synthetic: the figures show how the tool works.", style="bold")
    console.print(verdict_table(findings))
    console.print()
    for line in remarks(findings):
        console.print(f"• {line}", highlight=False, markup=False)


def print_audits(named: Mapping[str, dict[str, Any]]) -> None:
    """The rows of several audits one above the other, and whether they can be compared."""
    console = console_for()
    table = _table("audit")
    for name, findings in named.items():
        _rows(table, findings, name)
    console.print(table)
    console.print()
    for line in _unlike(named):
        console.print(f"• {line}", highlight=False, markup=False)


def _unlike(named: Mapping[str, dict[str, Any]]) -> list[str]:
    """What makes figures of these audits mean different things."""
    lines = []
    for what, key in (("corpora", "corpus"), ("training corpora", "training")):
        if len({one[key]["name"] for one in named.values()}) > 1:
            lines.append(f"the {what} differ: differences may be those of the speakers")
    if len({one["corpus"]["attacked_speakers"] for one in named.values()}) > 1:
        lines.append("the numbers of speakers differ, and with them the chance level")
    if len({one["encoder"]["sha256"] for one in named.values()}) > 1:
        lines.append("the encoders differ: a weaker one makes any anonymiser look better")
    return lines


def verdict_table(findings: dict[str, Any]) -> Table:
    """One row an attack, originals first."""
    table = _table()
    _rows(table, findings)
    return table


def _table(*before: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in (*before, "anonymiser", "attacker", "linked with"):
        table.add_column(name)
    for name in ("Linkability", "chance", "Singling Out", "D_sys", "EER", "trust"):
        table.add_column(name, justify="right")
    return table


def _rows(table: Table, findings: dict[str, Any], *before: str) -> None:
    originals = findings["originals"]
    table.add_row(*before, "none", "", originals["linked_with"], *_cells(originals), "")
    for row in findings["rows"]:
        trust = "yes" if row["trust"]["trustworthy"] else "no"
        who = (row["anonymiser"], row["attacker"], row["linked_with"])
        table.add_row(*before, *who, *_cells(row), trust)


def _cells(row: dict[str, Any]) -> list[str]:
    link, single = (largest(row, name) for name in ("linkability", "singling_out"))
    return [
        "" if link is None else f"{link['value']:.0%}",
        "" if link is None else f"{link['chance']:.1%}",
        "" if single is None else f"{single['value']:.0%}",
        _number(row, "d_sys", ".2f"),
        _number(row, "eer", ".1%"),
    ]


def largest(row: dict[str, Any], curve: str) -> dict[str, Any] | None:
    """The point of a curve for one utterance in the largest population."""
    points = row["reidentification"].get(curve) or []
    if not points:
        return None
    shortest = min(point["length"] for point in points)
    found: dict[str, Any] = max(
        (point for point in points if point["length"] == shortest),
        key=lambda point: point["population"],
    )
    return found


def _number(row: dict[str, Any], name: str, form: str) -> str:
    value = row["measures"].get(name, {}).get("value")
    return "" if value is None else format(value, form)


def remarks(findings: dict[str, Any]) -> list[str]:
    """Limits that do not hold, attackers that are too weak, recordings that were left out."""
    lines = [
        f"{'not measured' if one['value'] is None else 'exceeded'}: {one['limit']} for "
        f"{one['anonymiser']} against {one['attacker']}"
        + ("" if one["value"] is None else f" (it is {one['value']:.4g})")
        for one in findings["limits"]
        if one["exceeded"]
    ]
    lines += [
        f"{row['anonymiser']} against {row['attacker']} is not trustworthy, the attacker is too "
        f"weak: {'; '.join(row['trust']['reasons'])}"
        for row in findings["rows"]
        if row["trust"]["reasons"]
    ]
    left_out = len(findings["corpus"]["excluded"]) + len(findings["training"]["excluded"])
    if left_out:
        lines.append(f"{left_out} recordings were left out; the report names them, and why")
    lines.append("Linkability and Singling Out: one utterance, the largest population.")
    return lines
