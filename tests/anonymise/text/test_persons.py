"""One person, one surrogate: titles, short forms, genitives, cases, relatives, initials."""

from __future__ import annotations

import re

import pytest

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.inflection import inflect, split_ending
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.person_surrogates import gender_of
from sottovoce.anonymise.text.persons import PersonIndex
from sottovoce.anonymise.text.replacer import Replacer
from sottovoce.anonymise.text.surrogates import base_tables

G, F = r"(?P<g>[\w'-]+)", r"(?P<f>[\w'-]+)"
"""Given and family name of the first person; g2 and f2 of the second."""
G2, F2 = r"(?P<g2>[\w'-]+)", r"(?P<f2>[\w'-]+)"
EXAMPLES = [
    (
        "de",
        "[Angela Merkel] kam. [Merkel] sprach. Frau [Merkel] ging. [Angela] lachte.",
        f"{G} {F} kam. (?P=f) sprach. Frau (?P=f) ging. (?P=g) lachte.",
    ),
    ("en", "[Angela Merkel] came. Mrs. [Merkel] left.", f"{G} {F} came. Mrs. (?P=f) left."),
    ("en", "[John Carver] met [Carver]'s son.", f"{G} {F} met (?P=f)'s son."),
    ("en", "Dr. [Carver] called. [Alice Carver] left.", f"Dr. {F} called. {G} (?P=f) left."),
    ("en", "[Alice Carver] wrote. [A. Carver] signed.", f"{G} {F} wrote. (?P=g) (?P=f) signed."),
    ("en", "[J. R. R. Tolkien] wrote. [Tolkien] slept.", f"{G} {F} wrote. (?P=f) slept."),
    (
        "en",
        "[Alice Carver] and [Peter Carver] met. [Carver] paid, [Alice] left.",
        f"{G} {F} and {G2} (?P=f) met. (?P=f) paid, (?P=g) left.",
    ),
    ("en", "my name is [alice] that's [a l i c e]", f"my name is {G} {F} that's (?P=g) (?P=f)"),
    ("de", "[Peter Lehmann] kam. [Lehmanns] Auto.", f"{G} {F} kam. (?P=f)s? Auto."),
    ("de", "[Peter Quxtner] kam. [Quxtners] Auto.", f"{G} {F} kam. (?P=f)s? Auto."),
    (
        "de",
        "[Anna Müller] und [Karl Müller] kamen. Herr [Müller] sprach. [Karl] ging.",
        f"{G} {F} und {G2} (?P=f) kamen. Herr (?P=f) sprach. (?P=g2) ging.",
    ),
    (
        "de",
        "[Sabine Kästner-Vogt] kam. Frau [Kästner-Vogt] ging. [Vogt] lachte.",
        f"{G} {F} kam. Frau (?P=f) ging. (?P=f) lachte.",
    ),
    ("de", "Frau Dr. [Lehmann] kam. [Petra Lehmann] ging.", f"Frau Dr. {F} kam. {G} (?P=f) ging."),
    ("fr", "[Marie Dupont] est là. Mme [Dupont] parle.", f"{G} {F} est là. Mme (?P=f) parle."),
    ("fr", "l'ami d'[Alain Mercier]. [Alain] part.", f"l'ami d'{G} {F}. (?P=g) part."),
    (
        "es",
        "[Gabriel García Márquez] llegó. [García] habló. Señor [García] salió.",
        f"{G} {F} llegó. (?P=f) habló. Señor (?P=f) salió.",
    ),
    ("es", "Señora [Lucía Campos]. [Lucía] habló.", f"Señora {G} {F}. (?P=g) habló."),
    ("it", "[Paolo Ferri] è qui. Il signor [Ferri].", f"{G} {F} è qui. Il signor (?P=f)."),
    (
        "it",
        "[Giulia Ferri] e [Marco Ferri]. [Marco] ride.",
        f"{G} {F} e {G2} (?P=f). (?P=g2) ride.",
    ),
    ("nl", "[Jan van der Berg]. Meneer [van der Berg].", f"{G} {F}. Meneer (?P=f)."),
    ("nl", "[Sanne Bakker] belt. Mevrouw [Bakker].", f"{G} {F} belt. Mevrouw (?P=f)."),
    ("pt", "[Joana Ribeiro] chegou. A senhora [Ribeiro].", f"{G} {F} chegou. A senhora (?P=f)."),
    ("pt", "[José Carlos Ribeiro]. [Ribeiro] falou.", f"{G} {F}. (?P=f) falou."),
    (
        "lv",
        "[Jānis Ozols] nāca. [Ozolam] patika. [Jānim] arī.",
        r"(?P<g>\w+)is (?P<f>\w+)[sš] nāca. (?P=f)am patika. (?P=g)im arī.",
    ),
    (
        "lv",
        "[Anna Ozola] runāja. [Ozolas] kundze gāja. [Annai] patika.",
        r"(?P<g>\w+)a (?P<f>\w+)a runāja. (?P=f)as kundze gāja. (?P=g)ai patika.",
    ),
]


@pytest.mark.parametrize(("lang", "marked", "expected"), EXAMPLES)
def test_one_person_has_one_surrogate(lang: str, marked: str, expected: str) -> None:
    for seed in range(5):
        new = replaced(marked, lang, seed)
        match = re.fullmatch(expected.replace(".", r"\."), new)
        assert match is not None, new
        groups = match.groupdict()
        assert groups["g"] != groups.get("g2")


def replaced(marked: str, lang: str, seed: int) -> str:
    """Replace the names in brackets; which words are names is not left to the taggers."""
    text, findings = "", []
    for piece in re.split(r"(\[.*?\])", marked):
        core = piece.strip("[]")
        if piece.startswith("["):
            findings.append(Finding(len(text), len(text) + len(core), "PER", 1.0, "test"))
        text += core
    replacer = Replacer(lang, secret=Secret.reproducible(seed))
    replacer.note_persons(text, findings, "", "")
    for finding in reversed(findings):
        new = replacer(text[finding.start : finding.end], "PER", "", "")
        assert new is not None
        text = text[: finding.start] + new + text[finding.end :]
    return text


def test_persons_are_found_and_named_without_a_list() -> None:
    text = "Angela Merkel kam. Merkel sprach. Frau Merkel ging. Angela lachte."
    new = TextAnonymiser("de", strategy="instance").transform(text).text
    assert new == "[PER_1] kam. [PER_1] sprach. Frau [PER_1] ging. [PER_1] lachte."


def test_gender_is_kept() -> None:
    women = {name.casefold() for name in base_tables("de")["given_f"]}
    for seed in range(20):
        new = Replacer("de", secret=Secret.reproducible(seed))("Angela Merkel", "PER", "", "")
        assert new is not None and new.split()[0].casefold() in women
    assert (gender_of("angela", "de"), gender_of("karl", "de"), gender_of("zzz", "de")) == (
        "f",
        "m",
        "",
    )


def test_other_names_are_other_persons() -> None:
    index = PersonIndex("en")
    for name in ("Alice Carver", "Alice Brown", "Peter Carver"):
        index.note(name)
    identities = {index.resolve(name).identity for name in ("Alice Carver", "Alice Brown")}
    assert len(identities) == 2
    assert index.resolve("Carver").identity == "carver", "two persons have this name"
    assert index.resolve("Brown").identity == index.resolve("Alice Brown").identity
    assert index.resolve("Zoe").parts == ("zoe", "zoe")


def test_a_single_name_beside_a_title_is_a_family_name() -> None:
    index = PersonIndex("en")
    index.note("Carver", titled=True)
    assert index.resolve("Carver").parts == ("", "carver")


def test_latvian_endings() -> None:
    assert split_ending("Bērziņam") == ("Bērziņ", "am")
    assert inflect("Kalniņš", "Ozola") == "Kalniņa"
    assert inflect("Mētra", "Annai") == "Mētrai"


def test_the_number_of_addresses_to_draw_from_is_known_word_by_word() -> None:
    sizes = Replacer("en", "word").table_sizes(("EMAIL", "URL", "LOC"))
    assert sizes["EMAIL"] == sizes["URL"] == 26**8
    assert sizes["LOC"] < 10_000
