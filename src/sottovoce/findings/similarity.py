"""Voice similarity matrices and the numbers made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sottovoce.core.records import Record
from sottovoce.core.types import FloatArray
from sottovoce.findings.scores import Resampling


@dataclass(frozen=True, slots=True)
class Range(Record):
    """The ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SimilarityIntervals(Record):
    """Intervals of the numbers made of the matrices; None where the number itself is missing."""

    deid: Range | None
    gvd_db: Range | None
    d_diag: Mapping[str, Range]


@dataclass(frozen=True, slots=True)
class Reading(Record):
    """How to read a number."""

    label: str
    ideal: float
    """The value of an anonymiser that does what the number is about."""
    direction: str
    meaning: str


@dataclass(frozen=True, slots=True)
class SpeakerSimilarity(Record):
    """How far a speaker's own similarity exceeds that to others."""

    speaker: str
    value: float


@dataclass(frozen=True, slots=True)
class ExcludedRecordings(Record):
    """What could not be compared and was left out."""

    only_original: int
    """Recordings whose id is in the original set only."""
    only_anonymised: int
    """Recordings whose id is in the anonymised set only."""
    n_speakers: int
    speakers: tuple[str, ...]
    """Speakers with one recording: nothing to compare it with, so no place on the diagonal."""


@dataclass(frozen=True, slots=True)
class Similarity(Record):
    """The three similarity matrices M and the numbers made of them."""

    name: str
    deid: float | None
    """DeID = 1 − D_diag(OP) / D_diag(OO)."""
    gvd_db: float | None
    """G_VD = 10 log10(D_diag(PP) / D_diag(OO)), in decibels."""
    d_diag: Mapping[str, float]
    """D_diag of ``oo``, ``op`` and ``pp``: how far the diagonal lies from the rest."""
    intervals: SimilarityIntervals | None
    interval: Resampling | None
    readings: Mapping[str, Reading]
    standing_out: tuple[SpeakerSimilarity, ...]
    """How far S_OP(i, i) exceeds the mean of its row and column, worst first, all speakers."""
    linkage: str
    """Name of the linkage function."""
    n_speakers: int
    n_utterances: int
    n_mated: int
    """Mated pairs behind each matrix."""
    n_nonmated: int
    excluded: ExcludedRecordings
    notes: tuple[str, ...]
    speakers: tuple[str, ...]
    """Names, in the order of rows and columns."""
    matrices: Mapping[str, tuple[tuple[float, ...], ...]]
    """``oo``, ``op`` and ``pp``: S(i, j), the posterior of "one speaker" at prior 50 : 50."""

    def matrix(self, kind: str) -> FloatArray:
        """Return one of the matrices as an array.

        Parameters
        ----------
        kind : str
            ``oo``, ``op`` or ``pp``.
        """
        return np.array(self.matrices[kind], np.float64)

    def range_of(self, name: str) -> Range | None:
        """Return the interval of a number, if there is one.

        Parameters
        ----------
        name : str
            ``deid``, ``gvd_db``, or ``oo``, ``op`` or ``pp`` for D_diag of a matrix.
        """
        if self.intervals is None:
            return None
        numbers = {"deid": self.intervals.deid, "gvd_db": self.intervals.gvd_db}
        return numbers.get(name) or self.intervals.d_diag.get(name)
