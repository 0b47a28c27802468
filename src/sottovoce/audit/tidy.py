"""The figures of an audit as a table, one row a figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def tidy(findings: dict[str, Any]) -> pl.DataFrame:
    """One row a figure: anonymiser, attacker, linkage, measure, length, population, value, …"""
    import polars as pl

    rows = []
    for row in findings["rows"]:
        who = {name: row[name] for name in ("anonymiser", "attacker", "linkage", "linked_with")}
        who["trustworthy"] = row["trust"]["trustworthy"]
        rows += [{**who, **figure} for figure in _figures(row)]
    original = findings["originals"]
    none = {"anonymiser": "none", "attacker": "on originals", "linkage": original["linkage"]}
    none |= {"linked_with": original["linked_with"], "trustworthy": True}
    rows += [{**none, **figure} for figure in _figures(original)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _figures(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    empty = {"length": None, "population": None}
    for name, found in row["measures"].items():
        numbers = {key: found.get(key) for key in ("value", "low", "high", "chance")}
        yield {"measure": name, **empty, **numbers}
    for name, points in row["reidentification"].items():
        if not isinstance(points, list) or not points or "value" not in points[0]:
            continue
        for point in points:
            keys = ("length", "population", "value", "low", "high", "chance")
            yield {"measure": name, **{key: point.get(key) for key in keys}}
