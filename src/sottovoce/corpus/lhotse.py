"""Lhotse manifests: recordings with supervisions, or cuts, as ``.jsonl`` or ``.jsonl.gz``.

Lhotse itself is not needed. A supervision is an utterance: it says who speaks, from when, for how
long and in which channel. Only audio in files is read, without changes: what Lhotse would compute
on loading (speed, volume, mixing, padding) is refused.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists
from sottovoce.core.records import Json, JsonObject
from sottovoce.corpus.reading import CorpusBuilder, Defects, base_folder, folder_name
from sottovoce.corpus.utterance import Corpus, Utterance

ENDINGS = (".jsonl", ".jsonl.gz")
NUMBER = (int, float)
ROUNDING = 0.002
"""Times that differ by less seconds than this are equal; Lhotse rounds times."""

FIELDS_OF_CUSTOM = ("session", "split")
"""Values of ``custom`` that are fields of an utterance; the others are kept as ``extra``."""

T = TypeVar("T")


def is_lhotse(path: Path) -> bool:
    """Tell whether a folder holds Lhotse manifests, or a file is one.

    Parameters
    ----------
    path : Path
        A folder or file.
    """
    if path.is_dir():
        return any(_named(path, word) for word in ("cuts", "supervisions"))
    return path.name.endswith(ENDINGS)


def read_lhotse(path: Path | str) -> Corpus:
    """Read Lhotse manifests.

    Parameters
    ----------
    path : Path or str
        A file of cuts; a file of supervisions or recordings, with the other beside it; or a folder
        with one list of utterances.

    Raises
    ------
    DefectsError
        With all lines that cannot be used.
    """
    path = Path(path)
    source, recordings_file = _files(path)
    builder = CorpusBuilder()
    read = _read_cuts if recordings_file is None else partial(_read_pair, recordings_file)
    supervisions = list(read(source, builder.defects))
    files = (supervision.file for _, supervision in supervisions)
    base, notes = base_folder(files, source.parent)
    for line, supervision in supervisions:
        builder.add(source, line, partial(supervision.utterance, base))
    name = folder_name(path) if path.is_dir() else path.name.split(".")[0]
    return builder.corpus(name, source.parent, source, notes)


# ========================================================================================== files


def _named(folder: Path, word: str) -> list[Path]:
    files = sorted(folder.iterdir())
    return [file for file in files if word in file.name and file.name.endswith(ENDINGS)]


def _files(path: Path) -> tuple[Path, Path | None]:
    """Return the file that lists utterances, and that of recordings unless the first has them."""
    if path.is_dir():
        lists = _named(path, "cuts") or _named(path, "supervisions")
        if len(lists) != 1:
            names = ", ".join(file.name for file in lists[:4]) or "none"
            raise InputError(
                f"{path}: {len(lists)} lists of utterances ({names}); name one", code="ambiguous"
            )
        path = lists[0]
    check_exists(path)
    if "cuts" in path.name:
        return path, None
    for word, other in (("supervisions", "recordings"), ("recordings", "supervisions")):
        if word in path.name:
            beside = path.with_name(other.join(path.name.rsplit(word, 1)))
            check_exists(beside)
            return (path, beside) if word == "supervisions" else (beside, path)
    raise InputError(
        f"{path}: the name of a Lhotse file must contain cuts, supervisions or recordings; "
        "rename it",
        code="unknown-name",
    )


def _objects(path: Path, defects: Defects) -> Iterator[tuple[int, JsonObject]]:
    """Read the JSON object of each line; other lines are defects."""
    try:
        with _open(path) as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                value = _parse(line)
                if isinstance(value, dict):
                    yield number, value
                else:
                    message = "not a JSON object; write the file again"
                    defects.add(path, number, message, code="not-json")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path}: damaged or cut off ({error}); write it again", code="damaged"
        ) from None


def _open(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast("BinaryIO", gzip.open(path, "rb"))
    return path.open("rb")


def _parse(line: bytes) -> Json:
    try:
        return cast("Json", json.loads(line))
    except (ValueError, RecursionError):
        return None


# ======================================================================================= contents


@dataclass(frozen=True, slots=True)
class _Recording:
    """A recording: the files of its channels."""

    id: str
    files: dict[int, tuple[str, int, int]]
    """By channel: a path, the channel in that file, and how many channels the file has."""
    seconds: float

    @classmethod
    def of(cls, data: JsonObject) -> _Recording:
        name = _get(data, "id", str)
        if data.get("transforms"):
            raise InputError(
                f"recording {name} has transforms, which are not applied; save its audio",
                code="unsupported",
            )
        files = {}
        for source in _get(data, "sources", list):
            if not isinstance(source, dict) or source.get("type") != "file":
                raise InputError(
                    f"recording {name} is not in a file; save it as one", code="unsupported"
                )
            channels = _get(source, "channels", list)
            for i, channel in enumerate(channels):
                if not isinstance(channel, int):
                    raise InputError(
                        f"recording {name} has channel {channel!r}; channels are numbers",
                        code="wrong-type",
                    )
                files[channel] = (_get(source, "source", str), i, len(channels))
        return cls(name, files, float(_get(data, "duration", NUMBER)))


@dataclass(frozen=True, slots=True)
class _Supervision:
    """A supervision with its file; times are seconds from the start of the recording."""

    file: str
    channel: int | None
    start: float | None
    end: float | None
    data: JsonObject

    @classmethod
    def of(cls, data: JsonObject, recording: _Recording, offset: float = 0.0) -> _Supervision:
        start = offset + float(_get(data, "start", NUMBER))
        length = float(_get(data, "duration", NUMBER))
        channel = data.get("channel", 0)
        if isinstance(channel, list) and len(channel) == 1:
            channel = channel[0]
        if not isinstance(channel, int) or channel not in recording.files:
            raise InputError(
                f"channel {channel} of recording {recording.id} is not one of its channels "
                f"{sorted(recording.files)}; name one",
                code="out-of-range",
            )
        file, file_channel, count = recording.files[channel]
        named_channel = file_channel if count > 1 else None
        if abs(start) < ROUNDING and abs(length - recording.seconds) < ROUNDING:
            return cls(file, named_channel, None, None, data)
        return cls(file, named_channel, round(start, 6), round(start + length, 6), data)

    def utterance(self, base: Path) -> Utterance:
        """Build the utterance.

        Parameters
        ----------
        base : Path
            The folder that relative paths start from.
        """
        data = self.data
        custom: JsonObject = _get(data, "custom", dict) if data.get("custom") else {}
        return Utterance(
            _get(data, "id", str),
            base / self.file,
            _get(data, "speaker", str),
            gender=str(data.get("gender") or ""),
            language=str(data.get("language") or ""),
            transcript=str(data.get("text") or ""),
            session=str(custom.get("session") or ""),
            split=str(custom.get("split") or ""),
            start=self.start,
            end=self.end,
            channel=self.channel,
            extra={name: _text(custom[name]) for name in custom if name not in FIELDS_OF_CUSTOM},
        )


def _read_recordings(path: Path, defects: Defects) -> dict[str, _Recording]:
    recordings = {}
    for line, data in _objects(path, defects):
        try:
            recording = _Recording.of(data)
            recordings[recording.id] = recording
        except InputError as error:
            defects.add(path, line, str(error), code=error.code)
    return recordings


def _read_pair(
    recordings_file: Path, source: Path, defects: Defects
) -> Iterator[tuple[int, _Supervision]]:
    recordings = _read_recordings(recordings_file, defects)
    for line, data in _objects(source, defects):
        try:
            name = _get(data, "recording_id", str)
            if name not in recordings:
                raise InputError(
                    f"recording {name} is not in {recordings_file.name}; add it",
                    code="unknown-name",
                )
            yield line, _Supervision.of(data, recordings[name])
        except InputError as error:
            defects.add(source, line, str(error), code=error.code)


def _read_cuts(source: Path, defects: Defects) -> Iterator[tuple[int, _Supervision]]:
    for line, data in _objects(source, defects):
        try:
            if data.get("type", "MonoCut") not in ("MonoCut", "MultiCut"):
                raise InputError(
                    f"a {data['type']}, which is not computed; save its audio first",
                    code="unsupported",
                )
            recording = _Recording.of(_get(data, "recording", dict))
            supervisions = _get(data, "supervisions", list)
            if not supervisions:
                raise InputError("a cut without supervision; say who speaks", code="empty")
            offset = float(_get(data, "start", NUMBER))
            for supervision in supervisions:
                yield line, _Supervision.of(supervision, recording, offset)
        except InputError as error:
            defects.add(source, line, str(error), code=error.code)


def _get(data: Json, key: str, kind: type[T] | tuple[type[T], ...]) -> T:
    """Return a value of an object; it must exist and have a type."""
    if not isinstance(data, dict):
        raise InputError(
            "not an object where one should be; write the file again", code="wrong-type"
        )
    value = data.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        state = "missing" if value is None else repr(value)
        raise InputError(
            f"{key} is {state}; write it again", code="empty" if value is None else "wrong-type"
        )
    return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
