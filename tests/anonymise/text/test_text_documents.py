from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from error_codes import raises_code
from text_files import anonymise_file, read_texts

from sottovoce.anonymise.text import AnonymisedText, ReplacedSpan, TextAnonymiser
from sottovoce.anonymise.text.conll import Sentence, format_conll, read_conll
from sottovoce.anonymise.text.files import ReadingOptions, open_text_file
from sottovoce.anonymise.text.files.timed_words import regroup
from sottovoce.anonymise.text.phrases import read_phrases
from sottovoce.core.errors import InputError, UsageError

DENY = {"zorbalda quint": "PER"}


def through(path: Path, strategy: str = "typed", form: str | None = None) -> str:
    anonymiser = TextAnonymiser("en", strategy=strategy, deny=DENY, types=["PER"], tau=0.01)
    return anonymise_file(anonymiser, path, form)[0]


def test_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"Ask Zorbalda Quint, now.\n\n  so be it \r\n")
    assert through(path) == "Ask [PER], now.\n\n  so be it \r\n"


def test_kaldi(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("zorbalda-1 ask zorbalda quint\nb\nc  x\n")
    assert through(path) == "zorbalda-1 ask [PER]\nb\nc  x\n"
    path.write_text(" no id\n")
    with raises_code("bad-line", InputError):
        through(path)


def test_json_lines_with_times(tmp_path: Path) -> None:
    words = [{"w": "ask", "t0": 0.0, "t1": 0.4}, {"w": "zorbalda", "t0": 0.4, "t1": 1.0, "c": 1}]
    words.append({"w": "quint's", "t0": 1.0, "t1": 1.4})
    path = tmp_path / "a.jsonl"
    rows = [{"id": "u1", "words": words, "lang": "en"}, {"id": "u2", "text": "zorbalda quint!"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = map(json.loads, through(path).splitlines())
    assert first["words"] == [words[0], {"w": "[PER]'s", "t0": 0.4, "t1": 1.4}]
    assert "lang" not in first and second == {"id": "u2", "text": "[PER]!"}
    full = json.loads(through(path, "full").splitlines()[0])["words"]
    assert [full[1]["t0"], full[-1]["t1"]] == [0.4, 1.4]
    for bad in ("[1]", '{"words": [1]}', "{"):
        path.write_text(bad)
        with raises_code("bad-line", InputError) as caught:
            read_texts(path)
        assert "a.jsonl:1:" in str(caught.value)


def test_ctm(tmp_path: Path) -> None:
    path = tmp_path / "a.ctm"
    path.write_text("r 1 0.00 0.40 ask 0.9\nr 1 0.40 0.60 zorbalda 0.9\nr 1 1.00 0.40 quint 0.8\n")
    assert through(path) == "r 1 0.000 0.400 ask 0.9\nr 1 0.400 1.000 [PER]\n"
    path.write_text("r 1 x 0.4 word\n")
    with raises_code("bad-line", InputError) as caught:
        read_texts(path)
    assert "a.ctm:1:" in str(caught.value)


def test_unreadable_files(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xff\xfe")
    with raises_code("not-utf8", InputError) as caught:
        read_texts(path)
    assert "byte 0" in str(caught.value)
    with raises_code("not-found", InputError):
        read_texts(tmp_path / "none")
    with raises_code("unknown-name", UsageError):
        read_texts(path, "pdf")


@pytest.mark.parametrize(
    ("name", "data", "code", "place"),
    [
        ("a.txt", b"call\0ann", "binary", "a.txt"),
        ("a.txt", b" \n\t\n", "empty", "a.txt"),
        ("a.txt", "Herr Müller".encode("latin-1"), "not-utf8", "byte 6"),
        ("a.jsonl", b'{"text": "a"}\n' * 6 + b'{"text": "b', "bad-line", "a.jsonl:7:"),
        ("a.jsonl", b'{"words": [{"w": "a", "t0": "x", "t1": 1}]}', "bad-time", "a.jsonl:1:"),
        ("a.jsonl", b'{"words": [{"w": "a", "t0": NaN, "t1": 1}]}', "bad-time", "a.jsonl:1:"),
        ("a.jsonl", b'{"words": [{"w": "a", "t0": 1%b}]}' % (400 * b"0"), "bad-time", "a.jsonl:1:"),
        ("a.ctm", b"r 1 0 1 a\nr 1 0.3 0.2\n", "bad-line", "a.ctm:2:"),
        ("a.ctm", b"r 1 nan 0.2 a\n", "bad-line", "a.ctm:1:"),
        ("a.ctm", b"r 1 0.1 -1 a\n", "bad-line", "a.ctm:1:"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, data: bytes, code: str, place: str) -> None:
    (tmp_path / name).write_bytes(data)
    with raises_code(code, InputError) as caught:
        read_texts(tmp_path / name)
    assert place in str(caught.value)


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "text", "a.ctm", "a.stm"])
def test_a_byte_order_mark_is_kept_and_no_part_of_a_text(tmp_path: Path, name: str) -> None:
    rows = {
        "a.txt": "zorbalda quint came\n",
        "a.jsonl": '{"text": "zorbalda quint came"}\n',
        "text": "u1 zorbalda quint came\n",
        "a.ctm": "r 1 0.000 1.000 zorbalda-quint\n",
        "a.stm": "r 1 s 0.0 1.0 zorbalda quint came\n",
    }
    (tmp_path / name).write_text("\ufeff" + rows[name])
    new = through(tmp_path / name)
    assert new == "\ufeff" + re.sub(r"zorbalda.quint", "[PER]", rows[name])


def test_conll_round_trip(tmp_path: Path) -> None:
    sentences = [Sentence(("Hi", "Ann", "."), ("O", "B-PER", "O")), Sentence(("x",), ("O",))]
    path = tmp_path / "a.conll"
    path.write_text(format_conll(sentences))
    assert read_conll(path) == sentences
    path.write_text("word only\tX\n")
    with raises_code("bad-line", InputError) as caught:
        read_conll(path)
    assert "a.conll:1:" in str(caught.value)


def test_lists_of_phrases(tmp_path: Path) -> None:
    path = tmp_path / "deny.txt"
    path.write_text("# mine\nAnn Lee\tPER\nproject x\n")
    assert read_phrases(path) == {"Ann Lee": "PER", "project x": "ID"}
    path.write_text("# nothing\n")
    with raises_code("empty", InputError):
        read_phrases(path)


@pytest.mark.parametrize("gap", ["\t", "  ", " \t ", "\u00a0", "\x0b"])
def test_any_blanks_may_stand_between_an_id_and_its_words(tmp_path: Path, gap: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(f"u1{gap}zorbalda quint\tcame\nu2{gap}so\r\nu3{gap}\n".encode())
    assert through(path) == f"u1{gap}[PER]\tcame\nu2{gap}so\r\nu3{gap}\n"
    for bad in (f"{gap}no id\n", "u1 x\n\nu2 y\n"):
        path.write_text(bad)
        with raises_code("bad-line", InputError):
            through(path)


def json_through(path: Path, rows: list[object], copied: tuple[str, ...] = ()) -> list[object]:
    path.write_text("\n".join(map(json.dumps, rows)))
    anonymiser = TextAnonymiser("en", strategy="typed", deny=DENY, types=["PER"], tau=0.01)
    done = anonymise_file(anonymiser, path, copied=copied)[0]
    return [json.loads(line) for line in done.splitlines()]


WORDY = {
    "id": "u1",
    "document": "d",
    "raw": "Zorbalda",
    "segments": [{"text": "zorbalda quint"}],
    "who": {"Zorbalda": 1},
    "seconds": 1.5,
    "good": True,
    "note": None,
    "levels": [1, 2],
    "words": [
        {"w": "call", "norm": "Call", "c": 1},
        {"w": "zorbalda quint", "t0": 0.3, "t1": 0.5, "norm": "Zorbalda Quint", "c": 0.5},
    ],
}


def test_unsearched_json_fields_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows: list[object] = [WORDY, {"text": "so", "id": {"name": "Zorbalda"}, "seconds": 2}]
    assert json_through(path, rows) == [
        {
            "document": "d",
            "seconds": 1.5,
            "good": True,
            "note": None,
            "levels": [1, 2],
            "words": [{"w": "call", "c": 1}, {"w": "[PER]", "t0": 0.3, "t1": 0.5, "c": 0.5}],
        },
        {"text": "so", "seconds": 2},
    ]
    file = open_text_file(path)
    assert not file.reader.left_out and len(list(file.texts())) == 2
    assert file.reader.left_out == ("raw", "segments", "who", "words.norm", "id")


def test_copied_fields_omit_those_of_replaced_words(tmp_path: Path) -> None:
    copied = ("raw", "segments", "who", "words.norm")
    row = json_through(tmp_path / "a.jsonl", [WORDY], copied)[0]
    new = {"w": "[PER]", "t0": 0.3, "t1": 0.5, "c": 0.5}
    expected = {**WORDY, "words": [{"w": "call", "norm": "Call", "c": 1}, new]}
    assert json.dumps(row) == json.dumps(expected)
    (tmp_path / "a.txt").write_text("so\n")
    with raises_code("unsupported", UsageError):
        open_text_file(tmp_path / "a.txt", options=ReadingOptions(copied_fields=["raw"]))


def test_a_replacement_equal_to_the_word_still_counts_as_replaced() -> None:
    span = ReplacedSpan(5, 8, 5, 8, "PER", "list", "full", 1.0, "ann", "rule")
    same = AnonymisedText("call ann", (span,))
    assert regroup(["call", "ann"], same) == [(0, 1, None), (1, 2, "ann")]


def test_unchanged_words_keep_their_form(tmp_path: Path) -> None:
    row = {"words": [{"w": "so be"}, {"w": ""}, {"w": " it ", "t0": 1}]}
    assert json_through(tmp_path / "a.jsonl", [row]) == [row]


def test_times_of_an_unsorted_ctm(tmp_path: Path) -> None:
    path = tmp_path / "a.ctm"
    path.write_text("r 1 1.00 0.40 quint\nr 1 0.40 0.60 zorbalda\nr 1 0.00 0.40 ask\n")
    assert through(path) == "r 1 0.000 0.400 ask\nr 1 0.400 1.000 [PER]\n"
    path.write_text("r 1 0.40 2.00 zorbalda\nr 1 1.00 0.40 quint\n")
    assert through(path) == "r 1 0.400 2.000 [PER]\n"


def test_times_of_unsorted_words(tmp_path: Path) -> None:
    words = [{"w": "zorbalda", "t0": 1, "t1": 1.4}, {"w": "quint", "t0": 0.4, "t1": 1}]
    assert json_through(tmp_path / "a.jsonl", [{"words": words}]) == [
        {"words": [{"w": "[PER]", "t0": 0.4, "t1": 1.4}]}
    ]


def test_an_unknown_type_in_a_list_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "deny.txt"
    path.write_text("# mine\nann\tper\nbob\tFOO\n")
    with raises_code("unknown-name", InputError) as caught:
        read_phrases(path)
    assert "deny.txt:3:" in str(caught.value) and "'FOO'" in str(caught.value)
    path.write_text("ann\tper\n")
    assert read_phrases(path) == {"ann": "PER"}


def test_columns_of_a_replaced_word_in_a_ctm_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.ctm"
    path.write_text("r 1 0.0 0.4 ask 0.9 lex s1\nr 1 0.4 0.6 zorbalda-quint .95 Zorbalda Quint\n")
    assert through(path) == "r 1 0.000 0.400 ask 0.9 lex s1\nr 1 0.400 0.600 [PER] .95\n"
    path.write_text("r 1 0.4 0.6 zorbalda-quint Zorbalda\n")
    assert through(path) == "r 1 0.400 0.600 [PER]\n"
