"""Defects of a corpus, gathered so that a person can put all of them right at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.records import Record
from sottovoce.corpus.utterance import Corpus


@dataclass(frozen=True, slots=True)
class Defect(Record):
    """A defect of a corpus."""

    where: str
    """The line, such as ``folder/manifest.csv:12``, or the path of a file."""
    what: str
    """The defect and what to do about it, in one line."""
    code: str = "malformed-line"
    """The kind of defect, as :class:`~sottovoce.core.errors.SottovoceError` has it."""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class DefectsError(InputError):
    """A corpus of a known format with lines that cannot be used.

    Its message and code are those of the first defect.

    Parameters
    ----------
    defects : sequence of Defect
        All of them, at least one.
    usable : Corpus, optional
        The corpus of the other lines, if there are any.
    """

    def __init__(self, defects: Sequence[Defect], usable: Corpus | None = None) -> None:
        more = len(defects) - 1
        others = f" ({more:,} more: sottovoce corpus check lists them)" if more else ""
        super().__init__(f"{defects[0]}{others}", code=defects[0].code)
        self.defects = tuple(defects)
        self.usable = usable


class Defects:
    """Gathers defects while files are read; :meth:`refuse_any` raises them together."""

    def __init__(self) -> None:
        self._defects: list[Defect] = []

    def add(self, path: Path, line: int | None, what: str, *, code: str = "malformed-line") -> None:
        """Note a defect.

        Parameters
        ----------
        path : Path
            The file.
        line : int or None
            Number of the line, from 1; None for a defect of the file.
        what : str
            The defect and what to do about it.
        code : str, default "malformed-line"
            The kind of defect.
        """
        self._defects.append(Defect(place(path, line), " ".join(what.split()), code))

    def refuse_any(self, usable: Corpus | None = None) -> None:
        """Raise :class:`DefectsError` if there are any defects.

        Parameters
        ----------
        usable : Corpus, optional
            The corpus of the lines without defects.
        """
        if self._defects:
            raise DefectsError(self._defects, usable)


def place(path: Path, line: int | None = None) -> str:
    """Return how a line of a file is named in messages.

    Parameters
    ----------
    path : Path
        The file.
    line : int, optional
        Number of the line, from 1; without one, the file.
    """
    return str(path) if line is None else f"{path}:{line}"
