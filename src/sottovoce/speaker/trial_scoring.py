"""Scores of listed pairs of embeddings, or of all pairs of recordings, some pairs at a time.

An enrolment of a list is a recording, or a speaker whose recordings are averaged. Labels must agree
with the speakers of the embeddings, and no recording is compared with itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.core.errors import InputError, TooFewError, first_few
from sottovoce.core.types import FloatArray, IntArray, Names, Vectors
from sottovoce.corpus.trials import TrialList
from sottovoce.speaker.averages import refuse_cancelled
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.leakage import shared_recordings
from sottovoce.speaker.linkage_functions import LinkageFunction

PAIRS = 1 << 14
"""Pairs that are scored at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedEmbeddings:
    """Embeddings of a list of trials: a model per enrolment id and a vector per trial id."""

    trials: TrialList
    models: Vectors
    """In the order of ``trials.enrol_ids``."""
    counts: IntArray
    """Recordings behind each model."""
    model_speakers: Names
    tried: Vectors
    """In the order of ``trials.trial_ids``."""
    tried_speakers: Names


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPairs:
    """Scores of some pairs."""

    enrol: IntArray
    """Numbers of the enrolments."""
    trial: IntArray
    """Numbers of the trials."""
    scores: FloatArray


def match_trials(trials: TrialList, enrol: Embeddings, trial: Embeddings) -> ListedEmbeddings:
    """Find the embeddings that a list of trials names.

    Parameters
    ----------
    trials : TrialList
        Read without a corpus. An id may have the ending of a file name, as VoxCeleb's have.
    enrol : Embeddings
        Enrolments: recordings by utterance id, or all recordings of a speaker by its name, except
        those that the list tries.
    trial : Embeddings
        Trials, with utterance ids. It may be the same set.

    Raises
    ------
    InputError
        ``missing-ids`` for trials without utterance ids, ``not-found`` for ids without a vector,
        ``mismatch`` for sets of different dimensions and for labels that contradict the speakers,
        ``not-disjoint`` for a recording that is compared with itself.
    """
    _check_same_dimension(enrol, trial)
    tried_rows = _rows_of_trials(trial, trials.trial_ids)
    # rows of the enrolment set that are a tried recording, and that recording's row
    same_rows, as_rows = shared_recordings(enrol, trial)
    is_tried = np.isin(as_rows, tried_rows)
    same_rows, as_rows = same_rows[is_tried], as_rows[is_tried]
    members = _members(enrol, trials.enrol_ids, set(same_rows.tolist()))
    first = np.array([rows[0] for rows in members], np.int64)
    listed = ListedEmbeddings(
        trials,
        _means(enrol, members, trials.enrol_ids),
        np.array([len(rows) for rows in members], np.int64),
        enrol.names[enrol.speakers[first]],
        trial.vectors[tried_rows],
        trial.names[trial.speakers[tried_rows]],
    )
    _refuse_wrong_labels(listed)
    tried_as = np.full(len(enrol), -1, np.int64)
    tried_as[same_rows] = as_rows
    single = np.where(listed.counts == 1, tried_as[first], -1)
    _refuse_self_comparison(trials, single, tried_rows)
    return listed


def score_trials(listed: ListedEmbeddings, linkage: LinkageFunction) -> Iterator[ScoredPairs]:
    """Score the pairs of a list in its order.

    Parameters
    ----------
    listed : ListedEmbeddings
        What :func:`match_trials` found.
    linkage : LinkageFunction
        Turns a pair of vectors into a score.
    """
    models = linkage.enrol(listed.models, listed.counts)
    tried = linkage.trial(listed.tried, listed.counts)
    trials = listed.trials
    for start in range(0, len(trials), PAIRS):
        rows = slice(start, min(start + PAIRS, len(trials)))
        enrol, trial = trials.enrol[rows], trials.trial[rows]
        left, right = models[enrol].astype(np.float64), tried[trial].astype(np.float64)
        yield ScoredPairs(enrol, trial, np.einsum("ij,ij->i", left, right))


def score_recordings(
    enrol: Embeddings, trial: Embeddings, linkage: LinkageFunction
) -> Iterator[ScoredPairs]:
    """Score each recording of one set against each recording of another (Maouche et al. 2020, §5).

    Parameters
    ----------
    enrol, trial : Embeddings
        The sets; they may be the same. No recording is compared with itself, and two recordings
        that are on both sides are compared once.
    linkage : LinkageFunction
        Turns a pair of vectors into a score.

    Raises
    ------
    InputError
        ``mismatch`` for sets of different dimensions.
    """
    _check_same_dimension(enrol, trial)
    once = np.ones(len(enrol), np.int64)
    models = linkage.enrol(enrol.vectors, once).astype(np.float64)
    tried = linkage.trial(trial.vectors, once).astype(np.float64)
    same_rows, as_rows = shared_recordings(enrol, trial)
    tried_as = np.full(len(enrol), -1, np.int64)
    tried_as[same_rows] = as_rows
    on_both_sides = np.zeros(len(trial), np.bool_)
    on_both_sides[as_rows] = True
    numbers = np.arange(len(trial))
    height = max(1, PAIRS // max(1, len(trial)))
    for start in range(0, len(enrol), height):
        rows = np.arange(start, min(start + height, len(enrol)))
        counted_before = on_both_sides & (numbers <= tried_as[rows][:, None])
        places, columns = np.nonzero(~counted_before)
        scores = models[rows] @ tried.T
        yield ScoredPairs(rows[places], columns, scores[places, columns])


def _check_same_dimension(enrol: Embeddings, trial: Embeddings) -> None:
    if enrol.dimension != trial.dimension:
        raise InputError(
            f"{trial.origin}: vectors of dimension {trial.dimension}, but {enrol.origin} has "
            f"{enrol.dimension}; use one encoder for both",
            code="mismatch",
        )


def _rows_of_trials(trial: Embeddings, ids: Sequence[str]) -> IntArray:
    if trial.utterances is None:
        raise InputError(
            f"{trial.origin}: no utterance ids, which a list of trials needs; add them",
            code="missing-ids",
        )
    row_of = {name: row for row, name in enumerate(trial.utterances.tolist())}
    rows = [row_of.get(name, row_of.get(_stem(name), -1)) for name in ids]
    _refuse_missing([name for name, row in zip(ids, rows, strict=True) if row < 0], trial)
    return np.array(rows, np.int64)


def _members(enrol: Embeddings, ids: Sequence[str], tried: set[int]) -> list[IntArray]:
    """Rows of the recordings that enrol each id."""
    utterances = [] if enrol.utterances is None else enrol.utterances.tolist()
    row_of = {name: row for row, name in enumerate(utterances)}
    order = np.argsort(enrol.speakers, kind="stable")
    by_speaker = np.split(order, np.cumsum(enrol.counts)[:-1])
    speaker_rows = dict(zip(enrol.names.tolist(), by_speaker, strict=True))
    members, missing = [], []
    for name in ids:
        row = row_of.get(name, row_of.get(_stem(name)))
        if row is not None:
            members.append(np.array([row], np.int64))
        elif name in speaker_rows:
            rows = [int(i) for i in speaker_rows[name] if int(i) not in tried]
            if not rows:
                raise TooFewError(
                    f"{enrol.origin}: all recordings of {name} are trials of the list; none is "
                    "left to enrol the speaker: add recordings"
                )
            members.append(np.array(rows, np.int64))
        else:
            missing.append(name)
    _refuse_missing(missing, enrol)
    return members


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]


def _refuse_missing(missing: list[str], embeddings: Embeddings) -> None:
    if missing:
        raise InputError(
            f"{embeddings.origin}: no vectors of {first_few(missing, len(missing))}, which the "
            "list of trials names; embed them, or shorten the list",
            code="not-found",
        )


def _means(enrol: Embeddings, members: list[IntArray], ids: Sequence[str]) -> Vectors:
    means = np.empty((len(members), enrol.dimension), np.float32)
    for i, rows in enumerate(members):
        means[i] = enrol.vectors[rows].mean(axis=0, dtype=np.float64)
    first = enrol.vectors[[rows[0] for rows in members]]
    refuse_cancelled(means, first, np.array(ids, np.str_), enrol.origin)
    return means


def _refuse_wrong_labels(listed: ListedEmbeddings) -> None:
    trials = listed.trials
    _, numbers = np.unique(
        np.concatenate((listed.model_speakers, listed.tried_speakers)), return_inverse=True
    )
    enrolled, tried = np.split(numbers, [len(listed.model_speakers)])
    same = enrolled[trials.enrol] == tried[trials.trial]
    wrong = np.flatnonzero(same != trials.mated)
    if len(wrong):
        pairs = (
            f"{trials.enrol_ids[trials.enrol[i]]} {trials.trial_ids[trials.trial[i]]}"
            for i in wrong
        )
        raise InputError(
            f"the label contradicts the speakers of the embeddings: "
            f"{first_few(pairs, len(wrong))}; correct the list or the speakers",
            code="mismatch",
        )


def _refuse_self_comparison(trials: TrialList, single: IntArray, tried_rows: IntArray) -> None:
    """Refuse pairs whose model is the tried recording; ``single`` is its row, or −1."""
    same = np.flatnonzero(single[trials.enrol] == tried_rows[trials.trial])
    if len(same):
        pairs = (
            f"{trials.enrol_ids[trials.enrol[i]]} {trials.trial_ids[trials.trial[i]]}" for i in same
        )
        raise InputError(
            f"the list compares a recording with itself: {first_few(pairs, len(same))}; remove "
            "the pairs",
            code="not-disjoint",
        )
