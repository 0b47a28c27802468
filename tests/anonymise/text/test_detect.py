"""Names without a letter are numbers: they belong to an adjacent date, or are of the type NUM."""

from __future__ import annotations

import pytest

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.entities import Entity
from sottovoce.anonymise.text.number_names import retype_numbers

WORDS = ["on", "4", "March", "2024", "in", "7", "Rome", "8"]


def entity(start: int, end: int, kind: str) -> Entity:
    return Entity(start, end, kind, 0.5, "tagger")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([(1, 2, "LOC"), (2, 4, "DATE")], [(1, 4, "DATE")]),
        ([(2, 3, "DATE"), (3, 4, "ORG")], [(2, 4, "DATE")]),
        ([(5, 6, "PER"), (6, 7, "LOC")], [(5, 6, "NUM"), (6, 7, "LOC")]),
        ([(6, 7, "LOC"), (7, 8, "ORG")], [(6, 7, "LOC"), (7, 8, "NUM")]),
        ([(1, 2, "PER"), (3, 4, "DATE")], [(1, 2, "NUM"), (3, 4, "DATE")]),
        ([(6, 8, "LOC")], [(6, 8, "LOC")]),
        ([], []),
    ],
)
def test_names_without_letters_are_retyped(
    before: list[tuple[int, int, str]], after: list[tuple[int, int, str]]
) -> None:
    retyped = retype_numbers([entity(*span) for span in before], WORDS)
    assert [(e.start, e.end, e.kind) for e in retyped] == after


def test_a_date_with_figures_is_found_as_a_whole() -> None:
    text = "Write to ann.lee@example.org on 4 March 2024."
    assert TextAnonymiser("en", strategy="typed").transform(text).text == (
        "Write to [EMAIL] on [DATE]."
    )
    words = TextAnonymiser("en", strategy="word").transform(text).text.split()
    assert words[2].endswith("@example.com")
