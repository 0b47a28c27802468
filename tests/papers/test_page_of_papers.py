"""The page: why items are not there, and what every item trains on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.data import PaperData
from sottovoce.papers.page import write_page
from sottovoce.papers.results import ItemOutput
from sottovoce.papers.runner import finished_or_reason, run_or_explain

FAST = "001-table-1"


def failing(data: PaperData) -> ItemOutput:
    raise InputError("libri40: 3 speakers; the attack needs 20")


def test_errors_are_not_called_needs(tmp_path: Path) -> None:
    data = PaperData(tmp_path)
    outcomes = [
        run_or_explain(replace(ITEMS[FAST], run=failing), data),
        run_or_explain(ITEMS["004-table-4"], data),
        finished_or_reason(ITEMS["001-figure-3"], data),
    ]
    write_page(tmp_path / "papers.md", outcomes, data, "sottovoce paper all")
    absent = [
        line for line in (tmp_path / "papers.md").read_text().splitlines() if "Not here" in line
    ]
    assert absent[0] == "Not here: an error: libri40: 3 speakers; the attack needs 20."
    assert absent[1].startswith("Not here: it needs tagged text")
    assert absent[2] == "Not here: to be computed: sottovoce paper 001-figure-3."


def test_the_introduction_says_that_training_speech_is_cut(tmp_path: Path) -> None:
    write_page(tmp_path / "papers.md", [], PaperData(tmp_path), "sottovoce paper all")
    text = (tmp_path / "papers.md").read_text()
    assert "the first 4 s of 5 utterances of each of 40 speakers" in text
    assert "the first 4 s of 3 utterances of each of 20 speakers" in text
    assert "an item takes the whole corpus" not in text
