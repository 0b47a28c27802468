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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.core.types import RealArray
from sottovoce.measure.costs import Cost, cost
from sottovoce.measure.counting import CellCounter, count_on, cut_and_count, make_cuts, make_edges
from sottovoce.measure.score_stream import ScoreStream
from sottovoce.measure.scores import ScoreSource

Counts = NDArray[np.int64 | np.float64]
"""int64, or float64 when scores are weighted."""


@dataclass(frozen=True, slots=True, eq=False)
class FineBins:
    """Bins that divide those of a histogram, and how far the shares in them may be off."""

    edges: NDArray[np.float64]
    """Over the range of all scores; the inner ones are among the cuts of the tally."""
    mated_error: NDArray[np.float64]
    """Standard error of the share of mated scores in each bin."""
    nonmated_error: NDArray[np.float64]
    """Standard error of the share of non-mated scores in each bin."""
    chance: float
    """Mean D_sys on these bins with shuffled labels."""


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
    added : array of float64, optional
        Cuts that are not there for the scores: inner histogram edges and thresholds.
    rounded_down : bool, default False
        Whether scores count as the cut below them, so that nothing lies between cuts.
    fine : FineBins, optional
        Finer bins of the histogram, for the bias-corrected D_sys.

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
    added: NDArray[np.float64] | None = field(default=None, repr=False)
    rounded_down: bool = False
    fine: FineBins | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        source: ScoreSource,
        *,
        bins: int = 0,
        thresholds: Sequence[float] = (),
        costs: bool = False,
        squares: bool = False,
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
            Add what C_llr needs.
        squares : bool, default False
            Add to the costs what their resamples by trial need: a logarithm per score, several
            times the price of counting.
        loops : module, optional
            Compiled loops, from :func:`~sottovoce.measure.acceleration.loops_for`.
        """
        edges = make_edges(source.low, source.high, bins) if bins else None
        added = _with_thresholds(edges, thresholds)
        price = partial(cost, squares=squares) if costs else _no_cost
        if len(source.mated) <= source.n_nonmated:
            cuts, mated = cut_and_count(source.mated, added)
            nonmated, nonmated_cost = _count_source(source, CountScores(cuts, costs, squares))
        else:
            # copied: a source may fill the same buffer again for its next chunk
            few = np.concatenate([chunk.copy() for chunk in source.nonmated_chunks()])
            cuts, nonmated = cut_and_count(few, added)
            mated, nonmated_cost = count_on(cuts, source.mated), price(few)
        return cls(
            cuts,
            mated,
            nonmated,
            edges=edges,
            costs=(price(-source.mated), nonmated_cost) if costs else None,
            loops=loops,
            added=None if added is None else added[1:-1],
        )

    @classmethod
    def on(
        cls,
        cuts: NDArray[np.float64],
        mated: RealArray,
        nonmated: Iterable[RealArray],
        *,
        edges: NDArray[np.float64] | None = None,
        costs: bool = False,
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
        """
        if not len(cuts):
            raise InputError("no cuts; cut at every distinct score of one class", code="empty")
        price = cost if costs else _no_cost
        mated_counts, mated_cost = count_on(cuts, mated), price(-mated)
        nonmated_counts, nonmated_cost = _count_chunks(cuts, nonmated, price)
        if mated_counts[::2].any() and nonmated_counts[::2].any():
            raise InputError(
                "mated and non-mated scores lie between these cuts, so their order is lost; "
                "cut at every distinct score of one class",
                code="wrong-cuts",
            )
        both_costs = (mated_cost, nonmated_cost) if costs else None
        return cls(cuts, mated_counts, nonmated_counts, edges=edges, costs=both_costs)

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
        return self.rounded_down or not self.mated[::2].any()

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
        return self._counts_between(self.edges)

    def binned_finely(self) -> tuple[Counts, Counts]:
        """Mated and non-mated counts per fine bin; per histogram bin where there are none."""
        return self.binned() if self.fine is None else self._counts_between(self.fine.edges)

    def _counts_between(self, edges: NDArray[np.float64]) -> tuple[Counts, Counts]:
        inner = 2 * np.searchsorted(self.cuts, edges[1:-1]) + 1
        starts = np.concatenate(([0], inner))
        return np.add.reduceat(self.mated, starts), np.add.reduceat(self.nonmated, starts)


def _in_pairs(cells: Counts, gap_follows: bool) -> Counts:
    """Add each gap to the cut below it, or to the cut above it."""
    if gap_follows:
        return np.append(cells[:1], cells[1::2] + cells[2::2])
    return np.append(cells[:-1:2] + cells[1::2], cells[-1:])


def _no_cost(scores: RealArray) -> Cost:
    return Cost()


def _with_thresholds(
    edges: NDArray[np.float64] | None, thresholds: Sequence[float]
) -> NDArray[np.float64] | None:
    """Histogram edges with thresholds among the inner ones, for the cuts only."""
    if not len(thresholds):
        return edges
    inner = np.array([]) if edges is None else edges[1:-1]
    return np.concatenate(([-np.inf], make_cuts(np.concatenate((inner, thresholds))), [np.inf]))


@dataclass(frozen=True, slots=True, eq=False)
class CountScores:
    """Counts scores on cuts and adds up their costs, on any worker."""

    cuts: NDArray[np.float64]
    costs: bool
    squares: bool

    def __call__(self, chunks: Iterable[RealArray]) -> tuple[NDArray[np.integer], Cost]:
        """Return the counts in each cell, and the sum of the costs.

        Parameters
        ----------
        chunks : iterable of array
            The scores.

        Returns
        -------
        counts : array of integers
            In the smallest type that holds them, because workers send them to the client.
        cost : Cost
            Sum over all scores.
        """
        price = partial(cost, squares=self.squares) if self.costs else _no_cost
        cells, total = _count_chunks(self.cuts, chunks, price)
        return _in_smallest_type(cells), total


def _count_source(source: ScoreSource, count: CountScores) -> tuple[NDArray[np.int64], Cost]:
    """Count all non-mated scores, part by part where they are in parts."""
    cells, total = np.zeros(2 * len(count.cuts) + 1, np.int64), Cost(0.0, 0.0)
    parts: Iterable[tuple[NDArray[np.integer], Cost]] = (
        source.map_parts(count)
        if isinstance(source, ScoreStream)
        else [count(source.nonmated_chunks())]
    )
    for part_cells, part_cost in parts:
        cells += part_cells
        total += part_cost
    if (counted := int(cells.sum())) != source.n_nonmated:
        raise InputError(
            f"{source.name}: {counted:,} non-mated scores were counted where there were "
            f"{source.n_nonmated:,} before; leave the files as they are and run it again",
            code="changed",
        )
    return cells, total


def _in_smallest_type(counts: NDArray[np.int64]) -> NDArray[np.integer]:
    """Counts as unsigned integers of one, two or four bytes, or unchanged if there are larger."""
    largest = counts.max(initial=0)
    kinds = (kind for kind in (np.uint8, np.uint16, np.uint32) if largest <= np.iinfo(kind).max)
    return counts.astype(next(kinds, np.int64), copy=False)


def _count_chunks(
    cuts: NDArray[np.float64], chunks: Iterable[RealArray], price: Callable[[RealArray], Cost]
) -> tuple[NDArray[np.int64], Cost]:
    """Counts of scores that come in chunks, and the sum of their costs."""
    counters: dict[np.dtype[np.floating], CellCounter] = {}
    total = Cost(0.0, 0.0)
    for chunk in chunks:
        if chunk.dtype not in counters:
            counters[chunk.dtype] = CellCounter(cuts, chunk.dtype)
        counters[chunk.dtype].add(chunk)
        total += price(chunk)
    cells = np.zeros(2 * len(cuts) + 1, np.int64)
    for counter in counters.values():
        cells += counter.cells()
    return cells, total
