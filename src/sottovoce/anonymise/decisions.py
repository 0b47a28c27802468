"""Decisions on what is masked, as a file: proposed by rules and models, reviewed by a person.

A file of decisions contains places and types, never words. A text is recognised by its SHA-256, so
decisions are not applied to a text that has changed. Whoever has a guess of a text can test it with
that digest, and places tell lengths: protect the file like the texts themselves.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text
from sottovoce.core.records import Record, dump_json, from_json

DecidedBy = Literal["rule", "model", "person"]

FORMAT = "sottovoce decisions"
VERSION = 1
_KIND = re.compile(r"[A-Z][A-Z0-9_]{0,19}")
_TAGGER_RULE = "tagger "
"""Beginning of the rule of what a model found."""


@dataclass(frozen=True, slots=True)
class Decision(Record):
    """Whether characters of a text are masked, and who decided that."""

    start: int
    """First character, counted in Unicode code points from 0."""
    end: int
    """The character after the last."""
    kind: str
    """Entity type, such as ``PER``."""
    mask: bool
    """Whether the characters are masked."""
    by: DecidedBy
    """Who decided: a rule or model proposed it and nobody objected, or a person."""
    rule: str = ""
    """What proposed it, such as ``tagger spoken``; empty if a person marked it."""
    score: float = 1.0
    """How sure the rule was, from 0 to 1."""
    everywhere: bool = False
    """Whether it holds for all occurrences of the same words in all texts."""

    def __post_init__(self) -> None:
        _check(0 <= self.start < self.end, f"characters {self.start} to {self.end}")
        _check(_KIND.fullmatch(self.kind) is not None, f"type {self.kind[:20]!r}")
        _check(0 <= self.score <= 1, f"score {self.score:g}")


@dataclass(frozen=True, slots=True)
class StretchDecision(Record):
    """Sound that a person marked, whatever its words are."""

    start: float
    """Seconds in the original recording."""
    end: float
    """Seconds in the original recording."""
    kind: str = "MISC"
    by: DecidedBy = "person"

    def __post_init__(self) -> None:
        _check(0 <= self.start < self.end < 1e6, f"seconds {self.start:g} to {self.end:g}")
        _check(_KIND.fullmatch(self.kind) is not None, f"type {self.kind[:20]!r}")


@dataclass(frozen=True, slots=True)
class DocumentDecisions(Record):
    """The decisions on one text, or on one recording and its transcript."""

    id: str
    """Name of the text: line, utterance, or what the file calls it."""
    sha256: str
    """Of the text in UTF-8."""
    decisions: tuple[Decision, ...] = ()
    stretches: tuple[StretchDecision, ...] = ()


@dataclass(frozen=True, slots=True)
class Decisions(Record):
    """Decisions on the texts of a run: the content of a file of decisions."""

    documents: tuple[DocumentDecisions, ...]
    format: Literal["sottovoce decisions"] = "sottovoce decisions"
    version: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class DecisionCounts(Record):
    """Who decided what: numbers of masks by who decided on them, and of masks that were refused."""

    rule: int = 0
    model: int = 0
    person: int = 0
    """Masks that a person added or confirmed."""
    kept_by_person: int = 0
    """Proposals that a person refused: these words are released."""

    def __add__(self, other: DecisionCounts) -> DecisionCounts:
        return DecisionCounts(
            self.rule + other.rule,
            self.model + other.model,
            self.person + other.person,
            self.kept_by_person + other.kept_by_person,
        )


def count_decisions(
    decisions: Iterable[Decision], stretches: Iterable[StretchDecision] = ()
) -> DecisionCounts:
    """Count decisions by who decided.

    Parameters
    ----------
    decisions : iterable of Decision
        On words.
    stretches : iterable of StretchDecision, optional
        On sound.
    """
    counts = {"rule": 0, "model": 0, "person": 0}
    kept = 0
    for decision in decisions:
        if decision.mask:
            counts[decision.by] += 1
        elif decision.by == "person":
            kept += 1
    for stretch in stretches:
        counts[stretch.by] += 1
    return DecisionCounts(**counts, kept_by_person=kept)


def decided_by(rule: str) -> DecidedBy:
    """Return who proposes by a rule: a model if it is a tagger.

    Parameters
    ----------
    rule : str
        Name of the rule, such as ``tagger spoken`` or ``pattern iban``.
    """
    return "model" if rule.startswith(_TAGGER_RULE) else "rule"


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8.

    Parameters
    ----------
    text : str
        The text.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parse_decisions(content: bytes, *, source: str = "the decisions") -> Decisions:
    """Read decisions from JSON.

    Parameters
    ----------
    content : bytes
        A file of decisions.
    source : str, optional
        What is read, for the message of an error.

    Raises
    ------
    InputError
        ``not-json``, ``unsupported`` for another version, ``wrong-shape`` with the place.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{source}: not JSON; name a file of decisions", code="not-json") from None
    known = isinstance(value, dict) and value.get("format") == FORMAT
    if known and value.get("version") != VERSION:
        raise InputError(
            f"{source}: decisions of version {value.get('version')!r}; this program reads "
            f"{VERSION}: review the texts again",
            code="unsupported",
        )
    return from_json(Decisions, value, source=source)


def read_decisions(path: Path) -> Decisions:
    """Read a file of decisions.

    Parameters
    ----------
    path : Path
        A JSON file.

    Raises
    ------
    InputError
        ``unreadable``, or as :func:`parse_decisions`.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); name a file of decisions",
            code="unreadable",
        ) from None
    return parse_decisions(content, source=str(path))


def write_decisions(path: Path, decisions: Decisions) -> None:
    """Write a file of decisions that only its owner may read.

    Parameters
    ----------
    path : Path
        A JSON file.
    decisions : Decisions
        The decisions.
    """
    write_text(path, dump_json(decisions))
    path.chmod(0o600)


def _check(right: bool, what: str) -> None:
    if not right:
        raise ValueError(f"{what} cannot be")
