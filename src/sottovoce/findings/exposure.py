"""How far a model has memorised secrets that were put into its training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sottovoce.core.records import Record

ExposureMethod = Literal["exact", "sampled", "skew-normal"]
"""How a rank was found: by all values, by a random sample, or by a distribution fitted to one."""


@dataclass(frozen=True, slots=True)
class Exposure(Record):
    """Exposure of one secret."""

    exposure_bits: float
    maximum_bits: float
    """The largest value this method can give."""
    rank: int | None
    """Values of the space that are as likely as the secret or more, itself included; None where
    it was estimated."""
    method: ExposureMethod
    p_value: float
    """Probability of so large an exposure if the model has not memorised the secret."""
    space: int
    """Size of the space R."""
    scored: int
    """Values whose log-perplexity is known, the secret included."""


@dataclass(frozen=True, slots=True)
class ExposureSummary(Record):
    """Mean exposure of several secrets that were inserted equally often."""

    value: float
    low: float
    high: float
    """Ends of the interval."""
    confidence: float
    secrets: int
    method: ExposureMethod
    null_mean: float
    """Mean exposure of secrets that the model has never seen."""
    p_value: float
    """Of all secrets together (Fisher's method)."""


@dataclass(frozen=True, slots=True)
class ClassExposure(Record):
    """Discriminative exposure of one class of a tagger."""

    label: str
    """The class, such as ``PER``."""
    word: str
    """The ambiguous word that was inserted as this class."""
    exposure_bits: float
    maximum_bits: float
    """log2 of the number of words."""
    rank: int
    """Words that the tagger takes for the class with as much confidence or more, the inserted
    one included."""
    words: int
    """Words that the training data have as this class only, and the inserted one."""
    confidence: float
    """Of the tagger in the inserted word being of the class, in the fixed phrase."""
    p_value: float
    """Probability of so high a rank for a word that is like the others."""


@dataclass(frozen=True, slots=True)
class DiscriminativeExposure(Record):
    """d-exposure of a tagger: the mean over classes, and each of them."""

    value: float
    classes: tuple[ClassExposure, ...]
