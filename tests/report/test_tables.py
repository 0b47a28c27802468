"""One table model: the terminal and the page show the same cells."""

from __future__ import annotations

import re

import pytest

from sottovoce.report.formats import decimals, percent, percent_column
from sottovoce.report.html import Markup, element
from sottovoce.report.tables import Column, Lines, Table, make_table, with_interval
from sottovoce.report.terminal import Terminal

TABLE = Table(
    "Two measures",
    (Column("measure", "left"), Column(Lines("value", ("chance 0",))), Column("reads", "left")),
    (
        ("a < b [bold]", Lines("1.0", ("0.5 to 1.5", "(0.1)")), "up"),
        ("tab\there", "–", "down"),
    ),
    ("first", ""),
)


def test_the_page_shows_every_cell_with_its_alignment() -> None:
    page = TABLE.to_html()
    assert '<th scope="row" class="words">a &lt; b [bold]</th>' in page
    assert "<td>1.0<small> 0.5 to 1.5</small><small> (0.1)</small></td>" in page
    assert '<th scope="col">value<small> chance 0</small></th>' in page
    assert '<td class="words">up</td>' in page
    assert page.count('<tr class="first">') == 1
    assert "<caption>Two measures</caption>" in page and 'aria-label="Two measures"' in page


def test_markup_is_not_escaped_and_other_text_is() -> None:
    table = make_table("t", ("a", "b"), [(element("b", "x"), "<i>")])
    assert isinstance(table.to_html(), Markup)
    assert [column.align for column in table.columns] == ["left", "right"]
    assert "<b>x</b>" in table.to_html() and "&lt;i&gt;" in table.to_html()


def test_the_terminal_shows_the_same_cells(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().table(TABLE)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[:2] == [["value"], ["measure", "chance", "0", "reads"]]
    assert lines[2:5] == [
        ["a", "<", "b", "[bold]", "1.0", "up"],
        ["0.5", "to", "1.5"],
        ["(0.1)"],
    ]
    assert lines[5] == ["tab?here", "–", "down"]  # no control characters of a user's name


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError):
        make_table("t", ("a", "b"), [("x",)]).to_html()


def test_a_narrow_terminal_cuts_no_figure(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("TPR at a low false positive rate", "12.3456789 %")]
    Terminal(width=30).table(make_table("t", ("measure", "value"), rows))
    assert "low false positive rate" in (shown := capsys.readouterr().out)
    assert "12.3456789 %" in shown and "…" not in shown


@pytest.mark.parametrize(
    ("value", "low", "high", "cell"),
    [
        (None, 0.1, 0.2, "–"),
        (0.5, None, None, "50.0\u00a0%"),
        (0.5, 0.4, 0.6, Lines("50.0\u00a0%", ("40.0 to 60.0",))),
    ],
)
def test_a_value_over_its_interval(
    value: float | None, low: float | None, high: float | None, cell: str | Lines
) -> None:
    assert with_interval(value, low, high, percent_column) == cell


@pytest.mark.parametrize(
    ("value", "sentence", "column"),
    [
        (0.0, "0 %", "0.0 %"),
        (1.0, "100 %", "100.0 %"),
        (0.368, "36.8 %", "36.8 %"),
        (0.00012, "0.012 %", "0.012 %"),
        (None, "–", "–"),
    ],
)
def test_shares_in_sentences_and_columns(value: float | None, sentence: str, column: str) -> None:
    assert percent(value).replace("\u00a0", " ") == sentence
    assert percent_column(value).replace("\u00a0", " ") == column


def test_nothing_is_shown_as_minus_zero() -> None:
    assert re.fullmatch(r"0\.00", decimals(2)(-0.001))
