"""Vectors in Kaldi's files: archives ``.ark``, archives in several parts, and lists ``.scp``.

An archive holds ids and vectors, as text (``id [ 1 2 ]``, one per line) or binary. A list has lines
``id archive:byte``, where the vector starts at this byte. Commands in lists are never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import check_exists
from sottovoce.core.types import RealArray
from sottovoce.corpus.kaldi import read_utt2spk
from sottovoce.corpus.reading import Defects, place, read_entries

Entry = tuple[str, RealArray]
"""An id and its vector."""
PARTS = "xvector.*.ark"
"""Names of the parts of an archive in a folder, as Kaldi's recipes write them."""


def is_kaldi(path: Path) -> bool:
    """Tell whether a path names vectors in Kaldi's files.

    Parameters
    ----------
    path : Path
        A file ``.ark`` or ``.scp``, a name with ``*`` for the parts of an archive, or a folder with
        files ``xvector.*.ark``.
    """
    if path.is_dir():
        return not (path / "vectors.npy").exists() and any(path.glob(PARTS))
    return path.suffix.lower() in (".ark", ".scp")


def kaldi_files(path: Path, *, root: Path | None = None) -> list[Path]:
    """Return all files that vectors are read from.

    Parameters
    ----------
    path : Path
        As for :func:`is_kaldi`.
    root : Path, optional
        As for :func:`read_vectors`.
    """
    if path.suffix.lower() == ".scp" and path.is_file():
        archives = {item.archive: None for item in _listed_vectors(path, root or path.parent)}
        return [path, *archives]
    return _archive_parts(path)


def read_vectors(path: Path, *, root: Path | None = None) -> list[Entry]:
    """Read ids and vectors in their order.

    Parameters
    ----------
    path : Path
        As for :func:`is_kaldi`.
    root : Path, optional
        Folder that relative paths of a list start from, and that no path may lead out of; by
        default the folder of the list.

    Raises
    ------
    InputError
        ``not-found``, ``damaged``, ``unknown-format``, ``wrong-type``, ``malformed-line``;
        ``missing-part`` where the numbers of an archive's parts have a gap; of lists also
        ``outside``, ``unsupported`` for commands and ranges, and ``mismatch`` where another id
        stands before the byte.
    """
    if path.suffix.lower() == ".scp" and path.is_file():
        return _read_list(path, root or path.parent)
    return [entry for part in _archive_parts(path) for entry in _entries(_content(part), part)]


def speakers_of(ids: list[str], path: Path, utt2spk: Path | None) -> list[str]:
    """Return the speaker of each id of an archive.

    The ids are speakers themselves if the name of the archive starts with ``spk_``, as Kaldi names
    the means of speakers, or if ``utt2spk`` has all of them as speakers and none as an utterance.

    Parameters
    ----------
    ids : list of str
        Ids of the vectors.
    path : Path
        The archive or list they come from.
    utt2spk : Path or None
        File with lines ``utterance speaker``.

    Raises
    ------
    InputError
        ``missing-utt2spk`` without a file, ``missing-speaker`` for ids that it does not have.
    """
    if path.name.lower().startswith("spk_"):
        return ids
    if utt2spk is None:
        raise InputError(
            f"{path}: an archive holds no speakers; give its utt2spk file too",
            code="missing-utt2spk",
        )
    speaker_of = read_utt2spk(utt2spk)
    unknown = [name for name in ids if name not in speaker_of]
    if len(unknown) == len(ids) and set(ids) <= set(speaker_of.values()):
        return ids
    if unknown:
        listed = first_few(unknown, len(unknown))
        raise InputError(
            f"{path}: no speaker in {utt2spk} for {listed}; add them there", code="missing-speaker"
        )
    return [speaker_of[name] for name in ids]


# ========================================================================================== parts


def _archive_parts(path: Path) -> list[Path]:
    """Return the files of an archive: itself, or its parts in the order of their numbers."""
    pattern = path / PARTS if path.is_dir() else path
    if "*" not in pattern.name or pattern.is_file():
        return [path]
    parts = sorted(file for file in pattern.parent.glob(pattern.name) if file.is_file())
    if not parts:
        raise InputError(f"{pattern}: no such files; check the name", code="not-found")
    for part in parts:
        check_exists(part)
    before, _, after = pattern.name.partition("*")
    words = [part.name[len(before) : len(part.name) - len(after)] for part in parts]
    if not all(word.isascii() and word.isdigit() for word in words):
        return parts
    numbers = [int(word) for word in words]
    missing = sorted(set(range(min(1, *numbers), max(numbers))) - set(numbers))
    if missing:
        listed = first_few(map(str, missing), len(missing))
        raise InputError(
            f"{pattern}: part {listed} is missing of {max(numbers)}; add it, or name the parts "
            "that are meant in a list (.scp)",
            code="missing-part",
        )
    return [part for _, part in sorted(zip(numbers, parts, strict=True))]


# ========================================================================================== lists


@dataclass(frozen=True, slots=True)
class _ListedVector:
    """A line of a list: where the vector of an id starts."""

    name: str
    archive: Path
    start: int
    line: int


_WITH_OFFSET = re.compile(r"(.+):(\d{1,18})")


def _listed_vectors(path: Path, root: Path) -> list[_ListedVector]:
    defects = Defects(listed_by="")
    entries = read_entries(path, "id archive:byte", defects)
    defects.refuse_any()
    if not entries:
        raise InputError(f"{path}: empty; write lines 'id archive:byte'", code="empty")
    listed = []
    resolved: dict[str, Path] = {}
    for name, (line, target) in entries.items():
        if "|" in target or target.endswith("]"):
            raise InputError(
                f"{place(path, line)}: a command or a range; only files are read: copy the vectors "
                "with copy-vector",
                code="unsupported",
            )
        match = _WITH_OFFSET.fullmatch(target)
        file, start = (match[1], int(match[2])) if match else (target, 0)
        if file not in resolved:
            resolved[file] = _archive_of_list(file, root, place(path, line))
        listed.append(_ListedVector(name, resolved[file], start, line))
    return listed


def _archive_of_list(name: str, root: Path, where: str) -> Path:
    """Return the archive that a list names, if it is a file below the root."""
    try:
        archive = (root / name).resolve()
        is_file = archive.is_file()
    except (OSError, ValueError, RuntimeError):  # a name too long, with a null, or a loop of links
        raise InputError(f"{where}: not the name of a file", code="malformed-line") from None
    if not archive.is_relative_to(root.resolve()):
        raise InputError(
            f"{where}: {name} is not below {root}; name the folder that all archives are in "
            "(--scp-root)",
            code="outside",
        )
    if not is_file:
        raise InputError(
            f"{where}: no file {name} in {root}; name the folder that its paths start from "
            "(--scp-root)",
            code="not-found",
        )
    return archive


def _read_list(path: Path, root: Path) -> list[Entry]:
    """Read the vectors of a list in its order, each archive once."""
    listed = _listed_vectors(path, root)
    by_archive: dict[Path, list[int]] = {}
    for i, item in enumerate(listed):
        by_archive.setdefault(item.archive, []).append(i)
    vectors: dict[int, RealArray] = {}
    for archive, numbers in by_archive.items():
        data = _content(archive)
        for i in numbers:
            vectors[i] = _vector_of_list(data, listed[i], path).copy()
    return [(item.name, vectors[i]) for i, item in enumerate(listed)]


def _vector_of_list(data: bytes, item: _ListedVector, path: Path) -> RealArray:
    where = f"{place(path, item.line)}: {item.archive.name}"
    if item.start >= len(data):
        raise InputError(
            f"{where} has {len(data):,} bytes; write archive and list again", code="damaged"
        )
    expected = item.name.encode() + b" "
    if item.start and data[max(item.start - len(expected), 0) : item.start] != expected:
        raise InputError(
            f"{where} has no vector of {item.name} at byte {item.start:,}; write archive and list "
            "again",
            code="mismatch",
        )
    return _vector(data, item.start, f"{where}: {item.name}")[0]


# ======================================================================================== archives

_BINARY_TYPES: dict[bytes, np.dtype[np.floating]] = {
    b"FV ": np.dtype("<f4"),
    b"DV ": np.dtype("<f8"),
}
_ID = re.compile(rb"\s*(\S+)[ \t]")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None


def _entries(data: bytes, path: Path) -> Iterator[Entry]:
    """Ids and their vectors: ``id [ 1 2 ]`` or ``id ␀BFV ␄``, dimension, numbers."""
    at = 0
    end = len(data.rstrip())  # of text; the numbers of a binary vector may look like blanks
    while at < end:
        match = _ID.match(data, at)
        try:
            name = match[1].decode("utf-8") if match else ""
        except UnicodeDecodeError:
            name = ""
        if not match or not name.isprintable() or not name:
            raise InputError(
                f"{path}: no utterance id at byte {at:,}; not an archive of vectors",
                code="unknown-format",
            )
        vector, at = _vector(data, match.end(), f"{path}: {name}")
        yield name, vector


def _vector(data: bytes, at: int, where: str) -> tuple[RealArray, int]:
    """Read the vector that starts at a byte; also return the byte after it."""
    read = _binary_vector if data.startswith(b"\0B", at) else _text_vector
    return read(data, at, where)


def _binary_vector(data: bytes, at: int, where: str) -> tuple[RealArray, int]:
    """Read the vector that starts at a byte; also return the byte after it."""
    kind, size, start = data[at + 2 : at + 5], data[at + 5 : at + 6], at + 10
    if kind not in _BINARY_TYPES or size != b"\4":
        raise InputError(
            f"{where}: not a vector of floats or doubles; copy it with copy-vector",
            code="wrong-type",
        )
    count = int.from_bytes(data[at + 6 : start], "little", signed=True)
    end = start + count * _BINARY_TYPES[kind].itemsize
    if count < 1 or end > len(data):
        raise InputError(f"{where}: cut off; write the archive again", code="damaged")
    return np.frombuffer(data, _BINARY_TYPES[kind], count, start), end


def _text_vector(data: bytes, at: int, where: str) -> tuple[RealArray, int]:
    """Read the vector that starts at a byte; also return the byte after its line."""
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    words = data[at:end].split()
    if len(words) < 3 or words[0] != b"[" or words[-1] != b"]":
        raise InputError(
            f"{where}: not a vector '[ 1 2 … ]' on one line; write the archive again",
            code="malformed-line",
        )
    try:
        return np.array([float(word) for word in words[1:-1]]), end + 1
    except ValueError:
        raise InputError(
            f"{where}: not all numbers between [ and ]; write the archive again",
            code="malformed-line",
        ) from None
