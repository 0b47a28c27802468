"""Which parts of a run look like another language than the chosen one."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.anonymise.text.lexicon import LANGUAGES, MAX_WORDS, other_language
from sottovoce.core.records import JsonObject

PART_WORDS = 40
"""Words from which texts in a row are judged together."""
MAX_PARTS = 100
"""Parts that are listed."""
_MAX_CAUTIONS = 5


@dataclass(frozen=True, slots=True)
class LanguagePart:
    """Texts in a row that look like another language."""

    first: str
    """Id of the first text."""
    last: str
    """Id of the last text."""
    language: str
    """Code of the language that they look like."""


@dataclass(frozen=True)
class LanguageCheck:
    """Whether texts look like another language than the chosen one."""

    whole: str | None
    """Code of the language that the texts look like as a whole, if it is another one."""
    parts: tuple[LanguagePart, ...]
    """The parts that look like another language, at most 100."""
    more_parts: int
    """Further parts that are not listed."""

    def to_dict(self) -> JsonObject:
        """Return the check under the keys that ``docs/text.md`` describes."""
        return {
            "looks_like_language": self.whole,
            "language_parts": [
                {"first": part.first, "last": part.last, "language": part.language}
                for part in self.parts
            ],
            "more_language_parts": self.more_parts,
        }

    def cautions(self) -> list[str]:
        """Return sentences for a person; none if everything looks like the chosen language."""
        advice = "names of another language are missed: check --lang"
        if self.whole is not None:
            return [f"this looks like {self.whole!r}; {advice}"]
        lines = [
            f"from {part.first} to {part.last} looks like {part.language!r}; {advice}"
            for part in self.parts[:_MAX_CAUTIONS]
        ]
        more = len(self.parts) + self.more_parts - len(lines)
        return [*lines, *([f"{more:,} further parts look like other languages"] if more else [])]


class LanguageCollector:
    """Judges the language of texts in a row; keeps no text for long.

    Parameters
    ----------
    lang : str
        The chosen language.
    """

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._first_texts: list[str] = []
        self._first_words = 0
        self._texts: list[tuple[str, str]] = []
        self._words = 0
        self._parts: list[LanguagePart] = []
        self._more = 0
        self._last_part_ended = True

    def add(self, text_id: str, text: str) -> None:
        """Add the next text.

        Parameters
        ----------
        text_id : str
            Its id, such as the number of its line.
        text : str
            The text.
        """
        words = len(text.split())
        if not words or self._lang not in LANGUAGES:
            return
        if self._first_words < MAX_WORDS:
            self._first_texts.append(text)
            self._first_words += words
        self._texts.append((text_id, text))
        self._words += words
        if self._words >= PART_WORDS:
            self._judge()

    def check(self) -> LanguageCheck:
        """Return the result for all texts that were added."""
        self._judge()
        known = self._lang in LANGUAGES
        whole = other_language(self._first_texts, self._lang) if known else None
        return LanguageCheck(whole, tuple(self._parts), self._more)

    def _judge(self) -> None:
        """Judge the texts since the last part; neighbours of one language are one part."""
        texts, self._texts, self._words = self._texts, [], 0
        language = other_language([text for _, text in texts], self._lang) if texts else None
        if language is not None:
            first, last = texts[0][0], texts[-1][0]
            before = self._parts[-1] if self._parts and not self._last_part_ended else None
            if before is not None and before.language == language:
                self._parts[-1] = LanguagePart(before.first, last, language)
            elif len(self._parts) < MAX_PARTS:
                self._parts.append(LanguagePart(first, last, language))
            else:
                self._more += 1
        self._last_part_ended = language is None


def check_languages(text: str, lang: str) -> LanguageCheck:
    """Judge the language of a text, by its lines.

    Parameters
    ----------
    text : str
        The text; the ids of its parts are line numbers.
    lang : str
        The chosen language.
    """
    collector = LanguageCollector(lang)
    for number, line in enumerate(text.splitlines(), 1):
        collector.add(str(number), line)
    return collector.check()
