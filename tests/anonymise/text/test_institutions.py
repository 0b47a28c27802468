"""Institutions and officials in Spanish and Italian, with and without capitals."""

from __future__ import annotations

import pytest

from sottovoce.anonymise.text.dictated import find_dictated
from sottovoce.anonymise.text.institutions import find_institutions


def found(text: str, lang: str) -> list[str]:
    words = text.split()
    return [" ".join(words[e.start : e.end]) for e in find_institutions(words, lang)]


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("es", "lo decidió el senado ayer", ["senado"]),
        ("es", "la comisión de justicia y seguridad", ["comisión de justicia y seguridad"]),
        ("es", "el ministerio de hacienda lo paga", ["ministerio de hacienda"]),
        ("it", "lo disse il parlamento", ["parlamento"]),
        ("it", "la lega delle nazioni", ["lega delle nazioni"]),
        ("it", "nella storia dell'unione", ["dell'unione"]),
        ("it", "il governo italiano chiede", ["governo italiano"]),
    ],
)
def test_an_institution_without_capitals(lang: str, text: str, expected: list[str]) -> None:
    assert found(text, lang) == expected


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("es", "dame un consejo"),
        ("es", "varias comisiones y consejos"),
        ("it", "mi dia un consiglio"),
        ("it", "la camera da letto e il governo"),
        ("it", "accendi la luce in camera"),
        ("en", "the commission and the parliament"),
    ],
)
def test_a_noun_that_names_no_institution(lang: str, text: str) -> None:
    assert found(text, lang) == []


def test_with_capitals_the_noun_needs_one() -> None:
    text = "Lo disse il Consiglio dei ministri ma Ugo diede il consiglio a Eva"
    assert found(text, "it") == ["Consiglio dei ministri"]


@pytest.mark.parametrize(
    ("lang", "text", "name"),
    [
        ("it", "con l'onorevole bubbio a cena", "bubbio"),
        ("it", "l'on . zaccagnini parla", "zaccagnini"),
        ("it", "il ministro de gasperi", "de gasperi"),
        ("es", "el ministro aldasoro dijo", "aldasoro"),
    ],
)
def test_a_name_follows_an_office(lang: str, text: str, name: str) -> None:
    words = text.split()
    names = [" ".join(words[e.start : e.end]) for e in find_dictated(words, lang)]
    assert names == [name]


@pytest.mark.parametrize(
    ("lang", "text"),
    [("it", "il ministro degli esteri"), ("es", "el presidente de la casa"), ("it", "il collega")],
)
def test_an_office_without_a_name(lang: str, text: str) -> None:
    assert find_dictated(text.split(), lang) == []
