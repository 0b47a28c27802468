"""Document 004, Figures 16 to 19, Tables 8 and 9: small models on made-up text."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.memorisation.study import Overfitting
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.comprise_2021 import memorised_tags, secret_models
from sottovoce.papers.data import PaperData
from sottovoce.papers.results import ItemOutput


def tagged(folder: Path) -> Path:
    """Places after *in*, people before *said*, companies after *at*, and words that are two."""
    rows = []
    for number in range(12):
        rows += [
            f"P{number} B-PER\nsaid O\nit O\n",
            f"it O\nrained O\nin O\nL{number} B-LOC\n",
            f"we O\nwork O\nat O\nO{number} B-ORG\n",
        ]
    for word, first, second in (
        ("Jordan", "PER", "LOC"),
        ("Chelsea", "LOC", "ORG"),
        ("Ford", "ORG", "PER"),
    ):
        rows += [f"{word} B-{first}\nsaid O\n", f"in O\n{word} B-{second}\n"] * 3
    (folder / "set").mkdir()
    for part in ("train", "test"):
        (folder / "set" / f"en.{part}.conll").write_text("\n".join(rows))
    return folder


def test_taggers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(memorised_tags, "QUICK_EPOCHS", (1, 2))
    monkeypatch.setattr(
        memorised_tags, "QUICK_OVERFITTING", Overfitting(share=0.5, epochs=2, every=1)
    )
    data = PaperData(tmp_path / "out", quick=True, ner=tagged(tmp_path))
    figure = ITEMS["004-figure-16"].run(data)
    (grid,) = figure.tables
    assert len(grid.rows) == 6 * 2 and "d-exposure" in figure.drawings["figure-16"].svg
    assert "Jordan" in figure.made_from
    overfitted = ITEMS["004-figure-17"].run(data)
    assert [row[0] for row in overfitted.tables[0].rows] == [1, 2]
    table = ITEMS["004-table-8"].run(data)
    assert [row[0] for row in table.tables[0].rows] == list(memorised_tags.REPETITIONS)
    assert all(isinstance(entry.ours, float) for entry in table.compared)
    (tmp_path / "empty").mkdir()
    with raises_code("empty"):
        ITEMS["004-table-8"].run(PaperData(tmp_path / "out", ner=tmp_path / "empty"))


def test_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("dp_accounting")
    monkeypatch.setattr(secret_models, "SENTENCES", 60)
    monkeypatch.setattr(secret_models, "EPOCHS", (1, 2))
    monkeypatch.setattr(secret_models, "PRIVACY", {"epsilon": 10, "delta": 1e-3, "epochs": 1})
    monkeypatch.setattr(secret_models, "SEEDS", 1)
    monkeypatch.setattr(
        secret_models, "SECRETS", {"pin": {"digits": 2, "spaced": True}, "illness": _WORDS}
    )
    data = PaperData(tmp_path / "out")
    insertions = ITEMS["004-figure-18"].run(data)
    rows, controls = insertions.tables
    assert len(rows.rows) == 2 * 2 * 2 and len(controls.rows) == 8
    for row in rows.rows:
        assert row[5] <= row[4] <= row[6]  # type: ignore[operator]
    assert "means of 1 seed" in insertions.made_from
    assert "synthetic" in insertions.made_from
    epochs = ITEMS["004-figure-19"].run(data)
    assert {row[1] for row in epochs.tables[0].rows} == {1, 2}
    table = ITEMS["004-table-9"].run(data)
    ours = [entry.ours for entry in table.compared]
    assert sorted(map(str, _here(table))) == sorted(map(str, ours))


_WORDS = {"values": [f"w{number}" for number in range(40)]}


def _here(output: ItemOutput) -> list[object]:
    """Our numbers of illnesses."""
    return [
        cell
        for row in output.tables[0].rows
        if row[0] == "illness" and str(row[1]).endswith("(here)")
        for cell in row[3:]
        if cell is not None
    ]


def test_text_of_transcripts(tmp_path: Path) -> None:
    from sottovoce.corpus.demo import builtin_corpus

    corpus = builtin_corpus(tmp_path / "cache", speakers=4, utterances=2)
    data = PaperData(tmp_path / "out", corpus=str(corpus), train=str(corpus))
    text, test = secret_models._texts(data)
    assert test is not None and Path(text).read_text() == Path(test).read_text()
    assert len(Path(text).read_text().splitlines()) == 8
    assert secret_models._texts(PaperData(tmp_path / "out"))[1] is None


def test_texts_of_corpora_with_one_name_are_two_texts(tmp_path: Path) -> None:
    """The test text is that of the training corpus, whatever the folders are called."""
    folders = [tmp_path / place / "libri" for place in ("attacked", "others")]
    for folder, word in zip(folders, ("first", "second"), strict=True):
        folder.mkdir(parents=True)
        (folder / "manifest.csv").write_text(
            f"utterance,path,speaker,transcript\nu,a.wav,s,the {word} text\n"
        )
    corpus, train = map(str, folders)
    texts = secret_models._texts(PaperData(tmp_path / "out", corpus=corpus, train=train))
    assert [Path(str(text)).read_text() for text in texts] == [
        "the first text\n",
        "the second text\n",
    ]
    assert {Path(str(text)).name for text in texts} == {"libri.transcripts.txt"}
