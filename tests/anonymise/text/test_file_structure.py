"""Outside of replaced words a file keeps every byte, whatever its line ends, tags and quotes are.

Files are made of pieces whose replacement is known, so what comes out is compared with a file that
was written without any of the readers.
"""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_files import anonymise_file

from sottovoce.anonymise.text import TextAnonymiser

ANONYMISER = TextAnonymiser(
    "en", strategy="typed", deny={"zorbalda quint": "PER"}, types=["PER"], tau=0.01
)
Pair = tuple[str, str]
"""What stands in the file, and what should stand in the new one."""

same = st.sampled_from(
    ("so", "be it", "now,", "(yes)", "--", "été", "e\u0301te\u0301", "so\u00adon", "100 %")
)
plain: st.SearchStrategy[Pair] = st.one_of(
    same.map(lambda text: (text, text)),
    st.sampled_from(("Zorbalda Quint", "ZORBALDA  QUINT", "zorbalda\u00a0quint")).map(
        lambda name: (name, "[PER]")
    ),
)
newlines = st.sampled_from(("\n", "\r\n", "\r"))


def joined(parts: list[Pair], gap: str = " ") -> Pair:
    return gap.join(old for old, _ in parts), gap.join(new for _, new in parts)


def anonymised(name: str, source: str, **options: tuple[str, ...]) -> str:
    """Anonymise a file; bytes are read and written without any change of line ends."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(source.encode())
        new, _ = anonymise_file(ANONYMISER, path, **options)  # type: ignore[arg-type]
        return new


def check(name: str, source: str, expected: str, **options: tuple[str, ...]) -> None:
    new = anonymised(name, source, **options)
    assert new == expected
    assert anonymised(name, new, **options) == new, "anonymising again changes nothing"


# ======================================================================================= lines

line = st.lists(plain, min_size=1, max_size=4).map(joined)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(line, st.sampled_from(("\n", "\r\n", " \n", "\n\n"))), min_size=1),
    st.booleans(),
    st.booleans(),
)
def test_lines(rows: list[tuple[Pair, str]], mark: bool, last_end: bool) -> None:
    first = "\ufeff" if mark else ""
    old, new = (first + "".join(row[i] + end for row, end in rows) for i in (0, 1))
    if not last_end:
        old, new = old.rstrip("\r\n"), new.rstrip("\r\n")
    check("a.txt", old, new)
    for prefix, name in (("u-1\t", "text"), ("r A s 0.5 1.0 <o,f0> ", "a.stm")):
        texts = [first, first]
        for row, end in rows:
            ending = "\r\n" if "\r" in end else "\n"
            texts = [texts[i] + prefix + row[i] + ending for i in (0, 1)]
        check(name, *texts)


# =================================================================================== subtitles

tagged: st.SearchStrategy[Pair] = st.one_of(
    plain,
    st.sampled_from(
        (
            ("<i>so</i>", "<i>so</i>"),
            ("<b>Zorbalda</b> Quint", "<b>[PER]</b>"),
            ("<i>Zorbalda <b>Quint</b></i>", "<i>[PER]<b></b></i>"),
            ("so < it", "so < it"),
            ("{\\an8}so", "{\\an8}so"),
        )
    ),
)


def broken_name(newline: str) -> Pair:
    return f"Zorbalda{newline}Quint", f"[PER]{newline}"


@st.composite
def subtitle_files(draw: st.DrawFn) -> tuple[Pair, bool]:
    newline = draw(newlines)
    webvtt = draw(st.booleans())
    old = new = "\ufeff" if draw(st.booleans()) else ""
    if webvtt:
        head = f"WEBVTT so be it{newline}Kind: captions{newline}{newline}STYLE{newline}::cue {{}}"
        old, new = old + head + newline * 2, new + head + newline * 2
    for number in range(1, 1 + draw(st.integers(1, 4))):
        start = f"00:00:0{number}{'.' if webvtt else ','}000"
        times = f"{start} --> {start}" + draw(st.sampled_from(("", " align:start X1:5")))
        text = draw(st.lists(tagged, min_size=1, max_size=5).map(joined))
        broken = broken_name(newline) if draw(st.booleans()) else ("", "")
        label = draw(st.sampled_from((("", ""), ("<v Ann X>", "<v [PER]>"), ("<v Host>",) * 2)))
        for i, grown in enumerate((old, new)):
            cue = f"{number}{newline}{times}{newline}{label[i]}{text[i]} {broken[i]} end"
            whole = grown + cue + newline * 2
            old, new = (whole, new) if i == 0 else (old, whole)
    if draw(st.booleans()):
        old, new = old.rstrip("\r\n"), new.rstrip("\r\n")
    return (old, new), webvtt


@settings(max_examples=60, deadline=None)
@given(subtitle_files())
def test_subtitles(file: tuple[Pair, bool]) -> None:
    (old, new), webvtt = file
    check("a.vtt" if webvtt else "a.srt", old, new)
    check("a.txt", old, new)


# ====================================================================================== tables


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@st.composite
def tables(draw: st.DrawFn) -> tuple[Pair, str]:
    delimiter = draw(st.sampled_from(",;\t|"))
    newline = draw(newlines)
    old = new = "\ufeff" if draw(st.booleans()) else ""
    header = delimiter.join(("id", '"the text"', "note")) + newline
    old, new = old + header, new + header
    for number in range(draw(st.integers(1, 5))):
        cells = []
        for _ in range(2):
            text = draw(line)
            if draw(st.booleans()):
                inside = draw(st.sampled_from(('"', f'x{delimiter}"', newline, "")))
                text = joined([text, (inside, inside), broken_name(newline), ("z", "z")])
                cells.append((quoted(text[0]), quoted(text[1])))
            elif any(mark in text[0] for mark in (delimiter, '"')):
                cells.append((quoted(text[0]), quoted(text[1])))
            else:
                cells.append(text)
        other = draw(st.sampled_from(("Zorbalda Quint", '"Zorbalda ""Quint"""', "", " x ", '""')))
        rows = [delimiter.join((other, *(cell[i] for cell in cells))) + newline for i in (0, 1)]
        old, new = old + rows[0], new + rows[1]
        if number and draw(st.booleans()):
            old, new = old + newline, new + newline
    return (old, new), "a.tsv" if delimiter == "\t" else "a.csv"


@settings(max_examples=60, deadline=None)
@given(tables())
def test_tables(table: tuple[Pair, str]) -> None:
    (old, new), name = table
    check(name, old, new, columns=("the text", "note"))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(st.text(alphabet='ab," \n;\r', max_size=6), min_size=2, max_size=2),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
)
def test_a_table_by_the_csv_module_is_unchanged(rows: list[list[str]], quoting: int) -> None:
    target = io.StringIO(newline="")
    writer = csv.writer(target, quoting=quoting)  # type: ignore[arg-type]
    writer.writerows([["text", "other"], *rows, ["last", "row"]])
    source = target.getvalue()
    assert anonymised("a.csv", source, columns=("text",)) == source


# ===================================================================================== strategies


@pytest.mark.parametrize("strategy", ["redact", "instance", "full", "word", "named", "hmac"])
def test_every_strategy_keeps_times_and_lines(strategy: str, tmp_path: Path) -> None:
    cue = "{0}\r\n00:00:0{0},000 --> 00:00:0{0},500\r\nso <i>Zorbalda\r\nQuint</i> came\r\n\r\n"
    source = "".join(cue.format(i) for i in range(1, 4))
    (tmp_path / "a.srt").write_bytes(source.encode())
    anonymiser = TextAnonymiser(
        "en", strategy=strategy, deny={"zorbalda quint": "PER"}, types=["PER"], tau=0.01
    )
    new, summary = anonymise_file(anonymiser, tmp_path / "a.srt")
    old_lines, new_lines = source.split("\r\n"), new.split("\r\n")
    assert len(old_lines) == len(new_lines) and summary.private_values == 3
    for i, (before, after) in enumerate(zip(old_lines, new_lines, strict=True)):
        assert before == after or i % 5 in (2, 3), "only the lines of the name may change"
    assert new.count("<i>") == new.count("</i>") == 3
    assert "zorbalda" not in new.lower() and "quint" not in new.lower()
