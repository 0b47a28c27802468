"""Open-set verification in a growing crowd: EER, Cllr_min and D_sys for populations of any size.

The population always holds the core (the speakers of the trials); the rest of it is drawn at random
from everybody else. The expected counts of non-mated scores are those of the core plus a share of
those of the rest, so the curve of the *expected* ROC needs no draws: one tally of the core, one of
everybody. (The mean over draws of an EER is not quite the EER of the mean ROC; the two agree to
0.0003 where this was simulated.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import IntArray, Vectors
from sottovoce.findings import OpenSetPoint
from sottovoce.measure.calibration import oracle_blocks
from sottovoce.measure.linkability import d_sys_of
from sottovoce.measure.tally import Tally, count_on, make_cuts
from sottovoce.measure.verification import eer, min_cllr_of, rocch_eer_of


class Counter:
    """Counts the blocks of scores that ``stand`` shows it, those of the core also apart."""

    def __init__(
        self, mated: Vectors, core: IntArray, *, edges: NDArray[np.float64] | None = None
    ) -> None:
        self.mated = mated
        self.core = core
        self.edges = edges
        self.cuts = make_cuts(mated) if edges is None else edges[1:-1]
        self.everybody = np.zeros(2 * len(self.cuts) + 1, np.int64)
        self.inside = np.zeros(2 * len(self.cuts) + 1, np.int64)

    def __call__(self, scores: Vectors, first: int) -> None:
        """Count a block; the place-holders of true speakers lie below every cut."""
        self.everybody += count_on(self.cuts, scores.ravel())
        here = self.core[(self.core >= first) & (self.core < first + scores.shape[1])] - first
        if len(here):
            self.inside += count_on(self.cuts, scores[:, here].ravel())

    def tally(self, share: float = 1.0) -> Tally:
        """Return the tally of the core and a share of all others.

        Parameters
        ----------
        share : float, default 1
            Of the speakers outside the core; 1 is everybody.
        """
        mated_cell = np.zeros_like(self.everybody)
        mated_cell[0] = len(self.mated)
        everybody, inside = self.everybody - mated_cell, self.inside - mated_cell
        nonmated = everybody if share == 1.0 else inside + share * (everybody - inside)
        mated = count_on(self.cuts, self.mated)
        return Tally(self.cuts, mated, nonmated, edges=self.edges)


def open_set(
    counter: Counter, binned: Counter | None, populations: list[int], models: int, length: int
) -> list[OpenSetPoint]:
    """Compute the open-set measures over population sizes from the core to everybody.

    Parameters
    ----------
    counter : Counter
        Counts on the cuts of the mated scores.
    binned : Counter or None
        Counts on histogram bins, for D_sys; None where there are too few scores for it.
    populations : list of int
        Sizes; those smaller than the core are left out.
    models : int
        Enrolled speakers.
    length : int
        Conversation length, in utterances.
    """
    core = len(counter.core)
    points = []
    for size in [n for n in populations if n >= max(2, core)]:
        share = (size - core) / (models - core) if models > core else 1.0
        tally = counter.tally(share)
        blocks = oracle_blocks(tally)
        d_sys = None if binned is None else d_sys_of(*binned.tally(share).binned())
        points.append(
            OpenSetPoint(length, size, eer(tally), rocch_eer_of(blocks), min_cllr_of(blocks), d_sys)
        )
    return points
