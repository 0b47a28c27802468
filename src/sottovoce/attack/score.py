"""Scores of every enrolled speaker against every trial, and how enrolment speech is used.

A speaker is enrolled as the mean of its recordings, or each recording is compared and the mean or
the largest score is taken. Scores may be normalised by a cohort of other speakers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.files import write_bytes
from sottovoce.core.types import FloatArray, IntArray, Vectors
from sottovoce.measure.scores import Scores, Speakers
from sottovoce.speaker.embeddings import Embeddings, speaker_means
from sottovoce.speaker.linkage import LinkageFunction

Over = Literal["model", "mean", "max"]

MOST = 50_000_000
"""Pairs that are scored into one table; re-identification over more needs no table."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """Other speakers by whom scores are normalised; ``nearest`` of them for each pair, or all.

    S-norm: Kenny, "Bayesian speaker verification with heavy-tailed priors", Odyssey 2010. Adaptive:
    Matějka et al., "Analysis of score normalization in multilingual speaker recognition",
    Interspeech 2017.
    """

    voices: Embeddings
    nearest: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Enrolled speakers × trials."""

    values: FloatArray
    enrolled: NDArray[np.str_]
    trials: NDArray[np.str_]
    """The id of each trial."""
    speakers: NDArray[np.str_]
    """Who really speaks in each trial."""

    @property
    def mated(self) -> NDArray[np.bool_]:
        """Which pairs are of one speaker."""
        return np.asarray(self.enrolled[:, None] == self.speakers[None])

    def scores(self, name: str = "scores") -> Scores:
        """As the measures take them, with speakers."""
        mated = self.mated
        rows, columns = np.nonzero(~mated)
        own = np.nonzero(mated)
        who = Speakers.from_names(
            self.enrolled[own[0]], self.enrolled[rows], self.speakers[columns]
        )
        return Scores(self.values[mated], self.values[~mated], speakers=who, name=name)

    def permuted(self, rng: np.random.Generator) -> ScoreTable:
        """The same scores under exchanged names: nobody is enrolled under the own name."""
        turn = rng.permutation(len(self.enrolled))
        names = np.empty_like(self.enrolled)
        names[turn] = self.enrolled[np.roll(turn, 1)]
        return ScoreTable(self.values, names, self.trials, self.speakers)

    def write(self, path: Path) -> None:
        """A Parquet table that ``sottovoce measure`` reads."""
        import io

        import polars as pl

        count, width = self.values.shape
        enrolled = pl.Series(self.enrolled).cast(pl.Categorical)
        trials = pl.DataFrame({"trial": self.trials, "trial_speaker": self.speakers})
        rows = np.repeat(np.arange(count), width)
        table = pl.DataFrame(
            {
                "score": self.values.ravel(),
                "label": np.where(self.mated.ravel(), "mated", "nonmated"),
                "enrol": enrolled[rows],
                "enrol_speaker": enrolled[rows],
            }
        ).hstack(pl.concat([trials] * count))
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
    """Every speaker of ``enrol`` against every recording of ``trial``."""
    if len(enrol.names) * len(trial) > MOST:
        raise InputError(
            f"{len(enrol.names):,} speakers × {len(trial):,} trials; at most {MOST:,} pairs go "
            "into one table: use fewer, or sottovoce reidentify, which needs none"
        )
    if over == "model":
        values = _models(speaker_means(enrol), enrol.counts, trial.vectors, linkage, cohort)
    else:
        single = _models(
            enrol.vectors, np.ones(len(enrol), np.int64), trial.vectors, linkage, cohort
        )
        values = _gathered(single, enrol.speakers, enrol.counts, over)
    ids = trial.utterances
    if ids is None:
        ids = np.arange(len(trial)).astype(np.str_)
    return ScoreTable(values, enrol.names, ids, trial.names[trial.speakers])


def _models(
    models: Vectors,
    counts: IntArray,
    trials: Vectors,
    linkage: LinkageFunction,
    cohort: Cohort | None,
) -> FloatArray:
    values = _product(models, counts, trials, linkage)
    if cohort is None:
        return values
    others = speaker_means(cohort.voices)
    nearest = len(others) if cohort.nearest is None else cohort.nearest
    if len(others) < 2 or not 2 <= nearest <= len(others):
        raise TooFewError(
            f"{cohort.voices.origin}: {len(others)} speakers in the cohort, the nearest {nearest} "
            "asked for; normalisation needs 2 to all of them"
        )
    of_models = _product(models, counts, others, linkage)
    of_trials = _product(others, cohort.voices.counts, trials, linkage).T
    (mean_m, spread_m), (mean_t, spread_t) = (
        _level(one, nearest) for one in (of_models, of_trials)
    )
    return np.asarray(
        ((values - mean_m[:, None]) / spread_m[:, None] + (values - mean_t) / spread_t) / 2
    )


def _product(
    models: Vectors, counts: IntArray, trials: Vectors, linkage: LinkageFunction
) -> FloatArray:
    rows = linkage.enrol(models, counts).astype(np.float64)
    return np.asarray(rows @ linkage.trial(trials, counts).astype(np.float64).T)


def _level(scores: FloatArray, nearest: int) -> tuple[FloatArray, FloatArray]:
    """Mean and spread of the largest scores of each row."""
    top = -np.partition(-scores, nearest - 1, axis=1)[:, :nearest]
    spread = top.std(axis=1)
    return top.mean(axis=1), np.maximum(spread, 1e-12)


def _gathered(single: FloatArray, speakers: IntArray, counts: IntArray, over: Over) -> FloatArray:
    order = np.argsort(speakers, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    join = np.maximum if over == "max" else np.add
    joined = join.reduceat(single[order], starts, axis=0)
    return np.asarray(joined if over == "max" else joined / counts[:, None])
