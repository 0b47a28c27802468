"""What a run has done so far, so that the next one goes on from there.

One line a finished file, with a key that ties it to its input, method and secret. Keys are made
with the secret: the journal tells nobody else which recording became which.
"""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from sottovoce.errors import InputError

NAME = ".sottovoce.journal"


class Entry(NamedTuple):
    """A file that was written."""

    key: str
    seconds: float


class Journal:
    """The finished files of a folder, by their path in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
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
            (self.folder / file).unlink(missing_ok=True)
            line = json.dumps({"file": file, "key": key, "seconds": round(seconds, 4)})
            with (self.folder / NAME).open("a", encoding="utf-8") as log:
                log.write(line + "\n")
            self.entries[file] = Entry(key, seconds)

    def drop_others(self, files: set[str]) -> None:
        """Remove files of earlier runs that are not among ``files``."""
        for file in self.entries.keys() - files:
            (self.folder / file).unlink(missing_ok=True)
            del self.entries[file]


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
