"""Which format a corpus is taken for."""

from __future__ import annotations

from pathlib import Path

from error_codes import raises_code

from sottovoce.corpus import open_corpus


def test_files_and_folders_lead_to_the_same_corpus(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_text("utterance,path,speaker\nu,u.wav,a\n")
    assert open_corpus(tmp_path) == open_corpus(tmp_path / "manifest.csv")
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "wav.scp").write_text("u u.wav\n")
    (tmp_path / "k" / "utt2spk").write_text("u a\n")
    assert open_corpus(tmp_path / "k") == open_corpus(tmp_path / "k" / "wav.scp")


def test_a_manifest_goes_before_folders(tmp_path: Path) -> None:
    (tmp_path / "id1").mkdir()
    (tmp_path / "id1" / "a.wav").touch()
    assert [utterance.speaker for utterance in open_corpus(tmp_path)] == ["id1"]
    (tmp_path / "manifest.csv").write_text("utterance,path,speaker\nu,id1/a.wav,ann\n")
    assert [utterance.speaker for utterance in open_corpus(tmp_path)] == ["ann"]


def test_what_was_looked_for_is_said(tmp_path: Path) -> None:
    with raises_code("unknown-format") as caught:
        open_corpus(tmp_path)
    for sign in ("manifest.csv", "wav.scp", "Lhotse", "clips/", "wav48*/", "trans.txt", "speaker"):
        assert sign in str(caught.value)
    (tmp_path / "a.txt").write_text("x")
    with raises_code("unknown-format") as caught:
        open_corpus(tmp_path / "a.txt")
    assert str(tmp_path / "a.txt") in str(caught.value)
    with raises_code("not-found"):
        open_corpus(tmp_path / "nowhere")
