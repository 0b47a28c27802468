"""Values get the type that their surrogates and counts are made by."""

from __future__ import annotations

import pytest

from sottovoce.anonymise.text import Detector


def kinds(text: str, lang: str) -> list[tuple[str, str]]:
    findings = Detector(lang).find([text])[0]
    return [(text[finding.start : finding.end], finding.kind) for finding in findings]


@pytest.mark.parametrize(
    ("lang", "text", "date"),
    [
        ("en", "date of birth 12/03/1985", "12/03/1985"),
        ("en", "my date of birth is 12 03 1985", "12 03 1985"),
        ("en", "born 1985-03-12", "1985-03-12"),
        ("de", "geboren am 2.3.1985", "2.3.1985"),
        ("es", "nací el 31-12-2001", "31-12-2001"),
    ],
)
def test_a_date_in_figures_is_a_date_and_no_telephone_number(
    lang: str, text: str, date: str
) -> None:
    assert (date, "DATE") in kinds(text, lang)


@pytest.mark.parametrize("number", ["45 67 1985", "0171 2345678", "12/13.1985"])
def test_a_number_that_is_no_date_is_a_telephone_number(number: str) -> None:
    assert (number, "PHONE") in kinds(f"call {number} now", "en")


def test_the_label_of_a_number_is_no_name() -> None:
    found = kinds("My SSN is 078-05-1120.", "en")
    assert found == [("078-05-1120", "ID")]
