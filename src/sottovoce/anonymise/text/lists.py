"""Lists of phrases: what is always private, what never is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sottovoce.anonymise.text.entities import TYPES, Entity
from sottovoce.anonymise.text.lexicon import core_of
from sottovoce.anonymise.text.tokens import tokenise
from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists
from sottovoce.core.unicode_offsets import composed

_JOINTS = re.compile(r"[-'’_@./:]+")


class Phrases:
    """Phrases that are found whatever their case, with clitics around them or not.

    With ``parts`` they are found inside words too: *zeus* in *pre-zeus* and *zeus_project*. Words
    must be in composed letters.

    >>> [(one.start, one.end) for one in Phrases({"Ann Lee": "PER"}).find(["to", "ann", "lee's"])]
    [(1, 3)]
    >>> inside = Phrases({"Ann Lee": "PER"}, parts=True)
    >>> [(one.start, one.end) for one in inside.find(["non-ann", "lee-time"])]
    [(0, 2)]
    """

    def __init__(self, phrases: Mapping[str, str], *, parts: bool = False) -> None:
        self._split = _parts if parts else _whole
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase, kind in phrases.items():
            forms = (token.text for token in tokenise(composed(phrase)))
            words = tuple(part for form in forms for part in self._split(form))
            if words:
                self._by_first.setdefault(words[0], []).append((words, kind))
        for same in self._by_first.values():
            same.sort(key=lambda one: -len(one[0]))

    def find(self, forms: Sequence[str]) -> list[Entity]:
        """Where they stand; of two that begin at one word the longer."""
        if not self._by_first:
            return []
        split = [(part, i) for i, form in enumerate(forms) for part in self._split(form)]
        parts = [part for part, _ in split]
        found = []
        for at, (part, i) in enumerate(split):
            for words, kind in self._by_first.get(part, ()):
                if tuple(parts[at : at + len(words)]) == words:
                    end = split[at + len(words) - 1][1] + 1
                    found.append(Entity(i, end, kind, 1.0, "list"))
                    break
        return found

    def words_in(self, forms: Sequence[str]) -> set[int]:
        """All words that they cover."""
        return {i for one in self.find(forms) for i in range(one.start, one.end)}


def _whole(form: str) -> list[str]:
    return [core_of(form).casefold()]


def _parts(form: str) -> list[str]:
    """A word without clitics, and cut at its joints unless it is a number."""
    core = core_of(form).casefold()
    letters = any(map(str.isalpha, core))
    return [part for part in _JOINTS.split(core) if part] if letters else [core]


def read_phrases(path: Path) -> dict[str, str]:
    """One phrase a line, optionally a tab and its type (default ID); # begins a comment."""
    check_exists(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: not UTF-8 text; one phrase a line") from None
    phrases: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        phrase, _, told = line.partition("\t")
        kind = told.strip().upper() or "ID"
        if phrase.strip() and not phrase.startswith("#"):
            if kind not in TYPES:
                raise InputError(
                    f"{path}:{number}: type {told.strip()!r}; there are {', '.join(TYPES)}"
                )
            phrases[phrase.strip()] = kind
    if not phrases:
        raise InputError(f"{path}: no phrase in it; one a line")
    return phrases
