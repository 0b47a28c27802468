"""Transcripts that a person would call the same become the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.asr.normalise import american_spelling, normalise


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Don't you?", "do not you"),
        ("I can't, won't and shan't.", "I cannot, will not and shall not"),
        ("They're sure he'll say it's fine", "they are sure he will say it is fine"),
        ("He said: “Let’s go!”", "he said let us go"),
        ("Mr. and Mrs. Smith met Dr. Jones", "mister and missus smith met doctor jones"),
        ("the pre-Socratic café", "the pre socratic cafe"),
        ("well, um, er, yes (laughs) [noise]", "well yes"),
        ("the U.S.A. won", "the USA won"),
        ("1,234,567 people", "1234567 people"),
        ("ten per cent. of it", "10% of it"),
        ("Smith & Sons", "smith and sons"),
        ("twenty-three", "23"),
        ("one hundred and five", "105"),
        ("two thousand and five", "2005"),
        ("nineteen eighty-four", "1984"),
        ("one two three", "1 2 3"),
        ("five hundred thousand", "500,000"),
        ("two million five hundred thousand and six", "2500006"),
        ("the twenty-first of May", "the 21st of may"),
        ("the first, the second, the third", "the 1st, the 2nd, the 3rd"),
        ("the one hundred and twelfth", "the 112th"),
        ("three point one four", "3.14"),
        ("the colour of honour", "the color of honor"),
        ("they realised and analysed the theatre", "they realized and analyzed the theater"),
        ("a travelling jeweller's grey defence", "a traveling jeweler's gray defense"),
    ],
)
def test_spellings_of_the_same_words(left: str, right: str) -> None:
    assert normalise(left) == normalise(right)


@pytest.mark.parametrize(
    "text",
    ["a hundred men", "and two and three", "five and a half", "no matter", "rise and promise"],
)
def test_words_that_are_no_numbers_stay(text: str) -> None:
    assert len(normalise(text).split()) == len(text.split())


def test_different_words_stay_different() -> None:
    for left, right in (("cat", "cats"), ("his", "is"), ("sixteen", "sixty"), ("prize", "price")):
        assert normalise(left) != normalise(right)


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_gives_words_with_single_spaces(text: str) -> None:
    for language in ("en", "fr"):
        words = normalise(text, language)
        assert words == " ".join(words.split())


def test_plain_rules_for_other_languages() -> None:
    assert normalise("Ça va, l'Été ?", "fr") == "ça va lété"
    assert normalise("Straße 23!", "de-DE") == "straße 23"
    assert normalise("今日は。", "ja") == "今 日 は"


def test_words_that_keep_their_s() -> None:
    for word in ("promised", "exercises", "rising", "surprising", "raised", "noises", "wisest"):
        assert american_spelling(word) == word
