"""Numbers in words and in digits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.core.number_words import (
    ENGLISH_POWERS,
    ENGLISH_VALUES,
    TENS,
    UNITS,
    number_to_words,
    words_to_digits,
)


def spoken(number: int) -> str:
    """Say a number with "and" after hundreds, independently of the module's own function."""
    for name, size in sorted(ENGLISH_POWERS.items(), key=lambda item: -item[1]):
        if number >= size:
            remainder = f" {spoken(number % size)}" if number % size else ""
            return f"{spoken(number // size)} {name}{remainder}"
    if number >= 100:
        remainder = f" and {spoken(number % 100)}" if number % 100 else ""
        return f"{spoken(number // 100)} hundred{remainder}"
    by_value = {value: word for word, value in ENGLISH_VALUES.items()}
    if number in by_value:
        return by_value[number]
    return f"{by_value[number // 10 * 10]} {by_value[number % 10]}"


@given(st.one_of(st.integers(0, 2100), st.integers(0, 10**15 - 1)))
def test_numbers_in_words_are_read_back(number: int) -> None:
    assert words_to_digits(spoken(number).split()) == [str(number)]
    words = number_to_words(number)
    assert words == [word for word in spoken(number).split() if word != "and"]


def test_the_table_is_complete_in_every_language() -> None:
    assert UNITS.keys() == TENS.keys() and len(UNITS) == 8
    assert {len(words) for words in UNITS.values()} == {20}
    assert {len(words) for words in TENS.values()} == {8}


def test_ordinals() -> None:
    words = "first second third fourth fifth eighth ninth twelfth twentieth hundredth"
    digits = "1st 2nd 3rd 4th 5th 8th 9th 12th 20th hundredth"
    assert words_to_digits(words.split()) == digits.split()
    assert words_to_digits(["ninety", "ninth", "fiveth"]) == ["99th", "fiveth"]
