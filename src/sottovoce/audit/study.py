"""A study: the anonymisers, the attackers, what is measured, and limits on the figures.

Lists multiply: two anonymisers, one of them with three values of a setting, and two attackers make
eight attacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from sottovoce.asr.recogniser import DEFAULT_RECOGNISER
from sottovoce.attack import ATTACKERS, Attacker
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.attack.training import check_linkage_name
from sottovoce.audit.limits import Limit
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.records import Json, JsonObject
from sottovoce.core.registry import did_you_mean
from sottovoce.corpus.formats import BUILTIN

PATHS = ("corpus", "train", "trials")
"""Values of a study that are paths, relative to its file."""

Value = str | int | float | bool
Positive = Annotated[int, Field(ge=1)]
Population = Annotated[int, Field(ge=2)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyAnonymiser(_Strict):
    """An anonymiser; a list as the value of a setting means each of its values in turn."""

    method: str = Field(description="As in: sottovoce anonymise voice --list")
    settings: dict[str, Value | list[Value]] = Field(default_factory=dict)

    def specs(self) -> Iterator[AnonymiserSpec]:
        """Generate one anonymiser for each combination of settings."""
        names = list(self.settings)
        choices = [
            value if isinstance(value, list) else [value] for value in self.settings.values()
        ]
        for combination in product(*choices):
            yield AnonymiserSpec(self.method, dict(zip(names, combination, strict=True)))


class UtilitySettings(_Strict):
    """What of the usefulness of anonymised speech is measured."""

    wer: bool = Field(default=True, description="Word error rate, where there are transcripts")
    recogniser: str = Field(default=DEFAULT_RECOGNISER, description="Recogniser behind wer")
    f0: bool = Field(default=True, description="Correlation of pitch before and after")
    quality: bool = Field(default=True, description="Estimate of quality, if the model is there")
    utterances: Positive = Field(default=120, description="Trials it is measured on, at most")


@dataclass(frozen=True, slots=True)
class PlannedAttack:
    """One attack of a study."""

    anonymiser: AnonymiserSpec
    attacker: Attacker
    linkage: str


class Study(_Strict):
    """Everything an audit needs to know."""

    name: str = "audit"
    corpus: str = Field(BUILTIN, description="Folder or list of the corpus, or builtin")
    train: str | None = Field(None, description="Corpus of other speakers to train attackers on")
    trials: str | None = Field(None, description="List of the pairs to compare; default all")
    anonymisers: list[StudyAnonymiser] = Field(
        default_factory=lambda: [StudyAnonymiser(method="mcadams")], min_length=1
    )
    attackers: list[str] = Field(
        default_factory=lambda: ["ignorant", "lazy-informed", "semi-informed"], min_length=1
    )
    linkage: list[str] = Field(default_factory=lambda: ["best"], min_length=1)
    similar: StudyAnonymiser | None = Field(None, description="What a near-informed attacker has")
    encoder: str = "campplus"
    lengths: list[Positive] = Field(
        default_factory=lambda: [1, 3], min_length=1, description="Utterances a conversation"
    )
    populations: list[Population] | None = Field(
        None, min_length=1, description="Sizes of populations; default 20, 40, … and all speakers"
    )
    attributes: list[str] = Field(default_factory=lambda: ["gender"])
    utility: UtilitySettings = UtilitySettings()
    limits: dict[str, str] = Field(
        default_factory=dict,
        description='Such as {"linkability@population=40,attacker=semi-informed": "< 0.5"}',
    )
    interval: float = Field(0.95, gt=0, lt=1)
    examples: int = Field(2, ge=0, le=3, description="Pairs of recordings in the report")
    seed: int = Field(0, ge=0)

    @field_validator("anonymisers", mode="before")
    @classmethod
    def _expand_names(cls, content: Json) -> Json:
        if not isinstance(content, list):
            return content
        return [{"method": entry} if isinstance(entry, str) else entry for entry in content]

    @field_validator("similar", mode="before")
    @classmethod
    def _expand_name(cls, content: Json) -> Json:
        return {"method": content} if isinstance(content, str) else content

    @field_validator("attackers", "linkage", mode="before")
    @classmethod
    def _wrap_in_list(cls, content: Json) -> Json:
        return [content] if isinstance(content, str) else content

    @field_validator("limits")
    @classmethod
    def _check_limit_syntax(cls, limits: dict[str, str]) -> dict[str, str]:
        for name, requirement in limits.items():
            try:
                Limit.parse(name, requirement)
            except UsageError as error:
                raise ValueError(str(error)) from None
        return limits

    @property
    def anonymiser_specs(self) -> list[AnonymiserSpec]:
        """All anonymisers, settings multiplied."""
        return [spec for anonymiser in self.anonymisers for spec in anonymiser.specs()]

    @property
    def similar_spec(self) -> AnonymiserSpec | None:
        """The anonymiser of an attacker that only has a similar one."""
        return None if self.similar is None else next(self.similar.specs())

    @property
    def attacks(self) -> list[PlannedAttack]:
        """All attacks, in the order of the rows of the findings."""
        return [attack for spec in self.anonymiser_specs for attack in self.attacks_on(spec)]

    def attacks_on(self, spec: AnonymiserSpec) -> list[PlannedAttack]:
        """Return the attacks on one anonymiser.

        Parameters
        ----------
        spec : AnonymiserSpec
            The anonymiser.
        """
        attackers = [ATTACKERS[name] for name in self.attackers]
        return [
            PlannedAttack(spec, attacker, linkage)
            for attacker, linkage in product(attackers, self.linkage)
        ]

    @property
    def parsed_limits(self) -> list[Limit]:
        """The limits in their parts."""
        return [Limit.parse(name, requirement) for name, requirement in self.limits.items()]

    def check(self) -> None:
        """Refuse names that nobody knows and settings that are not valid.

        Raises
        ------
        UsageError
            ``unknown-name``, ``out-of-range`` or ``missing-speech``.
        """
        from sottovoce.asr.recogniser import RECOGNISERS

        for spec in self.anonymiser_specs:
            spec.check()
        for name in self.attackers:
            attacker = ATTACKERS[name]
            if "similar" in (attacker.enrolment, attacker.training) and self.similar is None:
                raise UsageError(
                    f"attackers: {name} needs similar: METHOD; name an anonymiser",
                    code="missing-speech",
                )
        for name in self.linkage:
            check_linkage_name(name)
        RECOGNISERS[self.utility.recogniser]
        self._check_limits()

    def _check_limits(self) -> None:
        """Refuse limits on what this study does not measure, whatever the corpus is."""
        known = {
            "method": [spec.method for spec in self.anonymiser_specs],
            "attacker": self.attackers,
            "linkage": self.linkage,
            "length": [str(length) for length in self.lengths],
        }
        for limit in self.parsed_limits:
            limit.check_conditions(known)
            population = limit.population or 0
            if self.populations is not None and population > max(self.populations):
                raise UsageError(
                    f"limits: {limit.text}: no population of {population:,} is measured; the "
                    f"largest in populations is {max(self.populations):,}",
                    code="out-of-range",
                )

    def public_settings(self) -> JsonObject:
        """Return the study as results quote it: without the folders of the corpora."""
        content = cast("JsonObject", self.model_dump(mode="json"))
        for name in PATHS:
            value = content[name]
            content[name] = Path(value).name if isinstance(value, str) else value
        return content


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
        With the place of the first defect.
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
    except UsageError as error:
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
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InputError(
            f"{path}: not a study; it must be names and values, see --schema", code="wrong-shape"
        )
    for name in PATHS:
        if isinstance(content.get(name), str) and content[name] != BUILTIN:
            content[name] = str(path.parent / content[name])
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
        "similar": StudyAnonymiser,
        "utility": UtilitySettings,
    }
    group = groups.get(str(place[0]), Study) if place else Study
    return list(group.model_fields)
