"""Word error rates of recognisers that were trained on original or on anonymised speech."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.core.records import Record, optional

ORIGINAL, ANONYMISED = "original", "anonymised"


@dataclass(frozen=True, slots=True)
class TrainedRecogniser(Record):
    """A recogniser and what it was trained on."""

    trained_on: str
    """``original`` or ``anonymised``."""
    speakers: int
    recordings: int
    """Recordings, or slices of them."""
    hours: float
    left_out: int
    """Recordings without a usable transcript, or, for slices, whose words could not be aligned."""
    epochs: int
    """The epoch of the fewest errors on held-out speakers, which was kept."""
    held_out_wer: float
    """Word error rate of those speakers without a language model; they chose the epoch."""
    language_weight: float
    """Weight of the language model, chosen on the same speakers; 0 where it does not help."""
    slice_seconds: float | None = optional()
    """Least length of the slices it was trained on; None for whole recordings."""


@dataclass(frozen=True, slots=True)
class RecogniserRate(Record):
    """Word error rate of one recogniser on one kind of speech."""

    case: str
    """Speech and recogniser, such as ``A-O``: anonymised speech, recogniser of originals."""
    value: float
    low: float | None
    high: float | None
    greedy: float
    """The rate without a language model."""
    slice_seconds: float | None = optional()
    """Least length of the slices that the recogniser was trained on."""


@dataclass(frozen=True, slots=True)
class RateDifference(Record):
    """Difference of two word error rates on the same words, paired by speaker."""

    first: str
    """Case of the rate that the other is taken from, such as ``A-A``."""
    second: str
    value: float
    low: float | None
    high: float | None
    first_seconds: float | None = optional()
    """Length of the slices behind the first rate; None for whole recordings."""
    second_seconds: float | None = optional()


@dataclass(frozen=True, slots=True)
class RetrainedUtility(Record):
    """What anonymised speech is worth to somebody who trains a recogniser on it."""

    features: str
    """What turns sound into features; it was not trained."""
    recognisers: tuple[TrainedRecogniser, ...]
    rates: tuple[RecogniserRate, ...]
    differences: tuple[RateDifference, ...]
    utterances: int
    """Test recordings, each in every kind of speech."""
    words: int
    speakers: int
    confidence: float
    resampled: str
    """What intervals rest on: ``speaker`` or ``utterance``; empty where there are none."""
    notes: tuple[str, ...] = ()

    def rate(self, case: str, slice_seconds: float | None = None) -> RecogniserRate | None:
        """Return the rate of one case, or None if it was not measured.

        Parameters
        ----------
        case : str
            Such as ``A-O``.
        slice_seconds : float, optional
            Length of the slices that the recogniser was trained on.
        """
        for rate in self.rates:
            if (rate.case, rate.slice_seconds) == (case, slice_seconds):
                return rate
        return None
