"""Document 000: categories and profiles."""

from __future__ import annotations

from pathlib import Path

from sottovoce.papers.data import PaperData
from sottovoce.papers.nautsch_2020 import ITEMS, LIMITS


def test_categories_of_table_1(tmp_path: Path) -> None:
    """The third column is computed; ZEBRA Table 1 gives the first two."""
    item = next(item for item in ITEMS if item.id == "000-table-1")
    (table,) = item.run(PaperData(tmp_path)).tables
    assert [row[2] for row in table.rows] == list(LIMITS)


def test_figure_2_has_both_axes(tmp_path: Path) -> None:
    item = next(item for item in ITEMS if item.id == "000-figure-2")
    output = item.run(PaperData(tmp_path))
    svg = output.drawings["figure-2"].svg
    assert "prior probability" in svg and "prior log-odds" in svg
    assert all(row.ours is not None for row in output.compared)
