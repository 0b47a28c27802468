"""The words of an audit's page, explained: each opens its explanation where it stands.

An explanation is a popover, which a browser opens and closes without a script, by mouse and by
keyboard. Unopened it stands in the glossary at the end of the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sottovoce.report.html import Markup, element, joined


@dataclass(frozen=True, slots=True)
class Entry:
    """A term and what it means."""

    key: str
    """Part of the id of its explanation."""
    term: str
    text: str
    spellings: tuple[str, ...] = ()
    """Other forms that open the same explanation."""


ENTRIES = (
    Entry(
        "anonymiser",
        "anonymiser",
        "A method that changes a voice. The name says what it tries, not that it succeeds.",
        ("anonymisers",),
    ),
    Entry(
        "attacker",
        "attacker",
        "A program that plays somebody who wants to know whose voice it is. It has recordings of "
        "known people and compares them with the released ones.",
        ("attackers",),
    ),
    Entry(
        "ignorant",
        "ignorant",
        "An attacker who does not know that voices were changed. A test with this attacker alone "
        "makes any method look too good.",
    ),
    Entry(
        "lazy-informed",
        "lazy-informed",
        "An attacker who changes the known recordings with the same method, but has learnt from "
        "unchanged speech only.",
    ),
    Entry(
        "near-informed",
        "near-informed",
        "An attacker who has a similar method and has learnt from its output.",
    ),
    Entry(
        "semi-informed",
        "semi-informed",
        "An attacker who has the same method and has learnt from its output, but does not know the "
        "random choices made for the release.",
    ),
    Entry(
        "informed",
        "informed",
        "An attacker who has the same method, has learnt from its output, and knows the random "
        "choices made for the release.",
    ),
    Entry(
        "linkability",
        "Linkability",
        "Of all released recordings, the share for which the attacker names the right person among "
        "so many. Guessing among 20 people gives 5 %.",
    ),
    Entry(
        "singling-out",
        "Singling Out",
        "How often a rule made from one person's speech fits exactly one person of a group. "
        "Guessing gives 36.8 %; above that, people are isolated by their voices.",
    ),
    Entry(
        "guessing",
        "guessing",
        "What somebody reaches who hears nothing and answers at random. Results are read against "
        "it.",
        ("Guessing", "chance"),
    ),
    Entry(
        "interval",
        "interval",
        "The range that holds the true value in 95 of 100 such audits (or as many as the page "
        "says). Few people make it wide. Decisions use the end that discloses more.",
        ("intervals",),
    ),
    Entry(
        "trustworthy",
        "trustworthy",
        "Whether an attack has shown that it can find people at all: on unchanged speech, on its "
        "own training, and not by accident. That an attack which is not trustworthy finds nobody "
        "means nothing.",
    ),
    Entry(
        "wer",
        "word error rate",
        "Of 100 words, how many a speech recogniser gets wrong. It tells how much of what was said "
        "can still be understood by a machine.",
        ("WER",),
    ),
    Entry(
        "eer",
        "EER",
        "Equal error rate: an attacker decides for pairs of recordings whether one person speaks "
        "in both; at this rate it errs as often in either way. 50 % is guessing, 0 % never wrong.",
        ("equal error rate",),
    ),
    Entry(
        "d-sys",
        "D_sys",
        "How far pairs of one person stand out from pairs of two people, from 0 (not at all) to 1. "
        "It needs no threshold.",
    ),
    Entry(
        "d-ece",
        "D_ECE",
        "How much the attacker learns on average, in bits, from 0 to 0.72.",
    ),
    Entry(
        "worst-case",
        "worst case",
        "The strongest evidence about any one pair of recordings, with a category from 0 (none) "
        "and A (weak) to F (strong).",
        ("Worst case",),
    ),
    Entry(
        "quality",
        "estimated quality",
        "What listeners would say of the sound from 1 to 5, guessed by a network; no listening "
        "test.",
    ),
    Entry(
        "f0",
        "F0 correlation",
        "How well the melody of speech is kept; 1 is unchanged.",
    ),
    Entry(
        "deid",
        "DeID",
        "How different voices are from their originals: 1 is entirely, 0 not at all. A voice that "
        "sounds different can still be linked.",
    ),
    Entry(
        "gvd",
        "G_VD",
        "How well voices can still be told apart after the change, in decibels; 0 as before, lower "
        "is less.",
    ),
    Entry(
        "encoder",
        "encoder",
        "The network by which an attacker turns a recording into numbers that describe the voice.",
    ),
    Entry(
        "linked-with",
        "linkage function",
        "What compares two voices in numbers and gives a score.",
        ("linked with",),
    ),
    Entry(
        "mated",
        "mated",
        "Of two recordings: by the same person. Non-mated: by two people.",
    ),
)
"""In the order of the glossary."""

_BY_SPELLING = {spelling: entry for entry in ENTRIES for spelling in (entry.term, *entry.spellings)}
_SPELLINGS = re.compile(
    r"(?<![\w-])("
    + "|".join(re.escape(word) for word in sorted(_BY_SPELLING, key=len, reverse=True))
    + r")(?![\w-])"
)


def explained(text: str) -> Markup:
    """Turn each term of a text, where it first occurs, into a button that opens its explanation.

    Parameters
    ----------
    text : str
        Plain text; it is escaped.
    """
    parts: list[str] = []
    seen: set[str] = set()
    end = 0
    for match in _SPELLINGS.finditer(text):
        entry = _BY_SPELLING[match.group()]
        if entry.key in seen:
            continue
        seen.add(entry.key)
        parts += [text[end : match.start()], _button(entry, match.group())]
        end = match.end()
    return joined([*parts, text[end:]])


def _button(entry: Entry, word: str) -> Markup:
    return element("button", word, type="button", class_="term", popovertarget=f"term-{entry.key}")


def glossary_section() -> Markup:
    """Build all explanations, which terms of the page open."""
    entries = [
        element(
            "div",
            element("dfn", entry.term),
            element("p", entry.text),
            id=f"term-{entry.key}",
            class_="entry",
            popover=True,
        )
        for entry in ENTRIES
    ]
    return element("div", *entries, class_="glossary")
