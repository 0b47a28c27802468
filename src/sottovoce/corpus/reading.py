"""What the readers of corpus formats share: lines, relative paths, and defects with their places.

A reader does not stop at the first defect: it gathers all of them, so that a person can put them
right at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import check_exists
from sottovoce.core.records import Record
from sottovoce.corpus.utterance import Corpus, Utterance

# ======================================================================================== defects


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
    listed_by : str, default "sottovoce corpus check"
        The command that lists all defects; empty if there is none.
    """

    def __init__(
        self,
        defects: Sequence[Defect],
        usable: Corpus | None = None,
        *,
        listed_by: str = "sottovoce corpus check",
    ) -> None:
        hint = f": {listed_by} lists them" if listed_by else ""
        others = f" ({len(defects) - 1:,} more{hint})" if len(defects) > 1 else ""
        super().__init__(f"{defects[0]}{others}", code=defects[0].code)
        self.defects = tuple(defects)
        self.usable = usable


class Defects:
    """Gathers defects while files are read; :meth:`refuse_any` raises them together.

    Parameters
    ----------
    listed_by : str, default "sottovoce corpus check"
        The command that lists all defects, for the message; empty if there is none.
    """

    def __init__(self, *, listed_by: str = "sottovoce corpus check") -> None:
        self._listed_by = listed_by
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
            raise DefectsError(self._defects, usable, listed_by=self._listed_by)


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


# ========================================================================================== lines


def read_text(path: Path) -> str:
    """Read a UTF-8 file; line ends stay as they are, a byte order mark is removed.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    InputError
        ``not-found``, ``empty`` or ``unreadable``; ``not-utf8`` with the number of the line.
    """
    check_exists(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = place(path, data.count(b"\n", 0, error.start) + 1)
        raise InputError(
            f"{where}: not UTF-8 text; save the file as UTF-8", code="not-utf8"
        ) from None


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    """Read the lines of a UTF-8 file that are not blank, with their numbers from 1.

    Parameters
    ----------
    path : Path
        The file; refused as :func:`read_text` does.
    """
    lines = enumerate(read_text(path).split("\n"), 1)
    return [(number, line.rstrip("\r")) for number, line in lines if line.strip()]


Entries = dict[str, tuple[int, str]]
"""By id: the number of its line, and the text after the id."""


def read_entries(path: Path, form: str, defects: Defects, *, value: bool = True) -> Entries:
    """Read lines that begin with an id, each id once.

    Parameters
    ----------
    path : Path
        The file.
    form : str
        Form of a line, such as ``utterance speaker``, for messages.
    defects : Defects
        Gathers lines that cannot be used.
    value : bool, default True
        Whether there must be text after the id.
    """
    entries: Entries = {}
    for number, line in numbered_lines(path):
        key, _, text = line.strip().replace("\t", " ").partition(" ")
        if value and not text.strip():
            defects.add(path, number, f"not {form!r}; complete the line")
        elif key in entries:
            # the id itself is not shown: in a text without ids it is a word of a transcript
            message = f"the id of line {entries[key][0]} again; keep one line each"
            defects.add(path, number, message, code="duplicate-id")
        else:
            entries[key] = (number, text.strip())
    return entries


# ========================================================================================== paths


def folder_name(folder: Path) -> str:
    """Return the name of a folder, also of ``.``.

    Parameters
    ----------
    folder : Path
        The folder.
    """
    return folder.name or folder.resolve().name or str(folder)


def base_folder(paths: Iterable[str], folder: Path) -> tuple[Path, tuple[str, ...]]:
    """Find the folder that the relative paths of a list start from.

    In Kaldi and Lhotse it is the folder a program is started in; in lists that are distributed with
    their audio it is that of the list. The first relative path decides, by where there is a file.

    Parameters
    ----------
    paths : iterable of str
        Paths in the list.
    folder : Path
        The folder of the list.

    Returns
    -------
    tuple of Path and tuple of str
        The folder, and a note if it is not that of the list.
    """
    first = next((path for path in paths if not os.path.isabs(path)), None)
    if first is None or (folder / first).exists() or not Path(first).exists():
        return folder, ()
    return Path(), (f"paths are relative to the current folder, not to {folder}",)


def path_notes(listed: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Note which paths of a list lead out of its folder.

    Parameters
    ----------
    listed : sequence of (str, str)
        The place of each path in the list, such as ``manifest.csv:2``, and the path.
    """
    absolute = [where for where, path in listed if os.path.isabs(path)]
    outside = [
        where
        for where, path in listed
        if not os.path.isabs(path) and os.path.normpath(path).split(os.sep)[0] == os.pardir
    ]
    notes = []
    if absolute:
        places = first_few(absolute, len(absolute), most=1)
        notes.append(
            f"absolute paths: this corpus cannot be moved to another folder or computer: {places}"
        )
    if outside:
        places = first_few(outside, len(outside), most=1)
        notes.append(f"paths that lead out of the corpus's folder: {places}")
    return tuple(notes)


def portable_path(path: Path, folder: Path) -> str:
    """Return a path for a list: relative if the file is below the folder, else absolute.

    Parameters
    ----------
    path : Path
        The file.
    folder : Path
        The folder of the list.
    """
    absolute, top = os.path.abspath(path), os.path.join(os.path.abspath(folder), "")
    return absolute.removeprefix(top).replace(os.sep, "/") if absolute.startswith(top) else absolute


# ======================================================================================== corpora


class CorpusBuilder:
    """Builds a corpus from lines: each utterance with its place, each id once.

    Parameters
    ----------
    defects : Defects, optional
        Gathers the defects of lines; may have some already.
    """

    def __init__(self, defects: Defects | None = None) -> None:
        self.defects = defects or Defects()
        self._places: list[str] = []
        self._utterances: list[Utterance] = []
        self._first_place: dict[str, str] = {}

    def add(self, path: Path, line: int | None, build: Callable[[], Utterance]) -> None:
        """Build an utterance from a line.

        Parameters
        ----------
        path : Path
            The list, or the audio file if there is no list.
        line : int or None
            Number of the line, from 1.
        build : callable
            Returns the utterance; an InputError is a defect of the line.
        """
        try:
            utterance = build()
        except InputError as error:
            self.defects.add(path, line, str(error), code=error.code)
            return
        where = place(path, line)
        if utterance.id in self._first_place:
            first = self._first_place[utterance.id]
            message = f"{utterance.id} again (first: {first}); keep one each"
            self.defects.add(path, line, message, code="duplicate-id")
            return
        self._first_place[utterance.id] = where
        self._utterances.append(utterance)
        self._places.append(where)

    def corpus(self, name: str, root: Path, source: Path, notes: Iterable[str] = ()) -> Corpus:
        """Return the corpus, if there are utterances and no defects.

        Parameters
        ----------
        name : str
            Name of the corpus.
        root : Path
            Its folder.
        source : Path
            What was read, for messages.
        notes : iterable of str, optional
            What a person should know about how the corpus was read.
        """
        if not self._utterances:
            self.defects.refuse_any()
            raise InputError(f"{source}: no utterances; list at least one", code="empty")
        corpus = Corpus(name, root, tuple(self._utterances), tuple(self._places), tuple(notes))
        self.defects.refuse_any(corpus)
        return corpus
