"""Formats are known by name and content; what would be broken is refused with the next step."""

from __future__ import annotations

import io
import os
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from error_codes import raises_code
from text_files import anonymise_file, read_texts

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.files import ReadingOptions, input_file, open_text_file
from sottovoce.anonymise.text.files.input_file import InputFile
from sottovoce.anonymise.text.line_breaks import keep_line_breaks
from sottovoce.core.errors import InputError, UsageError

DENY = {"zorbalda quint": "PER"}


def through(path: Path, form: str | None = None, **options: object) -> str:
    anonymiser = TextAnonymiser("en", strategy="typed", deny=DENY, types=["PER"], tau=0.01)
    return anonymise_file(anonymiser, path, form, **options)[0]  # type: ignore[arg-type]


CUE = "1\n00:00:01,000 --> 00:00:02,000\nso be it\n"


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a.txt", "so be it\n", "lines"),
        ("a", "so be it\n", "lines"),
        ("text", "u1 so be it\n", "kaldi"),
        ("a.txt", "WEBVTT\n\n00:01.000 --> 00:02.000\nso\n", "vtt"),
        ("a.srt", "WEBVTT\n\n00:01.000 --> 00:02.000\nso\n", "vtt"),
        ("a.vtt", CUE, "srt"),
        ("a.txt", CUE, "srt"),
        ("a.txt", "\ufeff" + CUE.replace("\n", "\r\n"), "srt"),
        ("a.txt", CUE.partition("\n")[2], "srt"),
        ("a.txt", '{"text": "so be it", "id": 1}\n', "jsonl"),
        ("a.txt", "r 1 0.0 0.4 so\nr 1 0.4 0.2 be 0.9\nr 1 0.6 0.2 it\n", "ctm"),
        ("a.txt", ";; x\nr 1 s 0.0 1.4 <o> so be\nr 1 s 1.4 2.2 it\n", "stm"),
        ("A.SRT", CUE, "srt"),
        ("a.txt", "WEBVTTish is a word\n", "lines"),
        ("a.txt", "at 10:30 --> noon\n", "lines"),
        ("a.txt", "[noise] so be it {\n", "lines"),
    ],
)
def test_formats_by_name_and_content(tmp_path: Path, name: str, content: str, form: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    file = open_text_file(tmp_path / name)
    assert file.format == form
    assert any("so" in t.text or "word" in t.text or "noon" in t.text for t in file.texts())


SUFFIXES = "docx pdf xlsx odt RTF html xml json TextGrid eaf ass gz wav yaml"


@pytest.mark.parametrize("name", [f"a.{suffix}" for suffix in SUFFIXES.split()])
def test_other_formats_are_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("so be it\n")
    with raises_code("unsupported", InputError) as caught:
        open_text_file(tmp_path / name)
    assert ";" in str(caught.value) and "\n" not in str(caught.value)
    assert open_text_file(tmp_path / name, "lines").format == "lines"


def archive() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("word/document.xml", "<w:t>Ann</w:t>")
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (archive(), "unsupported"),
        (b"%PDF-1.7 so", "unsupported"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "unsupported"),
        (b"{\\rtf1 so be it}", "unsupported"),
        (b"\x1f\x8b\x08", "unsupported"),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", "unsupported"),
        ("so be it".encode("utf-16"), "not-utf8"),
    ],
)
def test_what_is_no_text_is_refused_whatever_its_name(
    tmp_path: Path, content: bytes, code: str
) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    for form in (None, "lines"):
        with raises_code(code, InputError):
            open_text_file(tmp_path / "a.txt", form)


@pytest.mark.parametrize(
    "content",
    [
        "<?xml version='1.0'?><tt></tt>",
        "<!DOCTYPE html><p>so",
        "[Script Info]\nTitle: so",
        "0:00:01.000,0:00:02.000\nso be it\n",
        'File type = "ooTextFile"\n',
        "[ar:Ann]\n[00:12.00]so be it\n[00:15.30]so be it\n",
        '{\n  "text": "so be it"\n}\n',
        '[{"text": "so be it"}]',
    ],
)
def test_mark_up_under_another_name_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.txt").write_text(content)
    with raises_code("unsupported", InputError) as caught:
        open_text_file(tmp_path / "a.txt")
    assert "--format lines" in str(caught.value)
    assert open_text_file(tmp_path / "a.txt", "lines").format == "lines"


@pytest.mark.parametrize(
    ("name", "content", "code", "place"),
    [
        ("a.srt", "so be it\n", "bad-line", "a.srt:1:"),
        ("a.srt", CUE + "\n2\n00:01 -> 00:02\nso --> it\n", "bad-line", "a.srt:7:"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02\nso\n", "bad-line", "a.srt:2:"),
        ("a.vtt", "so be it\n\n", "bad-line", "a.vtt:1:"),
        ("a.vtt", "\nWEBVTT\n\nso\n", "bad-line", "a.vtt:1:"),
        ("a.vtt", "WEBVTT\n\nx --> y\nso\n", "bad-line", "a.vtt:3:"),
        ("a.stm", "r 1 s 0.0 x so be it\n", "bad-line", "a.stm:1:"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n\n", "empty", "a.srt"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, content: str, code: str, place: str) -> None:
    (tmp_path / name).write_text(content)
    with raises_code(code, InputError) as caught:
        read_texts(tmp_path / name)
    assert place in str(caught.value)


# ===================================================================================== subtitles


def test_the_parts_of_a_webvtt_file(tmp_path: Path) -> None:
    source = """WEBVTT - talk of zorbalda quint
Kind: captions
X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000
about zorbalda quint

STYLE
::cue(v[voice="Ann Borbalunga"]) { color: red }

REGION
id:fred width:40%

NOTE by zorbalda quint

zorbalda quint begins
00:01.000 --> 00:04.000 align:start
<v.loud Ann Borbalunga>so <00:00:02.000><c.x>Zorbalda</c> Quint &amp; ann <b>borbalunga</b></v>

f3-12
00:05.000 --> 00:06.000
<v Speaker 1>so <Zorbalda Quint> &lt;3 &nosuch;

trailing zorbalda quint
"""
    (tmp_path / "a.vtt").write_text(source)
    expected = source
    for old, new in (
        ("<c.x>Zorbalda</c> Quint", "<c.x>[PER]</c>"),
        ("<v.loud Ann Borbalunga>", "<v.loud [PER]>"),
        ('voice="Ann Borbalunga"', 'voice="[PER]"'),
        ("ann <b>borbalunga</b>", "ann <b>[PER]</b>"),
        ("Zorbalda Quint", "[PER]"),
        ("zorbalda quint", "[PER]"),
    ):
        expected = expected.replace(old, new)
    assert through(tmp_path / "a.vtt") == expected


def test_replacements_in_webvtt_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "a.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nso <v Ann>it\n")
    anonymiser = TextAnonymiser("en", strategy="redact", types=["PER"], tau=0.01)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(anonymiser.replacer), "__call__", lambda *_: "A & <B>")
        new, _ = anonymise_file(anonymiser, tmp_path / "a.vtt")
    assert "<v A &amp; &lt;B&gt;>" in new


def test_a_voice_is_kept_if_persons_are_not_private_or_it_is_allowed(tmp_path: Path) -> None:
    source = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Borbalunga>so be it\n"
    (tmp_path / "a.vtt").write_text(source)
    for settings in ({"types": ["LOC"]}, {"types": ["PER"], "allow": ["borbalunga"]}):
        anonymiser = TextAnonymiser("en", strategy="typed", tau=0.01, **settings)  # type: ignore[arg-type]
        assert anonymise_file(anonymiser, tmp_path / "a.vtt")[0] == source


def test_cues_without_blank_lines_or_numbers(tmp_path: Path) -> None:
    source = (
        "00:00:01,000 --> 00:00:02,000\nso\n2\n00:00:02,000 --> 00:00:03,000\n42\n\n"
        "zorbalda quint\n\n\n4\n00:00:03,000 --> 00:00:04,000\nso"
    )
    (tmp_path / "a.srt").write_text(source)
    assert read_texts(tmp_path / "a.srt") == ["so", "42", "zorbalda quint", "so"]
    assert through(tmp_path / "a.srt") == source.replace("zorbalda quint", "[PER]")


def test_breaks_stand_after_as_many_words_as_before() -> None:
    assert keep_line_breaks("A B C", "x y\r\nz") == "A B\r\nC"
    assert keep_line_breaks("A", "x\n  y\nz") == "A\n  \n"
    assert keep_line_breaks("A B", "x y") == "A B"


# ======================================================================================== tables


def table(tmp_path: Path, content: str, *columns: str, header: bool = True) -> str:
    (tmp_path / "a.csv").write_bytes(content.encode())
    return through(tmp_path / "a.csv", columns=columns, header=header)


def test_only_named_columns_are_searched(tmp_path: Path) -> None:
    source = 'id,text,who\r\n1,"zorbalda quint",zorbalda quint\r\n\r\n2,so,"zorbalda ""quint"""'
    assert table(tmp_path, source, "text") == source.replace('"zorbalda quint"', '"[PER]"')
    file = open_text_file(tmp_path / "a.csv", options=ReadingOptions(columns=["text"]))
    assert [text.id for text in file.texts()] == ["2:text", "4:text"]
    assert list(file.reader.not_searched) == ["id", "who"]


def test_a_cell_gets_quotes_only_if_it_needs_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text;n\nzorbalda quint;1\nso;2\n")
    anonymiser = TextAnonymiser("en", strategy="redact", deny=DENY, types=["PER"], tau=0.01)
    for new, cell in (("A; B", '"A; B"'), ('A "B"', '"A ""B"""'), ("A, B", "A, B")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(anonymiser.replacer), "__call__", lambda *_, new=new: new)
            done, _ = anonymise_file(anonymiser, tmp_path / "a.csv", columns=("text",))
        assert done == f"text;n\n{cell};1\nso;2\n"


def test_a_table_without_a_header(tmp_path: Path) -> None:
    assert table(tmp_path, "1|zorbalda quint\n", "2", header=False) == "1|[PER]\n"
    for columns in ((), ("3",), ("text",)):
        with pytest.raises((InputError, UsageError)):
            table(tmp_path, "1|zorbalda quint\n", *columns, header=False)


@pytest.mark.parametrize(
    ("content", "columns", "code"),
    [
        ("id,text\n1,so\n", (), "missing-option"),
        ("id,text\n1,so\n", ("txt",), "unknown-name"),
        ("id,text\n1,so, zorbalda quint\n", ("text",), "bad-line"),
        ("id,text,x\n1,so\n", ("text",), "bad-line"),
        ('id,text\n1,"so" be\n', ("text",), "bad-line"),
        ('id,text\n1,"so be\n', ("text",), "bad-line"),
        ("id,text\n1,\n", ("text",), "empty"),
    ],
)
def test_tables_that_are_refused(
    tmp_path: Path, content: str, columns: tuple[str, ...], code: str
) -> None:
    with raises_code(code):
        table(tmp_path, content, *columns)


def test_literal_quotes_in_a_tsv(tmp_path: Path) -> None:
    source = 'id\ttext\n1\t"so" zorbalda quint\n2\t"a\tb"\n'
    (tmp_path / "a.tsv").write_text(source)
    assert through(tmp_path / "a.tsv", columns=("text",)) == source.replace(
        "zorbalda quint", "[PER]"
    )


def test_columns_belong_to_tables(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("so be it\n")
    for options in (ReadingOptions(columns=["text"]), ReadingOptions(header=False)):
        with raises_code("unsupported", UsageError):
            open_text_file(tmp_path / "a.txt", options=options)


# ======================================================================================= reading


def test_lines_do_not_depend_on_the_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "so\r\nbé it\n\r\rzorbalda\r\n\nquint€"
    (tmp_path / "a.txt").write_bytes(content.encode())
    readings = []
    for size in (1, 2, 3, 5, 1000):
        monkeypatch.setattr(input_file, "BLOCK", size)
        file = InputFile(tmp_path / "a.txt")
        readings.append((list(file.lines()), list(file.universal_lines()), file.sha256))
    assert all(reading == readings[0] for reading in readings)
    assert "".join(readings[0][0]) == "".join(readings[0][1]) == content
    assert readings[0][1] == ["so\r\n", "bé it\n", "\r", "\r", "zorbalda\r\n", "\n", "quint€"]


def test_bytes_that_are_not_utf8_are_placed_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_bytes("so é €".encode() + b"\xff it")
    for size in (1, 2, 4, 1000):
        monkeypatch.setattr(input_file, "BLOCK", size)
        with raises_code("not-utf8", InputError) as caught:
            read_texts(tmp_path / "a.txt")
        assert "byte 9;" in str(caught.value)
    (tmp_path / "a.txt").write_bytes(b"so \xe2\x82")
    with raises_code("not-utf8", InputError):
        read_texts(tmp_path / "a.txt")


def test_a_long_line_of_plain_text_is_cut_and_of_others_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_file, "MAX_LINE", 60_000)
    monkeypatch.setattr(input_file, "BLOCK", 10_000)
    content = "so be it. " * 20_000 + "zorbalda quint\nso\n"
    (tmp_path / "a.txt").write_text(content)
    assert len(read_texts(tmp_path / "a.txt")) > 4
    assert "".join(read_texts(tmp_path / "a.txt")[:-1]) + "\nso\n" == content
    assert through(tmp_path / "a.txt") == content.replace("zorbalda quint", "[PER]")
    (tmp_path / "a.csv").write_text('text,x\n"' + content)
    for name, form in (("a.txt", "srt"), ("a.csv", None)):
        with raises_code("too-long", InputError):
            through(tmp_path / name, form, columns=("text",) if form is None else ())


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("so be it\n")
    file = open_text_file(tmp_path / "a.txt")
    list(file.texts())
    (tmp_path / "a.txt").write_text("so it be\n")
    with raises_code("changed", InputError):
        list(file.texts())


def test_standard_input_and_pipes_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "so zorbalda quint\n" * 3
    stream = io.TextIOWrapper(io.BytesIO(content.encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert through(Path("-")) == content.replace("zorbalda quint", "[PER]")
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(content,), daemon=True)
    writer.start()
    assert through(tmp_path / "pipe") == content.replace("zorbalda quint", "[PER]")
    writer.join()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with raises_code("empty", InputError):
        open_text_file(Path("-"))
