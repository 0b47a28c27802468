"""Results of long steps on disk, so that a run that was interrupted continues where it stopped.

A result lies under a key made of everything it depends on: change an input and the key is another
one, so an outdated result is never read. A file is written whole or not at all. One that cannot be
read back, or whose checksum is wrong, is computed again.

>>> from tempfile import TemporaryDirectory
>>> LENGTHS = Step("lengths", records_of(dict[str, int]))
>>> with TemporaryDirectory() as folder:
...     cache = StepCache(Path(folder))
...     for _ in range(2):
...         lengths = cache.get(LENGTHS, ["corpus", 7], lambda: {"a": 3})
...     lengths, cache.computed["lengths"], cache.reused["lengths"]
({'a': 3}, 1, 1)
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from sottovoce import __version__
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_bytes
from sottovoce.core.records import from_json, to_json

T = TypeVar("T")

KEY_DIGITS = 16


def cache_key(*inputs: object) -> str:
    """Return a short name of everything a result depends on.

    Parameters
    ----------
    *inputs : object
        Whatever :func:`sottovoce.core.records.to_json` takes; the order matters.

    Returns
    -------
    str
        The first 16 hexadecimal digits of the SHA-256 of the inputs as JSON, in which the keys of
        objects are sorted.
    """
    text = json.dumps(to_json(inputs), sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How the results of a step are written to a file and read back."""

    suffix: str
    """End of the file's name, such as ``.json``."""
    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]
    """Raises InputError, ValueError, KeyError or TypeError for bytes ``encode`` never wrote."""


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """A kind of step whose results are stored."""

    name: str
    """Such as ``measures``; its results lie in a folder of that name."""
    codec: Codec[T]


def records_of(kind: type[T]) -> Codec[T]:
    """Return a codec for records as JSON, with a checksum.

    Parameters
    ----------
    kind : type
        A dataclass, or a type made of dataclasses and plain values, such as
        ``tuple[Estimate, ...]``; results are read back as this type.
    """

    def encode(result: T) -> bytes:
        return _with_checksum(json.dumps(to_json(result), ensure_ascii=False, allow_nan=False))

    def decode(content: bytes) -> T:
        _, text, *_ = content.decode().split("\n", 2)
        if _with_checksum(text) != content:
            raise InputError("the checksum of a stored result is wrong", code="damaged")
        return from_json(kind, json.loads(text), source="stored result")

    return Codec(".json", encode, decode)


def _with_checksum(text: str) -> bytes:
    """Wrap JSON of one line in an object that holds its SHA-256."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{{"sha256": "{digest}", "result":\n{text}\n}}\n'.encode()


class StepCache:
    """Results of steps in one folder.

    Several processes may use one folder: each result is complete whoever wrote it, and two that
    compute the same result at the same time write the same file.

    Parameters
    ----------
    folder : Path
        Where results lie, in ``<step>/<key><suffix>``; made when it is needed.
    version : str, default the package's version
        Part of every key, so that results of another version are not read.

    Attributes
    ----------
    computed, reused : Counter
        By name of the step, how many results were computed and how many were read back.
    """

    def __init__(self, folder: Path, *, version: str = __version__) -> None:
        self.folder = folder
        self.version = version
        self.computed: Counter[str] = Counter()
        self.reused: Counter[str] = Counter()

    def key(self, *inputs: object) -> str:
        """Return the key of a result.

        Parameters
        ----------
        *inputs : object
            Everything the result depends on besides the version; see :func:`cache_key`.
        """
        return cache_key(self.version, *inputs)

    def path(self, step: str, key: str, suffix: str = "") -> Path:
        """Return where a result lies.

        A step that writes its own file or folder, whole or resumable by itself, writes it here.

        Parameters
        ----------
        step : str
            Name of the step.
        key : str
            Key of the result.
        suffix : str, default ""
            End of the file's name.
        """
        return self.folder / step / f"{key}{suffix}"

    def get(self, step: Step[T], inputs: object, compute: Callable[[], T]) -> T:
        """Read a result back, or compute and store it.

        Parameters
        ----------
        step : Step
            Its kind.
        inputs : object
            Everything the result depends on besides the version; see :func:`cache_key`.
        compute : callable
            Computes the result. What it raises is passed on, and nothing is stored.

        Returns
        -------
        T
            The result as read from the file, also when it was just computed: an interrupted and an
            uninterrupted run go on with the same values.
        """
        path = self.path(step.name, self.key(inputs), step.codec.suffix)
        with suppress(OSError, InputError, ValueError, KeyError, TypeError):
            result = step.codec.decode(path.read_bytes())
            self.reused[step.name] += 1
            return result
        return self._compute(step, path, compute)

    def _compute(self, step: Step[T], path: Path, compute: Callable[[], T]) -> T:
        content = step.codec.encode(compute())
        write_bytes(path, content)
        self.computed[step.name] += 1
        return step.codec.decode(content)
