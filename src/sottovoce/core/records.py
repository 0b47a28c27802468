"""Frozen dataclasses as JSON and back, in one place for the whole package.

A result derives from :class:`Record` and gets ``to_dict``. Reading is strict: a missing or unknown
key, or a value of another type, is an error that names its place, so nothing is ever half-read.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, slots=True)
... class Share(Record):
...     value: float
...     low: float | None = optional()
>>> Share(0.5).to_dict()
{'value': 0.5}
>>> from_json(Share, {"value": 0.5, "low": 0.4})
Share(value=0.5, low=0.4)
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""What JSON can hold."""
JsonObject = dict[str, Json]

T = TypeVar("T")

_OMIT_NONE = "omit_none"


def optional() -> Any:
    """Declare a dataclass field that defaults to None and is left out of the JSON while it is."""
    return dataclasses.field(default=None, metadata={_OMIT_NONE: True})


class Record:
    """Mixin for frozen dataclasses that are written to and read from JSON."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, nested records, arrays and mappings included."""
        return cast("dict[str, Any]", to_json(self))


def to_json(value: object) -> Json:
    """Turn a record, or anything made of records, into what JSON can hold.

    Parameters
    ----------
    value : object
        A dataclass, mapping, sequence, NumPy array or scalar, path, enumeration or plain value.

    Returns
    -------
    Json
        Dictionaries, lists and plain values. Fields declared with :func:`optional` are left out
        while they are None.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value.value if isinstance(value, Enum) else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_json(content)
            for field in dataclasses.fields(value)
            if (content := getattr(value, field.name)) is not None
            or _OMIT_NONE not in field.metadata
        }
    if isinstance(value, Mapping):
        return {str(name): to_json(content) for name, content in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return cast("Json", value.tolist())
    if isinstance(value, Enum):
        return to_json(value.value)
    if isinstance(value, PurePath):
        return value.as_posix()
    if isinstance(value, Sequence | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [to_json(content) for content in items]
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def dump_json(value: object, *, indent: int | None = 1) -> str:
    """Write a record as JSON text; NaN and infinities are refused.

    Parameters
    ----------
    value : object
        Anything that :func:`to_json` takes.
    indent : int or None, default 1
        Blanks a level; None for one line.
    """
    return json.dumps(to_json(value), indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(path: Path, value: object) -> None:
    """Write a record to a JSON file, whole or not at all.

    Parameters
    ----------
    path : Path
        The file; an existing one is replaced.
    value : object
        Anything that :func:`to_json` takes.
    """
    write_text(path, dump_json(value))


def from_json(kind: type[T], value: Json, *, source: str = "JSON") -> T:
    """Build a record from what JSON holds.

    Parameters
    ----------
    kind : type
        The dataclass, or a type made of dataclasses such as ``tuple[Share, ...]``.
    value : Json
        What ``json.loads`` returned.
    source : str, default "JSON"
        What is read, for the message of an error.

    Raises
    ------
    InputError
        With the code ``wrong-shape`` and the place of the first defect.
    """
    from pydantic import ValidationError

    try:
        return _read(kind, value)
    except ValidationError as error:
        raise InputError(f"{source}: {_first_defect(error)}", code="wrong-shape") from None


def read_json_record(kind: type[T], path: Path, *, advice: str) -> T:
    """Read a record from a JSON file.

    Parameters
    ----------
    kind : type
        The dataclass that the file holds.
    path : Path
        The file.
    advice : str
        What to do about a file that cannot be used, the end of the error's message.

    Raises
    ------
    InputError
        If the file cannot be read (``unreadable``), is not JSON (``not-json``) or holds something
        else than the record (``wrong-shape``).
    """
    from pydantic import ValidationError

    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); {advice}", code="unreadable"
        ) from None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not JSON; {advice}", code="not-json") from None
    try:
        return _read(kind, value)
    except ValidationError as error:
        raise InputError(f"{path}: {_first_defect(error)}; {advice}", code="wrong-shape") from None


def json_schema(kind: type[object]) -> JsonObject:
    """Return the JSON Schema of a record.

    Parameters
    ----------
    kind : type
        The dataclass.
    """
    return cast("JsonObject", _adapter(kind).json_schema())


_ADAPTERS: dict[object, TypeAdapter[Any]] = {}


def _read(kind: type[T], value: Json) -> T:
    """Read strictly, as JSON: text is never taken for a number, nor a whole number for true."""
    return _adapter(kind).validate_json(json.dumps(value), strict=True)


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    """Return pydantic's reader of a type; it is made once a type, which costs milliseconds."""
    from pydantic import TypeAdapter

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def _first_defect(error: ValidationError) -> str:
    """Place and kind of the first defect that pydantic found, without the value itself."""
    defect = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in defect["loc"]) or "the whole"
    return f"{place}: {defect['msg']}"
