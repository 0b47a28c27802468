"""Lists of phrases that are always private, or never."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sottovoce.anonymise.text.entities import LIST_RULE, TYPES, Entity
from sottovoce.anonymise.text.lexicon import strip_clitics
from sottovoce.anonymise.text.tokens import tokenise
from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists
from sottovoce.core.unicode_offsets import normalise_unicode

DEFAULT_TYPE = "ID"
"""Type of a phrase for which the list names none."""
_JOINTS = re.compile(r"[-'’_@./:]+")


class PhraseMatcher:
    """Finds phrases whatever their case, with or without clitics around them.

    Parameters
    ----------
    phrases : mapping of str to str
        Phrases with their entity type.
    parts : bool, default False
        Find them inside words too: *zeus* in *pre-zeus* and *zeus_project*.

    Examples
    --------
    >>> def spans(matcher, words):
    ...     return [(entity.start, entity.end) for entity in matcher.find(words)]
    >>> spans(PhraseMatcher({"Ann Lee": "PER"}), ["to", "ann", "lee's"])
    [(1, 3)]
    >>> spans(PhraseMatcher({"Ann Lee": "PER"}, parts=True), ["non-ann", "lee-time"])
    [(0, 2)]
    """

    def __init__(self, phrases: Mapping[str, str], *, parts: bool = False) -> None:
        self._split = _split_at_joints if parts else _whole_word
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase, kind in phrases.items():
            forms = (token.text for token in tokenise(normalise_unicode(phrase)))
            words = tuple(part for form in forms for part in self._split(form))
            if words:
                self._by_first.setdefault(words[0], []).append((words, kind))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, forms: Sequence[str]) -> list[Entity]:
        """Find the phrases; of two that start at the same word, the longer one.

        Parameters
        ----------
        forms : sequence of str
            The words of a text, NFC-normalised.
        """
        if not self._by_first:
            return []
        split = [(part, i) for i, form in enumerate(forms) for part in self._split(form)]
        parts = [part for part, _ in split]
        entities = []
        for position, (part, i) in enumerate(split):
            for words, kind in self._by_first.get(part, ()):
                if tuple(parts[position : position + len(words)]) == words:
                    end = split[position + len(words) - 1][1] + 1
                    entities.append(Entity(i, end, kind, 1.0, LIST_RULE))
                    break
        return entities

    def covered_words(self, forms: Sequence[str]) -> set[int]:
        """Return the indexes of all words that are part of a phrase.

        Parameters
        ----------
        forms : sequence of str
            The words of a text, NFC-normalised.
        """
        return {i for entity in self.find(forms) for i in range(entity.start, entity.end)}


def _whole_word(form: str) -> list[str]:
    return [strip_clitics(form).casefold()]


def _split_at_joints(form: str) -> list[str]:
    """Strip the clitics of a word and cut it at its joints, unless it is a number."""
    core = strip_clitics(form).casefold()
    letters = any(map(str.isalpha, core))
    return [part for part in _JOINTS.split(core) if part] if letters else [core]


def read_phrases(path: Path) -> dict[str, str]:
    """Read a list of phrases: one a line, optionally a tab and its type; # begins a comment.

    Parameters
    ----------
    path : Path
        A file in UTF-8.

    Returns
    -------
    dict of str to str
        The phrases with their entity type, ``ID`` if the file names none.

    Raises
    ------
    InputError
        ``unknown-name`` for a type that does not exist, ``empty`` if there is no phrase.
    """
    check_exists(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"{path}: not UTF-8 text; write one phrase per line", code="not-utf8"
        ) from None
    phrases: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        phrase, _, column = line.partition("\t")
        kind = column.strip().upper() or DEFAULT_TYPE
        if phrase.strip() and not phrase.startswith("#"):
            if kind not in TYPES:
                raise InputError(
                    f"{path}:{number}: unknown type {column.strip()!r}; "
                    f"choose from {', '.join(TYPES)}",
                    code="unknown-name",
                )
            phrases[phrase.strip()] = kind
    if not phrases:
        raise InputError(f"{path}: no phrase in it; write one a line", code="empty")
    return phrases
