"""Rounding scores down to a ladder of few values, for the resamples of large balanced sets.

Half a million mated against as many non-mated scores have a million cells, and a thousand resamples
of them a thousand million. How a measure varies from resample to resample does not need them all:
PAV pools thousands of neighbouring scores there, so rounding them to hundreds of steps in between
changes a resample as much as it changes the value itself, and the difference between the two stays.
docs/architecture.md has the measured error.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sottovoce.measure.tally import Counts, Tally

FINENESS = 256
"""A step holds at most one in so many of the scores of a class that lie beyond it."""
MOST_CUTS = 8192
"""Tallies with fewer cuts are resampled as they are."""


def round_down(tally: Tally) -> Tally:
    """Round the scores of a tally with very many cuts down to a ladder of a few thousand.

    A step of the ladder holds about 1/:data:`FINENESS` of the scores of each class that lie above
    it, or of those below it if they are fewer. So the highest and lowest :data:`FINENESS` scores
    of a class, which worst cases and low error rates depend on, keep steps of their own. Histogram
    edges and thresholds stay cuts.

    Parameters
    ----------
    tally : Tally
        Counts of the scores as they are.

    Returns
    -------
    Tally
        Counts of the rounded scores; the same tally if it has few cuts.
    """
    if len(tally.cuts) <= MOST_CUTS:
        return tally
    place = np.floor(_place(tally.mated) + _place(tally.nonmated))
    kept = np.concatenate(([True], place[1:] > place[:-1]))
    if tally.added is not None:
        kept[np.searchsorted(tally.cuts, tally.added)] = True
    starts = np.concatenate(([0], 2 * np.flatnonzero(kept) + 1))
    return replace(
        tally,
        cuts=tally.cuts[kept],
        mated=_summed(tally.mated, starts),
        nonmated=_summed(tally.nonmated, starts),
        rounded_down=True,
    )


def _place(cells: Counts) -> NDArray[np.float64]:
    """How many steps of the ladder one class needs up to each cut."""
    below = np.cumsum(cells)[:-1:2]
    total = float(cells.sum())
    nearer = np.minimum(below, total - below)
    steps = np.where(
        nearer <= FINENESS, nearer, FINENESS * (1 + np.log(np.maximum(nearer, 1) / FINENESS))
    )
    half = FINENESS * (1 + np.log(total / 2 / FINENESS)) if total > 2 * FINENESS else total / 2
    return np.asarray(np.where(below <= total / 2, steps, 2 * half - steps))


def _summed(cells: Counts, starts: NDArray[np.int64]) -> Counts:
    """Counts per step, as the counts on its cut; nothing is left between the cuts."""
    rounded = np.zeros(2 * len(starts) - 1, cells.dtype)
    rounded[0] = cells[0]
    rounded[1::2] = np.add.reduceat(cells, starts)[1:]
    return rounded
