from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.recording.words import spoken_words
from sottovoce.core.unicode_offsets import MOST, UNSEEN, Composed, composed

SIGNS = st.sampled_from(
    "aeéq .1\u00ad\u200b\ufeff\u0301\u0302\u0323\u0327\u212b각\u1100\u1161\u11a8\u09c7\u09be"
)
TEXTS = st.text(SIGNS | st.characters(exclude_categories=["Cs"]), max_size=20)


@given(TEXTS)
def test_composing_is_that_of_unicode(text: str) -> None:
    assert composed(text) == unicodedata.normalize("NFC", UNSEEN.sub("", text))


@given(TEXTS)
def test_every_stretch_has_a_way_back(text: str) -> None:
    one = Composed.of(text)
    assert not one.text or one.before(0, len(one.text)) == (0, len(text))
    for at in range(len(one.text)):
        begin, end = one.before(at, at + 1)
        assert 0 <= begin < end <= len(text)
        assert one.text[at] in composed(text[begin:end])
        assert at == 0 or one.before(at - 1, at)[1] == begin or one.before(at - 1, at)[0] == begin


def test_marks_without_end_cost_no_more_than_their_number() -> None:
    text = "a" + "\u0301\u0323" * 100_000
    made = Composed.of(text)
    assert made.before(0, len(made.text)) == (0, len(text))
    assert max(b - a for a, b in zip(made.there, made.there[1:], strict=False)) == MOST


def test_words_of_a_recording_are_the_same_in_either_form() -> None:
    text = "Mme Lefèvre, d'Évreux: œuvre-clé, ķēdes!"
    apart = unicodedata.normalize("NFD", text)
    assert [composed(word.text) for word in spoken_words(apart)] == [
        word.text for word in spoken_words(text)
    ]
    assert all(apart[word.start : word.end] == word.text for word in spoken_words(apart))
    assert [word.text for word in spoken_words("q\u0303ann q\u0303")] == ["q\u0303ann", "q\u0303"]
