"""Document 004, Figure 17 and Table 8: what made-up studies of taggers are compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sottovoce.findings import TaggerCheck, TaggerStudy
from sottovoce.findings.exposure import ClassExposure, DiscriminativeExposure
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.comprise_2021 import memorised_tags
from sottovoce.papers.comprise_2021.memorised_tags import CLASSES
from sottovoce.papers.data import PaperData
from sottovoce.papers.results import ItemOutput

Run = Callable[[str, TaggerStudy], ItemOutput]
MOST = 8.0


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    def run_item(name: str, study: TaggerStudy) -> ItemOutput:
        monkeypatch.setattr(memorised_tags, "tagger_study", lambda data: study)
        monkeypatch.setattr(memorised_tags, "_tagged_files", lambda folder: (tmp_path, tmp_path))
        return ITEMS[name].run(PaperData(tmp_path))

    return run_item


def check(epoch: int, bits: float, f1: float, repetitions: int = 16) -> TaggerCheck:
    classes = tuple(
        ClassExposure(label, "word", bits, MOST, rank=1, words=256, confidence=0.5, p_value=0.5)
        for label in CLASSES
    )
    exposure = DiscriminativeExposure(bits, classes)
    return TaggerCheck("bilstm", repetitions, epoch, f1, f1, exposure)


def study(*overfitting: TaggerCheck) -> TaggerStudy:
    checks = tuple(check(5, 1.0, 0.5, count) for count in memorised_tags.REPETITIONS)
    return TaggerStudy(100, "phrase", (), checks, overfitting)


def answer(run: Run, *bits_and_f1: tuple[float, float]) -> tuple[str, str]:
    checks = [check(epoch, *pair) for epoch, pair in enumerate(bits_and_f1, start=1)]
    (compared,) = run("004-figure-17", study(*checks)).compared
    return str(compared.ours), compared.why


def test_no_rise_while_overfitting_is_a_yes(run: Run) -> None:
    assert answer(run, (1, 0.3), (4, 0.6), (4, 0.5), (3, 0.4)) == (
        "yes: 4.00 bits at epoch 2, at most 4.00 later",
        "",
    )


def test_a_rise_while_overfitting_is_a_no(run: Run) -> None:
    ours, why = answer(run, (1, 0.3), (4, 0.6), (5, 0.5))
    assert ours.startswith("no: 4.00") and "5.00" in ours and why


def test_what_is_at_its_maximum_cannot_rise(run: Run) -> None:
    ours, why = answer(run, (1, 0.3), (MOST, 0.6), (MOST, 0.5))
    assert ours.startswith("yes") and "cannot rise" in why


def test_without_overfitting_there_is_no_answer(run: Run) -> None:
    ours, why = answer(run, (1, 0.3), (4, 0.6))
    assert ours.startswith("cannot be told") and why


def test_epochs_of_table_8_are_said(run: Run) -> None:
    output = run("004-table-8", study(check(1, 1.0, 0.5)))
    assert "after 150 epochs, here after 5" in output.tables[0].caption
    assert all("150 epochs published, 5 here" in entry.why for entry in output.compared)
    rows = {row[0]: row for row in output.tables[0].rows}
    assert rows[256] == (256, 3.29, 1.0, 7.89, 1.0, 6.16, 1.0)
