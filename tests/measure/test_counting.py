"""Counting on cuts by buckets: equal to comparing every score with every cut."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.measure import counting
from sottovoce.measure.counting import CellCounter, count_on, cut_and_count, make_cuts
from sottovoce.measure.scores import LARGEST

DOUBLES = st.one_of(
    st.floats(-LARGEST, LARGEST),
    st.integers(-4, 4).map(float),
    st.sampled_from([5e-324, -5e-324, 1e-300, 3.4e38, -3.4e38, 1e39]),
)
SINGLES = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.integers(-4, 4).map(float),
    st.sampled_from([1e-45, -1e-45, 3.4028234663852886e38, -3.4028234663852886e38]),
)


def compared(cuts: Any, scores: Any) -> list[int]:
    """Cell by cell, by comparisons in double precision alone."""
    wide = scores.astype(np.float64)
    bounds = [-np.inf, *cuts.tolist(), np.inf]
    cells = [int(np.sum((wide > bounds[0]) & (wide < bounds[1])))]
    for low, high in pairwise(bounds[1:]):
        cells += [int(np.sum(wide == low)), int(np.sum((wide > low) & (wide < high)))]
    return cells


@settings(max_examples=150, deadline=None)
@given(cuts=st.lists(DOUBLES, min_size=1, max_size=12, unique=True), data=st.data())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("buckets", [1, 3, 1 << 17])
def test_counts_equal_comparisons(buckets: int, dtype: Any, cuts: Any, data: Any) -> None:
    kind = SINGLES if dtype == np.float32 else DOUBLES
    near = [cut for cut in cuts if abs(cut) < 3e38]
    scores = data.draw(st.lists(st.one_of(kind, st.sampled_from(near or [0.0])), max_size=30))
    edges = np.unique(np.array(cuts, np.float64))
    chunk = np.array(scores, dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "BUCKETS", buckets)
        assert count_on(edges, chunk).tolist() == compared(edges, chunk)


@pytest.mark.parametrize("piece", [1, 7, 1 << 17])
def test_chunks_add_up(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "PIECE", piece)
    monkeypatch.setattr(counting, "CHUNK", 2 * piece)
    rng = np.random.default_rng(piece)
    cuts = make_cuts(rng.normal(size=9).round(1))
    scores = rng.normal(size=500).round(1).astype(np.float32)
    counter = CellCounter(cuts, scores.dtype)
    for part in np.split(scores, [10, 10, 300]):
        counter.add(part)
    assert counter.cells().tolist() == compared(cuts, scores)
    counter.add(scores)
    assert counter.cells().tolist() == compared(cuts, np.tile(scores, 2))


def test_the_class_that_makes_the_cuts_is_counted_with_them() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300).round(2)
    edges = np.linspace(-4, 4, 9)
    cuts, cells = cut_and_count(scores, edges)
    assert cuts.tolist() == np.union1d(scores, edges[1:-1]).tolist()
    assert cells.tolist() == compared(cuts, scores)
