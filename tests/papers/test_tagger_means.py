"""Document 004, Table 4: means over the same languages, written text and voice commands apart."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.comprise_2021 import texts
from sottovoce.papers.data import PaperData
from sottovoce.papers.results import ItemOutput

TAGGED = "Anna\tB-PER\nlives\tO\nin\tO\nBerlin\tB-LOC\n\n"
UNTAGGED = "the\tO\ntrain\tO\nleft\tO\n\n"
F1 = {"news/de": 60.0, "more/de": 70.0, "news/nl": 45.0, "massive/de": 90.0, "massive/pt": 80.0}
"""By set and language, of texts of as many sentences as the place in this table."""


def write(folder: Path, name: str, text: str) -> None:
    path = folder / f"{name}.test.conll"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run(folder: Path) -> ItemOutput:
    return ITEMS["004-table-4"].run(PaperData(folder / "out", ner=folder))


@pytest.fixture
def drawn_f1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = list(F1.values())
    for count, name in enumerate(F1, start=1):
        write(tmp_path, name, TAGGED * count)

    def evaluate(sentences: list[object], *rest: object) -> SimpleNamespace:
        return SimpleNamespace(entities=SimpleNamespace(f1=values[len(sentences) - 1] / 100))

    monkeypatch.setattr(texts, "evaluate", evaluate)


@pytest.mark.usefixtures("drawn_f1")
def test_means_are_over_the_same_written_sets(tmp_path: Path) -> None:
    each, for_all, *_ = run(tmp_path).compared
    assert "written text in de, nl, one each" in each.quantity
    assert each.published == pytest.approx((84.0 + 91.65) / 2)
    assert each.ours == pytest.approx((65 + 45) / 2)
    assert "written text in de, nl, one for all" in for_all.quantity
    assert for_all.published == pytest.approx((84.82 + 91.62) / 2)


@pytest.mark.usefixtures("drawn_f1")
def test_commands_stand_apart(tmp_path: Path) -> None:
    commands = run(tmp_path).compared[2]
    assert "voice commands in de, pt" in commands.quantity
    assert commands.published == "not tried" and commands.ours == pytest.approx((90 + 80) / 2)


def test_without_written_text_there_is_no_mean(tmp_path: Path) -> None:
    write(tmp_path, "massive/de", TAGGED)
    written = run(tmp_path).compared[0]
    assert "no language" in written.quantity and written.ours is None


def test_a_file_without_private_words_has_a_row(tmp_path: Path) -> None:
    write(tmp_path, "news/de", UNTAGGED)
    (row,) = [row for row in run(tmp_path).tables[0].rows if row[0] == "de"]
    assert row[1] == "news/de.test: tags nothing private" and row[4:] == (None, None, None)


def test_other_errors_are_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*inputs: object) -> None:
        raise InputError("a defect of the evaluation", code="damaged")

    write(tmp_path, "news/de", TAGGED)
    monkeypatch.setattr(texts, "evaluate", broken)
    with raises_code("damaged"):
        run(tmp_path)
