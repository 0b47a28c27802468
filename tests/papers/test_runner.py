"""Running items: folders, finished results, reasons, and the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from error_codes import raises_code

from sottovoce.cli import app, run
from sottovoce.core.errors import InputError
from sottovoce.papers import runner
from sottovoce.papers.catalogue import ITEMS, choose_items, item_status, list_items
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import DOCUMENTS, PaperItem
from sottovoce.papers.page import write_page
from sottovoce.papers.results import ItemOutput
from sottovoce.papers.runner import (
    RESULT,
    drawing_path,
    run_item,
    run_or_explain,
    stored_result,
)

FAST = "001-table-1"
WANTED = {
    "000": ["figure-2", "figure-3", "section-4.3", "table-1"],
    "001": ["figure-2", "figure-3", "figure-4", "figure-5", "table-1"],
    "002": ["figure-1", "figure-2", "figure-3", "table-2"],
    "003": ["figure-1", "table-1"],
    "004": [*(f"figure-{n}" for n in range(5, 20)), *(f"table-{n}" for n in range(1, 13))],
}
"""All results of the documents; their other figures are drawings of architectures."""


def test_every_table_and_figure_is_an_item() -> None:
    assert set(ITEMS) == {
        f"{document}-{name}" for document, names in WANTED.items() for name in names
    }


def test_ids_name_document_kind_and_number() -> None:
    for item in ITEMS.values():
        document, kind, number = item.id.split("-")
        assert document in DOCUMENTS and kind in ("figure", "table", "section")
        assert float(number) > 0


def test_list_as_json_keeps_its_contract() -> None:
    outcome = CliRunner().invoke(app, ["paper", "--list", "--json"])
    items = json.loads(outcome.stdout)["items"]
    assert {item["id"] for item in items} == set(ITEMS)
    for item in items:
        assert set(item) == {"id", "document", "title", "status", "needs"}
        assert item["status"] == ("runs" if item["needs"] is None else "needs")


def test_a_result_is_written_and_read_back(tmp_path: Path) -> None:
    data = PaperData(tmp_path)
    result = run_item(ITEMS[FAST], data)
    assert stored_result(ITEMS[FAST], data) == result
    stored = json.loads((tmp_path / FAST / RESULT).read_text())
    assert stored["result"]["tables"][0]["rows"][0][0] == "case 1"


def test_a_quick_result_does_not_stand_for_a_complete_one(tmp_path: Path) -> None:
    item, data = replace(ITEMS[FAST], whole=False), PaperData(tmp_path, quick=True)
    run_item(item, data)
    assert stored_result(item, data) is not None
    assert stored_result(item, replace(data, quick=False)) is None
    assert stored_result(item, replace(data, corpus="elsewhere")) is None


def unread(name: str) -> PaperItem:
    """An item that computes nothing."""
    return replace(ITEMS[name], run=lambda data: ItemOutput("nothing"))


def test_a_result_without_vectors_does_not_stand_for_one_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.papers.data.find_spec", lambda name: name)  # all installed
    item, data = unread("004-figure-18"), PaperData(tmp_path / "out")
    run_item(item, data)
    vectors = tmp_path / "glove.txt"
    vectors.write_text("word 1 2\n")
    with_vectors = PaperData(tmp_path / "out", vectors=(vectors,))
    assert not run_or_explain(item, with_vectors).kept
    assert run_or_explain(item, with_vectors).kept
    assert not run_or_explain(item, data).kept


def test_inputs_of_the_same_name_are_different_inputs(tmp_path: Path) -> None:
    corpora = []
    for name in ("vctk", "libri"):
        corpora.append(tmp_path / name / "dev")
        corpora[-1].mkdir(parents=True)
        (corpora[-1] / "manifest.csv").write_text(f"id,path,speaker\n{name},a.wav,s\n")
    first, second = (PaperData(tmp_path / "out", corpus=str(corpus)) for corpus in corpora)
    run_item(ITEMS[FAST], first)
    assert stored_result(ITEMS[FAST], first) is not None
    assert stored_result(ITEMS[FAST], second) is None
    assert str(tmp_path) not in (tmp_path / "out" / FAST / RESULT).read_text()


def test_only_what_an_item_uses_decides_about_its_result(tmp_path: Path) -> None:
    run_item(ITEMS[FAST], PaperData(tmp_path))
    more = PaperData(tmp_path, ner=tmp_path, vectors=(tmp_path / "a.txt",))
    assert stored_result(ITEMS[FAST], more) is not None


def test_items_say_what_they_left_out_themselves(tmp_path: Path) -> None:
    data = PaperData(tmp_path, skip=("xvector, ignorant",))
    assert run_item(ITEMS[FAST], data).skipped == ()
    assert stored_result(ITEMS[FAST], replace(data, skip=())) is not None


def test_a_result_never_stands_beside_other_drawings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = PaperData(tmp_path)
    run_item(ITEMS["001-figure-3"], data)

    def stop(path: Path, value: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "write_json", stop)
    with pytest.raises(KeyboardInterrupt):
        run_item(ITEMS["001-figure-3"], data)
    assert stored_result(ITEMS["001-figure-3"], data) is None


def test_a_finished_result_is_kept(tmp_path: Path) -> None:
    data = PaperData(tmp_path)
    assert not run_or_explain(ITEMS[FAST], data).kept
    assert run_or_explain(ITEMS[FAST], replace(data, quick=True)).kept


def test_what_is_needed_is_said(tmp_path: Path) -> None:
    item = ITEMS["004-table-4"]
    for needy in (item, ITEMS["004-table-11"]):
        with raises_code("missing-data"):
            run_item(needy, PaperData(tmp_path))
    outcome = run_or_explain(item, PaperData(tmp_path))
    assert outcome.result is None and "--ner" in str(outcome.reason)
    status = {row.id: row for row in list_items(PaperData(tmp_path))}["004-table-4"]
    assert status.status == "needs"
    given = {row.id: row for row in list_items(PaperData(tmp_path, ner=tmp_path))}["004-table-4"]
    assert given.status == "runs"


def test_items_are_chosen_by_document() -> None:
    chosen = [item.id for item in choose_items(["003"])]
    assert chosen == ["003-figure-1", "003-table-1"]
    assert len(choose_items(["all"])) == len(ITEMS)
    with raises_code("unknown-name"):
        choose_items(["001-table-9"])


@pytest.mark.parametrize("words", [["paper"], ["paper", "001-table-9"], ["paper", "004-table-4"]])
def test_bad_usage_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_the_page_has_every_item(tmp_path: Path) -> None:
    names = [FAST, "001-figure-3", "004-table-4"]
    data = PaperData(tmp_path / "out")
    outcomes = [run_or_explain(ITEMS[name], data) for name in names]
    write_page(tmp_path / "papers.md", outcomes, data, "sottovoce paper all")
    page = (tmp_path / "papers.md").read_text()
    for name in names:
        assert f"### {name}" in page
    assert "Not here: it needs tagged text" in page
    assert "| Cllr_min, case 1 | 0.5 | 0.5 |" in page
    drawing = tmp_path / "images" / "papers" / "001-figure-3.svg"
    assert ElementTree.parse(drawing).getroot().tag.endswith("svg")


def test_a_page_of_what_is_finished_computes_nothing(tmp_path: Path) -> None:
    run_item(ITEMS[FAST], PaperData(tmp_path / "out"))
    page = tmp_path / "papers.md"
    words = ["paper", "001", "--finished", "--out", str(tmp_path / "out"), "--page", str(page)]
    assert CliRunner().invoke(app, words).exit_code == 0
    text = page.read_text()
    assert "1 of 5 items are here" in text
    assert "to be computed: sottovoce paper 001-figure-2" in text
    assert not (tmp_path / "out" / "001-figure-2").exists()


def test_a_page_keeps_what_another_run_computed(tmp_path: Path) -> None:
    page = tmp_path / "papers.md"
    sections = []
    for name in (FAST, "001-figure-3"):
        run_item(ITEMS[name], PaperData(tmp_path / name))
        words = ["paper", "001", "--finished", "--out", str(tmp_path / name), "--page", str(page)]
        assert CliRunner().invoke(app, words).exit_code == 0
        sections.append(page.read_text().partition(f"### {FAST}")[2])
    text = page.read_text()
    assert "2 of 5 items are here" in text and sections[0] == sections[1]
    assert (tmp_path / "images" / "papers" / "001-figure-3.svg").is_file()
    assert CliRunner().invoke(app, words).exit_code == 0
    assert page.read_text() == text
    outcomes = [run_or_explain(ITEMS["004-table-4"], PaperData(tmp_path))]
    write_page(page, outcomes, PaperData(tmp_path), "sottovoce paper all")
    assert FAST not in page.read_text()  # whoever computes a page writes it anew


def test_command_prints_published_beside_ours(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(app, ["paper", FAST, "--out", str(tmp_path)])
    assert outcome.exit_code == 0
    assert "published" in outcome.stdout and "0.656" in outcome.stdout


def test_a_result_whose_drawing_is_lost_is_computed_anew(tmp_path: Path) -> None:
    item, data = ITEMS["001-figure-3"], PaperData(tmp_path)
    result = run_item(item, data)
    drawing_path(data, result, result.figures[0]).unlink()
    assert stored_result(item, data) is None
    assert not run_or_explain(item, data).kept
    assert run_or_explain(item, data).kept


def test_an_error_of_one_item_is_the_exit_code_after_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(data: PaperData) -> ItemOutput:
        raise InputError("voices: too few", code="too-few")

    monkeypatch.setitem(ITEMS, "001-figure-3", replace(ITEMS["001-figure-3"], run=fail))
    page = tmp_path / "page.md"
    items = ["001-figure-3", FAST]
    assert run(["paper", *items, "--out", str(tmp_path), "--page", str(page)]) == 2
    printed = capsys.readouterr()
    assert f"001-figure-3: not run: an error: voices: too few\n{FAST}: done" in printed.out
    assert printed.err.count("001-figure-3: ended with the errors above") == 1
    assert "voices: too few" in page.read_text()


class Unasked:
    """Stands for the answer whether a run is quick, which nobody may ask for."""

    def __bool__(self) -> bool:
        raise AssertionError("the item is smaller in a quick run")


@pytest.mark.parametrize("name", [name for name, item in ITEMS.items() if item.whole])
def test_items_of_which_nothing_is_left_out_are_no_quick_runs(name: str, tmp_path: Path) -> None:
    quick: Any = Unasked()
    words = tmp_path / "words"
    words.mkdir()
    (words / "en.train.conll").write_text("Reading B-LOC\nis O\nreading O\n\n" * 3)
    data = PaperData(tmp_path / "out", corpus="builtin", ner=words, quick=quick)
    if item_status(ITEMS[name], data).needs is None:
        assert not run_item(ITEMS[name], data).quick
