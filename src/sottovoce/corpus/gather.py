"""Making a corpus from lines: each utterance with its place, ids once, all defects together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.corpus.defects import Defects, place
from sottovoce.corpus.utterance import Corpus, Utterance


class Gathering:
    """Utterances as a reader finds them."""

    def __init__(self, defects: Defects | None = None) -> None:
        self.defects = defects or Defects()
        self._places: list[str] = []
        self._utterances: list[Utterance] = []
        self._first: dict[str, str] = {}

    def add(self, path: Path, line: int | None, build: Callable[[], Utterance]) -> None:
        """Build an utterance from a line; what cannot be built is a defect of that line."""
        try:
            one = build()
        except InputError as error:
            self.defects.add(path, line, str(error))
            return
        where = place(path, line)
        if one.id in self._first:
            first = self._first[one.id]
            self.defects.add(path, line, f"{one.id} again (first: {first}); keep one each")
            return
        self._first[one.id] = where
        self._utterances.append(one)
        self._places.append(where)

    def corpus(self, name: str, root: Path, source: Path, notes: Iterable[str] = ()) -> Corpus:
        """The corpus, if there are utterances and no defects; ``source`` is what was read."""
        if not self._utterances:
            self.defects.refuse_any()
            raise InputError(f"{source}: no utterances; list at least one")
        made = Corpus(name, root, tuple(self._utterances), tuple(self._places), tuple(notes))
        self.defects.refuse_any(made)
        return made
