"""``manifest.csv``: what is read is what was written, and every defect has its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.corpus import Corpus, Utterance, read_manifest, write_manifest
from sottovoce.corpus.reading import DefectsError

HEADER = "utterance,path,speaker,gender,language,transcript,session,split\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "manifest.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_columns(tmp_path: Path) -> None:
    path = write(
        tmp_path, HEADER[:-1] + ',mood\nu1,a/u1.flac,ann,F,en,"Yes, I\nsaw",s1,trial,glad\n'
    )
    (utterance,) = read_manifest(path)
    assert utterance == Utterance(
        "u1",
        tmp_path / "a" / "u1.flac",
        "ann",
        gender="f",
        language="en",
        transcript="Yes, I\nsaw",
        session="s1",
        split="trial",
        extra={"mood": "glad"},
    )


def test_utterance_id_serves_as_utterance_and_few_columns_suffice(tmp_path: Path) -> None:
    write(tmp_path, "\ufeffspeaker,utterance_id,path\r\nann,u1,u1.wav\r\n\r\n")
    corpus = read_manifest(tmp_path)
    assert [utterance.id for utterance in corpus] == ["u1"] and corpus.name == tmp_path.name
    assert corpus.where(0) == f"{tmp_path / 'manifest.csv'}:2"


def test_every_defective_row_is_reported_with_its_line(tmp_path: Path) -> None:
    rows = [
        'u1,a.wav,ann,,,"two\nlines",,',
        "u1,b.wav,ann,,,,,",
        ",c.wav,ann,,,,,",
        "u4,,ann,,,,,",
        "u5,e.wav, ,,,,,",
        "u6,f.wav,ann",
    ]
    path = write(tmp_path, HEADER + "\n".join(rows) + "\n")
    with pytest.raises(DefectsError) as caught:
        read_manifest(path)
    assert caught.value.code == "duplicate-id"
    assert str(caught.value).startswith(f"{path}:4: u1 again (first: {path}:2)")
    assert "4 more" in str(caught.value)
    defects = [(defect.where, defect.code) for defect in caught.value.defects]
    codes = ("duplicate-id", "empty", "empty", "empty", "malformed-line")
    lines = (f"{path}:{line}" for line in (4, 5, 6, 7, 8))
    assert sorted(defects) == list(zip(lines, codes, strict=True))
    whats = {defect.where: defect.what for defect in caught.value.defects}
    for line, column in ((5, "no utterance;"), (6, "no path;"), (7, "no speaker;"), (8, "3 cells")):
        assert whats[f"{path}:{line}"].startswith(column)


@pytest.mark.parametrize(
    ("text", "place", "code", "name"),
    [
        ("utterance,path\nu,a.wav\n", ":1", "missing-column", "'speaker' (has utterance, path)"),
        ("utterance,path,speaker,,\nu,a,b,,\n", ":1", "unnamed-column", "column 4"),
        ("utterance,path,speaker,path\n", ":1", "duplicate-column", "'path'"),
        ("u,a.wav,ann,my words,my words\n", ":1", "missing-column", "'utterance' (has none"),
        (HEADER, "", "empty", "utterances"),
        ("\n\n", "", "empty", "columns"),
        ("", "", "empty", "0 bytes"),
        (HEADER + 'u,"a"b,c,,,,,\n', ":2", "malformed-line", "CSV"),
        ("utterance,path,speaker,start\nu,a.wav,ann,soon\n", ":2", "wrong-type", "start"),
        ("utterance,path,speaker,start,end\nu,a.wav,ann,3,2\n", ":2", "out-of-range", "start"),
        ("utterance,path,speaker,channel\nu,a.wav,ann,left\n", ":2", "wrong-type", "channel"),
        ("utterance,path,speaker,channel\nu,a.wav,ann,-1\n", ":2", "out-of-range", "channel"),
    ],
)
def test_defects(tmp_path: Path, text: str, place: str, code: str, name: str) -> None:
    path = write(tmp_path, text)
    with raises_code(code) as caught:
        read_manifest(path)
    message = str(caught.value)
    assert message.startswith(f"{path}{place}: ") and name in message and "\n" not in message


@pytest.mark.parametrize("column", ["start", "end", "channel"])
def test_no_piece_of_a_transcript_is_shown(tmp_path: Path, column: str) -> None:
    header = f"utterance,path,speaker,transcript,{column}\n"
    path = write(tmp_path, header + "u,a.wav,ann,my name is ann,and i live in bonn\n")
    with raises_code("wrong-type") as caught:
        read_manifest(path)
    assert f":2: {column} " in str(caught.value)
    assert "bonn" not in str(caught.value) and "live" not in str(caught.value)


def test_text_in_another_encoding_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "manifest.csv"
    path.write_bytes(HEADER.encode() + b"u1,a.wav,ann,,,,,\nu2,b.wav,J\xf6rg,,,,,\n")
    with raises_code("not-utf8") as caught:
        read_manifest(path)
    assert str(caught.value).startswith(f"{path}:3: ")


def test_paths_that_lead_elsewhere_are_read_and_said(tmp_path: Path) -> None:
    rows = "u1,/data/a.wav,ann,,,,,\nu2,b/../../c.wav,ann,,,,,\nu3,b/../d.wav,ann,,,,,\n"
    path = write(tmp_path, HEADER + rows)
    corpus = read_manifest(path)
    assert corpus.utterances[0].path == Path("/data/a.wav")
    absolute, outside = corpus.notes
    assert absolute.endswith(f"{path}:2") and "absolute" in absolute
    assert outside.endswith(f"{path}:3") and "out of the corpus" in outside


word = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
name = word.map(str.strip).filter(bool)


@given(st.lists(st.tuples(name, name, word, word.map(str.strip)), unique_by=lambda row: row[0]))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]]) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    utterances = tuple(
        Utterance(
            key,
            folder / "audio" / f"{i}.wav",
            speaker,
            transcript=transcript,
            session=session,
            start=i / 3 if i % 2 else None,
            channel=1 if i == 4 else None,
            extra={"note": transcript},
        )
        for i, (key, speaker, transcript, session) in enumerate(rows)
    )
    corpus = Corpus(folder.name, folder, utterances)
    written = write_manifest(corpus, folder)
    if utterances:
        assert read_manifest(written) == corpus
        assert read_manifest(written).notes == ()
    assert [path.name for path in folder.iterdir()] == ["manifest.csv"]


def test_files_outside_the_folder_are_written_with_absolute_paths(tmp_path: Path) -> None:
    corpus = Corpus("c", tmp_path, (Utterance("u", tmp_path / "u.wav", "a"),))
    written = write_manifest(corpus, tmp_path / "lists")
    assert str(tmp_path / "u.wav") in written.read_text()
    assert read_manifest(written).utterances == corpus.utterances


def test_an_extra_that_would_hide_a_column_is_refused(tmp_path: Path) -> None:
    corpus = Corpus("c", tmp_path, (Utterance("u", tmp_path / "u.wav", "a", extra={"path": "x"}),))
    with raises_code("duplicate-column") as caught:
        write_manifest(corpus, tmp_path)
    assert "'path'" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_an_extra_may_have_the_name_of_a_field(tmp_path: Path) -> None:
    utterances = (
        Utterance("u1", tmp_path / "1.wav", "a", extra={"id": "7"}),
        Utterance("u2", tmp_path / "2.wav", "a"),
    )
    again = read_manifest(write_manifest(Corpus("c", tmp_path, utterances), tmp_path))
    assert [utterance.extra for utterance in again] == [{"id": "7"}, {"id": ""}]
