"""A study of memorisation in one file: text, canaries, models with and without privacy, taggers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from sottovoce.core.errors import InputError
from sottovoce.core.records import Json, JsonObject
from sottovoce.memorisation.canaries import CanarySpec
from sottovoce.memorisation.tagged_text import PHRASE

BUILTIN = "builtin"
Positive = Annotated[int, Field(ge=1)]
Kind = Literal["crf", "bilstm"]
Count = Annotated[int, Field(ge=0, le=100_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Privacy(_Strict):
    """Differentially private training, a sentence being what is protected."""

    epsilon: float = Field(10.0, gt=0)
    delta: float = Field(2e-5, gt=0, lt=1)
    clip: float = Field(0.5, gt=0, description="Largest norm of the gradient of a sentence")
    lot: Positive = Field(64, description="Expected sentences of a step")
    learning_rate: float = Field(5e-3, gt=0)
    epochs: Positive = 10

    @property
    def label(self) -> str:
        """Name of a model that was trained so."""
        return f"private, ε = {self.epsilon:g}"


def _none_by_name(content: Json) -> Json:
    """Entries of ``privacy``, where the word none stands for training without it."""
    entries = content if isinstance(content, list) else [content]
    return [None if entry == "none" else entry for entry in entries]


def _random_by_name(content: Json) -> Json:
    """Entries of ``vectors``, where the word random stands for vectors that are learnt."""
    entries = content if isinstance(content, list) else [content]
    return [None if entry == "random" else entry for entry in entries]


VectorsList = Annotated[list[str | None], BeforeValidator(_random_by_name), Field(min_length=1)]
PrivacyList = Annotated[list[Privacy | None], BeforeValidator(_none_by_name), Field(min_length=1)]


class LanguageModels(_Strict):
    """LSTM language models, one for each entry of ``privacy`` and of ``vectors``."""

    embedding: Positive = 48
    hidden: Positive = 96
    epochs: Positive = 20
    check: list[Positive] = Field(
        default_factory=lambda: [1, 2, 5, 10, 15, 20], description="Epochs after which to measure"
    )
    batch: Positive = 32
    learning_rate: float = Field(3e-3, gt=0)
    vocabulary: Positive = Field(1500, description="Most frequent words that are known")
    privacy: PrivacyList = Field(
        default_factory=lambda: [None, Privacy.model_validate({})],
        description="null for training without privacy",
    )
    vectors: VectorsList = Field(
        default_factory=lambda: list[str | None]([None]),
        description="Files of word vectors, a word and its numbers a line; null for random ones",
    )
    controls: Annotated[int, Field(ge=30)] = Field(
        200, description="Random values that were never inserted, to check the measure"
    )
    sample: Annotated[int, Field(ge=30)] = Field(
        1000, description="Values behind the estimates that are compared with the exact exposure"
    )


class Overfitting(_Strict):
    """A BiLSTM that is made to overfit: part of the data, no dropout, many epochs."""

    share: float = Field(0.1, gt=0, le=1)
    epochs: Positive = 60
    repetitions: Count = 16
    every: Positive = Field(5, description="Epochs between two measurements")


class Taggers(_Strict):
    """Taggers, one for each kind, repetitions, and entry of ``vectors`` and ``privacy``."""

    data: str = Field(description="Tagged text (CoNLL, may be .xz)")
    test: str = Field(description="Tagged text to measure F1 on")
    kinds: list[Kind] = Field(default_factory=lambda: list[Kind](["crf", "bilstm"]), min_length=1)
    classes: list[str] = Field(default_factory=lambda: ["PER", "LOC", "ORG"], min_length=2)
    lang: str = "en"
    phrase: str = PHRASE
    repetitions: list[Count] = Field(default_factory=lambda: [0, 4, 16, 64, 128, 256], min_length=1)
    sentences: Positive | None = Field(None, description="The first so many; default all")
    iterations: Positive = Field(60, description="Of the CRF")
    epochs: list[Positive] = Field(
        default_factory=lambda: [2, 5, 8], min_length=1, description="Of the BiLSTM, to measure at"
    )
    embedding: Positive = Field(default=64, description="Of the BiLSTM")
    hidden: Positive = Field(default=64, description="Of each direction of the BiLSTM")
    vocabulary: Positive | None = Field(
        default=None,
        description="Most frequent words that the BiLSTM knows, besides those that are entities by "
        "themselves; default all",
    )
    vectors: VectorsList = Field(
        default_factory=lambda: list[str | None]([None]),
        description="Files of word vectors of the BiLSTM; null for random ones",
    )
    privacy: PrivacyList = Field(
        default_factory=lambda: list[Privacy | None]([None]),
        description="Of the BiLSTM; null for training without privacy",
    )
    overfitting: Overfitting | None = None

    @model_validator(mode="after")
    def _sensible(self) -> Taggers:
        if "crf" in self.kinds and any(self.privacy):
            raise ValueError(
                "a CRF cannot be trained with privacy; take kinds: [bilstm], and another study "
                "for the CRF"
            )
        if sorted(set(self.epochs)) != self.epochs:
            raise ValueError("epochs in rising order, each once")
        return self


class MemorisationStudy(_Strict):
    """Everything a study of memorisation needs to know."""

    name: str = "memorisation"
    text: str | None = Field(BUILTIN, description="Training text, a sentence a line, or builtin")
    test: str | None = Field(
        None, description="Other text to measure perplexity on; default a tenth of the text"
    )
    sentences: Positive | None = Field(None, description="The first so many; default all")
    canaries: list[CanarySpec] = Field(default_factory=list)
    language_model: LanguageModels | None = None
    taggers: Taggers | None = None
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _something(self) -> MemorisationStudy:
        if self.language_model is None and self.taggers is None:
            raise ValueError("nothing to train; add language_model or taggers")
        if self.language_model is not None and not self.canaries:
            raise ValueError("language_model needs canaries")
        if self.language_model is not None and self.text is None:
            raise ValueError("language_model needs text")
        for field in ("id", "template"):
            values = [getattr(spec, field) for spec in self.canaries]
            if len(set(values)) < len(values):
                raise ValueError(f"two canaries have one {field}")
        return self

    def public_settings(self) -> JsonObject:
        """Return the study as results quote it: without folders."""
        content = cast("JsonObject", self.model_dump(mode="json"))
        for group, name in _path_places(content):
            value = group[name]
            group[name] = (
                [Path(entry).name if isinstance(entry, str) else entry for entry in value]
                if isinstance(value, list)
                else Path(str(value)).name
            )
        return content


_NO_PATHS = (None, BUILTIN, "random")


def _path_places(content: JsonObject) -> list[tuple[JsonObject, str]]:
    """Groups and names of the values that are paths."""
    places: list[tuple[JsonObject, str]] = [(content, "text"), (content, "test")]
    taggers, models = content.get("taggers"), content.get("language_model")
    if isinstance(taggers, dict):
        places += [(taggers, "data"), (taggers, "test"), (taggers, "vectors")]
    if isinstance(models, dict):
        places.append((models, "vectors"))
    return [(group, name) for group, name in places if group.get(name) not in _NO_PATHS]


def read_memorisation_study(path: Path) -> MemorisationStudy:
    """Read a study from YAML; its paths are relative to the file.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    InputError
        ``unreadable``, ``not-yaml`` or ``wrong-shape`` with the place of the first defect.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise InputError(f"{path}: not YAML; correct it", code="not-yaml") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: not a study; it must be names and values", code="wrong-shape")
    for group, name in _path_places(content):
        value = group[name]
        if isinstance(value, str):
            group[name] = str(path.parent / value)
        elif isinstance(value, list):
            group[name] = [
                str(path.parent / entry) if isinstance(entry, str) and entry != "random" else entry
                for entry in value
            ]
    return _validated(content, str(path))


def builtin_study() -> MemorisationStudy:
    """Return the built-in study: a PIN and an illness in synthetic text, with and without ε."""
    return _validated(yaml.safe_load(_BUILTIN), "study")


def _validated(content: object, source: str) -> MemorisationStudy:
    try:
        return MemorisationStudy.model_validate(content)
    except ValidationError as error:
        defect = error.errors()[0]
        place = ".".join(map(str, defect["loc"])) or "study"
        message = defect["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{source}: {place}: {message[0].lower()}{message[1:]}; correct it", code="wrong-shape"
        ) from None


_BUILTIN = """
name: built-in example
text: builtin
sentences: 1000
canaries:
  - id: pin
    template: "the pin of {name} is {}"
    names: [arthur, bianca, carlos, diana, edgar, fatima]
    space: {digits: 4, spaced: true}
    repetitions: [0, 1, 4]
    canaries: 2
  - id: illness
    template: "{name} is suffering from {}"
    names: [arthur, bianca, carlos, diana, edgar, fatima]
    space: {vocabulary: 2}
    repetitions: [0, 1, 4]
    canaries: 2
language_model:
  epochs: 20
  check: [1, 2, 5, 10, 15, 20]
  privacy: [none, {epsilon: 10, delta: 2.0e-5}]
"""
