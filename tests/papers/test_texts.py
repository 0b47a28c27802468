"""Document 004: tables of text."""

from __future__ import annotations

from pathlib import Path

from sottovoce.anonymise.text.taggers import WRITTEN, shipped_tagger
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.comprise_2021 import texts
from sottovoce.papers.comprise_2021.texts import STRATEGIES
from sottovoce.papers.data import PaperData

SENTENCES = "Anna\tB-PER\nlives\tO\nin\tO\nBerlin\tB-LOC\n\nthe\tO\ntrain\tO\nleft\tO\n\n"


def write(folder: Path, name: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SENTENCES)


def test_a_tagger_is_not_tested_on_what_it_was_trained_on(tmp_path: Path) -> None:
    """The shipped tagger of German was trained on the test file of GermEval, by its card."""
    tagger = shipped_tagger("de", WRITTEN)
    trained = [name for name in tagger.info.card["data"] if "test" in name]
    assert trained == ["germeval14/de.test.conll.xz"]
    write(tmp_path, "germeval14/de.test.conll.xz")
    test = tmp_path / "germeval14/de.test.conll.xz"
    assert texts._unseen(test, [tagger]) is None
    write(tmp_path, "germeval14/de.dev.conll.xz")
    assert texts._unseen(test, [tagger]) == tmp_path / "germeval14/de.dev.conll.xz"
    write(tmp_path, "other/de.test.conll")
    other = tmp_path / "other/de.test.conll"
    assert texts._unseen(other, [tagger]) == other


def test_taggers_are_measured_on_files_of_the_user(tmp_path: Path) -> None:
    write(tmp_path, "mine/de.test.conll")
    output = ITEMS["004-table-4"].run(PaperData(tmp_path / "out", ner=tmp_path))
    rows = {row[0]: row for row in output.tables[0].rows}
    assert rows["de"][1] == "mine/de.test" and isinstance(rows["de"][4], float)
    assert rows["pt"][1] == "no test file" and rows["pt"][4] is None


def test_names_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "mine" / "en.train.conll"
    path.parent.mkdir()
    path.write_text(
        "Chelsea\tB-ORG\nwon\tO\n\nChelsea\tB-PER\nClinton\tI-PER\n\nChelsea\tB-LOC\n\n"
    )
    output = ITEMS["004-table-7"].run(PaperData(tmp_path / "out", ner=tmp_path))
    row = next(row for row in output.tables[0].rows if row[0] == "Chelsea")
    assert row[4:] == (0, 1, 1)  # the person has two words


def test_every_strategy_is_shown(tmp_path: Path) -> None:
    output = ITEMS["004-table-3"].run(PaperData(tmp_path))
    rows = {row[0]: str(row[2]) for row in output.tables[0].rows}
    assert set(STRATEGIES) < set(rows)
    assert all("Miller" not in rows[name] for name in STRATEGIES)
