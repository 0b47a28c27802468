"""The output folder of an anonymised corpus: file names, the journal of finished files, cleaning.

The journal makes a run resumable. It has one line per finished file, with a key that ties the file
to its name, input, method and secret. The keys are made with the secret, so the journal tells
nobody else which recording became which file. Lines are appended during a run; before and after it,
lines of other runs are removed and the remaining ones sorted. A worker of a cluster appends to a
journal of its own beside that of the run.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from sottovoce.anonymise.keys import Secret
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text
from sottovoce.core.locks import NAME as LOCK
from sottovoce.corpus.kaldi import FILES as KALDI
from sottovoce.corpus.manifest import NAME as MANIFEST
from sottovoce.corpus.utterance import Corpus, Utterance

JOURNAL = ".sottovoce.journal"
"""File name of the journal."""
RECORD = "anonymisation.json"
"""File name of the record of a run; it is written last."""
AUDIO = "audio"
"""Subfolder of files that are named after speaker and utterance."""
_LISTS = (RECORD, MANIFEST, *KALDI)
"""Files that mark a folder as complete."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


# =========================================================================== names of files and ids


def pseudonymise(corpus: Corpus, secret: Secret) -> dict[Utterance, Utterance]:
    """Replace the ids of utterances, speakers and sessions by keyed pseudonyms.

    The id of an utterance begins with that of its speaker, as Kaldi requires. Additional columns of
    the corpus are dropped, because they may identify somebody. Transcripts are kept.

    Parameters
    ----------
    corpus : Corpus
        The original corpus.
    secret : Secret
        The key of the pseudonyms.

    Returns
    -------
    dict of Utterance to Utterance
        Each utterance with its pseudonymous copy.
    """
    return {utterance: _pseudonymous(utterance, secret) for utterance in corpus}


def _pseudonymous(utterance: Utterance, secret: Secret) -> Utterance:
    speaker = f"s{_pseudonym(secret, 'speaker', utterance.speaker)}"
    session = ""
    if utterance.session:
        session = f"t{_pseudonym(secret, 'session', utterance.speaker, utterance.session)}"
    name = f"{speaker}-u{_pseudonym(secret, 'utterance', utterance.id)}"
    return replace(utterance, id=name, speaker=speaker, session=session, extra={})


def _pseudonym(secret: Secret, *names: str) -> str:
    return secret.digest("rename", *names).hex()[:16]


def file_names(
    outputs: Mapping[Utterance, Utterance], root: Path, *, mirrored: bool
) -> dict[Utterance, str]:
    """Choose a file name for each utterance.

    Parameters
    ----------
    outputs : mapping of Utterance to Utterance
        Original utterances and the anonymised ones, whose ids are used in names.
    root : Path
        Folder of the original corpus.
    mirrored : bool
        Keep the original paths below ``root`` if every file holds exactly one utterance.
        Otherwise files are named after speaker and utterance.

    Returns
    -------
    dict of Utterance to str
        Path in the new folder, with ``/`` as separator. WAV stays WAV, everything else becomes
        FLAC.
    """
    named = {original: _name_by_id(output) for original, output in outputs.items()}
    if not mirrored:
        return named
    paths = {original: _original_path(original, root) for original in outputs}
    counts = Counter(path.lower() for path in paths.values())
    if all(path and counts[path.lower()] == 1 for path in paths.values()):
        return paths
    return named


def _name_by_id(utterance: Utterance) -> str:
    return f"{AUDIO}/{_safe_name(utterance.speaker)}/{_safe_name(utterance.id)}.flac"


def _original_path(utterance: Utterance, root: Path) -> str:
    """Return the path of a file below the root; empty if it is elsewhere or only a part is used."""
    if (utterance.start, utterance.end, utterance.channel) != (None, None, None):
        return ""
    path = Path(os.path.relpath(os.path.abspath(utterance.path), os.path.abspath(root)))
    if os.pardir in path.parts or path.is_absolute():
        return ""
    is_wav = path.suffix.lower() == ".wav"
    return (path if is_wav else path.with_suffix(".flac")).as_posix()


def _safe_name(name: str) -> str:
    """Return a file name that is valid everywhere; a hash keeps altered names distinct."""
    safe = _UNSAFE.sub("_", name).strip(".")[:80]
    if safe == name:
        return name
    return f"{safe}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


# ===================================================================================== the journal


class Entry(NamedTuple):
    """A line of the journal: a file that was written."""

    key: str
    seconds: float


class Journal:
    """The finished files of a folder, by their path in it.

    Parameters
    ----------
    folder : Path
        The output folder; a journal in it is read.
    on_first_write : callable, optional
        Called once, just before the first file is written.

    Raises
    ------
    InputError
        If a journal is there and cannot be read (``unreadable``).
    """

    def __init__(self, folder: Path, on_first_write: Callable[[], None] | None = None) -> None:
        self.folder = folder
        self._on_first_write = on_first_write
        self._path = folder / JOURNAL
        self._lock = Lock()
        self.entries: dict[str, Entry] = {}
        self.reload()

    def __reduce__(self) -> tuple[Callable[[Path], Journal], tuple[Path]]:
        return _workers_journal, (self.folder,)

    def open_for_workers(self) -> None:
        """Make the folder ready for workers that write into it: nothing was written so far."""
        with self._lock:
            self._call_on_first_write()
            self._path.touch()

    def reload(self) -> None:
        """Read the journals of this folder again, that of the run and those of workers."""
        with self._lock:
            entries = _read_journal(self.folder / JOURNAL)
            for path in sorted(self.folder.glob(f"{JOURNAL}.*")):
                entries |= _read_journal(path)
            self.entries = entries

    def has(self, file: str, key: str) -> bool:
        """Tell whether a file is finished, made from the same input in the same way.

        Parameters
        ----------
        file : str
            Path in the folder.
        key : str
            Key of input, method and secret.
        """
        entry = self.entries.get(file)
        return entry is not None and entry.key == key and (self.folder / file).is_file()

    def announce(self, file: str, key: str, seconds: float) -> None:
        """Write the line of a file, just before the file itself is written.

        An older file of that name is deleted first. So whenever the process is killed, an
        announced name has either the announced file or none, and a finished file is never made
        again.

        Parameters
        ----------
        file : str
            Path in the folder.
        key : str
            Key of input, method and secret.
        seconds : float
            Duration of the recording.
        """
        with self._lock:
            self._call_on_first_write()
            (self.folder / file).unlink(missing_ok=True)
            entry = Entry(key, seconds)
            with self._path.open("a", encoding="utf-8") as journal:
                journal.write(_line(file, entry))
            self.entries[file] = entry

    def _call_on_first_write(self) -> None:
        if self._on_first_write:
            self._on_first_write()
            self._on_first_write = None

    def retain(self, files: Set[str]) -> None:
        """Delete all other files with their lines, and folders that become empty.

        The remaining lines are sorted by name, so that they don't reveal the processing order.

        Parameters
        ----------
        files : set of str
            Paths in the folder that are up to date.
        """
        for file in self.entries.keys() - files:
            (self.folder / file).unlink(missing_ok=True)
            self._remove_empty_parents(file)
            del self.entries[file]
        if (self.folder / JOURNAL).exists():
            lines = [_line(file, entry) for file, entry in sorted(self.entries.items())]
            write_text(self.folder / JOURNAL, "".join(lines))
        for path in self.folder.glob(f"{JOURNAL}.*"):  # their lines are in that of the run now
            path.unlink(missing_ok=True)

    def _remove_empty_parents(self, file: str) -> None:
        for folder in Path(file).parents[:-1]:
            try:
                (self.folder / folder).rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                return


def _workers_journal(folder: Path) -> Journal:
    """The journal of a worker: it knows what is finished, and writes to a file of its own."""
    journal = Journal(folder)
    host = re.sub(r"[^A-Za-z0-9]+", "_", platform.node())
    journal._path = folder / f"{JOURNAL}.{host}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    return journal


def _line(file: str, entry: Entry) -> str:
    seconds = round(entry.seconds, 4)
    return json.dumps({"file": file, "key": entry.key, "seconds": seconds}) + "\n"


def _read_journal(path: Path) -> dict[str, Entry]:
    """Read entries by file; the last line of a file counts, and a truncated line is ignored."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check its permissions", code="unreadable"
        ) from None
    entries = {}
    for line in lines:
        try:
            fields = json.loads(line)
            entries[str(fields["file"])] = Entry(str(fields["key"]), float(fields["seconds"]))
        except (ValueError, KeyError, TypeError):
            continue
    return entries


# ==================================================================================== the folder


def refuse_foreign_files(target: Path) -> None:
    """Refuse a folder that contains files and was not written by an earlier run.

    Parameters
    ----------
    target : Path
        The output folder; it need not exist.

    Raises
    ------
    InputError
        If there are other files (``not-empty``), or the folder cannot be read (``unreadable``).
    """
    try:
        present = {path.name for path in target.iterdir()}
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InputError(
            f"{target}: cannot be read ({error.strerror}); name another", code="unreadable"
        ) from None
    if present - {LOCK} and JOURNAL not in present:
        raise InputError(
            f"{target}: there is something else in it; name a new folder", code="not-empty"
        )


def remove_unfinished(target: Path) -> None:
    """Delete temporary files of a killed run, and lists that are no longer complete.

    Parameters
    ----------
    target : Path
        The output folder.
    """
    for pattern in (".*.flac.*", ".*.wav.*"):
        for path in target.rglob(pattern):
            path.unlink(missing_ok=True)
    for name in (*_LISTS, JOURNAL):
        for path in target.glob(f".{name}.*"):
            path.unlink(missing_ok=True)
    for name in _LISTS:
        if (target / name).is_file():
            (target / name).unlink()
