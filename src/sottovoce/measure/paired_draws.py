"""Draws that several score sets share, as far as they are paired."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from sottovoce.core.types import IntArray, RealArray
from sottovoce.measure.pairing import PairedBy, PairedScores, count_trials
from sottovoce.measure.resampling import (
    BATCH,
    SpeakerTallies,
    TrialTallies,
    draw_weights,
    resample,
)
from sottovoce.measure.scores import Scores, ScoreSource
from sottovoce.measure.tally import Tally

DrawAlone = Callable[[ScoreSource, Tally, np.random.Generator], Iterator[Tally]]
"""Draws from one score set."""
_BATCH_WEIGHTS = 1 << 24
"""Weights of trials that are held at a time."""


def resample_together(
    paired: PairedScores, tallies: Sequence[Tally], *, replicates: int, rng: np.random.Generator
) -> Iterator[tuple[Tally, ...]]:
    """Draw resamples of several score sets that share their weights, as far as they are paired.

    Parameters
    ----------
    paired : PairedScores
        The score sets.
    tallies : sequence of Tally
        Counts of each set.
    replicates : int
        How many resamples to draw.
    rng : numpy.random.Generator
        Source of the draws.

    Yields
    ------
    tuple of Tally
        One per score set, on its cuts.
    """

    def alone(scores: ScoreSource, tally: Tally, stream: np.random.Generator) -> Iterator[Tally]:
        return resample(scores, tally, replicates=replicates, rng=stream)

    return draw_together(paired, tallies, replicates, rng, alone, partial(_draw, paired, rng))


def draw_together(
    paired: PairedScores,
    tallies: Sequence[Tally],
    count: int,
    rng: np.random.Generator,
    alone: DrawAlone,
    weights: Callable[[], IntArray | RealArray],
) -> Iterator[tuple[Tally, ...]]:
    """Draw from several score sets: alike as far as they are paired, else each by itself.

    Parameters
    ----------
    paired : PairedScores
        The score sets.
    tallies : sequence of Tally
        Counts of each set.
    count : int
        How many draws are wanted.
    rng : numpy.random.Generator
        Source of the draws of sets that are not paired.
    alone : callable
        Draws from one set by itself; called with the scores, their tally and a generator.
    weights : callable
        Draws the weights of a batch that paired sets share (units × draws).

    Yields
    ------
    tuple of Tally
        One per score set, on its cuts.
    """
    if paired.paired_by == "nothing":
        generators = rng.spawn(len(tallies))
        streams = map(alone, paired.sets, tallies, generators)
        yield from zip(*streams, strict=True)
        return
    weighted = [
        weighted_trials(scores, tally, paired.paired_by)
        for scores, tally in zip(paired.sets, tallies, strict=True)
    ]
    yield from weighted_together(weighted, weights, count)


def weighted_together(
    weighted: Sequence[SpeakerTallies | TrialTallies],
    draw: Callable[[], IntArray | RealArray],
    count: int,
) -> Iterator[tuple[Tally, ...]]:
    """Weight several score sets alike; weights that leave a set no trial of one kind are skipped.

    Parameters
    ----------
    weighted : sequence of SpeakerTallies or TrialTallies
        The score sets, whose speakers or trials are numbered alike.
    draw : callable
        Draws the weights of a batch (units × resamples).
    count : int
        How many resamples are wanted.

    Yields
    ------
    tuple of Tally
        One per score set, on its cuts.
    """
    done = 0
    while done < count:
        weights = draw()
        for drawn in zip(*(weigh(weights) for weigh in weighted), strict=True):
            usable = tuple(tally for tally in drawn if tally is not None)
            if len(usable) == len(drawn) and done < count:
                done += 1
                yield usable


def weighted_trials(
    scores: ScoreSource, tally: Tally, paired_by: PairedBy
) -> SpeakerTallies | TrialTallies:
    """Prepare a paired score set for any weights of its speakers, or of its trials.

    Parameters
    ----------
    scores : ScoreSource
        The scores, in memory.
    tally : Tally
        Their counts.
    paired_by : {"speaker", "trial"}
        What the weights are of.
    """
    if not isinstance(scores, Scores):
        raise TypeError("scores that are streamed cannot be paired")
    if paired_by == "speaker" and scores.speakers is not None:
        return SpeakerTallies(scores, scores.speakers, tally)
    return TrialTallies(scores, tally)


def _draw(paired: PairedScores, rng: np.random.Generator) -> IntArray:
    """Weights of speakers, or of mated and then non-mated trials (units × resamples)."""
    first = paired.sets[0]
    if paired.paired_by == "speaker" and first.speakers is not None:
        return draw_weights(first.speakers.count, rng)
    sides = (len(first.mated), first.n_nonmated)
    return np.concatenate([draw_weights(count, rng, resamples_per_batch(first)) for count in sides])


def resamples_per_batch(scores: ScoreSource) -> int:
    """Return how many resamples of the trials of a score set are drawn at a time.

    Parameters
    ----------
    scores : ScoreSource
        The scores.
    """
    return max(1, min(BATCH, _BATCH_WEIGHTS // count_trials(scores)))
