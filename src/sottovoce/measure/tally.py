"""The tally: how many mated and non-mated scores fall on and between a few cuts.

Every threshold measure is a function of the list of (score, mated count, non-mated count) in score
order, and scores of one class between two neighbouring scores of the other need only be counted.
So a tally cut at the distinct scores of the smaller class is exact however many scores the other
class has, and it adds: tallies of parts on the same cuts sum to the tally of the whole.

With cuts v₁ < … < v_k there are 2k+1 cells, in score order::

    below v₁ | at v₁ | between v₁ and v₂ | at v₂ | … | at v_k | above v_k

Cuts may be added anywhere (histogram edges are), which splits cells and changes no measure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.core.types import RealArray
from sottovoce.measure.scores import CHUNK, LARGEST, ScoreSource, check_finite

Counts = NDArray[np.int64 | np.float64]
"""int64, or float64 when scores are weighted."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Sum and sum of squares of the costs of some scores, in bits."""

    total: float = 0.0
    squares: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.total + other.total, self.squares + other.squares)

    def redrawn(self, count: int, rng: np.random.Generator) -> Cost:
        """Draw the sum over a resample from its normal limit.

        Parameters
        ----------
        count : int
            Trials of the resample, as many as behind this sum.
        rng : numpy.random.Generator
            Source of the draw.
        """
        spread = math.sqrt(max(0.0, self.squares - self.total**2 / count))
        return Cost(self.total + spread * float(rng.standard_normal()), self.squares)


def bits(scores: RealArray) -> NDArray[np.float64]:
    """Compute log2(1 + e^s) of each score, stable for any s: the cost of calling it mated.

    Parameters
    ----------
    scores : array of float32 or float64
        Natural-log likelihood ratios.
    """
    return np.logaddexp(0.0, scores.astype(np.float64)) / math.log(2.0)


def cost(scores: RealArray) -> Cost:
    """Add up the costs of some scores, a chunk at a time.

    Parameters
    ----------
    scores : array of float32 or float64
        Natural-log likelihood ratios; those of mated trials with the sign turned.
    """
    total = Cost()
    for start in range(0, len(scores), CHUNK):
        part = bits(scores[start : start + CHUNK])
        total += Cost(float(part.sum()), float(part @ part))
    return total


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of both classes in the 2k+1 cells made by k cuts.

    Parameters
    ----------
    cuts : array of float64, k
        Distinct scores, rising.
    mated, nonmated : array of int64 or, when scores are weighted, float64, 2k+1
        Scores of each class in each cell.
    edges : array of float64, optional
        Histogram edges over the range of all scores; the inner ones are among the cuts.
    costs : pair of Cost, optional
        What C_llr averages: log2(1 + e^-s) over mated, log2(1 + e^s) over non-mated scores.
    loops : module, optional
        Compiled loops to use for this tally and whatever is derived from it.

    Examples
    --------
    >>> from sottovoce.measure import Scores
    >>> tally = Tally.of(Scores([2.0, 3.0], [0.0, 1.0, 2.0]))
    >>> tally.cuts, tally.mated, tally.nonmated
    (array([2., 3.]), array([0, 1, 0, 1, 0]), array([2, 1, 0, 0, 0]))
    """

    cuts: NDArray[np.float64]
    mated: Counts
    nonmated: Counts
    edges: NDArray[np.float64] | None = None
    costs: tuple[Cost, Cost] | None = None
    loops: ModuleType | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        source: ScoreSource,
        *,
        bins: int = 0,
        thresholds: Sequence[float] = (),
        costs: bool = False,
        loops: ModuleType | None = None,
    ) -> Tally:
        """Tally a set of scores, cut at the distinct scores of its smaller class.

        Parameters
        ----------
        source : ScoreSource
            The scores, in memory or streamed.
        bins : int, default 0
            Adds the edges of that many equal bins over the whole range to the cuts.
        thresholds : sequence of float, optional
            Added to the cuts, so that :meth:`counts_below` them is known.
        costs : bool, default False
            Add what C_llr needs: a logarithm a score, several times the price of counting.
        loops : module, optional
            Compiled loops, from :func:`~sottovoce.measure.acceleration.loops_for`.
        """
        edges = make_edges(source.low, source.high, bins) if bins else None
        added = _with_thresholds(edges, thresholds)
        if len(source.mated) <= source.n_nonmated:
            cuts = make_cuts(source.mated, added)
            chunks = source.nonmated_chunks()
            return cls.on(cuts, source.mated, chunks, edges=edges, costs=costs, loops=loops)
        # copied: a source may fill the same buffer again for its next chunk
        few = np.concatenate([chunk.copy() for chunk in source.nonmated_chunks()])
        cuts = make_cuts(few, added)
        return cls.on(cuts, source.mated, [few], edges=edges, costs=costs, loops=loops)

    @classmethod
    def on(
        cls,
        cuts: NDArray[np.float64],
        mated: RealArray,
        nonmated: Iterable[RealArray],
        *,
        edges: NDArray[np.float64] | None = None,
        costs: bool = False,
        loops: ModuleType | None = None,
    ) -> Tally:
        """Tally on given cuts, so that tallies of parts can be added.

        Parameters
        ----------
        cuts : array of float64
            Every distinct score of at least one class of the *whole* set, rising.
        mated : array of float32 or float64
            Mated scores of this part.
        nonmated : iterable of array
            Non-mated scores of this part, in chunks.
        edges : array of float64, optional
            Histogram edges; the inner ones must be among the cuts.
        costs : bool, default False
            Add what C_llr needs.
        loops : module, optional
            Compiled loops, from :func:`~sottovoce.measure.acceleration.loops_for`.
        """
        if not len(cuts):
            raise InputError("no cuts; cut at every distinct score of one class", code="empty")
        mated_counts = count_on(cuts, mated, loops)
        mated_cost, nonmated_cost = cost(-mated) if costs else Cost(), Cost()
        nonmated_counts = np.zeros(2 * len(cuts) + 1, np.int64)
        for chunk in nonmated:
            nonmated_counts += count_on(cuts, chunk, loops)
            if costs:
                nonmated_cost += cost(chunk)
        if mated_counts[::2].any() and nonmated_counts[::2].any():
            raise InputError(
                "mated and non-mated scores lie between these cuts, so their order is lost; "
                "cut at every distinct score of one class",
                code="wrong-cuts",
            )
        return cls(
            cuts,
            mated_counts,
            nonmated_counts,
            edges=edges,
            costs=(mated_cost, nonmated_cost) if costs else None,
            loops=loops,
        )

    def __add__(self, other: Tally) -> Tally:
        if not np.array_equal(self.cuts, other.cuts):
            raise InputError(
                "tallies on different cuts cannot be added; tally each part with Tally.on and the "
                "cuts of the whole set",
                code="wrong-cuts",
            )
        costs = None
        if self.costs is not None and other.costs is not None:
            costs = (self.costs[0] + other.costs[0], self.costs[1] + other.costs[1])
        return Tally(
            self.cuts,
            np.add(self.mated, other.mated),
            np.add(self.nonmated, other.nonmated),
            edges=self.edges if self.edges is not None else other.edges,
            costs=costs,
            loops=self.loops or other.loops,
        )

    @cached_property
    def n_mated(self) -> float:
        """How many mated scores there are (the sum of weights when weighted)."""
        return self.mated.sum().item()  # type: ignore[no-any-return]

    @cached_property
    def n_nonmated(self) -> float:
        """How many non-mated scores there are (the sum of weights when weighted)."""
        return self.nonmated.sum().item()  # type: ignore[no-any-return]

    @cached_property
    def cumulative(self) -> tuple[Counts, Counts]:
        """Mated and non-mated scores in each cell or below it."""
        return np.cumsum(self.mated), np.cumsum(self.nonmated)

    @cached_property
    def groups(self) -> tuple[Counts, Counts]:
        """Counts of neighbouring cells that PAV is bound to pool, half as many as cells.

        Where gaps hold non-mated scores only, a cut and the gap above it have falling posteriors,
        and PAV pools whatever does not rise; where they hold mated scores only, likewise a gap and
        the cut above it.
        """
        return (
            _in_pairs(self.mated, self._gaps_are_nonmated),
            _in_pairs(self.nonmated, self._gaps_are_nonmated),
        )

    @property
    def group_starts(self) -> NDArray[np.float64]:
        """The smallest double that belongs to each of :attr:`groups`."""
        starts = np.append(-np.inf, self.cuts)
        return starts if self._gaps_are_nonmated else np.nextafter(starts, np.inf)

    @property
    def _gaps_are_nonmated(self) -> bool:
        return not self.mated[::2].any()

    def counts_below(self, threshold: float) -> tuple[float, float]:
        """Mated and non-mated scores below a threshold.

        Parameters
        ----------
        threshold : float
            One of the cuts.
        """
        i = int(np.searchsorted(self.cuts, threshold))
        if i == len(self.cuts) or self.cuts[i] != threshold:
            raise InputError(
                f"this tally is not cut at {threshold:g}; make it with Tally.of(…, thresholds=…)",
                code="missing-cuts",
            )
        mated, nonmated = self.cumulative
        return mated[2 * i].item(), nonmated[2 * i].item()

    def binned(self) -> tuple[Counts, Counts]:
        """Mated and non-mated counts per histogram bin [eᵢ, eᵢ₊₁), the last one closed."""
        if self.edges is None:
            raise InputError(
                "this tally has no histogram edges; make it with Tally.of(…, bins=…)",
                code="missing-bins",
            )
        inner = 2 * np.searchsorted(self.cuts, self.edges[1:-1]) + 1
        starts = np.concatenate(([0], inner))
        return np.add.reduceat(self.mated, starts), np.add.reduceat(self.nonmated, starts)


def _in_pairs(cells: Counts, gap_follows: bool) -> Counts:
    """Add each gap to the cut below it, or to the cut above it."""
    if gap_follows:
        return np.append(cells[:1], cells[1::2] + cells[2::2])
    return np.append(cells[:-1:2] + cells[1::2], cells[-1:])


def make_edges(low: float, high: float, bins: int) -> NDArray[np.float64]:
    """Make the edges of equal bins, all distinct.

    Parameters
    ----------
    low, high : float
        The range of all scores.
    bins : int
        How many bins, at least 1.
    """
    edges = np.linspace(low, high, bins + 1)
    if not np.all(np.diff(edges) > 0):
        raise InputError(
            f"scores from {low:g} to {high:g} are too close together for {bins} bins; "
            "rescale the scores or ask for fewer bins",
            code="too-close",
        )
    return edges


def _with_thresholds(
    edges: NDArray[np.float64] | None, thresholds: Sequence[float]
) -> NDArray[np.float64] | None:
    """Histogram edges with thresholds among the inner ones, for the cuts only."""
    if not len(thresholds):
        return edges
    inner = np.array([]) if edges is None else edges[1:-1]
    return np.concatenate(([-np.inf], np.union1d(inner, thresholds), [np.inf]))


def make_cuts(scores: RealArray, edges: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Collect the distinct scores, and the inner histogram edges if there are any, in order.

    Parameters
    ----------
    scores : array of float32 or float64
        Scores of one class.
    edges : array of float64, optional
        Histogram edges.
    """
    cuts = np.unique(scores).astype(np.float64)
    return cuts if edges is None else np.union1d(cuts, edges[1:-1])


def count_on(
    cuts: NDArray[np.float64], scores: RealArray, loops: ModuleType | None = None
) -> NDArray[np.int64]:
    """Count how many scores fall in each of the 2k+1 cells made by k cuts.

    Parameters
    ----------
    cuts : array of float64, k
        Rising.
    scores : array of float32 or float64
        In any order.
    loops : module, optional
        Compiled loops to use for long arrays.

    Notes
    -----
    Sorts small pieces in cache and looks the cuts up in them: several times cheaper than looking
    every score up among the cuts, and exact. Needs memory for one piece only.
    """
    cuts_here = _as_dtype(cuts, scores.dtype)
    exact = cuts_here == cuts
    if loops is not None and len(scores) > CHUNK:
        cells: NDArray[np.int64] = loops.count_cells(cuts_here, exact, scores)
        if cells[0] >= 0:
            return cells
    size = max(CHUNK, 8 * len(cuts))
    below, at = np.zeros(len(cuts), np.int64), np.zeros(len(cuts), np.int64)
    buffer = np.empty(min(size, len(scores)), scores.dtype)
    for start in range(0, len(scores), size):
        part, under = _sorted_part(scores[start : start + size], cuts_here, buffer)
        below += under
        if len(part):
            left = np.searchsorted(part, cuts_here)
            below += left
            hit = np.flatnonzero(part[np.minimum(left, len(part) - 1)] == cuts_here)
            hit = hit[exact[hit] & (left[hit] < len(part))]
            at[hit] += np.searchsorted(part, cuts_here[hit], side="right") - left[hit]
    return _cells(below, at, len(scores))


def _sorted_part(piece: RealArray, cuts: RealArray, buffer: RealArray) -> tuple[RealArray, int]:
    """The scores that lie among the cuts, sorted, and how many lie below all cuts.

    Where most scores lie outside the cuts, as they do when the classes are well apart, leaving
    them out first is cheaper than sorting them.
    """
    sample = piece[:: max(1, len(piece) // 512)]
    if 2 * np.count_nonzero((sample >= cuts[0]) & (sample <= cuts[-1])) > len(sample):
        part = buffer[: len(piece)]
        part[:] = piece
        part.sort()
        ends, under = part[[0, -1]], 0  # NaN sorts last
    else:
        ends = np.array([piece.min(), piece.max()])
        under = int(np.count_nonzero(piece < cuts[0]))
        part = piece[(piece >= cuts[0]) & (piece <= cuts[-1])]
        part.sort()
    if not -LARGEST <= float(ends[0]) <= float(ends[1]) <= LARGEST:
        check_finite(piece, "scores")
    return part, under


def _as_dtype(cuts: NDArray[np.float64], dtype: np.dtype[np.floating]) -> RealArray:
    """Round cuts up to ``dtype``: s >= cut is the same question before and after for such an s.

    Otherwise numpy would widen every chunk of float32 scores to look double cuts up in it.
    """
    with np.errstate(over="ignore"):  # infinity where a cut is above all numbers of this type
        rounded = cuts.astype(dtype)
        short = rounded < cuts
        rounded[short] = np.nextafter(rounded[short], np.array(np.inf, dtype))
    return rounded


def _cells(below: NDArray[np.int64], at: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Counts per cell from counts below and at each cut."""
    cells = np.empty(2 * len(below) + 1, np.int64)
    cells[1::2] = at
    upto = below + at
    cells[0] = below[0]
    cells[2:-1:2] = below[1:] - upto[:-1]
    cells[-1] = total - upto[-1]
    return cells
