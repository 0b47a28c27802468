"""As which languages texts were searched, for people and machines, without any word of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.anonymise.text.anonymised_text import DecidedLanguage
from sottovoce.core.records import Record

MAX_PARTS = 100
"""Parts that are listed."""
_MAX_LINES = 5


@dataclass(frozen=True, slots=True)
class SearchedPart(Record):
    """Texts in a row that were searched as the same languages."""

    first: str
    """Id of the first text."""
    last: str
    """Id of the last text."""
    language: str
    """Code of the most probable language."""
    probability: float
    """The lowest of its texts."""
    searched: tuple[str, ...]
    """All languages as which the texts were searched; one if the language is sure."""


@dataclass(frozen=True, slots=True)
class LanguageSummary(Record):
    """As which languages texts were searched, and how sure that is."""

    words: dict[str, int]
    """Words by their most probable language."""
    unsure_words: int
    """Words that were searched as several languages, because none of them is sure."""
    parts: tuple[SearchedPart, ...]
    """The parts in order, at most 100."""
    more_parts: int
    """Further parts that are not listed."""

    def lines(self) -> list[str]:
        """Return the summary as lines for a terminal."""
        lines = ["taken as:"]
        lines += [f"  {lang:<34}{count:>8,} words" for lang, count in self.words.items()]
        unsure = [part for part in self.parts if len(part.searched) > 1]
        if self.unsure_words:
            lines.append(
                f"  not sure of {self.unsure_words:,} words: searched as every language that they "
                "may be in"
            )
        lines += [
            f"  from {part.first} to {part.last}: {', '.join(part.searched)} "
            f"({part.language} with {100 * part.probability:.0f} %)"
            for part in unsure[:_MAX_LINES]
        ]
        more = len(unsure) - _MAX_LINES
        return [*lines, *([f"  {more:,} further parts like these"] if more > 0 else [])]


class LanguageTally:
    """Adds up the languages of texts; keeps no text."""

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()
        self._unsure = self._more = 0
        self._parts: list[SearchedPart] = []
        self.searched: set[str] = set()
        """All languages as which some text was searched."""

    def add(self, text_id: str, text: str, languages: Sequence[DecidedLanguage]) -> None:
        """Add the next text.

        Parameters
        ----------
        text_id : str
            Its id, such as the number of its line.
        text : str
            The text.
        languages : sequence of DecidedLanguage
            Its parts by language.
        """
        for part in languages:
            words = len(text[part.start : part.end].split())
            if words:
                self._words[part.language] += words
                self._unsure += words if len(part.searched) > 1 else 0
                self.searched.update(part.searched)
                self._add_part(text_id, part)

    def _add_part(self, text_id: str, part: DecidedLanguage) -> None:
        """Append a part to the last one if it was searched as the same languages."""
        last = self._parts[-1] if self._parts and not self._more else None
        if last is not None and last.searched == part.searched:
            lowest = min(last.probability, part.probability)
            self._parts[-1] = SearchedPart(
                last.first, text_id, last.language, lowest, last.searched
            )
        elif len(self._parts) < MAX_PARTS:
            self._parts.append(
                SearchedPart(text_id, text_id, part.language, part.probability, part.searched)
            )
        else:
            self._more += 1

    def summary(self) -> LanguageSummary:
        """Return the summary of all texts that were added."""
        words = dict(self._words.most_common())
        return LanguageSummary(words, self._unsure, tuple(self._parts), self._more)
