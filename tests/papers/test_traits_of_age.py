"""Document 004, Tables 5 and 6: young and old speakers of a manifest with the column age."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.comprise_2021 import traits
from sottovoce.papers.comprise_2021.traits import F1
from sottovoce.papers.data import PaperData
from sottovoce.papers.results import ItemOutput

Run = Callable[[str, list[str]], ItemOutput]
SCHOOL, WORK = "my teacher gave us homework again", "my pension came late this month"


def corpus(ages: list[str]) -> Corpus:
    """A speaker for each age, who says six sentences that suit it."""
    return Corpus(
        "aged",
        Path(),
        tuple(
            Utterance(
                f"{speaker}-{turn}",
                Path("x.wav"),
                f"s{speaker}",
                gender="fm"[speaker % 2],
                transcript=f"{WORK if age > '21' else SCHOOL} {turn}",
                extra={"age": age} if age else {},
            )
            for speaker, age in enumerate(ages)
            for turn in range(6)
        ),
    )


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    def run_item(name: str, ages: list[str]) -> ItemOutput:
        monkeypatch.setattr(traits, "_texts", lambda data: corpus(ages))
        return ITEMS[name].run(PaperData(tmp_path))

    return run_item


def test_age_groups() -> None:
    groups = {"21": "young", "22": "old", "": "", "twenties": "", "-3": "", " 70 ": "old"}
    assert {years: traits.age_group(years) for years in groups} == groups


def test_ages_are_counted(run: Run) -> None:
    output = run("004-table-5", ["18", "21", "22", "twenties"])
    assert [row[2] for row in output.tables[0].rows[2:]] == [12, 6]
    assert not any("age is known" in remark for remark in output.remarks)


def test_age_is_inferred(run: Run) -> None:
    output = run("004-table-6", ["18", "60"] * 3 + ["20", "70"] * 3)
    gender, age = output.tables
    assert age.caption == "Macro-F1 in % of age"
    assert [row[2] for row in age.rows] == [published[1] for published in F1.values()]
    assert [row[2] for row in gender.rows] == [published[0] for published in F1.values()]
    assert all(float(row[4] or 0) == 100 for row in age.rows[:1])  # words tell the age exactly
    compared = [entry for entry in output.compared if "of age" in entry.quantity]
    assert [entry.published for entry in compared] == [65.4, 60.6, 61.1, 60.5]


def test_too_few_old_speakers_leave_gender_alone(run: Run) -> None:
    output = run("004-table-6", ["18"] * 8)
    assert len(output.tables) == 1
    assert any("Of age nothing is inferred" in remark for remark in output.remarks)


def test_without_ages_nothing_is_said_about_them(run: Run) -> None:
    assert len(run("004-table-6", [""] * 8).tables) == 1
    for name in ("004-table-5", "004-table-6"):
        assert any("age is known" in remark for remark in run(name, [""] * 8).remarks)
