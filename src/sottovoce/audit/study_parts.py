"""The parts of a study: an anonymiser, an attacker, slices, texts, utility and release limits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from sottovoce.asr.recogniser import DEFAULT_RECOGNISER
from sottovoce.attack.slicing import Cut, Slicing
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.attack.text.traits import Split
from sottovoce.findings import ReleaseLimits

DEFAULT_RELEASE = ReleaseLimits()
Value = str | int | float | bool
Positive = Annotated[int, Field(ge=1)]
Population = Annotated[int, Field(ge=2)]
Draws = Annotated[int, Field(ge=1, le=20)]


class StudyPart(BaseModel):
    """Refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyAnonymiser(StudyPart):
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


class UtilitySettings(StudyPart):
    """What of the usefulness of anonymised speech is measured."""

    wer: bool = Field(default=True, description="Word error rate, where there are transcripts")
    recogniser: str = Field(default=DEFAULT_RECOGNISER, description="Recogniser behind wer")
    f0: bool = Field(default=True, description="Correlation of pitch before and after")
    quality: bool = Field(default=True, description="Estimate of quality, if the model is there")
    utterances: Positive = Field(default=120, description="Trials it is measured on, at most")
    retrained: bool = Field(
        default=False,
        description="Train recognisers on originals and on anonymised speech (needs PyTorch)",
    )


class StudyAttacker(StudyPart):
    """An attacker; what is not given is that of the study."""

    name: str = Field(description="ignorant, lazy-informed, near-informed, semi-informed, …")
    encoder: str | None = Field(
        default=None, description="Representation, or name or file of an encoder"
    )
    linkage: str | None = Field(default=None, description="Linkage function, best or strongest")
    draws: Draws | None = Field(default=None, description="How often it anonymises its own speech")

    @model_serializer(mode="wrap")
    def _shortest(
        self, serialise: SerializerFunctionWrapHandler
    ) -> str | dict[str, str | int | None]:
        """The name alone where nothing else is given."""
        content = {name: value for name, value in serialise(self).items() if value is not None}
        return self.name if len(content) == 1 else content


class StudySlices(StudyPart):
    """Slices of the trials that are attacked besides whole recordings."""

    seconds: list[Annotated[float, Field(ge=0.05, le=3600)]] = Field(
        default_factory=lambda: [1, 1.5, 3, 5, 10], min_length=1, description="Lengths of slices"
    )
    cut: Cut = Field(
        "first",
        description="first: the first seconds of each recording; words: all pieces between words",
    )
    lang: str = Field("en", description="Language of recordings for which the corpus has none")
    text: str | None = Field(
        None, description="Other text for the language model; default the training transcripts"
    )

    @property
    def slicing(self) -> Slicing:
        """As attacks take it."""
        return Slicing(tuple(self.seconds), self.cut, self.lang)


class StudyText(StudyPart):
    """Traits that are inferred from what is said, and what protects them."""

    strategies: list[str] = Field(
        default_factory=list, description="Strategies of anonymise text to compare, such as full"
    )
    paraphraser: str | None = Field(
        None, description="Command that reads a line and writes a line, to compare"
    )
    lang: str = Field("en", description="Language of transcripts without one; or auto")
    split: Split = Field(
        "speaker", description="speaker: test speakers are unknown; utterance: as in D2.3"
    )


class StudyRelease(StudyPart):
    """How often people may be found again before the report advises against a release."""

    people: Population = Field(
        default=DEFAULT_RELEASE.people, description="Circle in which an attacker looks for somebody"
    )
    public: float = Field(
        default=DEFAULT_RELEASE.public,
        gt=0,
        lt=1,
        description="Largest share of recordings that may be linked, for a release to anybody",
    )
    bound: float = Field(
        default=DEFAULT_RELEASE.bound,
        gt=0,
        lt=1,
        description="The same for people who are bound not to look for anybody",
    )

    @model_validator(mode="after")
    def _check_order(self) -> StudyRelease:
        if self.public > self.bound:
            raise ValueError(f"public {self.public:g} is above bound {self.bound:g}")
        return self

    @property
    def limits(self) -> ReleaseLimits:
        """As the findings hold them."""
        return ReleaseLimits(self.people, self.public, self.bound)
