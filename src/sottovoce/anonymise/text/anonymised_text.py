"""A text with its private values replaced: what was where, and who decided that."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.anonymise.decisions import DecidedBy, Decision
from sottovoce.core.records import Record


@dataclass(frozen=True, slots=True)
class ReplacedSpan(Record):
    """A private value: where it was, where its replacement is, and why; never the value itself."""

    start: int
    """First character in the original text."""
    end: int
    """The character after the last in the original text."""
    new_start: int
    """First character in the new text."""
    new_end: int
    """The character after the last in the new text."""
    kind: str
    """Entity type, such as ``PER``."""
    rule: str
    """What found it, such as ``tagger spoken``."""
    strategy: str
    """Name of the strategy that replaced it."""
    score: float
    """How sure the rule was, from 0 to 1."""
    replacement: str | None
    """None if it was found and kept, which has probability 1 − p."""
    by: DecidedBy
    """Who decided that it is private."""


@dataclass(frozen=True, slots=True)
class DecidedLanguage(Record):
    """A part of a text and the language as which it was searched."""

    start: int
    """First character in the original text."""
    end: int
    """The character after the last in the original text."""
    language: str
    """Code of the most probable language."""
    probability: float
    """How probable it is; of several sentences the lowest."""
    searched: tuple[str, ...]
    """All languages as which the part was searched; one if the language is sure."""


@dataclass(frozen=True, slots=True)
class AnonymisedText(Record):
    """A text with its private values replaced."""

    text: str
    spans: tuple[ReplacedSpan, ...]
    decisions: tuple[Decision, ...] = ()
    """What was decided to be private, and what not, with who decided."""
    languages: tuple[DecidedLanguage, ...] = ()
    """The parts of the text by language, if the language was decided and not given."""

    def original_offset(self, offset: int) -> int | None:
        """Return where a character of the new text was in the original.

        Parameters
        ----------
        offset : int
            Position in the new text.

        Returns
        -------
        int or None
            Position in the original; None inside a replacement.
        """
        shift = 0
        for span in self.spans:
            if offset < span.new_start:
                break
            if offset < span.new_end and span.replacement is not None:
                return None
            shift = span.end - span.new_end
        return offset + shift
