"""What a check of a corpus finds and counts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import noise, write_audio

from sottovoce.corpus import Corpus, Utterance, check_corpus, load_audio, read_manifest

HEADER = "utterance,path,speaker,gender,language,session,split\n"
SPEECH = Path(os.environ.get("SOTTOVOCE_SPEECH", "nowhere")) / "libri40"
"""40 speakers of LibriSpeech test-clean with a manifest, where a developer has them."""


def write(path: Path, seconds: float = 1.0, rate: int = 16000) -> None:
    write_audio(path, noise(seconds, rate=rate), rate)


def manifest(folder: Path, *rows: str) -> Corpus:
    (folder / "manifest.csv").write_text(HEADER + "".join(row + "\n" for row in rows))
    return read_manifest(folder)


def test_counts(tmp_path: Path) -> None:
    for name, rate in (("a", 16000), ("b", 16000), ("c", 8000)):
        write(tmp_path / f"{name}.wav", 36.0, rate)
    corpus = manifest(
        tmp_path,
        "a,a.wav,ann,f,en,1,enrol",
        "b,b.wav,ann,f,en,2,trial",
        "c,c.wav,bob,,,1,trial",
    )
    done: list[tuple[int, int]] = []
    report = check_corpus(corpus, progress=lambda *counts: done.append(counts))
    assert report.defects == () and done == [(1, 3), (2, 3), (3, 3)]
    data = report.to_dict()
    json.dumps(data, allow_nan=False)
    expected = {
        "utterances": 3,
        "speakers": 2,
        "hours": pytest.approx(0.03),
        "genders": {"f": 1, "unknown": 1},
        "utterances_per_speaker": {"least": 1, "median": 1.5, "most": 2},
        "sample_rates": {"8000": 1, "16000": 2},
        "languages": {"en": 2, "unknown": 1},
        "sessions": 3,
        "splits": {"enrol": 1, "trial": 2},
        "decoded": False,
        "n_defects": 0,
    }
    assert {key: data[key] for key in expected} == expected


def test_defects_have_file_and_line_in_order(tmp_path: Path) -> None:
    write(tmp_path / "a.wav")
    write(tmp_path / "short.wav", 0.01)
    (tmp_path / "empty.wav").touch()
    os.symlink("loop.wav", tmp_path / "loop.wav")
    corpus = manifest(
        tmp_path,
        "u1,a.wav,ann,f,,,",
        "u2,gone.wav,ann,f,,,",
        "u3,empty.wav,ann,f,,,",
        "u4,loop.wav,ann,f,,,",
        "u5,short.wav,ann,m,,,",
        "u6,a.wav,bob,m,,,",
    )
    report = check_corpus(corpus)
    lines = [int(defect.where.rsplit(":", 1)[1]) for defect in report.defects]
    assert lines == [3, 4, 5, 6, 6, 7]
    assert [
        (defect.code, word in defect.what)
        for defect, word in zip(
            report.defects, ("gone", "empty", "itself", "0.05", "ann", "u1"), strict=True
        )
    ] == [
        ("not-found", True),
        ("empty", True),
        ("unreadable", True),
        ("too-short", True),
        ("mismatch", True),
        ("duplicate-recording", True),
    ]
    assert all(d.where.startswith(f"{tmp_path / 'manifest.csv'}:") for d in report.defects)
    assert report.n_defects == 6 and report.sample_rates == {16000: 2}


def test_what_is_usable_but_should_be_known(tmp_path: Path) -> None:
    for name, rate in (("a", 16000), ("b", 16000), ("c", 8000)):
        write(tmp_path / f"{name}.wav", rate=rate)
    soundfile.write(tmp_path / "d.wav", np.full((16000, 2), 0.1), 16000)
    rows = ["a,a.wav,ann,,,,", "b,b.wav,ann,,,,", "c,c.wav,bob,,,,", "d,d.wav,ann,,,,"]
    report = check_corpus(manifest(tmp_path, *rows))
    assert not report.defects
    remarks = [(remark.where.rpartition(":")[2], remark.code) for remark in report.remarks]
    assert remarks == [("4", "unusual-rate"), ("4", "only-utterance"), ("5", "averaged-channels")]
    assert report.remarks[0].what.startswith("8,000 Hz where most have 16,000")


def test_what_headers_hide_is_found_by_decoding(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "zero.wav", np.zeros(16000), 16000)
    write(tmp_path / "cut.flac")
    (tmp_path / "cut.flac").write_bytes((tmp_path / "cut.flac").read_bytes()[:9000])
    corpus = manifest(tmp_path, "u1,zero.wav,ann,,,,", "u2,cut.flac,bob,,,,")
    assert check_corpus(corpus).defects == ()
    report = check_corpus(corpus, decode=True)
    assert report.decoded and [defect.code for defect in report.defects] == ["silent", "damaged"]


def test_segments_are_checked_against_their_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    write(path, 2.0)
    utterances = (
        Utterance("u1", path, "a", start=0.0, end=1.0),
        Utterance("u2", path, "a", start=1.0, end=3.0),
    )
    report = check_corpus(Corpus("c", tmp_path, utterances))
    (defect,) = report.defects
    assert defect.where == str(path) and defect.code == "out-of-range" and "2.000 s" in defect.what
    assert report.hours == pytest.approx(1 / 3600)


def test_a_corpus_without_utterances_has_nothing_wrong(tmp_path: Path) -> None:
    assert check_corpus(Corpus("c", tmp_path, ())).utterances_per_speaker.most == 0


@pytest.mark.skipif(not SPEECH.exists(), reason="set SOTTOVOCE_SPEECH to the folder of libri40")
def test_real_speech() -> None:
    corpus = read_manifest(SPEECH)
    report = check_corpus(corpus)
    assert (report.utterances, report.speakers) == (800, 40)
    assert report.genders == {"f": 20, "m": 20} and report.defects == ()
    assert report.splits == {"enrol": 200, "trial": 600} and round(report.hours, 2) == 0.94
    assert len(load_audio(corpus.utterances[0])) == 32320  # 2.02 s, as its duration column says
