"""Studies of private training: which data, models, budgets and seeds, read from YAML."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from sottovoce.core.errors import InputError
from sottovoce.core.records import JsonObject

Positive = Annotated[float, Field(gt=0)]
_PATHS = ("train", "test", "public", "pretrained")


class PrivateStudy(BaseModel):
    """A study of private training; the defaults are the built-in example."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Literal["sentences", "images", "vectors"] = "sentences"
    """``sentences``: a table with columns of texts and labels. ``images``: a folder of MNIST's
    four files, or their arrays in an .npz file. ``vectors``: an .npz file of ``vectors`` and
    labels, such as embeddings."""
    train: Path | None = None
    """Training data; by default made-up sentences of made-up speakers."""
    test: Path | None = None
    """Test data; by default a fifth of the units of the training data. In ``images`` unused: the
    file has test images."""
    public: Path | None = None
    """Public samples for batch norm: an .npz file with ``images`` or ``vectors``."""
    pretrained: Path | None = None
    """A model of an earlier study on public images; its convolutions are taken and frozen."""
    text: str = "text"
    """Column of the sentences."""
    label: str = "label"
    """Column or array of the classes."""
    unit: str | None = None
    """Column or array of the people; without it, single records are protected."""
    models: tuple[Literal["none", "layer", "group", "batch"], ...] = ("none", "layer")
    """Normalisation of the network."""
    statistics: Literal["public", "lot"] = "public"
    """Of ``batch``; ``lot`` has no guarantee."""
    epsilon: tuple[Positive, ...] = (8.0, 2.0, 0.5)
    """Budgets; ``.inf`` trains without noise."""
    delta: Positive = 1e-3
    lot: Annotated[int, Field(ge=1)] = 120
    """Expected number of units in a lot."""
    epochs: Positive = 4.0
    """How often each unit is in a lot, on average."""
    clip: Positive = 1.0
    optimiser: Literal["adam", "sgd"] = "adam"
    learning_rates: tuple[Positive, ...] = (0.02,)
    """If there are several, each model takes its best one on held-out training units."""
    seeds: Annotated[int, Field(ge=1)] = 3
    """Repetitions with other first weights and lots."""
    sampling: str = "poisson"
    reproducible: bool = False
    """Draw noise from public seeds: for published studies, since it protects nobody."""
    chunk: Annotated[int, Field(ge=1)] = 128
    """Records whose gradients are in memory at once."""

    @field_validator("sampling")
    @classmethod
    def _poisson(cls, sampling: str) -> str:
        if sampling != "poisson":
            raise ValueError(
                f"{sampling} lots are not what the accountants assume; leave it out or write "
                "poisson"
            )
        return sampling

    @field_validator("models", "epsilon", "learning_rates")
    @classmethod
    def _not_empty(cls, values: tuple[object, ...]) -> tuple[object, ...]:
        if not values or len(set(values)) < len(values):
            raise ValueError("give at least one, each once")
        return values

    @model_validator(mode="after")
    def _consistent(self) -> PrivateStudy:
        if self.task != "sentences" and self.train is None:
            raise ValueError(f"{self.task} need train, a file")
        if self.pretrained is not None and self.task != "images":
            raise ValueError("pretrained needs the task images")
        if "batch" in self.models and self.public is None:
            raise ValueError("batch norm needs public, a file of public samples")
        if self.task == "sentences" and not set(self.models) <= {"none", "layer"}:
            raise ValueError("sentences take the models none and layer")
        return self

    @property
    def budgets(self) -> tuple[float | None, ...]:
        """ε of each budget; None for training without noise."""
        return tuple(None if math.isinf(epsilon) else epsilon for epsilon in self.epsilon)

    def as_json(self) -> JsonObject:
        """Return all settings as JSON; a budget of infinity is null."""
        return {**self.model_dump(mode="json"), "epsilon": list(self.budgets)}


def read_private_study(path: Path | None) -> PrivateStudy:
    """Read a study from a YAML file, or take the built-in one.

    Parameters
    ----------
    path : Path or None
        The file; paths in it are relative to its folder. None for the built-in study.

    Raises
    ------
    InputError
        ``unreadable``, ``not-yaml`` or ``wrong-shape``, with the place of the first defect.
    """
    if path is None:
        return PrivateStudy()
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise InputError(f"{path}: not YAML; correct it", code="not-yaml") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: not a study; write names and values", code="wrong-shape")
    for name in _PATHS:
        if isinstance(content.get(name), str):
            content[name] = str(path.parent / content[name])
    try:
        return PrivateStudy.model_validate(content)
    except ValidationError as error:
        defect = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in defect["loc"]) or "the whole"
        message = defect["msg"].removeprefix("Value error, ")
        raise InputError(f"{path}: {place}: {message}", code="wrong-shape") from None
