"""Text files a line at a time: every fault names the file and, where there is one, the line."""

from __future__ import annotations

from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.files import check_there
from sottovoce.corpus.defects import Defects, place


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with its line ends as they are."""
    check_there(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = place(path, data.count(b"\n", 0, error.start) + 1)
        raise InputError(f"{where}: not UTF-8 text; save the file as UTF-8") from None


def numbered(path: Path) -> list[tuple[int, str]]:
    """The lines that are not blank, with their numbers from 1."""
    lines = enumerate(read_text(path).split("\n"), 1)
    return [(number, line.rstrip("\r")) for number, line in lines if line.strip()]


Entries = dict[str, tuple[int, str]]
"""By id: the number of its line and the rest of that line."""


def read_entries(path: Path, form: str, defects: Defects, *, rest: bool = True) -> Entries:
    """Lines of an id and a rest, each id once; ``form`` shows what a line looks like.

    Where ``rest`` is false a line may end after its id.
    """
    entries: Entries = {}
    for number, line in numbered(path):
        key, _, value = line.strip().replace("\t", " ").partition(" ")
        if rest and not value.strip():
            defects.add(path, number, f"not {form!r}; complete the line")
        elif key in entries:
            first = entries[key][0]
            what = f"the id of line {first} again; keep one line each"
            defects.add(path, number, what)  # not the id: in a text without ids it is a word
        else:
            entries[key] = (number, value.strip())
    return entries
