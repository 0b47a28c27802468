"""Document 000: categories and profiles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.attack import ScoreTable
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.papers import nautsch_2020
from sottovoce.papers.data import PaperData
from sottovoce.papers.nautsch_2020 import ITEMS, LIMITS
from sottovoce.papers.speech import SpeechStudy, open_study


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


@pytest.fixture
def study(tmp_path: Path) -> SpeechStudy:
    corpus = builtin_corpus(tmp_path / "corpus", speakers=16, utterances=2)
    return open_study(PaperData(tmp_path / "out", corpus=str(corpus)))


def test_the_women_are_counted_and_nobody_else(study: SpeechStudy) -> None:
    genders = {u.speaker: u.gender for u in study.attacked.corpus}
    women = sorted(name for name, gender in genders.items() if gender == "f")
    assert 1 < len(women) < len(genders)
    assert nautsch_2020._described(study).startswith(f"scores among the {len(women)} women of ")
    table = square_table(sorted(genders))
    scores = nautsch_2020._among(table, nautsch_2020._women(study))
    assert (len(scores.mated), len(scores.nonmated)) == (
        len(women),
        len(women) * (len(women) - 1),
    )


def test_men_are_not_called_women(study: SpeechStudy) -> None:
    corpus = study.attacked.corpus
    men = tuple(replace(utterance, gender="m") for utterance in corpus)
    study.attacked = replace(study.attacked, corpus=replace(corpus, utterances=men))
    assert nautsch_2020._women(study) == set()
    assert nautsch_2020._described(study).startswith("no women known, so all of ")


def test_enrolled_speakers_are_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trials of the document compare recordings with speakers, not with recordings."""
    asked: list[Any] = []

    def table(study: SpeechStudy, *attack: Any, over: str = "model") -> ScoreTable:
        asked.append(over)
        return square_table(sorted({u.speaker for u in study.attacked.corpus}))

    monkeypatch.setattr(SpeechStudy, "table", table)
    corpus = builtin_corpus(tmp_path / "corpus", speakers=6, utterances=4)
    item = next(item for item in ITEMS if item.id == "000-section-4.3")
    item.run(PaperData(tmp_path / "out", corpus=str(corpus)))
    assert set(asked) == {"model"} and len(asked) == 5


def square_table(speakers: list[str]) -> ScoreTable:
    """One trial of each speaker, higher against its own model."""
    names = np.array(speakers)
    values = np.random.default_rng(0).normal(0, 1, (len(names), len(names)))
    return ScoreTable(values + 3 * np.eye(len(names)), names, names, names)
