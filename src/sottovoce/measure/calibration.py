"""Oracle calibration: from scores to the likelihood ratios an ideal adversary would read off them.

The pool-adjacent-violators algorithm (PAV) finds the non-decreasing map from score to posterior
that fits the labels best; with the proportion of the classes taken out it gives likelihood ratios.
Equal scores are one step: they are pooled, never ordered in favour of anyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Counts, Tally

LARGEST_PRODUCT = 2.0**62
"""Cross products of counts up to this size are exact as 64-bit whole numbers; beyond, Python's."""
MOST_ROUNDS = 64
FEW_BLOCKS = 4096
"""Rounds over so few blocks cost little even when they pool next to nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """What PAV leaves: runs of scores with one posterior, in score order, strictly increasing.

    ``first`` is the index of each block's first step among the steps it was made of.
    """

    mated: Counts
    nonmated: Counts
    first: NDArray[np.int64]


def pool(mated: Counts, nonmated: Counts, loops: ModuleType | None = None) -> Blocks:
    """Pool adjacent violators (PAV) on counts per step.

    Parameters
    ----------
    mated, nonmated : array of int64 or float64
        Scores of each class on each step, in score order; empty steps are passed over.
    loops : module, optional
        Compiled loops to use instead.
    """
    if loops is not None:
        mated, nonmated, first = mated.copy(), nonmated.copy(), np.empty(len(mated), np.int64)
        k = loops.pool_groups(mated, nonmated, first)
        return Blocks(mated[:k], nonmated[:k], first[:k])
    first = np.flatnonzero((mated > 0) | (nonmated > 0))
    blocks = Blocks(mated[first], nonmated[first], first)
    if float(mated.sum()) * float(nonmated.sum()) >= LARGEST_PRODUCT:
        return _pool_in_a_loop(blocks)
    return _pool_in_rounds(blocks)


def _pool_in_rounds(blocks: Blocks) -> Blocks:
    """Pool all runs of neighbours whose posteriors do not rise, again and again.

    The order of pooling does not change the outcome of PAV, so a whole round can be done at once.
    A round takes time in proportion to the blocks left; where rounds pool next to nothing, which
    takes a chain of violators, a loop over the blocks finishes in one pass.
    """
    for _ in range(MOST_ROUNDS):
        mated, nonmated = blocks.mated, blocks.nonmated
        falls = mated[:-1] * nonmated[1:] >= mated[1:] * nonmated[:-1]
        pooled = np.count_nonzero(falls)
        if not pooled:
            return blocks
        if MOST_ROUNDS * pooled < len(mated) - FEW_BLOCKS:
            break
        starts = np.flatnonzero(np.concatenate(([True], ~falls)))
        blocks = Blocks(
            np.add.reduceat(mated, starts),
            np.add.reduceat(nonmated, starts),
            blocks.first[starts],
        )
    return _pool_in_a_loop(blocks)


def _pool_in_a_loop(blocks: Blocks) -> Blocks:
    """Pool the last block with those before it while posteriors do not rise, block by block."""
    kept: list[tuple[float, float, int]] = []
    for block in zip(
        blocks.mated.tolist(), blocks.nonmated.tolist(), blocks.first.tolist(), strict=True
    ):
        now = block
        while kept and kept[-1][0] * now[1] >= now[0] * kept[-1][1]:
            before = kept.pop()
            now = (before[0] + now[0], before[1] + now[1], before[2])
        kept.append(now)
    mated, nonmated, first = zip(*kept, strict=True)
    return Blocks(
        np.array(mated, blocks.mated.dtype),
        np.array(nonmated, blocks.nonmated.dtype),
        np.array(first, np.int64),
    )


def oracle_blocks(tally: Tally) -> Blocks:
    """Run plain PAV on a tally: infinite likelihood ratios are possible at both ends.

    Parameters
    ----------
    tally : Tally
        The counts of a set of scores.
    """
    return pool(*tally.groups, tally.loops)


def laplace_blocks(blocks: Blocks, loops: ModuleType | None = None) -> Blocks:
    """Apply Laplace's rule of succession (Nautsch et al. 2020, footnote 6) to the outcome of PAV.

    One dummy score of each class goes below all scores and one of each above all scores, and PAV
    is run again (on its own outcome, which gives what running it on the scores would). A pair of
    dummies that pooled with no data is dropped. No block is left with a class missing.

    Parameters
    ----------
    blocks : Blocks
        Outcome of plain PAV.
    loops : module, optional
        Compiled loops to use instead.
    """
    pad = np.ones(1, blocks.mated.dtype)
    padded = pool(
        np.concatenate((pad, blocks.mated, pad)),
        np.concatenate((pad, blocks.nonmated, pad)),
        loops,
    )
    last_step = len(blocks.mated) + 1
    ends = np.append(padded.first[1:], last_step + 1)
    only_dummies = (ends <= 1) | (padded.first >= last_step)
    keep = ~only_dummies
    first = blocks.first[np.maximum(padded.first[keep] - 1, 0)]
    return Blocks(padded.mated[keep], padded.nonmated[keep], first)


def block_llrs(blocks: Blocks, n_mated: float, n_nonmated: float) -> NDArray[np.float64]:
    """Return the natural-log likelihood ratio of each block.

    Parameters
    ----------
    blocks : Blocks
        Outcome of PAV.
    n_mated, n_nonmated : float
        How many scores of each class there are, dummies of Laplace's rule excluded.

    Returns
    -------
    array of float64
        Log odds of each block less the log odds of the classes.
    """
    with np.errstate(divide="ignore"):
        odds = np.log(blocks.mated / n_mated) - np.log(blocks.nonmated / n_nonmated)
    return np.asarray(odds, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A non-decreasing step map from score to natural-log likelihood ratio.

    >>> from sottovoce.measure import Scores, calibrate
    >>> calibrate(Scores([1, 2, 3, 4], [0, 1, 2, 3])).llr([0.0, 2.5, 4.0])
    array([-inf,   0.,  inf])
    """

    starts: NDArray[np.float64]
    """The smallest score of each step; the first one is -inf."""
    llrs: NDArray[np.float64]
    """The natural-log likelihood ratio on each step."""

    def llr(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Calibrate scores; a new one between two steps gets the value of one of them.

        Parameters
        ----------
        scores : array_like
            In any order; NaN stays NaN.
        """
        values = np.asarray(scores, np.float64)
        step = np.searchsorted(self.starts, values, side="right") - 1
        return np.where(np.isnan(values), np.nan, self.llrs[step])

    def to_dict(self) -> dict[str, list[float | str]]:
        """The map as two lists of the same length; infinity as text, since JSON has none."""

        def listed(values: NDArray[np.float64]) -> list[float | str]:
            return [value if np.isfinite(value) else str(value) for value in values.tolist()]

        return {"starts": listed(self.starts), "llrs": listed(self.llrs)}


def calibrate(scores: ScoreSource, *, laplace: bool = False) -> Calibration:
    """Find the oracle calibration of a set of scores.

    Brümmer & du Preez, "The PAV algorithm optimizes binary proper scoring rules", 2009.

    Parameters
    ----------
    scores : ScoreSource
        Mated and non-mated scores.
    laplace : bool, default False
        Apply the rule of succession of Nautsch et al. 2020, footnote 6, after which no likelihood
        ratio is infinite.
    """
    return calibration_of(Tally.of(scores), laplace=laplace)


def calibration_of(tally: Tally, *, laplace: bool = False) -> Calibration:
    """Find the oracle calibration of tallied scores.

    Parameters
    ----------
    tally : Tally
        The counts of a set of scores.
    laplace : bool, default False
        Apply Laplace's rule of succession.
    """
    blocks = oracle_blocks(tally)
    if laplace:
        blocks = laplace_blocks(blocks)
    starts = tally.group_starts[blocks.first]
    starts[0] = -np.inf
    return Calibration(starts, block_llrs(blocks, tally.n_mated, tally.n_nonmated))
