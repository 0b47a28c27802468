"""Voice similarity matrices: what is left of each voice, and whether voices still differ.

Noé, Bonastre, Matrouf, Tomashenko, Nautsch and Evans, "Speech Pseudonymisation Assessment Using
Voice Similarity Matrices", Interspeech 2020. Every recording is compared with every other one:
original with original (OO), original with anonymised (OP), anonymised with anonymised (PP). The
pairs are the same in all three, all ordered (k, l) with k ≠ l, so that an anonymiser that does
nothing has three equal matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.core.errors import InputError, TooFewError, first_few
from sottovoce.core.types import FloatArray, IntArray, Progress, Vectors
from sottovoce.measure.intervals import MIN_SPEAKERS, Interval, interval_of
from sottovoce.measure.pair_scores import (
    PairScores,
    dominance,
    resampled_dominance,
    speaker_pairs,
)
from sottovoce.measure.summary import Resampling
from sottovoce.speaker import Cosine, Embeddings, LinkageFunction

NOISE = 1e-12
"""A diagonal dominance below this is rounding: it counts as none."""

WORST = 10
"""How many of the speakers who stand out are written to JSON."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read one of the two numbers."""

    label: str
    ideal: float
    """The value an ideal pseudonymiser would have."""
    direction: str
    meaning: str

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        return {name: getattr(self, name) for name in self.__slots__}


READINGS = {
    "deid": Reading(
        "de-identification DeID",
        1.0,
        "lower = more disclosed",
        "1 = no link between original and anonymised voices left; 0 = as linked as the originals "
        "are among themselves",
    ),
    "gvd_db": Reading(
        "voice distinctiveness G_VD",
        0.0,
        "lower = voices less distinct",
        "0 dB = as distinct as before; -10 dB = a tenth of the distinctiveness is left",
    ),
}


@dataclass(frozen=True, slots=True)
class Excluded:
    """What could not be compared and was left out."""

    only_original: int
    """Recordings whose id is in the original set only."""
    only_anonymised: int
    """Recordings whose id is in the anonymised set only."""
    speakers: tuple[str, ...]
    """Speakers with one recording: nothing to compare it with, so no place on the diagonal."""

    def to_dict(self) -> dict[str, Any]:
        """By name, with the number of speakers."""
        return {
            "only_original": self.only_original,
            "only_anonymised": self.only_anonymised,
            "n_speakers": len(self.speakers),
            "speakers": list(self.speakers),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Similarity:
    """The three similarity matrices M and the numbers made of them."""

    name: str
    linkage: str
    speakers: tuple[str, ...]
    """Names, in the order of rows and columns."""
    matrices: dict[str, FloatArray]
    """``oo``, ``op`` and ``pp``: S(i, j), the posterior of "one speaker" at prior 50 : 50."""
    d_diag: dict[str, float]
    """D_diag of each matrix: how far the diagonal lies from the rest."""
    deid: float | None
    """DeID = 1 − D_diag(OP) / D_diag(OO)."""
    gvd_db: float | None
    """G_VD = 10 log10(D_diag(PP) / D_diag(OO)), in decibels."""
    intervals: dict[str, Interval]
    """By ``deid``, ``gvd_db``, ``oo``, ``op`` and ``pp``; empty if there are none."""
    resampling: Resampling | None
    standing_out: dict[str, float]
    """How far S_OP(i, i) exceeds the mean of its row and column, by speaker, worst first."""
    n_utterances: int
    n_mated: int
    """Mated pairs behind each matrix."""
    n_nonmated: int
    excluded: Excluded
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """What ``sottovoce similarity --json`` prints, without provenance."""
        ranges = {name: {"low": one.low, "high": one.high} for name, one in self.intervals.items()}
        of_matrices = {kind: ranges.pop(kind) for kind in self.d_diag if kind in ranges}
        return {
            "deid": self.deid,
            "gvd_db": self.gvd_db,
            "d_diag": dict(self.d_diag),
            "intervals": {**ranges, "d_diag": of_matrices} if of_matrices else None,
            "interval": self.resampling.to_dict() if self.resampling else None,
            "readings": {name: one.to_dict() for name, one in READINGS.items()},
            "standing_out": [
                {"speaker": speaker, "value": value}
                for speaker, value in list(self.standing_out.items())[:WORST]
            ],
            "linkage": self.linkage,
            "n_speakers": len(self.speakers),
            "n_utterances": self.n_utterances,
            "n_mated": self.n_mated,
            "n_nonmated": self.n_nonmated,
            "excluded": self.excluded.to_dict(),
            "notes": list(self.notes),
            "speakers": list(self.speakers),
            "matrices": {kind: matrix.tolist() for kind, matrix in self.matrices.items()},
        }


def similarity(
    original: Embeddings,
    anonymised: Embeddings,
    linkage: LinkageFunction | None = None,
    *,
    interval: float | None = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Similarity:
    """Compare voices before and after anonymisation: S(i, j), D_diag, DeID and G_VD.

    Recordings belong together by utterance id where both sets have ids, else row by row.

    Parameters
    ----------
    linkage
        What turns two vectors into a score; default the cosine.
    interval
        Confidence of the intervals over speakers, between 0 and 1; None for no intervals.
    progress
        Told how much is done and how much there is, in steps.

    >>> import numpy as np
    >>> voices = np.repeat(np.eye(3), 4, axis=0) + np.random.default_rng(0).normal(0, 0.1, (12, 3))
    >>> before = Embeddings.of(voices, list("aaaabbbbcccc"))
    >>> found = similarity(before, before, interval=None)  # nothing was done to them
    >>> found.deid, found.gvd_db
    (0.0, 0.0)
    """
    linkage = linkage or Cosine()
    sides, speakers, names, excluded = _paired(original, anonymised)
    notes: list[str] = []
    plan = _plan(interval, replicates, len(names), notes)
    weights = _draw_weights(len(names), plan.replicates if plan else 0, np.random.default_rng(seed))
    matrices, signed, draws = {}, {}, {}
    for done, (kind, (a, b)) in enumerate({"oo": (0, 0), "op": (0, 1), "pp": (1, 1)}.items()):
        told = _part(progress, 2 * done if plan else done, 6 if plan else 3)
        scores = PairScores(sides[a], sides[b], speakers, linkage, told)
        kept = speaker_pairs(scores, counted=plan is not None)
        matrices[kind] = kept.similarity
        signed[kind] = dominance(kept.similarity, np.ones(len(names)))
        if kept.counts is not None:
            told = _part(progress, 2 * done + 1, 6)
            draws[kind] = resampled_dominance(kept.counts, weights, told)
    values = _numbers(signed, notes)
    counts = np.bincount(speakers)
    n_mated = int((counts * (counts - 1)).sum())
    return Similarity(
        name=anonymised.name,
        linkage=linkage.name,
        speakers=tuple(names),
        matrices=matrices,
        d_diag={kind: values[kind] or 0.0 for kind in matrices},
        deid=values["deid"],
        gvd_db=values["gvd_db"],
        intervals=_ranges(values, draws, plan.confidence) if plan else {},
        resampling=plan,
        standing_out=_standing_out(matrices["op"], names),
        n_utterances=len(speakers),
        n_mated=n_mated,
        n_nonmated=len(speakers) * (len(speakers) - 1) - n_mated,
        excluded=excluded,
        notes=tuple(notes),
    )


def _plan(
    interval: float | None, replicates: int, speakers: int, notes: list[str]
) -> Resampling | None:
    """How intervals are made; none, with a note, where speakers are too few."""
    if interval is None:
        return None
    if not 0.0 < interval < 1.0:
        raise InputError(f"interval {interval}: must lie between 0 and 1, e.g. 0.95")
    if replicates < 20:
        raise InputError(f"{replicates} resamples; an interval needs at least 20")
    if speakers < MIN_SPEAKERS:
        notes.append(f"no intervals: {speakers} speakers, and {MIN_SPEAKERS} are needed")
        return None
    return Resampling(interval, "speaker", speakers, replicates)


def _paired(
    original: Embeddings, anonymised: Embeddings
) -> tuple[tuple[Vectors, Vectors], IntArray, list[str], Excluded]:
    """Both tables with the same recordings in the same order, grouped by speaker."""
    if original.dimension != anonymised.dimension:
        raise InputError(
            f"{anonymised.origin}: vectors of {anonymised.dimension} numbers, those of "
            f"{original.origin} have {original.dimension}; embed both with the same encoder"
        )
    rows, other = _matching_rows(original, anonymised)
    _require_same_speakers(original, anonymised, rows, other)
    counts = np.bincount(original.speakers[rows], minlength=len(original.names))
    single = tuple(original.names[counts == 1].tolist())
    kept = np.flatnonzero(counts > 1)
    if len(kept) < 2:
        raise TooFewError(
            f"{original.origin}: speakers with two or more recordings in both sets: {len(kept)}; "
            "a similarity matrix needs 2: add speakers or recordings"
        )
    order = np.argsort(original.speakers[rows], kind="stable")
    order = order[counts[original.speakers[rows][order]] > 1]
    rows, other = rows[order], other[order]
    left_out = (0, 0)
    if original.utterances is not None and anonymised.utterances is not None:
        both = int(counts.sum())
        left_out = (len(original) - both, len(anonymised) - both)
    speakers = np.searchsorted(kept, original.speakers[rows])
    sides = (original.vectors[rows], anonymised.vectors[other])
    return sides, speakers, original.names[kept].tolist(), Excluded(*left_out, single)


def _matching_rows(original: Embeddings, anonymised: Embeddings) -> tuple[IntArray, IntArray]:
    """The rows of both sets that hold the same recording."""
    if original.utterances is not None and anonymised.utterances is not None:
        _, rows, other = np.intersect1d(
            original.utterances, anonymised.utterances, assume_unique=True, return_indices=True
        )
        if not len(rows):
            raise InputError(
                f"{anonymised.origin}: no utterance id in common with {original.origin}; give "
                "the anonymised recordings the ids of the originals"
            )
        return rows, other
    if len(original) != len(anonymised):
        raise InputError(
            f"{anonymised.origin}: {len(anonymised):,} vectors, {original.origin} has "
            f"{len(original):,}; without utterance ids in both, rows must match one by one"
        )
    return np.arange(len(original)), np.arange(len(original))


def _require_same_speakers(
    original: Embeddings, anonymised: Embeddings, rows: IntArray, other: IntArray
) -> None:
    before = original.names[original.speakers[rows]]
    after = anonymised.names[anonymised.speakers[other]]
    wrong = np.flatnonzero(before != after)
    if len(wrong):
        named = (f"row {other[i]:,} ({after[i]}, originally {before[i]})" for i in wrong.tolist())
        raise InputError(
            f"{anonymised.origin}: not the speaker of {original.origin} in "
            f"{first_few(named, len(wrong))}; give both sets the same speakers and order"
        )


def _part(progress: Progress | None, done: int, parts: int) -> Progress:
    """Progress of one part of several, told as progress of the whole."""
    if progress is None:
        return lambda step, steps: None
    return lambda step, steps: progress(done * steps + step, parts * steps)


def _numbers(signed: dict[str, float], notes: list[str]) -> dict[str, float | None]:
    """D_diag, DeID and G_VD; adds to the notes what has to be said about them."""
    values: dict[str, float | None] = {}
    for kind, value in signed.items():
        values[kind] = abs(value) if abs(value) > NOISE else 0.0
        if value < -NOISE:
            notes.append(
                f"{kind.upper()}: voices are less like themselves than like others; D_diag takes "
                "the absolute value"
            )
    oo, op, pp = (values[kind] or 0.0 for kind in ("oo", "op", "pp"))
    values["deid"] = 1 - op / oo if oo else None
    values["gvd_db"] = float(10 * np.log10(pp / oo)) if oo and pp else None
    if not oo:
        notes.append(
            "no DeID and no G_VD: the scores do not tell the original voices apart (D_diag(OO) = "
            "0); use a linkage function that does"
        )
    elif not pp:
        notes.append(
            "no G_VD: the scores do not tell the anonymised voices apart at all (D_diag(PP) = 0)"
        )
    return values


def _ranges(
    values: dict[str, float | None], signed: dict[str, FloatArray], confidence: float
) -> dict[str, Interval]:
    draws = {kind: np.abs(one) for kind, one in signed.items()}
    oo, op, pp = (np.maximum(draws[kind], NOISE) for kind in ("oo", "op", "pp"))
    draws["deid"], draws["gvd_db"] = 1 - op / oo, 10 * np.log10(pp / oo)
    bounds = {"deid": (-np.inf, 1.0), "gvd_db": (-np.inf, np.inf)}
    return {
        name: interval_of(value, draws[name], confidence, bounds=bounds.get(name, (0.0, 1.0)))
        for name, value in values.items()
        if value is not None
    }


def _draw_weights(count: int, replicates: int, rng: np.random.Generator) -> FloatArray:
    """How often each speaker appears in each resample; two different ones at least."""
    weights = rng.multinomial(count, np.full(count, 1 / count), replicates)
    while len(alone := np.flatnonzero(weights.max(axis=1) == count)):
        weights[alone] = rng.multinomial(count, np.full(count, 1 / count), len(alone))
    return weights.astype(np.float64)


def _standing_out(op: FloatArray, names: list[str]) -> dict[str, float]:
    own = np.diag(op)
    others = (op.sum(axis=0) + op.sum(axis=1) - 2 * own) / (2 * (len(op) - 1))
    excess = own - others
    order = np.argsort(-excess, kind="stable")
    return {names[i]: float(excess[i]) for i in order.tolist()}
