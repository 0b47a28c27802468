"""The findings of an audit in the terminal: who could do what, at what rate, against chance."""

from __future__ import annotations

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


def verdict_table(findings: dict[str, Any]) -> Table:
    """One row an attack, originals first."""
    table = Table(box=None, pad_edge=False)
    for name in ("anonymiser", "attacker", "linked with"):
        table.add_column(name)
    for name in ("Linkability", "chance", "Singling Out", "D_sys", "EER", "trust"):
        table.add_column(name, justify="right")
    originals = findings["originals"]
    table.add_row("none", "", originals["linked_with"], *_cells(originals), "")
    for row in findings["rows"]:
        trust = "yes" if row["trust"]["trustworthy"] else "no"
        who = (row["anonymiser"], row["attacker"], row["linked_with"])
        table.add_row(*who, *_cells(row), trust)
    return table


def _cells(row: dict[str, Any]) -> list[str]:
    link, single = (largest(row, name) for name in ("linkability", "singling_out"))
    return [
        "" if link is None else f"{link['value']:.0%}",
        "" if link is None else f"{link['chance']:.1%}",
        "" if single is None else f"{single['value']:.0%}",
        _number(row, "linkability", ".2f"),
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
        f"exceeded: {one['limit']} for {one['anonymiser']} against {one['attacker']} (it is "
        f"{'not measured' if one['value'] is None else format(one['value'], '.4g')})"
        for one in findings["limits"]
        if one["exceeded"]
    ]
    for row in findings["rows"]:
        lines += [
            f"{row['anonymiser']} against {row['attacker']} is not trustworthy, the attacker is "
            f"too weak: {reason}"
            for reason in row["trust"]["reasons"]
        ]
    left_out = len(findings["corpus"]["excluded"]) + len(findings["training"]["excluded"])
    if left_out:
        lines.append(f"{left_out} recordings could not be used; the report names them")
    lines.append("Linkability and Singling Out: one utterance, the largest population.")
    return lines
