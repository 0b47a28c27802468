"""LibriSpeech, VCTK, Common Voice and folders named after speakers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.corpus import Utterance, open_corpus
from sottovoce.corpus.reading import DefectsError
from sottovoce.corpus.trees import (
    read_common_voice,
    read_folders,
    read_librispeech,
    read_vctk,
)


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"audio")  # never opened: reading a corpus decodes nothing


@pytest.fixture
def librispeech(tmp_path: Path) -> Path:
    root = tmp_path / "LibriSpeech"
    chapter = root / "test-clean" / "61" / "70970"
    touch(chapter / "61-70970-0000.flac", chapter / "61-70970-0001.flac")
    (chapter / "61-70970.trans.txt").write_text("61-70970-0000 A WORD\n61-70970-0001 TWO\n")
    (root / "SPEAKERS.TXT").write_text("; comment\n61   | M | test-clean | 8.08 | Some One\n")
    return root


@pytest.mark.parametrize("subset", ["", "test-clean"])
def test_librispeech_whole_or_a_subset(librispeech: Path, subset: str) -> None:
    corpus = open_corpus(librispeech / subset)
    assert corpus.utterances[0] == Utterance(
        "61-70970-0000",
        librispeech / "test-clean/61/70970/61-70970-0000.flac",
        "61",
        gender="m",
        language="en",
        transcript="A WORD",
        session="70970",
        split="test-clean",
    )
    assert len(corpus) == 2 and corpus.notes == ()


def test_librispeech_lacks_are_noted_or_refused(librispeech: Path) -> None:
    chapter = librispeech / "test-clean" / "61" / "70970"
    table = chapter / "61-70970.trans.txt"
    table.write_text("61-70970-0000 A WORD\n")
    (librispeech / "SPEAKERS.TXT").unlink()
    notes = read_librispeech(librispeech).notes
    assert "no SPEAKERS.TXT" in notes[0] and "1 recordings have no transcript" in notes[1]
    table.write_text("61-70970-0000 A WORD\n61-70970-0009 GONE\n")
    with raises_code("not-found", DefectsError) as caught:
        read_librispeech(librispeech)
    assert str(caught.value).startswith(f"{table}:2: ")
    (librispeech / "SPEAKERS.TXT").write_text("61 | ? | x\n")
    with raises_code("malformed-line", DefectsError) as caught:
        read_librispeech(librispeech)
    assert str(caught.value).startswith(f"{librispeech / 'SPEAKERS.TXT'}:1: ")


@pytest.mark.parametrize(
    ("folder", "ending"), [("wav48", ".wav"), ("wav48_silence_trimmed", ".flac")]
)
def test_vctk(tmp_path: Path, folder: str, ending: str) -> None:
    mics = ("_mic1", "_mic2") if "trimmed" in folder else ("",)
    touch(*(tmp_path / folder / "p225" / f"p225_00{i}{m}{ending}" for i in (1, 2) for m in mics))
    (tmp_path / "txt" / "p225").mkdir(parents=True)
    (tmp_path / "txt" / "p225" / "p225_001.txt").write_text("Please call Stella.\n")
    info = "ID  AGE  GENDER  ACCENTS  REGION \n225  23  F    English    Southern  England\n"
    (tmp_path / "speaker-info.txt").write_text(info)
    corpus = open_corpus(tmp_path)
    assert corpus.utterances[0] == Utterance(
        f"p225_001{mics[0]}",
        tmp_path / folder / "p225" / f"p225_001{mics[0]}{ending}",
        "p225",
        gender="f",
        language="en",
        transcript="Please call Stella.",
        extra={"age": "23", "accent": "English", "region": "Southern England"},
    )
    assert len(corpus) == 2 and "1 recordings have no transcript" in corpus.notes[-1]
    assert ("2 recordings of other microphones" in corpus.notes[0]) == (len(mics) == 2)


def test_vctk_speaker_table_has_lines(tmp_path: Path) -> None:
    touch(tmp_path / "wav48" / "p1" / "p1_001.wav")
    (tmp_path / "speaker-info.txt").write_text("ID AGE GENDER\np1 23\n")
    with raises_code("malformed-line", DefectsError) as caught:
        read_vctk(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'speaker-info.txt'}:2: ")


CV = "client_id\tpath\tsentence\tage\tgender\tlocale\n"


@pytest.fixture
def common_voice(tmp_path: Path) -> Path:
    touch(tmp_path / "clips" / "cv_1.mp3")
    (tmp_path / "train.tsv").write_text(CV + 'c4\tcv_1.mp3\tSay "no".\t\tfemale_feminine\tnl\n')
    (tmp_path / "test.tsv").write_text(CV + "d5\tcv_2\tYes.\tthirties\tmale\tnl\n")
    (tmp_path / "other.tsv").write_text(CV + "d5\tcv_3.mp3\tYes.\t\t\tnl\n")
    return tmp_path


def test_common_voice(common_voice: Path) -> None:
    corpus = open_corpus(common_voice)
    first, second = corpus
    assert first == Utterance(
        "cv_1",
        common_voice / "clips/cv_1.mp3",
        "c4",
        gender="f",
        language="nl",
        transcript='Say "no".',
        split="train",
    )
    assert second.path.name == "cv_2.mp3" and second.extra == {"age": "thirties"}
    assert corpus.where(1) == f"{common_voice / 'test.tsv'}:2"
    assert corpus.notes == (f"{common_voice}: not read: other.tsv",)
    assert [utterance.id for utterance in open_corpus(common_voice / "other.tsv")] == ["cv_3"]


def test_common_voice_defects(common_voice: Path) -> None:
    table = common_voice / "test.tsv"
    table.write_text(CV + "d5\tcv_2\tYes.\n\tcv_3.mp3\t\t\t\t\nd5\tcv_1.mp3\t\t\t\t\n")
    with pytest.raises(DefectsError) as caught:
        read_common_voice(common_voice)
    defects = [(defect.where.rsplit("/")[-1], defect.code) for defect in caught.value.defects]
    assert defects == [
        ("test.tsv:2", "malformed-line"),
        ("test.tsv:3", "empty"),
        ("test.tsv:4", "duplicate-id"),
    ]
    table.write_text("a\tb\n")
    with raises_code("missing-column") as missing:
        read_common_voice(table)
    assert f"{table}:1: " in str(missing.value) and "'client_id'" in str(missing.value)


def test_folders_are_speakers_and_folders_in_them_sessions(tmp_path: Path) -> None:
    touch(
        tmp_path / "id1" / "talk" / "001.wav",
        tmp_path / "id2" / "002.FLAC",
        tmp_path / "id2" / ".hidden.wav",
        tmp_path / "id2" / "notes.txt",
        tmp_path / "loose.wav",
    )
    corpus = open_corpus(tmp_path)
    assert [(utterance.id, utterance.speaker, utterance.session) for utterance in corpus] == [
        ("id1/talk/001", "id1", "talk"),
        ("id2/002", "id2", ""),
    ]
    assert "left out: loose.wav" in corpus.notes[0]


def test_folders_with_links_in_circles_end(tmp_path: Path) -> None:
    touch(tmp_path / "id1" / "001.wav")
    os.symlink(tmp_path / "id1", tmp_path / "id1" / "again")
    os.symlink("loop.wav", tmp_path / "id1" / "loop.wav")
    assert [utterance.id for utterance in read_folders(tmp_path)] == ["id1/001", "id1/loop"]


def test_two_files_of_one_name_are_a_defect(tmp_path: Path) -> None:
    touch(tmp_path / "id1" / "1.flac", tmp_path / "id1" / "1.wav")
    with raises_code("duplicate-id", DefectsError) as caught:
        read_folders(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'id1' / '1.wav'}: id1/1 ") and "1.flac" in message
