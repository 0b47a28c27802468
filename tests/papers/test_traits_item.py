"""Document 004, Tables 5 and 6: traits from text, on a small made-up corpus."""

from __future__ import annotations

from pathlib import Path

from sottovoce.corpus.demo import builtin_corpus
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.comprise_2021.traits import F1
from sottovoce.papers.data import PaperData


def test_traits_from_text(tmp_path: Path) -> None:
    corpus = builtin_corpus(tmp_path / "cache", speakers=8, utterances=4)
    data = PaperData(tmp_path / "out", quick=True, corpus=str(corpus))
    counts = {row[0]: row[2] for row in ITEMS["004-table-5"].run(data).tables[0].rows}
    assert counts["female"] and counts["male"] and counts["old"] is None
    output = ITEMS["004-table-6"].run(data)
    (table,) = output.tables
    assert [(row[0], row[1]) for row in table.rows] == list(F1)
    for row in table.rows:
        assert all(isinstance(cell, float) and 0 <= cell <= 100 for cell in row[3:5])
