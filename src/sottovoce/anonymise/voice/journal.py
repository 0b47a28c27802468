"""What a run has done so far, so that the next one goes on from there.

One line a finished file, with a key that ties it to its name, input, method and secret. Keys are
made with the secret: the journal tells nobody else which recording became which. Lines are added
while a run goes on; before and after, those of other runs go and the rest is put in order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Set
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text

NAME = ".sottovoce.journal"


class Entry(NamedTuple):
    """A file that was written."""

    key: str
    seconds: float


class Journal:
    """The finished files of a folder, by their path in it; ``begun`` is called before a first."""

    def __init__(self, folder: Path, begun: Callable[[], None] | None = None) -> None:
        self.folder = folder
        self._begun = begun
        self.entries = _read(folder / NAME)
        self._lock = Lock()

    def has(self, file: str, key: str) -> bool:
        """Whether the file was made from the same input in the same way, and is still there."""
        entry = self.entries.get(file)
        return entry is not None and entry.key == key and (self.folder / file).is_file()

    def announce(self, file: str, key: str, seconds: float) -> None:
        """Say what will be under a name next, just before it is put there.

        What lay there before is removed first: killed at any moment, a name that is announced
        has either the announced file or none, so a finished file is never made again.
        """
        with self._lock:
            if self._begun:
                self._begun()
                self._begun = None
            (self.folder / file).unlink(missing_ok=True)
            entry = Entry(key, seconds)
            with (self.folder / NAME).open("a", encoding="utf-8") as log:
                log.write(_line(file, entry))
            self.entries[file] = entry

    def keep(self, files: Set[str]) -> None:
        """Remove all other files, the folders they leave empty, and their lines.

        The lines that stay are in order of name: not in that in which files were made.
        """
        for file in self.entries.keys() - files:
            (self.folder / file).unlink(missing_ok=True)
            self._remove_empty(file)
            del self.entries[file]
        if (self.folder / NAME).exists():
            kept = sorted(self.entries.items())
            write_text(self.folder / NAME, "".join(_line(file, entry) for file, entry in kept))

    def _remove_empty(self, file: str) -> None:
        """Remove the folders above a file, as far as nothing else is in them."""
        for folder in Path(file).parents[:-1]:
            try:
                (self.folder / folder).rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                return


def _line(file: str, entry: Entry) -> str:
    seconds = round(entry.seconds, 4)
    return json.dumps({"file": file, "key": entry.key, "seconds": seconds}) + "\n"


def _read(path: Path) -> dict[str, Entry]:
    """Entries by file, the last one counts; a line that was cut off is ignored."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check its rights") from None
    entries = {}
    for line in lines:
        try:
            one = json.loads(line)
            entries[str(one["file"])] = Entry(str(one["key"]), float(one["seconds"]))
        except (ValueError, KeyError, TypeError):
            continue
    return entries
