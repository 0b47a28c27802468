"""Scores of every enrolled speaker against every trial, and how enrolment speech is used.

A speaker is enrolled as the mean of its recordings, or each recording is compared and the mean or
the largest score is taken, or each pair of recordings is a trial of its own. Scores may be
normalised by a cohort of other speakers.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.files import write_bytes
from sottovoce.core.types import FloatArray, IntArray, Names, Vectors
from sottovoce.corpus.trials import TrialList
from sottovoce.measure.scores import Scores, Speakers
from sottovoce.speaker.averages import (
    add_by_speaker,
    enrolment_models,
    refuse_cancelled,
    speaker_means,
)
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage_functions import LinkageFunction

Over = Literal["model", "mean", "max", "utterance"]
"""What is scored: the mean vector of a speaker, the mean or maximum over the recordings of a
speaker, or each recording for itself (Maouche et al. 2020, section 5)."""

MAX_PAIRS = 50_000_000
"""Pairs that are scored into one table; re-identification of more speakers needs no table."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """Other speakers by whose scores the scores are normalised.

    S-norm: Kenny, "Bayesian speaker verification with heavy-tailed priors", Odyssey 2010. Adaptive:
    Matějka et al., "Analysis of score normalization in multilingual speaker recognition",
    Interspeech 2017.
    """

    embeddings: Embeddings
    nearest: int | None = None
    """Speakers of the cohort with the highest scores that are used for each side; None for all."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Scores of enrolled speakers (rows) against trials (columns)."""

    values: FloatArray
    enrolled: Names
    """The speaker of each row."""
    trials: Names
    """The id of each trial."""
    speakers: Names
    """The true speaker of each trial."""
    models: Names | None = None
    """The id of each row; None if rows are speakers."""
    listed: NDArray[np.bool_] | None = None
    """Which pairs count, where a list of trials was given; None for all."""

    @property
    def mated(self) -> NDArray[np.bool_]:
        """Which pairs are of the same speaker."""
        same = np.asarray(self.enrolled[:, None] == self.speakers[None])
        return same if self.listed is None else same & self.listed

    @property
    def nonmated(self) -> NDArray[np.bool_]:
        """Which pairs are of different speakers."""
        different = np.asarray(self.enrolled[:, None] != self.speakers[None])
        return different if self.listed is None else different & self.listed

    def scores(self, name: str = "scores") -> Scores:
        """Return mated and non-mated scores with their speakers, as the measures take them.

        Parameters
        ----------
        name : str, default "scores"
            What the set is called in tables and messages.
        """
        mated, nonmated = self.mated, self.nonmated
        rows, columns = np.nonzero(nonmated)
        speakers = Speakers.from_names(
            self.enrolled[np.nonzero(mated)[0]], self.enrolled[rows], self.speakers[columns]
        )
        return Scores(self.values[mated], self.values[nonmated], speakers=speakers, name=name)

    def permute_names(self, rng: np.random.Generator) -> ScoreTable:
        """Exchange the names of the enrolled speakers so that nobody keeps their own.

        Parameters
        ----------
        rng : numpy.random.Generator
            Draws the order in which names are passed on.
        """
        known, numbers = np.unique(self.enrolled, return_inverse=True)
        order = rng.permutation(len(known))
        renamed = np.empty_like(known)
        renamed[order] = known[np.roll(order, 1)]
        return replace(self, enrolled=renamed[numbers])

    def write(self, path: Path) -> None:
        """Write a Parquet table that ``sottovoce measure`` reads, one row per pair.

        Parameters
        ----------
        path : Path
            The file; an existing one is replaced.
        """
        import polars as pl

        count, width = self.values.shape
        enrolled = pl.Series(self.enrolled).cast(pl.Categorical)
        models = enrolled if self.models is None else pl.Series(self.models).cast(pl.Categorical)
        trials = pl.DataFrame({"trial": self.trials, "trial_speaker": self.speakers})
        rows = np.repeat(np.arange(count), width)
        table = pl.DataFrame(
            {
                "score": self.values.ravel(),
                "label": np.where(self.mated.ravel(), "mated", "nonmated"),
                "enrol": models[rows],
                "enrol_speaker": enrolled[rows],
            }
        ).hstack(pl.concat([trials] * count))
        if self.listed is not None:
            table = table.filter(self.listed.ravel())
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        write_bytes(path, buffer.getvalue())


def score_all(
    enrol: Embeddings,
    trial: Embeddings,
    linkage: LinkageFunction,
    *,
    over: Over = "model",
    cohort: Cohort | None = None,
) -> ScoreTable:
    """Score every speaker, or every recording, of ``enrol`` against every recording of ``trial``.

    Parameters
    ----------
    enrol : Embeddings
        Enrolment recordings.
    trial : Embeddings
        Trial recordings.
    linkage : LinkageFunction
        Turns a pair of vectors into a score.
    over : {"model", "mean", "max", "utterance"}, default "model"
        How the recordings of an enrolled speaker are used.
    cohort : Cohort, optional
        Speakers to normalise the scores by; default none.

    Raises
    ------
    InputError
        ``too-many`` for more than :data:`MAX_PAIRS` pairs, ``too-few`` for a cohort of fewer than
        2 speakers.
    """
    if over == "utterance":
        return _score_recordings(enrol, trial, linkage, cohort)
    _check_size(len(enrol.names), len(trial))
    if over == "model":
        values = _normalised_scores(
            enrolment_models(enrol), enrol.counts, trial.vectors, linkage, cohort
        )
    else:
        counts = np.ones(len(enrol), np.int64)
        single = _normalised_scores(enrol.vectors, counts, trial.vectors, linkage, cohort)
        values = _reduce_by_speaker(single, enrol.speakers, enrol.counts, over)
    return ScoreTable(values, enrol.names, trial.recording_ids, trial.names[trial.speakers])


def _score_recordings(
    enrol: Embeddings, trial: Embeddings, linkage: LinkageFunction, cohort: Cohort | None
) -> ScoreTable:
    """Score each recording against each recording; the draws of one recording are averaged."""
    names, first, recording, draws = np.unique(
        enrol.recording_ids, return_index=True, return_inverse=True, return_counts=True
    )
    _check_size(len(names), len(trial))
    sums = np.zeros((len(names), enrol.dimension))
    add_by_speaker(sums, enrol.vectors, recording)
    means = (sums / draws[:, None]).astype(np.float32)
    refuse_cancelled(means, enrol.vectors[first], names, enrol.origin)
    counts = np.ones(len(names), np.int64)
    return ScoreTable(
        _normalised_scores(means, counts, trial.vectors, linkage, cohort),
        enrol.names[enrol.speakers[first]],
        trial.recording_ids,
        trial.names[trial.speakers],
        models=names,
    )


def score_listed(
    enrol: Embeddings,
    trial: Embeddings,
    linkage: LinkageFunction,
    trials: TrialList,
    *,
    over: Over = "model",
    cohort: Cohort | None = None,
) -> ScoreTable:
    """Score the pairs of a list.

    Parameters
    ----------
    enrol : Embeddings
        Enrolment recordings, with ids.
    trial : Embeddings
        Trial recordings, with ids.
    linkage : LinkageFunction
        Turns a pair of vectors into a score.
    trials : TrialList
        Read with its corpus, so that it says which recordings enrol each id.
    over : {"model", "mean", "max"}, default "model"
        How the recordings that enrol an id are used.
    cohort : Cohort, optional
        Speakers to normalise the scores by; default none.

    Returns
    -------
    ScoreTable
        One row per enrolment id and one column per trial of the list; only listed pairs count.

    Raises
    ------
    InputError
        ``conflict`` for ``utterance``: the list says what is compared.
    """
    if over == "utterance":
        raise InputError(
            "over=utterance compares all pairs of recordings, and a list of trials names its own; "
            "leave one of them out",
            code="conflict",
        )
    _check_size(len(trials.enrol_ids), len(trials.trial_ids))
    tried = trial.rows(_positions(trial, trials.trial_ids))
    members = [_positions(enrol, trials.enrolment[name]) for name in trials.enrol_ids]
    counts = np.array([len(rows) for rows in members], np.int64)
    if over == "model":
        means = np.stack(
            [enrol.vectors[rows].mean(axis=0, dtype=np.float64) for rows in members]
        ).astype(np.float32)
        first = enrol.vectors[[rows[0] for rows in members]]
        refuse_cancelled(means, first, np.array(trials.enrol_ids), enrol.origin)
        values = _normalised_scores(means, counts, tried.vectors, linkage, cohort)
    else:
        rows = np.concatenate(members)
        single = _normalised_scores(
            enrol.vectors[rows], np.ones(len(rows), np.int64), tried.vectors, linkage, cohort
        )
        values = _reduce_by_speaker(single, np.repeat(np.arange(len(counts)), counts), counts, over)
    listed = np.zeros(values.shape, np.bool_)
    listed[trials.enrol, trials.trial] = True
    enrolled = enrol.names[enrol.speakers[[rows[0] for rows in members]]]
    return ScoreTable(
        values,
        enrolled,
        np.array(trials.trial_ids, np.str_),
        tried.names[tried.speakers],
        np.array(trials.enrol_ids, np.str_),
        listed,
    )


def _positions(embeddings: Embeddings, ids: Sequence[str]) -> IntArray:
    """Rows of the recordings with these ids in their order, each in all of its draws."""
    if embeddings.utterances is None:
        raise InputError(
            f"{embeddings.origin}: no utterance ids, which a list of trials needs; embed it again",
            code="missing-ids",
        )
    order = np.argsort(embeddings.utterances, kind="stable")
    in_order, wanted = embeddings.utterances[order], np.array(ids, np.str_)
    starts = np.searchsorted(in_order, wanted)
    stops = np.searchsorted(in_order, wanted, side="right")
    rows = [order[start:stop] for start, stop in zip(starts, stops, strict=True)]
    return np.concatenate(rows).astype(np.int64)


def _check_size(n_models: int, n_trials: int) -> None:
    if n_models * n_trials > MAX_PAIRS:
        raise InputError(
            f"{n_models:,} enrolled × {n_trials:,} trials; at most {MAX_PAIRS:,} pairs go into one "
            "table: use fewer, or sottovoce score, which writes pairs as they are scored, or "
            "sottovoce reidentify, which needs no table",
            code="too-many",
        )


def _normalised_scores(
    models: Vectors,
    counts: IntArray,
    trials: Vectors,
    linkage: LinkageFunction,
    cohort: Cohort | None,
) -> FloatArray:
    values = _raw_scores(models, counts, trials, linkage)
    if cohort is None:
        return values
    cohort_models = speaker_means(cohort.embeddings)
    nearest = len(cohort_models) if cohort.nearest is None else cohort.nearest
    if len(cohort_models) < 2 or not 2 <= nearest <= len(cohort_models):
        raise TooFewError(
            f"{cohort.embeddings.origin}: {len(cohort_models)} speakers in the cohort, of which "
            f"the nearest {nearest} are to be used; normalisation needs at least 2"
        )
    model_scores = _raw_scores(models, counts, cohort_models, linkage)
    trial_scores = _raw_scores(cohort_models, cohort.embeddings.counts, trials, linkage).T
    model_mean, model_spread = _top_statistics(model_scores, nearest)
    trial_mean, trial_spread = _top_statistics(trial_scores, nearest)
    enrolment_side = (values - model_mean[:, None]) / model_spread[:, None]
    return np.asarray((enrolment_side + (values - trial_mean) / trial_spread) / 2)


def _raw_scores(
    models: Vectors, counts: IntArray, trials: Vectors, linkage: LinkageFunction
) -> FloatArray:
    rows = linkage.enrol(models, counts).astype(np.float64)
    return np.asarray(rows @ linkage.trial(trials, counts).astype(np.float64).T)


def _top_statistics(scores: FloatArray, nearest: int) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the largest scores of each row."""
    top = -np.partition(-scores, nearest - 1, axis=1)[:, :nearest]
    spread = top.std(axis=1)
    return top.mean(axis=1), np.maximum(spread, 1e-12)


def _reduce_by_speaker(
    single: FloatArray, speakers: IntArray, counts: IntArray, over: Over
) -> FloatArray:
    """Mean or maximum over the rows of each speaker."""
    order = np.argsort(speakers, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    reduce = np.maximum if over == "max" else np.add
    reduced = reduce.reduceat(single[order], starts, axis=0)
    return np.asarray(reduced if over == "max" else reduced / counts[:, None])
