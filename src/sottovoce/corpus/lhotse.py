"""Lhotse manifests: recordings with supervisions, or cuts, as ``.jsonl`` or ``.jsonl.gz``.

Read without Lhotse. A supervision is an utterance: it says who speaks, from when, for how long and
in which channel. Only audio in files is read, and only as it is: what Lhotse would compute on
loading (speed, volume, mixing, padding) is refused.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sottovoce.core.errors import InputError
from sottovoce.core.files import check_there
from sottovoce.corpus.defects import Defects
from sottovoce.corpus.gather import Gathering
from sottovoce.corpus.paths import base_of, folder_name
from sottovoce.corpus.utterance import Corpus, Utterance

ENDINGS = (".jsonl", ".jsonl.gz")
NUMBER = (int, float)

Json = dict[str, Any]
T = TypeVar("T")


def is_lhotse(path: Path) -> bool:
    """Whether a folder holds such manifests, or a file is one."""
    if path.is_dir():
        return any(_named(path, word) for word in ("cuts", "supervisions"))
    return path.name.endswith(ENDINGS)


def read_lhotse(path: Path | str) -> Corpus:
    """Read a cuts file, a supervisions file beside its recordings, or the one such of a folder."""
    path = Path(path)
    source, recordings_file = _files(path)
    gathered = Gathering()
    read = _from_cuts if recordings_file is None else partial(_from_pair, recordings_file)
    found = list(read(source, gathered.defects))
    base, notes = base_of((spoken.file for _, spoken in found), source.parent)
    for line, spoken in found:
        gathered.add(source, line, partial(spoken.utterance, base))
    name = folder_name(path) if path.is_dir() else path.name.split(".")[0]
    return gathered.corpus(name, source.parent, source, notes)


# ========================================================================================== files


def _named(folder: Path, word: str) -> list[Path]:
    files = sorted(folder.iterdir())
    return [file for file in files if word in file.name and file.name.endswith(ENDINGS)]


def _files(path: Path) -> tuple[Path, Path | None]:
    """The file that lists utterances, and that of recordings unless the first has them."""
    if path.is_dir():
        found = _named(path, "cuts") or _named(path, "supervisions")
        if len(found) != 1:
            names = ", ".join(file.name for file in found[:4]) or "none"
            raise InputError(f"{path}: {len(found)} lists of utterances ({names}); name one")
        path = found[0]
    check_there(path)
    if "cuts" in path.name:
        return path, None
    for word, other in (("supervisions", "recordings"), ("recordings", "supervisions")):
        if word in path.name:
            beside = path.with_name(other.join(path.name.rsplit(word, 1)))
            check_there(beside)
            return (path, beside) if word == "supervisions" else (beside, path)
    raise InputError(
        f"{path}: Lhotse's names tell what is inside; put cuts, supervisions or recordings in it"
    )


def _objects(path: Path, defects: Defects) -> Iterator[tuple[int, Json]]:
    """The object of each line that holds one."""
    opener: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        found = json.loads(line)
                    except (ValueError, RecursionError):
                        found = None
                    if isinstance(found, dict):
                        yield number, found
                    else:
                        defects.add(path, number, "not a JSON object; write the file again")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged or cut off ({error}); write it again") from None


# ======================================================================================= contents


@dataclass(frozen=True, slots=True)
class _Recording:
    """What is needed of a recording."""

    id: str
    files: dict[int, tuple[str, int, int]]
    """By channel: a path, which channel of that file it is, and how many the file has."""
    seconds: float

    @classmethod
    def of(cls, data: Json) -> _Recording:
        name = _get(data, "id", str)
        if data.get("transforms"):
            raise InputError(f"recording {name} has transforms, which are not applied; save audio")
        files = {}
        for source in _get(data, "sources", list):
            if not isinstance(source, dict) or source.get("type") != "file":
                raise InputError(f"recording {name} is not in a file; save it as one")
            channels = _get(source, "channels", list)
            for i, channel in enumerate(channels):
                if not isinstance(channel, int):
                    raise InputError(
                        f"recording {name} has channel {channel!r}; channels are numbers"
                    )
                files[channel] = (_get(source, "source", str), i, len(channels))
        return cls(name, files, float(_get(data, "duration", NUMBER)))


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A supervision with the file it is in; times count from the start of the recording."""

    file: str
    channel: int | None
    start: float | None
    end: float | None
    data: Json

    @classmethod
    def of(cls, data: Json, recording: _Recording, offset: float = 0.0) -> _Spoken:
        start = offset + float(_get(data, "start", NUMBER))
        length = float(_get(data, "duration", NUMBER))
        channel = data.get("channel", 0)
        if isinstance(channel, list) and len(channel) == 1:
            channel = channel[0]
        if not isinstance(channel, int) or channel not in recording.files:
            raise InputError(
                f"channel {channel} of recording {recording.id} is not one of its channels "
                f"{sorted(recording.files)}; name one"
            )
        file, number, count = recording.files[channel]
        whole = abs(start) < WHOLE and abs(length - recording.seconds) < WHOLE
        channel = number if count > 1 else None
        if whole:
            return cls(file, channel, None, None, data)
        return cls(file, channel, round(start, 6), round(start + length, 6), data)

    def utterance(self, base: Path) -> Utterance:
        """The utterance, where relative paths start from ``base``."""
        data = self.data
        custom = _get(data, "custom", dict) if data.get("custom") else {}
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
            extra={k: _text(v) for k, v in custom.items() if k not in ("session", "split")},
        )


WHOLE = 0.002
"""Times that differ by less seconds than this are the same, as far as Lhotse's rounding goes."""


def _from_pair(
    recordings_file: Path, source: Path, defects: Defects
) -> Iterator[tuple[int, _Spoken]]:
    recordings = {}
    for line, data in _objects(recordings_file, defects):
        try:
            recording = _Recording.of(data)
            recordings[recording.id] = recording
        except InputError as error:
            defects.add(recordings_file, line, str(error))
    for line, data in _objects(source, defects):
        try:
            name = _get(data, "recording_id", str)
            if name not in recordings:
                raise InputError(f"recording {name} is not in {recordings_file.name}; add it")
            yield line, _Spoken.of(data, recordings[name])
        except InputError as error:
            defects.add(source, line, str(error))


def _from_cuts(source: Path, defects: Defects) -> Iterator[tuple[int, _Spoken]]:
    for line, data in _objects(source, defects):
        try:
            if data.get("type", "MonoCut") not in ("MonoCut", "MultiCut"):
                raise InputError(f"a {data['type']}, which is not computed; save its audio first")
            recording = _Recording.of(_get(data, "recording", dict))
            spoken = _get(data, "supervisions", list)
            if not spoken:
                raise InputError("a cut without supervision; say who speaks")
            offset = float(_get(data, "start", NUMBER))
            for one in spoken:
                yield line, _Spoken.of(one, recording, offset)
        except InputError as error:
            defects.add(source, line, str(error))


def _get(data: Json, key: str, kind: type[T] | tuple[type[T], ...]) -> T:
    """A value that must be there and of a kind."""
    if not isinstance(data, dict):
        raise InputError("not an object where one should be; write the file again")
    value = data.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{key} is {'missing' if value is None else repr(value)}; write it again")
    return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
