"""Canaries: sentences with an invented secret, drawn by a key, that are put into training text.

A specification is a YAML list. Each entry has a template with one blank and a space of values::

    - id: pin
      template: "my pin is {}"
      space: {digits: 4}
      repetitions: [0, 1, 4, 16]
      canaries: 5

makes five canaries that are not inserted (the control), five that are inserted once, and so on.
With ``{name}`` in the template and a list ``names``, each canary is about somebody else, so that
secrets do not compete for one place. Carlini et al. 2019, "The Secret Sharer".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sottovoce.anonymise.keys import Secret
from sottovoce.core.errors import InputError, first_line
from sottovoce.core.records import Record
from sottovoce.corpus.reading import read_text

BLANK = "{}"
NAME = "{name}"
LARGEST_SPACE = 10_000_000
"""Spaces up to this size can be listed as candidates."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Space(_Strict):
    """Values that a secret may have: numbers of some digits, or words."""

    digits: Annotated[int, Field(ge=1, le=18)] | None = None
    spaced: bool = Field(default=False, description="Digits apart: 2 4 6 7")
    values: tuple[str, ...] | None = None
    vocabulary: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="All words that occur at least so often in the text"
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Space:
        kinds = (self.digits, self.values, self.vocabulary)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("give one of digits, values and vocabulary")
        if self.values is not None and len(set(self.values)) < 2:
            raise ValueError("at least two different values")
        return self

    def __len__(self) -> int:
        return 10**self.digits if self.digits is not None else len(self._words)

    def __getitem__(self, index: int) -> str:
        """Return a value by its number from 0."""
        if self.digits is None:
            return self._words[index]
        number = f"{index:0{self.digits}}"
        return " ".join(number) if self.spaced else number

    @property
    def _words(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.values or ()))


class CanarySpec(_Strict):
    """Canaries of one template."""

    id: str = Field(min_length=1)
    template: str
    space: Space
    repetitions: tuple[Annotated[int, Field(ge=0, le=100_000)], ...] = (0, 1)
    canaries: Annotated[int, Field(ge=1, le=1000)] = 5
    names: tuple[str, ...] | None = Field(
        default=None, description="Whom the canaries are about, one each: {name} in the template"
    )

    @model_validator(mode="after")
    def _one_blank(self) -> CanarySpec:
        if self.template.count(BLANK) != 1:
            raise ValueError(f"the template needs exactly one blank {BLANK}")
        if "\n" in self.template:
            raise ValueError("the template must be one line")
        if len(set(self.repetitions)) < len(self.repetitions):
            raise ValueError("each number of repetitions once")
        if (self.names is not None) != (NAME in self.template):
            raise ValueError(f"names and {NAME} in the template go together")
        if self.names is not None and len(set(self.names)) < self.count:
            raise ValueError(f"{self.count} canaries need as many different names")
        return self

    @property
    def count(self) -> int:
        """Canaries of all numbers of repetitions together."""
        return self.canaries * len(self.repetitions)


@dataclass(frozen=True, slots=True)
class Canary(Record):
    """A canary with its secret."""

    name: str
    """Id, repetitions and number, such as ``pin-4x-2``."""
    spec: str
    """Id of its specification."""
    template: str
    """With the blank; a name is filled in."""
    value: str
    """The secret."""
    number: int
    """Of the secret in its space."""
    space: int
    repetitions: int

    @property
    def sentence(self) -> str:
        """The sentence that is inserted."""
        return self.template.replace(BLANK, self.value)


def read_specs(path: Path) -> tuple[CanarySpec, ...]:
    """Read a specification of canaries.

    Parameters
    ----------
    path : Path
        YAML.

    Raises
    ------
    InputError
        ``not-yaml``, ``bad-specification`` or ``duplicate-id``.
    """
    try:
        content = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not YAML ({first_line(error)})", code="not-yaml") from None
    if not isinstance(content, list) or not content:
        raise InputError(
            f"{path}: no list of canaries; each needs id, template and space",
            code="bad-specification",
        )
    specs = []
    for number, entry in enumerate(content, 1):
        try:
            specs.append(CanarySpec.model_validate(entry))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise InputError(
                f"{path}: canary {number}{f', {place}' if place else ''}: {message}; correct it",
                code="bad-specification",
            ) from None
    for field in ("id", "template"):
        values = [getattr(spec, field) for spec in specs]
        if len(set(values)) < len(values):
            raise InputError(
                f"{path}: two canaries have one {field}; change one", code="duplicate-id"
            )
    return tuple(specs)


def with_vocabulary(
    specs: Sequence[CanarySpec], lines: Callable[[], Iterable[str]]
) -> tuple[CanarySpec, ...]:
    """Fill in the spaces that are the vocabulary of a text.

    Parameters
    ----------
    specs : sequence of CanarySpec
        As they were read.
    lines : callable
        Starts to read the lines of the text; called if a space needs it.

    Raises
    ------
    InputError
        ``too-few`` if the text has fewer than two words that occur so often.
    """
    if all(spec.space.vocabulary is None for spec in specs):
        return tuple(specs)
    counts = Counter(word for line in lines() for word in line.split())
    filled = []
    for spec in specs:
        least = spec.space.vocabulary
        if least is not None:
            words = tuple(sorted(word for word, count in counts.items() if count >= least))
            if len(words) < 2:
                raise InputError(
                    f"canary {spec.id}: {len(words)} words occur {least} times in the text; lower "
                    "vocabulary",
                    code="too-few",
                )
            spec = spec.model_copy(update={"space": Space(values=words)})
        filled.append(spec)
    return tuple(filled)


def draw_canaries(specs: Sequence[CanarySpec], secret: Secret) -> list[Canary]:
    """Draw the secrets of all canaries; those of one template are all different.

    Parameters
    ----------
    specs : sequence of CanarySpec
        What is drawn.
    secret : Secret
        The key of the draws.

    Raises
    ------
    InputError
        ``too-few`` if a space has fewer values than canaries.
    """
    canaries = []
    for spec in specs:
        count = spec.count
        if count > len(spec.space):
            raise InputError(
                f"canary {spec.id}: {count} secrets from a space of {len(spec.space)}; make it "
                "larger, or ask for fewer",
                code="too-few",
            )
        numbers = _distinct(secret, spec, count)
        for index, number in enumerate(numbers):
            repetitions = spec.repetitions[index // spec.canaries]
            name = f"{spec.id}-{repetitions}x-{index % spec.canaries + 1}"
            value = spec.space[number]
            template = spec.template
            if spec.names is not None:
                template = template.replace(NAME, tuple(dict.fromkeys(spec.names))[index])
            canaries.append(
                Canary(name, spec.id, template, value, number, len(spec.space), repetitions)
            )
    return canaries


def _distinct(secret: Secret, spec: CanarySpec, count: int) -> list[int]:
    rng = secret.generator("canaries", spec.id)
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        drawn[int(rng.integers(len(spec.space)))] = None
    return list(drawn)


def insertion_places(
    canaries: Sequence[Canary], lines: int, secret: Secret
) -> dict[int, list[str]]:
    """Draw before which lines of a text the sentences are inserted.

    Parameters
    ----------
    canaries : sequence of Canary
        What is inserted.
    lines : int
        Lines of the text.
    secret : Secret
        The key of the draws.

    Returns
    -------
    dict of int to list of str
        Sentences by the number of the line they come before; ``lines`` is the end.
    """
    places: dict[int, list[str]] = {}
    for canary in canaries:
        rng = secret.generator("canary places", canary.name)
        for place in rng.integers(0, lines + 1, canary.repetitions).tolist():
            places.setdefault(place, []).append(canary.sentence)
    return places


def with_canaries(text: Iterator[str], places: dict[int, list[str]], lines: int) -> Iterator[str]:
    """Yield the lines of a text with sentences inserted; the text itself is not changed.

    Parameters
    ----------
    text : iterator of str
        Lines with their ends.
    places : dict of int to list of str
        What :func:`insertion_places` drew.
    lines : int
        Lines of the text.
    """
    last = "\n"
    for number, line in enumerate(text):
        yield from (f"{sentence}\n" for sentence in places.get(number, ()))
        yield line
        last = line
    if places.get(lines) and not last.endswith("\n"):
        yield "\n"
    yield from (f"{sentence}\n" for sentence in places.get(lines, ()))


def candidates(
    canary: Canary, space: Space, secret: Secret, *, most: int | None
) -> Iterator[tuple[str, bool]]:
    """Yield the values to be scored by a model, and whether each is the secret.

    Parameters
    ----------
    canary : Canary
        Whose candidates.
    space : Space
        Its values.
    secret : Secret
        The key of the draws.
    most : int or None
        A random sample of so many other values; None for the whole space.

    Raises
    ------
    InputError
        ``too-many`` for a whole space of more than ten million values.
    """
    if most is None:
        if len(space) > LARGEST_SPACE:
            raise InputError(
                f"canary {canary.name}: a space of {len(space):,} values is too large to list; "
                "ask for a sample",
                code="too-many",
            )
        for number in range(len(space)):
            yield space[number], number == canary.number
        return
    rng = secret.generator("candidates", canary.name)
    others: dict[int, None] = {}
    while len(others) < min(most, len(space) - 1):
        number = int(rng.integers(len(space)))
        if number != canary.number:
            others[number] = None
    yield canary.value, True
    yield from ((space[number], False) for number in others)
