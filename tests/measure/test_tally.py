"""The tally: counts on and between cuts, exact whatever the chunks and the precision."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.measure import Scores, Tally, counting, measure_scores
from sottovoce.measure.counting import make_cuts, make_edges
from sottovoce.measure.score_stream import ScoreStream
from sottovoce.measure.scores import CHUNK
from sottovoce.measure.tally import CountScores

Floats = NDArray[np.floating[Any]]


def literal_cells(cuts: Floats, values: Floats) -> list[int]:
    """Count cell by cell, straight from the picture in the module's docstring."""
    cells = [int(np.sum(values < cuts[0]))]
    for i, cut in enumerate(cuts):
        above = cuts[i + 1] if i + 1 < len(cuts) else np.inf
        cells.append(int(np.sum(values == cut)))
        cells.append(int(np.sum((values > cut) & (values < above))))
    return cells


def test_counts_on_and_between_cuts() -> None:
    tally = Tally.of(Scores([2, 3, 3], [0, 1, 2, 2.5, 2.5, 3, 9]))
    assert tally.cuts.tolist() == [2, 3]
    assert tally.mated.tolist() == [0, 1, 0, 2, 0]
    assert tally.nonmated.tolist() == [2, 1, 2, 1, 1]
    assert (tally.n_mated, tally.n_nonmated) == (3, 7)


def test_cuts_are_the_scores_of_the_smaller_class() -> None:
    assert Tally.of(Scores([1, 2], [5, 6, 7])).cuts.tolist() == [1, 2]
    assert Tally.of(Scores([1, 2, 3], [5, 6])).cuts.tolist() == [5, 6]
    assert Tally.of(Scores([1, 2], [5, 6])).cuts.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("chunk", [1, 3, 16, 1000])
def test_pieces_of_any_size_give_the_literal_counts(
    chunk: int, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "CHUNK", chunk)
    monkeypatch.setattr(counting, "PIECE", chunk)
    rng = np.random.default_rng(chunk)
    mated = rng.normal(size=5).round(1).astype(dtype)
    nonmated = rng.normal(size=400).round(1).astype(dtype)
    tally = Tally.of(Scores(mated, nonmated))
    cuts = tally.cuts
    assert tally.mated.tolist() == literal_cells(cuts, mated.astype(float))
    assert tally.nonmated.tolist() == literal_cells(cuts, nonmated.astype(float))


def test_double_cuts_are_exact_among_single_precision_scores() -> None:
    """0.1 in double lies between two single-precision neighbours: nothing is *on* that cut."""
    near = np.float32(0.1)
    nonmated = np.array([np.nextafter(near, np.float32(-1)), near, np.float32(0.5)])
    assert nonmated.dtype == np.float32
    assert float(near) > 0.1
    tally = Tally.of(Scores([0.1, 0.5], nonmated))
    assert tally.nonmated.tolist() == [1, 0, 1, 1, 0]


def test_single_precision_cuts_are_exact_among_double_scores() -> None:
    mated = np.array([0.1], np.float32)
    tally = Tally.of(Scores(mated, [0.1, float(np.float32(0.1)), 0.2]))
    assert tally.nonmated.tolist() == [1, 1, 1]


LARGEST_SINGLE = float(np.finfo(np.float32).max)

WIDE: dict[str, tuple[Any, Any]] = {
    "range above the largest float32": (
        np.array([-3e38, -1.0, 2.0, 3e38], np.float32),
        np.array([-3.2e38, -3e38, -2e38, -1.0, 0.0, 1.0, 2.0, 2.9e38, 3.2e38], np.float32),
    ),
    "one cut rounds up to infinity": (
        np.array([2e38, 2.5e38, LARGEST_SINGLE * (1 + 1e-9)]),
        np.array([1e38, 2e38, 2.2e38, 2.5e38, 3.3e38, LARGEST_SINGLE], np.float32),
    ),
    "all cuts are above the largest float32": (
        np.array([1e39, 2e39]),
        np.array([1e38, LARGEST_SINGLE], np.float32),
    ),
}


@pytest.mark.parametrize("case", WIDE)
def test_many_scores_of_a_very_wide_range_give_the_literal_counts(case: str) -> None:
    """Counting divides the range of the cuts, which overflows in float32."""
    mated, few = WIDE[case]
    nonmated = np.resize(few, CHUNK + 1000)
    tally = Tally.of(Scores(mated, nonmated))
    assert tally.nonmated.tolist() == literal_cells(tally.cuts, nonmated.astype(np.float64))


@pytest.mark.parametrize("case", WIDE)
def test_a_very_wide_range_gives_the_measures_of_double_precision(case: str, engine: str) -> None:
    mated, few = WIDE[case]
    nonmated = np.resize(few, CHUNK + 1000)
    single, double = (
        measure_scores(scores, replicates=20, seed=1).to_dict()
        for scores in (
            Scores(mated, nonmated),
            Scores(mated.astype(np.float64), nonmated.astype(np.float64)),
        )
    )
    assert single == double


def test_negative_and_positive_zero_are_one_score() -> None:
    tally = Tally.of(Scores([0.0, -0.0], [-0.0, 0.0, 1.0]))
    assert tally.cuts.tolist() == [0.0]
    assert tally.mated.tolist() == [0, 2, 0]
    assert tally.nonmated.tolist() == [0, 2, 1]


def test_scores_are_left_as_they_were() -> None:
    nonmated = np.array([3.0, 1.0, 2.0])
    Tally.of(Scores([1.5], nonmated), bins=4, costs=True)
    assert nonmated.tolist() == [3.0, 1.0, 2.0]


def test_extra_cuts_split_cells_only() -> None:
    mated, nonmated = np.array([2.0]), np.array([0.0, 1.0, 5.0])
    tally = Tally.on(np.array([0.5, 2.0, 3.0]), mated, [nonmated])
    assert tally.nonmated.tolist() == [1, 0, 1, 0, 0, 0, 1]
    assert tally.mated.tolist() == [0, 0, 0, 1, 0, 0, 0]


def test_an_empty_part_counts_nothing() -> None:
    cuts = np.array([1.0, 2.0])
    nothing = np.array([], np.float64)
    tally = Tally.on(cuts, nothing, [nothing], costs=True)
    assert tally.mated.tolist() == tally.nonmated.tolist() == [0] * 5
    whole = Tally.on(cuts, np.array([1.0, 2.0]), [np.array([0.0])], costs=True)
    total = whole + tally
    assert total.mated.tolist() == whole.mated.tolist()
    assert total.costs == whole.costs


def test_cuts_that_lose_the_order_are_refused() -> None:
    with raises_code("wrong-cuts", InputError):
        Tally.on(np.array([0.0]), np.array([1.0]), [np.array([2.0])])


def test_tallies_on_different_cuts_do_not_add() -> None:
    one, other = Tally.of(Scores([1], [0, 0])), Tally.of(Scores([2], [0, 0]))
    with raises_code("wrong-cuts", InputError):
        one + other


def test_a_sum_has_costs_only_if_both_parts_have() -> None:
    scores = Scores([1, 2], [0, 1, 5])
    plain, costly = Tally.of(scores), Tally.of(scores, costs=True, squares=True)
    assert (plain + costly).costs is None
    total = costly + costly
    assert total.costs is not None
    assert costly.costs is not None
    assert total.costs[0].total == 2 * costly.costs[0].total
    squares = costly.costs[1].squares
    assert squares is not None
    assert total.costs[1].squares == 2 * squares


def test_a_sum_keeps_the_edges() -> None:
    scores = Scores([1, 2], [0, 1, 5])
    binned = Tally.of(scores, bins=3)
    bare = Tally(binned.cuts, binned.mated, binned.nonmated)
    for total in (binned + binned, binned + bare, bare + binned):
        np.testing.assert_array_equal(total.edges, binned.edges)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_that_are_not_finite_are_refused_in_any_chunk(bad: float, dtype: Any) -> None:
    chunks = [np.array([0.0, 1.0], dtype), np.array([2.0, bad, 3.0], dtype)]
    with raises_code("not-finite", InputError):
        Tally.on(np.array([1.0]), np.array([1.0]), chunks)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("places", [0, 1, 12])
@pytest.mark.parametrize("bins", [1, 2, 7, 100])
def test_bins_are_those_of_a_histogram(bins: int, places: int, dtype: Any) -> None:
    rng = np.random.default_rng(bins)
    mated = rng.normal(1, 1, 80).round(places).astype(dtype)
    nonmated = rng.normal(0, 1, 300).round(places).astype(dtype)
    tally = Tally.of(Scores(mated, nonmated), bins=bins)
    both = np.concatenate((mated, nonmated)).astype(np.float64)
    edges = np.linspace(both.min(), both.max(), bins + 1)
    np.testing.assert_array_equal(tally.edges, edges)
    for found, values in zip(tally.binned(), (mated, nonmated), strict=True):
        expected = np.histogram(values.astype(np.float64), edges)[0]
        np.testing.assert_array_equal(found, expected)


def test_a_tally_without_edges_has_no_bins() -> None:
    with raises_code("missing-bins", InputError):
        Tally.of(Scores([1], [0])).binned()


def test_edges_must_be_distinct() -> None:
    with raises_code("too-close", InputError):
        make_edges(1.0, float(np.nextafter(1.0, 2.0)), 10)


def test_make_cuts_sorts_and_drops_repeats() -> None:
    values = np.array([3, 1, 3], np.float32)
    assert make_cuts(values).tolist() == [1, 3]
    assert make_cuts(values).dtype == np.float64
    assert make_cuts(values, np.array([0.0, 1.0, 2.0, 4.0])).tolist() == [1, 2, 3]


def test_costs_are_the_sums_cllr_averages() -> None:
    tally = Tally.of(Scores([0.0, 1.0], [-2.0]), costs=True, squares=True)
    assert tally.costs is not None
    mated, nonmated = tally.costs
    assert mated.total == pytest.approx(1 + np.log2(1 + np.exp(-1)))
    assert mated.squares == pytest.approx(1 + np.log2(1 + np.exp(-1)) ** 2)
    assert nonmated.total == pytest.approx(np.log2(1 + np.exp(-2)))


@pytest.mark.parametrize(
    ("count", "kind"), [(255, np.uint8), (256, np.uint16), (65_536, np.uint32)]
)
def test_counts_are_sent_in_the_smallest_type_and_add_up(count: int, kind: type) -> None:
    count_scores = CountScores(np.array([0.0, 1.0]), costs=False, squares=False)
    cells, _ = count_scores([np.full(count, 0.5, np.float32)])
    assert cells.dtype == kind and cells.tolist() == [0, 0, count, 0, 0]
    parts = [partial(iter, [np.full(count, 0.5, np.float32)]) for _ in range(3)]
    stream = ScoreStream("a", "a", np.array([0.0, 1.0]), 3 * count, parts, lambda: None)
    assert Tally.of(stream).nonmated.tolist() == [0, 0, 3 * count, 0, 0]
