"""Everything that a study of memorisation found, as ``memorisation.json`` holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sottovoce.core.records import Record, optional
from sottovoce.findings.exposure import DiscriminativeExposure, Exposure, ExposureSummary

MEMORISATION_FORMAT = 1
"""Version of ``memorisation.json``."""


@dataclass(frozen=True, slots=True)
class CanaryExposure(Record):
    """Exposure of one canary."""

    canary: str
    repetitions: int
    exposure: Exposure


@dataclass(frozen=True, slots=True)
class CanaryGroup(Record):
    """Canaries of one template that were inserted equally often."""

    spec: str
    """Id of the specification."""
    repetitions: int
    summary: ExposureSummary | None
    """Mean with its interval; None for a single canary."""
    canaries: tuple[CanaryExposure, ...]

    @property
    def bits(self) -> float:
        """Mean exposure."""
        return sum(entry.exposure.exposure_bits for entry in self.canaries) / len(self.canaries)


@dataclass(frozen=True, slots=True)
class ModelCheck(Record):
    """A language model after some epochs."""

    epoch: int
    train_perplexity: float
    test_perplexity: float
    groups: tuple[CanaryGroup, ...]


@dataclass(frozen=True, slots=True)
class EstimatorCheck(Record):
    """The exposure of one canary by all methods."""

    canary: str
    repetitions: int
    exact: Exposure
    sampled: Exposure
    fitted: Exposure | None
    """By a skew-normal distribution; None where it could not be fitted."""


@dataclass(frozen=True, slots=True)
class ControlFinding(Record):
    """Exposure of many random values that were never inserted."""

    spec: str
    summary: ExposureSummary
    contains_null: bool
    """Whether the interval holds the mean that follows from random ranks."""


@dataclass(frozen=True, slots=True)
class PrivacyFinding(Record):
    """What a differentially private training guarantees."""

    epsilon: float
    """By the accountant that the noise was calibrated with."""
    pld_epsilon: float
    delta: float
    noise_multiplier: float
    guarantee: str
    reasons: tuple[str, ...]
    """Why there is no guarantee; empty if there is one."""
    unit: str


@dataclass(frozen=True, slots=True)
class LanguageModelFinding(Record):
    """A language model that was trained on the text with the canaries."""

    label: str
    embedding: str
    """``random``, or the name of the file of given vectors."""
    parameters: int
    checks: tuple[ModelCheck, ...]
    """In the order of epochs."""
    estimators: tuple[EstimatorCheck, ...]
    """After the last epoch."""
    controls: tuple[ControlFinding, ...]
    """After the last epoch."""
    privacy: PrivacyFinding | None = optional()
    """None without privacy."""

    @property
    def last(self) -> ModelCheck:
        """The model as it would be used."""
        return self.checks[-1]


@dataclass(frozen=True, slots=True)
class InsertedWord(Record):
    """An ambiguous word, as which class it was inserted, and how often the data have it."""

    word: str
    label: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TaggerCheck(Record):
    """A tagger after some epochs; a CRF has only one."""

    tagger: str
    """``crf`` or ``bilstm``, and the privacy it was trained with."""
    repetitions: int
    epoch: int
    f1: float
    """Of entities in the test data."""
    train_f1: float
    exposure: DiscriminativeExposure
    privacy: PrivacyFinding | None = optional()
    """Of the whole training; None without privacy."""


@dataclass(frozen=True, slots=True)
class TaggerStudy(Record):
    """d-exposure of taggers over repetitions and epochs."""

    sentences: int
    phrase: str
    words: tuple[InsertedWord, ...]
    checks: tuple[TaggerCheck, ...]
    overfitting: tuple[TaggerCheck, ...]
    """A BiLSTM without dropout on a part of the data, epoch by epoch; empty if not asked for."""


@dataclass(frozen=True, slots=True)
class TextDescription(Record):
    """The text that language models were trained on."""

    name: str
    sentences: int
    words: int
    vocabulary: int
    test_sentences: int
    canaries: int
    inserted: int
    """Sentences that were inserted."""


@dataclass(frozen=True, slots=True)
class MemorisationFindings(Record):
    """Everything that a study of memorisation found."""

    name: str
    synthetic: bool
    """Whether the text is the built-in one, which nobody said."""
    study: Mapping[str, object]
    seed: int
    text: TextDescription | None
    language_models: tuple[LanguageModelFinding, ...]
    taggers: TaggerStudy | None
    versions: Mapping[str, str]
    format: int = field(default=MEMORISATION_FORMAT)
