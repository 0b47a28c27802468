"""Leaks that were measured for the package's taggers, by kind of text.

A bound that was measured on one kind of text says nothing of another. So a figure is looked up only
for a kind of text that the user names. For any other text the worst figure of any set is given,
which is no bound. It includes figures of taggers that were trained again without the kind of text
they were tested on (``recipes/leave_kind_out.py``), since that is the situation of new text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from sottovoce.anonymise.text.guarantee import leak_bound
from sottovoce.core.errors import UsageError
from sottovoce.core.files import read_json
from sottovoce.core.records import JsonObject, Record, from_json

CASED, LOWER_CASE = VIEWS = ("cased", "lower case")
"""Text as it is written, and as a recogniser writes it."""
OWN_KIND = "own sample"
"""Kind of text of a sample that the user has labelled."""


@dataclass(frozen=True, slots=True)
class MissedWords(Record):
    """Private words of a test set, and how many were missed."""

    missed: int
    total: int
    effective: float
    """Independent words that would tell as much, see :func:`.guarantee.effective_words`."""

    @property
    def leak(self) -> float:
        """Share of private words that was missed."""
        return self.missed / self.total

    @property
    def bound(self) -> float:
        """Upper 95 % limit of that share in text of the same kind."""
        return leak_bound(self.missed, self.total, effective=self.effective)


@dataclass(frozen=True, slots=True)
class KnownLeak(Record):
    """What both taggers of a language together missed in a test set."""

    lang: str
    kind: str
    """Kind of text, such as ``commands`` or ``news``."""
    test_set: str
    """Name of the set, in words."""
    view: str
    """One of :data:`VIEWS`."""
    types: tuple[str, ...]
    """Entity types that are tagged in the set and were counted."""
    held_out: bool
    """Whether the taggers saw no text of this kind in training; where the shipped ones did, others
    were trained without it."""
    by_tau: dict[str, MissedWords]

    def at(self, tau: float) -> MissedWords | None:
        """Return the counts at the highest measured τ that is not above a given one.

        Parameters
        ----------
        tau : float
            τ of the taggers.
        """
        taus = [measured for measured in self.by_tau if float(measured) <= tau]
        return self.by_tau[max(taus, key=float)] if taus else None


@dataclass(frozen=True, slots=True)
class SampleLeak(Record):
    """What was missed in a labelled sample of the user's own text, and with which settings."""

    measured_on: str
    """Name of the labelled file."""
    words: MissedWords
    sentences: int
    lang: str
    tau: float
    register: str
    types: tuple[str, ...]
    tagger: str | None
    """The user's tagger; None for those of the package alone."""


@dataclass(frozen=True, slots=True)
class WorstLeak:
    """The largest leak known of any set: not a bound for other text."""

    entry: KnownLeak
    words: MissedWords

    def to_dict(self) -> JsonObject:
        """Return the figure and what it was measured on."""
        return {
            "leak": self.words.leak,
            "missed": self.words.missed,
            "private_words": self.words.total,
            "kind": self.entry.kind,
            "measured_on": self.entry.test_set,
            "lang": self.entry.lang,
            "view": self.entry.view,
            "held_out": self.entry.held_out,
            "is_bound": False,
        }


@cache
def known_leaks() -> tuple[KnownLeak, ...]:
    """Return every leak that was measured for the package's taggers."""
    path = files("sottovoce.anonymise.text") / "models" / "leaks.json"
    return from_json(tuple[KnownLeak, ...], json.loads(path.read_text(encoding="utf-8")))


def measured_kinds(lang: str) -> tuple[str, ...]:
    """Return the kinds of text that the shipped taggers of a language were measured on.

    Parameters
    ----------
    lang : str
        Language code.
    """
    entries = [entry for entry in known_leaks() if entry.lang == lang and not entry.held_out]
    return tuple(dict.fromkeys(entry.kind for entry in entries))


def leak_on(lang: str, kind: str, view: str) -> KnownLeak | None:
    """Look up what the shipped taggers missed in text of a kind.

    Parameters
    ----------
    lang : str
        Language code.
    kind : str
        One of :func:`measured_kinds`.
    view : str
        One of :data:`VIEWS`.

    Returns
    -------
    KnownLeak or None
        The entry with the largest leak if several sets are of this kind; None if this view was not
        measured.

    Raises
    ------
    UsageError
        ``unknown-name`` if the kind was not measured in this language.
    """
    kinds = measured_kinds(lang)
    if kind not in kinds:
        choices = f"choose from {', '.join(kinds)}, or" if kinds else "no kind was;"
        raise UsageError(
            f"kind {kind!r} was not measured in {lang!r}; {choices} measure yours: --label, then "
            "--evaluate",
            code="unknown-name",
        )
    entries = [
        entry
        for entry in known_leaks()
        if (entry.lang, entry.kind, entry.view, entry.held_out) == (lang, kind, view, False)
    ]
    return max(entries, key=_largest_leak, default=None)


def worst_leak(view: str, tau: float) -> WorstLeak | None:
    """Return the largest leak of any set of any language: text of a new kind may be as hard.

    Parameters
    ----------
    view : str
        One of :data:`VIEWS`.
    tau : float
        τ of the taggers.

    Returns
    -------
    WorstLeak or None
        None if no τ as low as this was measured.
    """
    entries = [entry for entry in known_leaks() if entry.view == view]
    counted = [(entry, words) for entry in entries if (words := entry.at(tau)) is not None]
    if not counted:
        return None
    return WorstLeak(*max(counted, key=lambda pair: pair[1].leak))


def read_sample_leak(path: Path) -> SampleLeak:
    """Read what ``--evaluate --json`` wrote of a labelled sample.

    Parameters
    ----------
    path : Path
        The JSON file.

    Raises
    ------
    InputError
        ``wrong-shape`` if it holds no measurement of a sample.
    """
    report = read_json(path, "write one with --evaluate LABELS --json FILE.json")
    return from_json(SampleLeak, report.get("sample"), source=f"{path}: 'sample'")


def _largest_leak(entry: KnownLeak) -> float:
    return max(words.leak for words in entry.by_tau.values())
