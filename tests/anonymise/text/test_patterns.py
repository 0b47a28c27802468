from __future__ import annotations

import pytest

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.calendar import is_number_word, small_numbers
from sottovoce.anonymise.text.lexicon import LANGUAGES
from sottovoce.anonymise.text.patterns import find_spoken, find_written
from sottovoce.anonymise.text.tokens import tokenise


def kinds(text: str, lang: str = "en") -> dict[str, str]:
    tokens = tokenise(text)
    return {
        text[tokens[e.start].start : tokens[e.end - 1].end]: f"{e.kind} {e.rule[8:]}"
        for e in find_written(text, tokens, lang)
    }


@pytest.mark.parametrize(
    ("text", "lang", "value", "kind"),
    [
        ("to ann.lee+x@mail.example.org, now", "en", "ann.lee+x@mail.example.org", "EMAIL email"),
        ("see https://example.org/a?b=c.", "en", "https://example.org/a?b=c", "URL url"),
        ("from GB82 WEST 1234 5698 7654 32 on", "en", "GB82 WEST 1234 5698 7654 32", "ID iban"),
        ("card 4111-1111-1111-1111 ok", "en", "4111-1111-1111-1111", "ID card"),
        ("host 192.168.1.20 down", "en", "192.168.1.20", "ID ip"),
        ("ring +49 (0)621 / 123 45 67 bitte", "de", "+49 (0)621 / 123 45 67", "PHONE phone"),
        ("ssn 078-05-1120 here", "en", "078-05-1120", "ID ssn"),
        ("dni 12345678Z sí", "es", "12345678Z", "ID dni"),
        ("nif 123456789 sim", "pt", "123456789", "ID nif"),
        ("kods 161175-19997 te", "lv", "161175-19997", "ID personas kods"),
        ("bsn 111222333 ja", "nl", "111222333", "ID bsn"),
        ("cf RSSMRA85T10A562S qui", "it", "RSSMRA85T10A562S", "ID codice fiscale"),
        ("nir 2 69 05 49 588 157 80 ok", "fr", "2 69 05 49 588 157 80", "ID nir"),
        ("Kennzeichen MA-AB 1234 da", "de", "MA-AB 1234", "ID plate"),
    ],
)
def test_written_forms(text: str, lang: str, value: str, kind: str) -> None:
    assert kinds(text, lang)[value] == kind


def test_ordinary_numbers_match_no_pattern() -> None:
    assert kinds("in 2024 we sold 12,500 of 3.5 kg at 9:30") == {}


@pytest.mark.parametrize(
    ("valid", "invalid", "lang", "rule"),
    [
        ("86095742719", "86095742718", "de", "ID tax number"),
        ("X1234567L", "X1234567A", "es", "ID dni"),
        ("GB82 WEST 1234 5698 7654 32", "GB00 WEST 1234 5698 7654 32", "en", "ID iban"),
        ("4111 1111 1111 1111", "4111 1111 1111 1112", "en", "ID card"),
        ("269054958815780", "269054958815781", "fr", "ID nir"),
        ("RSSMRA85T10A562S", "RSSMRA85T10A562T", "it", "ID codice fiscale"),
        ("111222333", "111222334", "nl", "ID bsn"),
        ("123456789", "123456788", "pt", "ID nif"),
        ("161175-19997", "161175-19998", "lv", "ID personas kods"),
    ],
)
def test_check_digits_decide(valid: str, invalid: str, lang: str, rule: str) -> None:
    assert kinds(valid, lang) == {valid: rule}
    assert rule not in kinds(invalid, lang).values()


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("mail john dot smith at gmail dot com please", "en"),
        ("schreib an hans punkt meier at web punkt de bitte", "de"),
        ("escribe a ana arroba correo punto es gracias", "es"),
        ("écris à luc arobase orange point fr merci", "fr"),
        ("scrivi a ugo chiocciola libero punto it grazie", "it"),
        ("raksti uz janis et inbox punkts lv paldies", "lv"),
        ("mail jan apenstaartje ziggo punt nl graag", "nl"),
        ("escreve a rui arroba sapo ponto pt obrigado", "pt"),
    ],
)
def test_spoken_addresses(text: str, lang: str) -> None:
    words = text.split()
    entities = [e for e in find_spoken(words, lang) if e.kind == "EMAIL"]
    assert len(entities) == 1
    assert words[entities[0].end :] == words[-1:]
    assert words[: entities[0].start] in (words[:1], words[:2])


@pytest.mark.parametrize(
    ("text", "lang", "start"),
    [
        ("escribe a ana arroba correo punto es", "es", 2),
        ("escribe a j r ana arroba correo punto es", "es", 1),
        ("mail j smith at gmail dot com", "en", 1),
        ("mail a b smith at gmail dot com", "en", 1),
        ("a smith at gmail dot com", "en", 1),
    ],
)
def test_letters_that_are_spelt_belong_to_an_address(text: str, lang: str, start: int) -> None:
    assert [e.start for e in find_spoken(text.split(), lang) if e.kind == "EMAIL"] == [start]


def test_words_before_an_address_do_not_belong_to_it() -> None:
    words = [
        "write",
        "to",
        "me",
        "at",
        "john",
        "dot",
        "smith",
        "at",
        "gmail",
        "dot",
        "com",
        "at",
        "nine",
    ]
    entities = [e for e in find_spoken(words, "en") if e.kind == "EMAIL"]
    assert [words[e.start : e.end] for e in entities] == [
        ["john", "dot", "smith", "at", "gmail", "dot", "com"]
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_spoken_numbers(lang: str) -> None:
    digits = small_numbers(lang, True)
    words = ["█████", *digits[1:8], "█████", *digits[2:6], "█████", *digits[2:4]]
    entities = [(e.start, e.end, e.kind) for e in find_spoken(words, lang)]
    assert entities == [(1, 8, "PHONE"), (9, 13, "NUM")]
    assert [e[:3] for e in find_spoken(["█████", *digits[2:5]], lang)] == [(1, 4, "NUM")]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_generated_number_is_recognised(lang: str) -> None:
    joints = {"y", "e"}
    for number in small_numbers(lang, True):
        assert all(is_number_word(w, lang) or w in joints for w in number.split()), number


def test_a_name_beside_a_title() -> None:
    entities = find_spoken(["please", "ask", "mister", "zorbalda", "about", "it"], "en")
    assert [(e.start, e.end, e.kind) for e in entities] == [(3, 4, "PER")]
    assert find_spoken(["ask", "mister", "if", "he", "comes"], "en") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mail ann[at]example[dot]com now", "mail [EMAIL] now"),
        ("mail ann.lee (at) example (dot) com now", "mail [EMAIL] now"),
        ("mail ann [dot] lee {at} example.org", "mail [EMAIL]"),
        ("mail ann(at)example.co.uk, please", "mail [EMAIL], please"),
        ("ring +49 30 1234567 now", "ring [PHONE] now"),
        ("we met (at) noon", "we met (at) noon"),
    ],
)
def test_hidden_addresses_and_the_plus_of_a_number(text: str, expected: str) -> None:
    anonymiser = TextAnonymiser("en", strategy="typed", tau=0.01, types=["EMAIL", "PHONE"])
    assert anonymiser.transform(text).text == expected
