"""Reading studies from YAML, with the place and a suggestion for whatever is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from pydantic import BaseModel, ValidationError

from sottovoce.audit.requirements import check_machine
from sottovoce.audit.study import PATHS, Study
from sottovoce.audit.study_parts import (
    StudyAnonymiser,
    StudyAttacker,
    StudyRelease,
    StudySlices,
    StudyText,
    UtilitySettings,
)
from sottovoce.core.errors import InputError, SottovoceError, UsageError
from sottovoce.core.records import Json, JsonObject
from sottovoce.core.registry import did_you_mean
from sottovoce.corpus.formats import BUILTIN


def read_study(path: Path | None, changes: Mapping[str, Json] | None = None) -> Study:
    """Read a study from a YAML file, or take the built-in one.

    Parameters
    ----------
    path : Path or None
        The file; None for the built-in study.
    changes : mapping of str to Json, optional
        Values that replace those of the file, by name such as ``utility.wer``.

    Raises
    ------
    InputError
        With the place of the first defect, which may also be that this machine does not have what
        the study needs.
    """
    content: JsonObject = {} if path is None else _load_yaml(path)
    for name, value in (changes or {}).items():
        _set_value(content, name, value)
    source = "study" if path is None else str(path)
    try:
        study = Study.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{source}: {_describe_with_advice(error)}", code="wrong-shape") from None
    try:
        study.check()
        check_machine(study)
    except SottovoceError as error:
        raise InputError(f"{source}: {error}", code=error.code) from None
    return study


def parse_change(text: str) -> tuple[str, Json]:
    """Parse ``NAME=VALUE`` with the value in YAML, such as ``attackers=[ignorant]``.

    Parameters
    ----------
    text : str
        As given to ``--set``.

    Raises
    ------
    UsageError
        With the code ``malformed``.
    """
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(
            f"--set {text}: write NAME=VALUE, e.g. attackers=[semi-informed]", code="malformed"
        )
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError:
        raise UsageError(
            f"--set {text}: the value is not YAML; quote it", code="malformed"
        ) from None


def _load_yaml(path: Path) -> JsonObject:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = "" if line is None else f", line {line + 1}"
        raise InputError(f"{path}{place}: not YAML; correct it", code="not-yaml") from None
    if not isinstance(content, dict):
        raise InputError(
            f"{path}: not a study; it must be names and values, see --schema", code="wrong-shape"
        )
    for name in PATHS:
        *parents, last = name.split(".")
        group: Json = content
        for parent in parents:
            group = group.get(parent) if isinstance(group, dict) else None
        value = group.get(last) if isinstance(group, dict) else None
        if isinstance(group, dict) and isinstance(value, str) and value != BUILTIN:
            group[last] = str(path.parent / value)
    return content


def _set_value(content: JsonObject, name: str, value: Json) -> None:
    *parents, last = name.split(".")
    group: Json = content
    for parent in parents:
        if isinstance(group, list) and parent.isdigit() and int(parent) < len(group):
            group = group[int(parent)]
            continue
        if not isinstance(group, dict):
            raise UsageError(f"--set {name}: {parent} is not a group of values", code="malformed")
        group = group.setdefault(parent, {})
    if not isinstance(group, dict):
        raise UsageError(f"--set {name}: not a group of values", code="malformed")
    group[last] = value


def _describe_with_advice(error: ValidationError) -> str:
    """The first defect, and what helps."""
    unknown_key = error.errors()[0]["type"] == "extra_forbidden"  # the message has a suggestion
    advice = "" if unknown_key else "; correct it, see --schema for what is allowed"
    return describe_defect(error) + advice


def describe_defect(error: ValidationError) -> str:
    """Describe the first defect of a study, with its place.

    Parameters
    ----------
    error : ValidationError
        From reading a :class:`Study`.
    """
    defect = error.errors()[0]
    place = ".".join(map(str, defect["loc"]))
    if defect["type"] == "extra_forbidden":
        known = _known_keys(defect["loc"][:-1])
        return f"{place}: {did_you_mean('key', str(defect['loc'][-1]), known)}"
    message = defect["msg"].removeprefix("Value error, ")
    return f"{place}: {message[0].lower()}{message[1:]}"


def _known_keys(place: tuple[int | str, ...]) -> list[str]:
    groups: dict[str, type[BaseModel]] = {
        "anonymisers": StudyAnonymiser,
        "attackers": StudyAttacker,
        "similar": StudyAnonymiser,
        "utility": UtilitySettings,
        "release": StudyRelease,
        "slice": StudySlices,
        "text": StudyText,
    }
    group = groups.get(str(place[0]), Study) if place else Study
    return list(group.model_fields)
