"""Linkability and 1 − ROCCH-EER by drawing populations, as published.

Vauquier et al. 2025, section 3.4. The populations of a draw are nested: each trial meets
the first N − 1 of the other speakers in a random order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.core.errors import InputError
from sottovoce.core.types import FloatArray, IntArray, Vectors
from sottovoce.measure import population
from sottovoce.measure.counting import CellCounter, count_on, make_cuts
from sottovoce.measure.isolation import LITERAL_DRAWS
from sottovoce.measure.population import Scoring
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import rocch_eer


@dataclass(frozen=True, slots=True, eq=False)
class LiteralOutcome:
    """What the draws of the published protocol give."""

    linked: FloatArray
    """Share of the draws in which the true speaker scores highest, trials × populations."""
    rocch_eer: FloatArray
    """ROCCH-EER of each draw, draws × populations."""


def literal_populations(
    scoring: Scoring, sizes: list[int], rng: np.random.Generator
) -> LiteralOutcome:
    """Draw populations for every trial, five times.

    Parameters
    ----------
    scoring : Scoring
        Trials and enrolled speakers.
    sizes : list of int
        Population sizes N, rising.
    rng : numpy.random.Generator
        Draws the populations.

    Returns
    -------
    LiteralOutcome
        Links and error rates.

    Raises
    ------
    InputError
        If there are too many models for one block of scores (``unsupported``).
    """
    mated = scoring.true_scores()
    cuts = make_cuts(mated)
    linked = np.zeros((len(scoring.speakers), len(sizes)))
    counters = [[CellCounter(cuts, mated.dtype) for _ in sizes] for _ in range(LITERAL_DRAWS)]
    if len(scoring.means) > population.MODELS:
        raise InputError(
            "the literal protocol needs all models at once; leave it out", code="unsupported"
        )
    for rows, scores in scoring.against_all():
        true = scoring.speakers[rows]
        for draw_counters in counters:
            others = _shuffled_others(scores, true, rng)
            highest = np.maximum.accumulate(others, axis=1)
            target = scores[np.arange(len(true)), true]
            linked[rows] += target[:, None] > highest[:, np.array(sizes) - 2]
            start = 0
            for counter, size in zip(draw_counters, sizes, strict=True):
                counter.add(np.ascontiguousarray(others[:, start : size - 1]).ravel())
                start = size - 1
    mated_cells = count_on(cuts, mated)
    rates = np.empty((LITERAL_DRAWS, len(sizes)))
    for draw, draw_counters in enumerate(counters):
        cells = np.cumsum([counter.cells() for counter in draw_counters], axis=0)
        rates[draw] = [rocch_eer(Tally(cuts, mated_cells, nonmated)) for nonmated in cells]
    return LiteralOutcome(linked / LITERAL_DRAWS, rates)


def _shuffled_others(scores: Vectors, true: IntArray, rng: np.random.Generator) -> Vectors:
    """Scores of all speakers but the true one, each row in a random order of its own."""
    kept = np.ones(scores.shape, bool)
    kept[np.arange(len(true)), true] = False
    others = scores[kept].reshape(len(true), -1)
    return np.asarray(rng.permuted(others, axis=1))
