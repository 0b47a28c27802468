"""Kaldi data directories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.corpus import Corpus, Utterance, read_kaldi, write_kaldi
from sottovoce.corpus.kaldi import FILES as NAMES
from sottovoce.corpus.kaldi import kaldi_files, read_utt2spk
from sottovoce.corpus.reading import DefectsError

FILES = {
    "wav.scp": "u1 a/one.wav\nu2 /data/my file.flac\n",
    "utt2spk": "u2 bob\nu1\tann\n",
    "text": "u1 HELLO  THERE\nu2\n",
    "spk2gender": "ann f\nbob m\n",
}


def write(folder: Path, **changes: str) -> Path:
    for name, text in {
        **FILES,
        **{k.replace("wav_scp", "wav.scp"): v for k, v in changes.items()},
    }.items():
        if text:
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_files_are_joined_by_id(tmp_path: Path) -> None:
    corpus = read_kaldi(write(tmp_path))
    first = Utterance("u1", tmp_path / "a/one.wav", "ann", gender="f", transcript="HELLO  THERE")
    second = Utterance("u2", Path("/data/my file.flac"), "bob", gender="m")
    assert corpus.utterances == (first, second)
    assert corpus.where(1) == f"{tmp_path / 'wav.scp'}:2" and corpus.notes == ()


def test_segments_cut_recordings(tmp_path: Path) -> None:
    write(
        tmp_path, segments="s1 u1 0 1.5\ns2 u1 1.5 -1\n", utt2spk="s1 ann\ns2 bob\n", text="s1 A\n"
    )
    corpus = read_kaldi(tmp_path)
    times = [(utterance.id, utterance.start, utterance.end) for utterance in corpus]
    assert times == [("s1", 0.0, 1.5), ("s2", 1.5, None)]
    assert {utterance.path for utterance in corpus} == {tmp_path / "a/one.wav"}
    assert corpus.where(1) == f"{tmp_path / 'segments'}:2"
    assert [note.split(": ")[1] for note in corpus.notes] == [
        "no line for 1 utterances",
        "1 recordings have no segment",
    ]


@pytest.mark.parametrize(
    ("changes", "where", "code", "other"),
    [
        ({"wav_scp": "u1 sox a.wav - |\nu2 b.wav\n"}, "wav.scp:1", "unsupported", "command"),
        ({"wav_scp": "u1 a.wav\nu2 raw.ark:2048\n"}, "wav.scp:2", "unsupported", "raw.ark:2048"),
        ({"wav_scp": "u1 a.wav\nu2\n"}, "wav.scp:2", "malformed-line", "recording path"),
        ({"wav_scp": "u1 a\nu2 b\n\nu1 c\n"}, "wav.scp:4", "duplicate-id", "line 1"),
        ({"wav_scp": "u1 a\nu2 b\nu3 c\n"}, "wav.scp:3", "unknown-name", "utt2spk"),
        ({"utt2spk": "u1 a\nu2 b\nu3 a\n"}, "utt2spk:3", "unknown-name", "wav.scp"),
        ({"text": "u9 WORDS\n"}, "text:1", "unknown-name", "wav.scp"),
        ({"spk2gender": "eve f\n"}, "spk2gender:1", "unknown-name", "utt2spk"),
        ({"utt2split": "u9 trial\n"}, "utt2split:1", "unknown-name", "wav.scp"),
        ({"segments": "u1 u1 0 1\nu2 u7 0 1\n"}, "segments:2", "unknown-name", "u7"),
        ({"segments": "u1 u1 0 1\nu2 u2 0 end\n"}, "segments:2", "malformed-line", "seconds"),
        ({"segments": "u1 u1 2 1\nu2 u2 0 1\n"}, "segments:1", "out-of-range", "start"),
    ],
)
def test_defects(
    tmp_path: Path, changes: dict[str, str], where: str, code: str, other: str
) -> None:
    write(tmp_path, **changes)
    with pytest.raises(DefectsError) as caught:
        read_kaldi(tmp_path)
    assert any(
        (defect.where, defect.code) == (f"{tmp_path}/{where}", code) and other in defect.what
        for defect in caught.value.defects
    ), caught.value.defects


@pytest.mark.parametrize("text", ["my name is ann\n", "my name is ann\nmy name is bob\n"])
def test_no_word_of_a_text_without_ids_is_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(DefectsError) as caught:
        read_kaldi(write(tmp_path, text=text))
    words = " ".join(defect.what for defect in caught.value.defects).split()
    assert words and not {"my", "name", "ann", "bob"} & set(words)


def test_a_directory_without_speakers_is_refused(tmp_path: Path) -> None:
    write(tmp_path, utt2spk="")
    with raises_code("not-found") as caught:
        read_kaldi(tmp_path)
    assert str(tmp_path / "utt2spk") in str(caught.value)


def test_speakers_of_utterances(tmp_path: Path) -> None:
    path = tmp_path / "utt2spk"
    path.write_text("\ufeffu1 ann\r\n\nu2\t bob\n", encoding="utf-8")
    assert read_utt2spk(path) == {"u1": "ann", "u2": "bob"}


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("u1\n", ":1", "malformed-line"),
        ("u1 ann\nu2 ann lee\n", ":2", "malformed-line"),
        ("u1 ann\n\nu1 bob\n", ":3", "duplicate-id"),
        ("\n", "", "empty"),
        ("", "", "empty"),
    ],
)
def test_defects_of_speakers(tmp_path: Path, text: str, line: str, code: str) -> None:
    path = tmp_path / "utt2spk"
    path.write_text(text)
    with raises_code(code) as caught:
        read_utt2spk(path)
    assert str(caught.value).startswith(f"{path}{line}: ")


def test_paths_from_where_kaldi_was_started_are_found_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", wav_scp="u1 wav/1.wav\nu2 wav/2.wav\n")
    (tmp_path / "wav").mkdir()
    (tmp_path / "wav" / "1.wav").touch()
    monkeypatch.chdir(tmp_path)
    corpus = read_kaldi("data")
    assert corpus.utterances[0].path == Path("wav/1.wav") and "current folder" in corpus.notes[0]


def corpus_of(folder: Path, **changes: object) -> Corpus:
    utterances = [
        Utterance("b-1", folder / "x.wav", "b", "m", "en", "WORDS HERE", "s1", "trial", **changes),  # type: ignore[arg-type]
        Utterance("a-1", folder / "y.wav", "a", "f"),
    ]
    return Corpus("c", folder, tuple(utterances))


@pytest.mark.parametrize("times", [{}, {"start": 1.25, "end": 2.5}, {"start": 0.5}])
def test_round_trip(tmp_path: Path, times: dict[str, float]) -> None:
    corpus = corpus_of(tmp_path, **times)
    written = write_kaldi(corpus, tmp_path / "kaldi")
    again = read_kaldi(written)
    assert sorted(again, key=lambda utterance: utterance.id) == sorted(
        corpus, key=lambda utterance: utterance.id
    )
    assert (written / "segments").exists() == bool(times)
    ids = [line.split()[0] for line in (written / "utt2spk").read_text().splitlines()]
    assert ids == sorted(ids, key=str.encode)  # as Kaldi's own programs demand
    assert os.listdir(tmp_path) == ["kaldi"]


def test_a_directory_moves_with_its_audio(tmp_path: Path) -> None:
    folder = tmp_path / "kaldi"
    inside = Utterance("u1", folder / "audio" / "x.wav", "a")
    outside = Utterance("u2", tmp_path / "y.wav", "a")
    files = kaldi_files(Corpus("c", folder, (inside, outside)), folder)
    assert list(files)[-1] == "wav.scp"
    assert files["wav.scp"] == f"u1 audio/x.wav\nu2 {tmp_path}/y.wav\n"
    written = write_kaldi(Corpus("c", folder, (inside,)), folder)
    assert str(tmp_path) not in (written / "wav.scp").read_text()
    assert set(os.listdir(written)) <= set(NAMES)
    moved = written.rename(tmp_path / "moved")
    assert read_kaldi(moved).utterances[0].path == moved / "audio" / "x.wav"


def test_several_whole_utterances_of_one_file_need_segments(tmp_path: Path) -> None:
    utterances = tuple(Utterance(f"u{i}", tmp_path / "one.wav", "a") for i in range(2))
    written = write_kaldi(Corpus("c", tmp_path, utterances), tmp_path / "kaldi")
    assert read_kaldi(written).utterances == utterances


@pytest.mark.parametrize(
    ("utterance", "field"),
    [
        (Utterance("a b", Path("a.wav"), "a"), "its id"),
        (Utterance("a", Path("a.wav"), "ann lee"), "its speaker"),
        (Utterance("a", Path("rm -rf |"), "a"), "rm -rf |"),
        (Utterance("a", Path("a.wav"), "a", channel=1), "channel 1"),
    ],
)
def test_what_kaldi_files_cannot_hold_is_refused(
    tmp_path: Path, utterance: Utterance, field: str
) -> None:
    with raises_code("unsupported") as caught:
        write_kaldi(Corpus("c", tmp_path, (utterance,)), tmp_path / "kaldi")
    assert field in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_speaker_with_two_genders_is_refused(tmp_path: Path) -> None:
    utterances = tuple(Utterance(g, tmp_path / f"{g}.wav", "ann", gender=g) for g in "fm")
    with raises_code("mismatch"):
        write_kaldi(Corpus("c", tmp_path, utterances), tmp_path / "kaldi")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "kaldi").mkdir()
    write(tmp_path / "kaldi")
    with raises_code("exists"):
        write_kaldi(corpus_of(tmp_path), tmp_path / "kaldi")
