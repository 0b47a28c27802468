"""Defects of a corpus, gathered so that a person can put all of them right at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sottovoce.core.errors import InputError
from sottovoce.corpus.utterance import Corpus


class Defect(NamedTuple):
    """What is wrong, and where: ``folder/manifest.csv:12`` or the path of a file."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class DefectsError(InputError):
    """A corpus of a known format with lines that cannot be used.

    ``defects`` holds all of them, and ``rest`` the corpus of the other lines, if there are any.
    """

    def __init__(self, defects: Sequence[Defect], rest: Corpus | None = None) -> None:
        more = len(defects) - 1
        others = f" ({more:,} more: sottovoce corpus check lists them)" if more else ""
        super().__init__(f"{defects[0]}{others}")
        self.defects = tuple(defects)
        self.rest = rest


class Defects:
    """Gathers defects while files are read; :meth:`refuse_any` raises them together."""

    def __init__(self) -> None:
        self._found: list[Defect] = []

    def add(self, path: Path, line: int | None, what: str) -> None:
        """Note a defect of a line, or of the whole file."""
        self._found.append(Defect(place(path, line), " ".join(what.split())))

    def refuse_any(self, rest: Corpus | None = None) -> None:
        """Raise :class:`DefectsError` if there were any; ``rest`` is what has none."""
        if self._found:
            raise DefectsError(self._found, rest)


def place(path: Path, line: int | None = None) -> str:
    """How a line of a file is named in messages."""
    return str(path) if line is None else f"{path}:{line}"
