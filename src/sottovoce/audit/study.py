"""A study: the anonymisers, the attackers, what is measured, and limits on the figures.

Lists multiply: two anonymisers, one of them with three values of a setting, and two attackers make
eight attacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import Field, field_validator

from sottovoce.attack import ATTACKERS, Attacker, AttackSettings
from sottovoce.attack.representation import (
    REPRESENTATIONS,
    check_available,
    check_encoder_word,
    encoder_name,
)
from sottovoce.attack.score import Over
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.attack.training import BEST, check_linkage_name
from sottovoce.audit.limits import Limit
from sottovoce.audit.study_parts import (
    Draws,
    Population,
    Positive,
    StudyAnonymiser,
    StudyAttacker,
    StudyPart,
    StudyRelease,
    StudySlices,
    StudyText,
    UtilitySettings,
)
from sottovoce.core.engine import LOCAL, EngineSettings
from sottovoce.core.errors import UsageError
from sottovoce.core.records import Json, JsonObject
from sottovoce.corpus.formats import BUILTIN
from sottovoce.findings import FROZEN, STRONGEST

PATHS = ("corpus", "train", "trials", "slice.text")
"""Values of a study that are paths, relative to its file."""

MILD = {"low": 0.8, "high": 0.95}
"""Settings of ``mcadams`` that change a voice less, so that the built-in study has a choice."""


@dataclass(frozen=True, slots=True)
class PlannedAttack:
    """One attack of a study."""

    anonymiser: AnonymiserSpec
    attacker: Attacker
    settings: AttackSettings

    @property
    def linkage(self) -> str:
        """The linkage function as the study names it."""
        return self.settings.linkage


class Study(StudyPart):
    """Everything an audit needs to know."""

    name: str = "audit"
    corpus: str = Field(BUILTIN, description="Folder or list of the corpus, or builtin")
    train: str | None = Field(None, description="Corpus of other speakers to train attackers on")
    trials: str | None = Field(None, description="List of the pairs to compare; default all")
    anonymisers: list[StudyAnonymiser] = Field(
        default_factory=lambda: [
            StudyAnonymiser(method="mcadams"),
            StudyAnonymiser(method="mcadams", settings=dict(MILD)),
        ],
        min_length=1,
    )
    attackers: list[StudyAttacker] = Field(
        default_factory=lambda: [
            StudyAttacker(name=name) for name in ("ignorant", "lazy-informed", "semi-informed")
        ],
        min_length=1,
    )
    linkage: list[str] = Field(default_factory=lambda: ["best"], min_length=1)
    similar: StudyAnonymiser | None = Field(None, description="What a near-informed attacker has")
    encoder: str = Field("campplus", description="Representation, or name or file of an encoder")
    over: Over = Field(
        "model", description="What trials are compared with: model, mean, max or utterance"
    )
    draws: Draws = Field(2, description="How often attackers anonymise their own speech")
    lengths: list[Positive] = Field(
        default_factory=lambda: [1, 3], min_length=1, description="Utterances a conversation"
    )
    populations: list[Population] | None = Field(
        None,
        min_length=1,
        description="Sizes of populations; default 2, 5, 10, 20, 40, … and all speakers",
    )
    attributes: list[str] = Field(default_factory=lambda: ["gender"])
    slice: StudySlices | None = Field(
        None, description="Attack slices of the recordings too, such as {seconds: [1, 3, 10]}"
    )
    text: StudyText | None = Field(
        None, description="Infer the attributes from transcripts too, such as {strategies: [full]}"
    )
    utility: UtilitySettings = UtilitySettings()
    limits: dict[str, str] = Field(
        default_factory=dict,
        description='Such as {"linkability@population=40,attacker=semi-informed": "< 0.5"}',
    )
    release: StudyRelease = StudyRelease()
    interval: float = Field(0.95, gt=0, lt=1)
    examples: int = Field(2, ge=0, le=3, description="Pairs of recordings in the report")
    seed: int = Field(0, ge=0)
    release_seed: int | None = Field(
        None,
        ge=0,
        description="Seed of the operator's draws alone; default that of the study. Another one "
        "releases the speech anew, and the attackers stay as they are",
    )
    engine: str = Field(
        LOCAL,
        description="Where the work is done: local, dask or tcp://HOST:PORT; changes no result",
    )

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

    @field_validator("linkage", mode="before")
    @classmethod
    def _wrap_in_list(cls, content: Json) -> Json:
        return [content] if isinstance(content, str) else content

    @field_validator("attackers", mode="before")
    @classmethod
    def _expand_attackers(cls, content: Json) -> Json:
        entries = content if isinstance(content, list) else [content]
        return [{"name": entry} if isinstance(entry, str) else entry for entry in entries]

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
    def operators_seed(self) -> int:
        """Seed of the draws behind the released speech."""
        return self.seed if self.release_seed is None else self.release_seed

    @property
    def similar_spec(self) -> AnonymiserSpec | None:
        """The anonymiser of an attacker that only has a similar one."""
        return None if self.similar is None else next(self.similar.specs())

    def training_spec(self, attack: PlannedAttack) -> AnonymiserSpec | None:
        """Return what makes the training speech of an attacker; None where it is original.

        Parameters
        ----------
        attack : PlannedAttack
            An attack of this study.
        """
        makers = {"attacker": attack.anonymiser, "similar": self.similar_spec}
        return makers.get(attack.attacker.training)

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
        return [
            PlannedAttack(spec, ATTACKERS[entry.name], self._settings(entry, linkage))
            for entry in self.attackers
            for linkage in ([entry.linkage] if entry.linkage else self.linkage)
        ]

    def _settings(self, entry: StudyAttacker, linkage: str) -> AttackSettings:
        word = entry.encoder or self.encoder
        same = word not in REPRESENTATIONS and word == encoder_name(self.encoder)
        return AttackSettings(
            linkage,
            self.over,
            seed=self.seed,
            encoder=FROZEN if same else word,
            draws=entry.draws or self.draws,
        )

    def originals_settings(self, linkage: str) -> AttackSettings:
        """Return the settings of the attack on originals.

        Parameters
        ----------
        linkage : str
            A linkage function of the study.
        """
        return AttackSettings(linkage, self.over, seed=self.seed)

    @property
    def linkages(self) -> list[str]:
        """All linkage functions that are named, each once: originals are attacked with each."""
        return list(dict.fromkeys(attack.linkage for attack in self.attacks))

    @property
    def parsed_limits(self) -> list[Limit]:
        """The limits in their parts."""
        return [Limit.parse(name, requirement) for name, requirement in self.limits.items()]

    def check(self) -> None:
        """Refuse names that nobody knows and settings that are not valid.

        Raises
        ------
        UsageError
            ``unknown-name``, ``out-of-range``, ``missing-speech``, or ``unavailable`` for a
            representation that an attacker cannot have.
        """
        from sottovoce.asr.recogniser import RECOGNISERS

        similar = () if self.similar is None else self.similar.specs()
        for spec in (*self.anonymiser_specs, *similar):
            spec.check()
        for entry in self.attackers:
            attacker = ATTACKERS[entry.name]
            if "similar" in (attacker.enrolment, attacker.training) and self.similar is None:
                raise UsageError(
                    f"attackers: {entry.name} needs similar: METHOD; name an anonymiser",
                    code="missing-speech",
                )
        for name in (*self.linkage, *(entry.linkage or BEST for entry in self.attackers)):
            check_linkage_name(name)
        for word in (self.encoder, *(entry.encoder or FROZEN for entry in self.attackers)):
            check_encoder_word(word)
        for attack in self.attacks:
            self._check_available(attack)
        RECOGNISERS[self.utility.recogniser]
        if self.text is not None:
            self._check_text(self.text)
        EngineSettings(self.engine).check()
        if self.over == "utterance" and self.trials is not None:
            raise UsageError(
                "over: utterance compares all pairs of recordings, and trials names pairs of its "
                "own; leave one of them out",
                code="conflict",
            )
        self._check_limits()

    def _check_text(self, text: StudyText) -> None:
        """Refuse strategies and languages that the text anonymiser does not have."""
        from sottovoce.anonymise.text import STRATEGIES
        from sottovoce.anonymise.text.lexicon import LANGUAGES
        from sottovoce.anonymise.text.multilingual_detector import MIXED_LANGUAGES

        for strategy in text.strategies:
            STRATEGIES[strategy]
        known = (*LANGUAGES, *MIXED_LANGUAGES)
        if text.lang not in known:
            raise UsageError(
                f"text.lang: language {text.lang!r} is not supported; choose from "
                f"{', '.join(known)}",
                code="unknown-name",
            )

    def _check_available(self, attack: PlannedAttack) -> None:
        """Refuse a representation that this attacker does not have, unless it may choose others."""
        if attack.linkage != STRONGEST:
            spec = self.training_spec(attack)
            check_available(attack.settings.encoder, attack.attacker, spec)

    def _check_limits(self) -> None:
        """Refuse limits on what this study does not measure, whatever the corpus is."""
        known = {
            "method": [spec.method for spec in self.anonymiser_specs],
            "attacker": [entry.name for entry in self.attackers],
            "linkage": self.linkages,
            "encoder": list(dict.fromkeys(attack.settings.encoder for attack in self.attacks)),
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
        """Return the study as results quote it: without folders of the corpora and the engine."""
        content = cast("JsonObject", self.model_dump(mode="json", exclude={"engine"}))
        for name in PATHS:
            *parents, last = name.split(".")
            group: Json = content
            for parent in parents:
                group = group[parent] if isinstance(group, dict) else None
            if isinstance(group, dict) and isinstance(value := group[last], str):
                group[last] = Path(value).name
        return content
