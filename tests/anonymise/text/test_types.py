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


@pytest.mark.parametrize(
    ("lang", "text", "number", "kind"),
    [
        ("en", "social security number 123 45 6789", "123 45 6789", "ID"),
        ("de", "meine SSN ist 123-45-6789", "123-45-6789", "ID"),
        ("de", "meine kundennummer lautet 123 456 789", "123 456 789", "ID"),
        ("en", "customer ann lee, phone 0171 2345678", "0171 2345678", "PHONE"),
        ("en", "passport lost, please call me back at 0171 2345678", "0171 2345678", "PHONE"),
    ],
)
def test_a_number_has_the_type_that_is_announced(
    lang: str, text: str, number: str, kind: str
) -> None:
    assert (number, kind) in kinds(text, lang)


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        (
            "en",
            "Hi Mister Smith, the Lufthansa flight from Paris to Berlin is leaving by noon.",
            [("Smith", "PER"), ("Lufthansa", "ORG"), ("Paris", "LOC"), ("Berlin", "LOC")],
        ),
        ("en", "take the ryanair flight from dublin", [("ryanair", "ORG"), ("dublin", "LOC")]),
        ("en", "The British Airways flight to Rome was late.", [("British Airways", "ORG")]),
        ("de", "Der Lufthansa Flug von Paris nach Berlin", [("Lufthansa", "ORG")]),
        ("en", "we missed the london train", [("london", "LOC")]),
    ],
)
def test_who_runs_a_flight_is_an_organisation_and_the_flight_is_no_name(
    lang: str, text: str, expected: list[tuple[str, str]]
) -> None:
    found = kinds(text, lang)
    assert set(expected) <= set(found)
    assert not any(
        ride in value.lower() for value, _ in found for ride in ("flight", "flug", "train")
    )
