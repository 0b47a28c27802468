"""Standard errors of differences, from values without some of the speakers.

Resamples with replacement repeat speakers, and a fit such as PAV takes what is repeated for
evidence; so the spread of such resamples is not that of the measure. Leaving speakers out repeats
nothing. A pair of speakers is missing as soon as one of them is, which exaggerates the noise of
single pairs, so that noise is estimated on its own and subtracted. docs/comparing.md has the
formulas and the measured false alarms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import FloatArray
from sottovoce.measure.paired_draws import draw_together, resamples_per_batch, weighted_together
from sottovoce.measure.pairing import PairedScores
from sottovoce.measure.resampling import BATCH, SpeakerTallies, by_speaker
from sottovoce.measure.scores import Scores, ScoreSource
from sottovoce.measure.tally import Tally

LEFT_OUT = 0.4
"""Share of the speakers, or trials, that a subsample leaves out.

Few would show the steps of an EER rather than its spread; many would leave PAV too little.
"""
TILT = 0.5
"""Pairs within either half of the speakers count as much more as pairs across count less."""
MIN_SUBSAMPLES = 200
"""Fewest subsamples that a standard error is made of."""


def subsample_count(replicates: int) -> int:
    """Return how many subsamples go with so many resamples.

    Parameters
    ----------
    replicates : int
        Resamples.
    """
    return max(MIN_SUBSAMPLES, replicates // 5)


@dataclass(frozen=True, slots=True, eq=False)
class StandardErrors:
    """Standard errors of some differences, and what they are worth."""

    errors: FloatArray
    degrees: FloatArray
    """Degrees of freedom of each: fewer than speakers, since draws are few and noise of pairs is
    subtracted."""


@dataclass(frozen=True, slots=True, eq=False)
class Deviations:
    """Deviations of measures in subsamples, with the covariance that the values themselves have."""

    left_out: NDArray[np.float64]
    """Subsamples × sets × measures: deviations where speakers, or trials, are left out."""
    pairs: NDArray[np.float64]
    """Subsamples × sets × measures: what of that is exaggerated noise of pairs of speakers."""
    least_share: float = 0.0
    """Share of the variance of ``left_out`` that remains if all of it is noise of pairs."""

    def of_differences(self, pairs: Sequence[tuple[int, int]], column: int) -> FloatArray:
        """Deviations of the differences between pairs of sets (subsamples × pairs).

        Parameters
        ----------
        pairs : sequence of tuple of int
            Numbers of the sets.
        column : int
            Number of the measure.
        """
        return _differences(self.left_out, pairs, column)

    def errors(
        self, pairs: Sequence[tuple[int, int]], column: int, degrees: float
    ) -> StandardErrors:
        """Standard errors of the differences between pairs of sets.

        Parameters
        ----------
        pairs : sequence of tuple of int
            Numbers of the sets.
        column : int
            Number of the measure.
        degrees : float
            Degrees of freedom of a variance over all speakers, or trials.
        """
        variance = _variance(self.of_differences(pairs, column))
        noise = _variance(_differences(self.pairs, pairs, column))
        least = self.least_share * variance
        squares = np.maximum(variance - noise, least)
        # Satterthwaite (1946); the least share is a multiple of one variance, so no difference
        differs = variance - noise > least
        drawn = _per_degree(np.where(differs, variance, squares), self.left_out)
        drawn += _per_degree(np.where(differs, noise, 0.0), self.pairs)
        sums = squares**2 / degrees + drawn
        freedom = np.divide(squares**2, sums, out=np.full_like(sums, degrees), where=sums > 0)
        return StandardErrors(np.sqrt(squares), np.maximum(freedom, 1.0))


def _differences(
    deviations: NDArray[np.float64], pairs: Sequence[tuple[int, int]], column: int
) -> FloatArray:
    first, second = np.array(pairs).T
    return np.asarray(deviations[:, first, column] - deviations[:, second, column])


def _variance(deviations: FloatArray) -> FloatArray:
    """Variance per column; 0 if there are no rows."""
    rows = len(deviations)
    return deviations.var(axis=0, ddof=1) if rows > 1 else np.zeros(deviations.shape[1])


def _per_degree(variance: FloatArray, deviations: NDArray[np.float64]) -> FloatArray:
    """The square of a variance over its degrees of freedom; 0 if there are no draws."""
    return np.asarray(variance**2 / max(len(deviations) - 1, 1))


# -------------------------------------------------------------------------------- subsamples


def left_out_speakers(speakers: int) -> int:
    """Return how many of the speakers a subsample leaves out.

    Parameters
    ----------
    speakers : int
        How many there are.
    """
    return max(1, round(LEFT_OUT * speakers))


def subsample_together(
    paired: PairedScores, tallies: Sequence[Tally], *, count: int, rng: np.random.Generator
) -> Iterator[tuple[Tally, ...]]:
    """Leave two fifths of the speakers (or trials) out of several score sets, alike if paired.

    Parameters
    ----------
    paired : PairedScores
        The score sets.
    tallies : sequence of Tally
        Counts of each set.
    count : int
        How many subsamples to draw.
    rng : numpy.random.Generator
        Source of the draws.

    Yields
    ------
    tuple of Tally
        One per score set, on its cuts.
    """
    first = paired.sets[0]
    if paired.paired_by == "speaker" and first.speakers is not None:
        weights = partial(leave_out_speakers, first.speakers.count, rng)
    else:
        weights = partial(_leave_out_trials, first, rng)
    return draw_together(paired, tallies, count, rng, partial(_subsample_alone, count), weights)


def _subsample_alone(
    count: int, scores: ScoreSource, tally: Tally, rng: np.random.Generator
) -> Iterator[Tally]:
    if isinstance(scores, Scores) and scores.speakers is not None and by_speaker(scores):
        tallies = SpeakerTallies(scores, scores.speakers, tally)
        draw = partial(leave_out_speakers, scores.speakers.count, rng)
        for (subsample,) in weighted_together([tallies], draw, count):
            yield subsample
        return
    for _ in range(count):
        yield thinned(tally, 1 - LEFT_OUT, rng)


def thinned(tally: Tally, share: float, rng: np.random.Generator) -> Tally:
    """Keep every trial of a tally with the same probability.

    Parameters
    ----------
    tally : Tally
        Counts of trials; its costs, if it has any, need their squares.
    share : float
        The probability, between 0 and 1.
    rng : numpy.random.Generator
        Source of the draw.
    """
    mated, nonmated = (
        rng.binomial(np.asarray(counts, np.int64), share)
        for counts in (tally.mated, tally.nonmated)
    )
    costs = tally.costs and (
        tally.costs[0].thinned(tally.n_mated, mated.sum(), rng),
        tally.costs[1].thinned(tally.n_nonmated, nonmated.sum(), rng),
    )
    return replace(tally, mated=mated, nonmated=nonmated, costs=costs)


def leave_out_speakers(speakers: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw which speakers remain in each of a batch of subsamples.

    Parameters
    ----------
    speakers : int
        How many there are.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    array of float64, speakers × subsamples
        1 for a speaker who remains, 0 for one who is left out.
    """
    places = np.argsort(rng.random((speakers, BATCH)), axis=0)
    return np.asarray(places >= left_out_speakers(speakers), np.float64)


def _leave_out_trials(scores: ScoreSource, rng: np.random.Generator) -> NDArray[np.float64]:
    """1 for a trial that remains, 0 for one that is left out (trials × subsamples)."""
    shape = len(scores.mated) + scores.n_nonmated, resamples_per_batch(scores)
    return np.asarray(rng.random(shape, np.float32) >= LEFT_OUT, np.float64)


def subsample_scale(scores: ScoreSource) -> float:
    """Return by what a deviation of a subsample is multiplied to be one of the whole set.

    A mean of a share r of all has 1 / r - 1 times the variance of the mean of all.

    Parameters
    ----------
    scores : ScoreSource
        The scores that are subsampled.
    """
    if scores.speakers is None or not by_speaker(scores):
        return float(np.sqrt((1 - LEFT_OUT) / LEFT_OUT))
    left_out = left_out_speakers(scores.speakers.count)
    return float(np.sqrt((scores.speakers.count - left_out) / left_out))


# ------------------------------------------------------------------------------- noise of pairs


def tilt_together(
    paired: PairedScores, tallies: Sequence[Tally], *, count: int, rng: np.random.Generator
) -> Iterator[tuple[Tally, ...]]:
    """Divide the speakers into halves, and weight pairs within them more than pairs across.

    What a speaker adds to all of their pairs cancels, so only the noise of pairs remains.

    Parameters
    ----------
    paired : PairedScores
        The score sets; those without speakers have no pairs, and nothing is drawn.
    tallies : sequence of Tally
        Counts of each set.
    count : int
        How often the speakers are divided.
    rng : numpy.random.Generator
        Source of the draws.

    Yields
    ------
    tuple of Tally
        One per score set, on its cuts.
    """
    tilted = [
        SpeakerTallies(scores, scores.speakers, tally)
        for scores, tally in zip(paired.sets, tallies, strict=True)
        if isinstance(scores, Scores) and scores.speakers is not None and by_speaker(scores)
    ]
    if len(tilted) < len(tallies):
        return
    if paired.paired_by == "speaker":
        yield from _tilt(tilted, count, rng)
        return
    streams = [
        _tilt([alone], count, stream)
        for alone, stream in zip(tilted, rng.spawn(len(tilted)), strict=True)
    ]
    for drawn in zip(*streams, strict=True):
        yield tuple(tally for (tally,) in drawn)


def _tilt(
    tallies: Sequence[SpeakerTallies], count: int, rng: np.random.Generator
) -> Iterator[tuple[Tally, ...]]:
    """The same halves of the speakers for all of some sets that number them alike."""
    for start in range(0, count, BATCH):
        signs = halve_speakers(tallies[0].speakers, rng)[:, : count - start]
        yield from zip(*(weigh.tilted(signs, TILT) for weigh in tallies), strict=True)


def halve_speakers(speakers: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Divide the speakers into two halves, once for each of a batch of subsamples.

    Parameters
    ----------
    speakers : int
        How many there are.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    array of float64, speakers × subsamples
        1 in one half and -1 in the other, which has one speaker fewer if the number is odd.
    """
    places = np.argsort(rng.random((speakers, BATCH)), axis=0)
    return np.where(places < speakers // 2, -1.0, 1.0)


def pair_scale(scores: ScoreSource) -> float:
    """Return by what a deviation of tilted pairs is multiplied to be what subsamples exaggerate.

    Parameters
    ----------
    scores : ScoreSource
        The scores whose pairs are tilted.
    """
    return float(np.sqrt(shown_pairs(scores) - 1)) / TILT


def shown_pairs(scores: ScoreSource) -> float:
    """Return how many times subsamples show the variance of single pairs.

    It is 2 + d / (k - d) where d of k speakers are left out.

    Parameters
    ----------
    scores : ScoreSource
        The scores that are subsampled.
    """
    return 2 + 1 / subsample_scale(scores) ** 2
