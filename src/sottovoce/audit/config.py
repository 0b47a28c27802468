"""A study: what is anonymised how, who attacks it, what is measured, and what must not be exceeded.

Lists multiply: two anonymisers, one of them with three values of a setting, and two attackers make
eight attacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from sottovoce.audit.limits import Limit
from sottovoce.audit.steps import Recipe
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.registry import did_you_mean

Value = str | int | float | bool
Positive = Annotated[int, Field(ge=1)]
Crowd = Annotated[int, Field(ge=2)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Anonymiser(_Strict):
    """An anonymiser; a list as the value of a setting means: each in turn."""

    method: str = Field(description="As in: sottovoce anonymise voice --list")
    settings: dict[str, Value | list[Value]] = Field(default_factory=dict)

    def recipes(self) -> Iterator[Recipe]:
        """One recipe for each combination of settings."""
        names = list(self.settings)
        values = [one if isinstance(one, list) else [one] for one in self.settings.values()]
        for combination in product(*values):
            yield Recipe(self.method, dict(zip(names, combination, strict=True)))


class Utility(_Strict):
    """What the anonymised speech is still good for."""

    wer: bool = Field(default=True, description="Word error rate, where there are transcripts")
    f0: bool = Field(default=True, description="Correlation of pitch before and after")
    quality: bool = Field(default=True, description="Estimate of quality, if the model is there")
    utterances: Positive = Field(default=120, description="Trials it is measured on, at most")


class Study(_Strict):
    """Everything an audit needs to know."""

    name: str = "audit"
    corpus: str = Field("builtin", description="Folder or list of the corpus, or builtin")
    train: str | None = Field(None, description="Corpus of other speakers to train attackers on")
    anonymisers: list[Anonymiser] = Field(
        default_factory=lambda: [Anonymiser(method="mcadams")], min_length=1
    )
    attackers: list[str] = Field(
        default_factory=lambda: ["ignorant", "lazy-informed", "semi-informed"], min_length=1
    )
    linkage: list[str] = Field(default_factory=lambda: ["best"], min_length=1)
    similar: Anonymiser | None = Field(None, description="What a near-informed attacker has")
    encoder: str = "campplus"
    lengths: list[Positive] = Field(
        default_factory=lambda: [1, 3], min_length=1, description="Utterances a conversation"
    )
    populations: list[Crowd] | None = Field(None, min_length=1, description="Sizes of crowds")
    attributes: list[str] = Field(default_factory=lambda: ["gender"])
    utility: Utility = Utility()
    limits: dict[str, str] = Field(
        default_factory=dict,
        description='Such as {"linkability@population=40,attacker=semi-informed": "< 0.5"}',
    )
    interval: float = Field(0.95, gt=0, lt=1)
    examples: int = Field(2, ge=0, le=3, description="Pairs of recordings in the report")
    seed: int = Field(0, ge=0)

    @field_validator("anonymisers", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        if not isinstance(given, list):
            return given
        return [{"method": one} if isinstance(one, str) else one for one in given]

    @field_validator("similar", mode="before")
    @classmethod
    def _name(cls, given: Any) -> Any:
        return {"method": given} if isinstance(given, str) else given

    @field_validator("attackers", "linkage", mode="before")
    @classmethod
    def _one(cls, given: Any) -> Any:
        return [given] if isinstance(given, str) else given

    @field_validator("limits")
    @classmethod
    def _limits(cls, given: dict[str, str]) -> dict[str, str]:
        for name, condition in given.items():
            try:
                Limit.of(name, condition)
            except UsageError as error:
                raise ValueError(str(error)) from None
        return given

    @property
    def recipes(self) -> list[Recipe]:
        """All anonymisers, settings multiplied."""
        return [recipe for one in self.anonymisers for recipe in one.recipes()]

    def checked(self) -> Study:
        """The study with every name in it known and every setting valid."""
        from sottovoce.anonymise.voice import METHODS
        from sottovoce.attack import ATTACKERS
        from sottovoce.attack.training import BEST
        from sottovoce.speaker.linkage import LINKAGES

        for recipe in self.recipes:
            METHODS[recipe.method].card.checked(**recipe.settings)
        for name in self.attackers:
            if ATTACKERS[name].enrolment == "similar" and self.similar is None:
                raise UsageError(f"attackers: {name} needs similar: METHOD; name an anonymiser")
        for name in self.linkage:
            if name != BEST:
                LINKAGES[name]
        self._check_limits()
        return self

    def _check_limits(self) -> None:
        """Refuse limits on what this study does not measure, as far as the corpus has no say."""
        known = {
            "method": [recipe.method for recipe in self.recipes],
            "attacker": self.attackers,
            "linkage": self.linkage,
            "length": [str(length) for length in self.lengths],
        }
        for one in self.limits.items():
            limit = Limit.of(*one).among(known)
            asked = int(limit.where.get("population", 0))
            if self.populations is not None and asked > max(self.populations):
                raise UsageError(
                    f"limits: {limit.text}: no crowd of {asked:,} is measured; the largest in "
                    f"populations is {max(self.populations):,}"
                )


def read_study(path: Path | None, changes: Mapping[str, Any] | None = None) -> Study:
    """A study from a YAML file, or the built-in one, with some values set otherwise."""
    given = {} if path is None else _loaded(path)
    for name, value in (changes or {}).items():
        _set(given, name, value)
    where = "study" if path is None else str(path)
    try:
        study = Study.model_validate(given)
    except ValidationError as error:
        raise InputError(f"{where}: {_first(error)}") from None
    try:
        return study.checked()
    except UsageError as error:
        raise InputError(f"{where}: {error}") from None


def parse_change(text: str) -> tuple[str, Any]:
    """``a.b=value`` with the value in YAML, e.g. ``attackers=[ignorant]``."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"--set {text}: write NAME=VALUE, e.g. attackers=[semi-informed]")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError:
        raise UsageError(f"--set {text}: the value is not YAML; quote it") from None


def _loaded(path: Path) -> dict[str, Any]:
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f", line {line + 1}"
        raise InputError(f"{path}{where}: not YAML; correct it") from None
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError(f"{path}: not a study; it must be names and values, see --schema")
    for name in ("corpus", "train"):
        if isinstance(given.get(name), str) and given[name] != "builtin":
            given[name] = str(path.parent / given[name])
    return given


def _set(given: dict[str, Any], name: str, value: Any) -> None:
    *parents, last = name.split(".")
    place: Any = given
    for parent in parents:
        if isinstance(place, list) and parent.isdigit() and int(parent) < len(place):
            place = place[int(parent)]
            continue
        if not isinstance(place, dict):
            raise UsageError(f"--set {name}: {parent} is not a group of values")
        place = place.setdefault(parent, {})
    if not isinstance(place, dict):
        raise UsageError(f"--set {name}: not a group of values")
    place[last] = value


def _first(error: ValidationError) -> str:
    """The first complaint, and what helps."""
    known = error.errors()[0]["type"] == "extra_forbidden"  # the key that was meant is told
    return complaint(error) + ("" if known else "; correct it, --schema says what may stand")


def complaint(error: ValidationError) -> str:
    """The first thing that is wrong, with its place."""
    found = error.errors()[0]
    place = ".".join(map(str, found["loc"]))
    if found["type"] == "extra_forbidden":
        known = _fields(found["loc"][:-1])
        return f"{place}: {did_you_mean('key', str(found['loc'][-1]), known)}"
    message = found["msg"].removeprefix("Value error, ")
    return f"{place}: {message[0].lower()}{message[1:]}"


def _fields(place: tuple[int | str, ...]) -> list[str]:
    models: dict[str, type[BaseModel]] = {
        "anonymisers": Anonymiser,
        "similar": Anonymiser,
        "utility": Utility,
    }
    model = models.get(str(place[0]), Study) if place else Study
    return list(model.model_fields)
