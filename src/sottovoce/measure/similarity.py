"""Voice similarity matrices: what is left of each voice, and whether voices still differ.

Noé, Bonastre, Matrouf, Tomashenko, Nautsch and Evans, "Speech Pseudonymisation Assessment Using
Voice Similarity Matrices", Interspeech 2020. Every recording is compared with every other one:
original with original (OO), original with anonymised (OP), anonymised with anonymised (PP). The
pairs are the same in all three, all ordered (k, l) with k ≠ l, so that an anonymiser that does
nothing has three equal matrices.
"""

from __future__ import annotations

import numpy as np

from sottovoce.core.errors import InputError, TooFewError, first_few
from sottovoce.core.types import FloatArray, IntArray, Progress, Vectors
from sottovoce.findings import (
    ExcludedRecordings,
    Range,
    Reading,
    Resampling,
    Similarity,
    SimilarityIntervals,
    SpeakerSimilarity,
)
from sottovoce.measure.intervals import check_confidence, check_replicates, interval_of
from sottovoce.measure.pair_scores import (
    PairScores,
    dominance,
    resampled_dominance,
    speaker_pairs,
)
from sottovoce.measure.resampling import MIN_SPEAKERS
from sottovoce.speaker import Cosine, Embeddings, LinkageFunction

NOISE = 1e-12
"""A diagonal dominance below this is rounding: it counts as none."""

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
    original, anonymised : Embeddings
        Vectors of the same recordings before and after, two or more a speaker.
    linkage : LinkageFunction, optional
        What turns two vectors into a score; default the cosine.
    interval : float or None, default 0.95
        Confidence of the intervals over speakers, between 0 and 1; None for no intervals.
    replicates : int, default 1000
        Resamples of speakers behind the intervals, at least 20.
    seed : int, default 0
        Of the resamples.
    progress : callable, optional
        Called with the steps done and to do.

    Examples
    --------
    >>> import numpy as np
    >>> voices = np.repeat(np.eye(3), 4, axis=0) + np.random.default_rng(0).normal(0, 0.1, (12, 3))
    >>> before = Embeddings.of(voices, list("aaaabbbbcccc"))
    >>> result = similarity(before, before, interval=None)  # nothing was done to them
    >>> result.deid, result.gvd_db
    (0.0, 0.0)
    """
    linkage = linkage or Cosine()
    sides, speakers, names, excluded = _paired(original, anonymised)
    notes: list[str] = []
    plan = _plan(interval, replicates, len(names), notes)
    weights = _draw_weights(len(names), plan.replicates if plan else 0, np.random.default_rng(seed))
    matrices, signed, draws = {}, {}, {}
    for done, (kind, (a, b)) in enumerate({"oo": (0, 0), "op": (0, 1), "pp": (1, 1)}.items()):
        part_progress = _part(progress, 2 * done if plan else done, 6 if plan else 3)
        scores = PairScores(sides[a], sides[b], speakers, linkage, part_progress)
        pairs = speaker_pairs(scores, counted=plan is not None)
        matrices[kind] = pairs.similarity
        signed[kind] = dominance(pairs.similarity, np.ones(len(names)))
        if pairs.counts is not None:
            part_progress = _part(progress, 2 * done + 1, 6)
            draws[kind] = resampled_dominance(pairs.counts, weights, part_progress)
    values = _numbers(signed, notes)
    counts = np.bincount(speakers)
    n_mated = int((counts * (counts - 1)).sum())
    return Similarity(
        name=anonymised.name,
        deid=values["deid"],
        gvd_db=values["gvd_db"],
        d_diag={kind: values[kind] or 0.0 for kind in matrices},
        intervals=_intervals(values, draws, plan.confidence) if plan else None,
        interval=plan,
        readings=READINGS,
        standing_out=_standing_out(matrices["op"], names),
        linkage=linkage.name,
        n_speakers=len(names),
        n_utterances=len(speakers),
        n_mated=n_mated,
        n_nonmated=len(speakers) * (len(speakers) - 1) - n_mated,
        excluded=excluded,
        notes=tuple(notes),
        speakers=tuple(names),
        matrices={kind: tuple(map(tuple, matrix.tolist())) for kind, matrix in matrices.items()},
    )


def _plan(
    interval: float | None, replicates: int, speakers: int, notes: list[str]
) -> Resampling | None:
    """How intervals are made; none, with a note, where speakers are too few."""
    if interval is None:
        return None
    check_confidence(interval)
    check_replicates(replicates, interval)
    if speakers < MIN_SPEAKERS:
        notes.append(f"no intervals: {speakers} speakers, and {MIN_SPEAKERS} are needed")
        return None
    return Resampling(interval, "speaker", speakers, replicates)


def _paired(
    original: Embeddings, anonymised: Embeddings
) -> tuple[tuple[Vectors, Vectors], IntArray, list[str], ExcludedRecordings]:
    """Both tables with the same recordings in the same order, grouped by speaker."""
    if original.dimension != anonymised.dimension:
        raise InputError(
            f"{anonymised.origin}: vectors of {anonymised.dimension} numbers, those of "
            f"{original.origin} have {original.dimension}; embed both with the same encoder",
            code="mismatch",
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
    excluded = ExcludedRecordings(*left_out, len(single), single)
    return sides, speakers, original.names[kept].tolist(), excluded


def _matching_rows(original: Embeddings, anonymised: Embeddings) -> tuple[IntArray, IntArray]:
    """The rows of both sets that hold the same recording."""
    if original.utterances is not None and anonymised.utterances is not None:
        _, rows, other = np.intersect1d(
            original.utterances, anonymised.utterances, assume_unique=True, return_indices=True
        )
        if not len(rows):
            raise InputError(
                f"{anonymised.origin}: no utterance id in common with {original.origin}; give "
                "the anonymised recordings the ids of the originals",
                code="mismatch",
            )
        return rows, other
    if len(original) != len(anonymised):
        raise InputError(
            f"{anonymised.origin}: {len(anonymised):,} vectors, {original.origin} has "
            f"{len(original):,}; without utterance ids in both, rows must match one by one",
            code="mismatch",
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
            f"{first_few(named, len(wrong))}; give both sets the same speakers and order",
            code="mismatch",
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


def _intervals(
    values: dict[str, float | None], signed: dict[str, FloatArray], confidence: float
) -> SimilarityIntervals:
    draws = {kind: np.abs(dominances) for kind, dominances in signed.items()}
    oo, op, pp = (np.maximum(draws[kind], NOISE) for kind in ("oo", "op", "pp"))
    draws["deid"], draws["gvd_db"] = 1 - op / oo, 10 * np.log10(pp / oo)
    bounds = {"deid": (-np.inf, 1.0), "gvd_db": (-np.inf, np.inf)}
    ranges: dict[str, Range] = {}
    for name, value in values.items():
        if value is not None:
            limits = bounds.get(name, (0.0, 1.0))
            interval = interval_of(value, draws[name], confidence, bounds=limits)
            ranges[name] = Range(interval.low, interval.high)
    of_matrices = {kind: ranges[kind] for kind in signed}
    return SimilarityIntervals(ranges.get("deid"), ranges.get("gvd_db"), of_matrices)


def _draw_weights(count: int, replicates: int, rng: np.random.Generator) -> FloatArray:
    """How often each speaker appears in each resample; two different ones at least."""
    weights = rng.multinomial(count, np.full(count, 1 / count), replicates)
    while len(alone := np.flatnonzero(weights.max(axis=1) == count)):
        weights[alone] = rng.multinomial(count, np.full(count, 1 / count), len(alone))
    return weights.astype(np.float64)


def _standing_out(op: FloatArray, names: list[str]) -> tuple[SpeakerSimilarity, ...]:
    diagonal = np.diag(op)
    mean_of_others = (op.sum(axis=0) + op.sum(axis=1) - 2 * diagonal) / (2 * (len(op) - 1))
    excess = diagonal - mean_of_others
    order = np.argsort(-excess, kind="stable")
    return tuple(SpeakerSimilarity(names[i], float(excess[i])) for i in order.tolist())
