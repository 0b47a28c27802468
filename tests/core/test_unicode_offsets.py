"""Normalised texts and the way back to their source."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.recording.words import spoken_words
from sottovoce.core.unicode_offsets import (
    INVISIBLE,
    LONGEST_LETTER,
    NormalisedText,
    normalise_unicode,
)

CHARACTERS = st.sampled_from(
    "aeéq .1\u00ad\u200b\ufeff\u0301\u0302\u0323\u0327\u212b각\u1100\u1161\u11a8\u09c7\u09be"
)
TEXTS = st.text(CHARACTERS | st.characters(exclude_categories=["Cs"]), max_size=20)


@given(TEXTS)
def test_the_normal_form_is_that_of_unicode(text: str) -> None:
    assert normalise_unicode(text) == unicodedata.normalize("NFC", INVISIBLE.sub("", text))


@given(TEXTS)
def test_every_span_has_a_source(text: str) -> None:
    normalised = NormalisedText.of(text)
    size = len(normalised.text)
    assert not size or normalised.source_span(0, size) == (0, len(text))
    for offset in range(size):
        begin, end = normalised.source_span(offset, offset + 1)
        assert 0 <= begin < end <= len(text)
        assert normalised.text[offset] in normalise_unicode(text[begin:end])
        if offset:
            assert begin in normalised.source_span(offset - 1, offset)


def test_many_marks_cost_no_more_than_their_number() -> None:
    text = "a" + "\u0301\u0323" * 100_000
    normalised = NormalisedText.of(text)
    assert normalised.source_span(0, len(normalised.text)) == (0, len(text))
    starts = normalised.source_starts
    assert max(b - a for a, b in pairwise(starts)) == LONGEST_LETTER


def test_words_of_a_recording_are_the_same_in_either_form() -> None:
    text = "Mme Lefèvre, d'Évreux: œuvre-clé, ķēdes!"
    decomposed = unicodedata.normalize("NFD", text)
    words = [word.text for word in spoken_words(text)]
    assert [normalise_unicode(word.text) for word in spoken_words(decomposed)] == words
    assert all(decomposed[word.start : word.end] == word.text for word in spoken_words(decomposed))
    assert [word.text for word in spoken_words("q\u0303ann q\u0303")] == ["q\u0303ann", "q\u0303"]
