"""A file of labels survives editing, and draws depend on the secret alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.labelling import (
    LabelledSpan,
    LabelledText,
    apply_reply,
    checked_sentences,
    draw_sentences,
    format_labels,
    parse_markup,
    propose_labels,
    read_labels,
)
from sottovoce.core.errors import InputError, TooFewError

WORDS = st.text(st.sampled_from("ab[]\\ PER."), min_size=1, max_size=20)


@given(WORDS, st.data())
def test_markup_is_read_back_as_it_was(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    row = LabelledText(text, (LabelledSpan(start, end, "PER"),), checked=True)
    assert parse_markup(row.markup()) == row


@pytest.mark.parametrize(
    "line", ["call [PER ann", "call ann]", "[PER [LOC ann]]", "[WHO ann]", "[ann]", "a [PER ] b"]
)
def test_wrong_brackets_are_refused_without_showing_the_words(line: str) -> None:
    with raises_code("bad-label", InputError) as caught:
        parse_markup(line)
    assert "ann" not in str(caught.value).split("cannot")[0]


def test_a_file_of_labels_is_read_back(tmp_path: Path) -> None:
    rows = propose_labels(["call ann lee at nine pm", "so be it [sic]"], Detector("en"))
    assert rows[0].spans and not rows[0].checked
    (tmp_path / "labels.txt").write_text(format_labels(rows, "en"))
    assert read_labels(tmp_path / "labels.txt") == rows
    with raises_code("too-few", TooFewError):
        checked_sentences(rows)
    edited = format_labels(rows, "en").replace("\n? call", "\n= call")
    (tmp_path / "labels.txt").write_text(edited)
    (sentence,) = checked_sentences(read_labels(tmp_path / "labels.txt"))
    assert sentence.tags == ("O", "B-PER", "I-PER", "O", "B-TIME", "I-TIME")
    (tmp_path / "labels.txt").write_text(edited.replace("\n? so", "\nso"))
    with raises_code("bad-label", InputError):
        read_labels(tmp_path / "labels.txt")


def test_replies_add_and_remove_brackets() -> None:
    row = parse_markup("Ann met [LOC ann] lee in [LOC rome]", checked=False)
    row = apply_reply(row, "per ann lee")
    assert row.markup() == "Ann met [PER ann lee] in [LOC rome]"
    row = apply_reply(row, "- rome")
    assert row.markup() == "Ann met [PER ann lee] in rome" and not row.checked
    assert apply_reply(row, "").checked
    for reply in ("WHO ann", "PER bob", "PER"):
        with raises_code("bad-label", InputError):
            apply_reply(row, reply)


def test_a_secret_decides_which_sentences_are_drawn() -> None:
    texts = [f"sentence {i} stands here. Another of {i} stands there." for i in range(100)]
    draws = {tuple(draw_sentences(texts, 20, Secret.reproducible(seed))) for seed in (1, 1, 2)}
    assert len(draws) == 2
    assert len(draw_sentences(texts, 999, Secret.reproducible(1))) == 200
    shares = [
        draw_sentences(texts, 20, Secret.reproducible(seed))[0] in texts[0] for seed in range(200)
    ]
    assert 5 <= sum(shares) <= 40, "one in ten draws has the first sentence"
    with raises_code("too-few", TooFewError):
        draw_sentences(["", "12 !"], 5, Secret.reproducible(1))
