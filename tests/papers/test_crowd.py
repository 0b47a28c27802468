"""Document 004, Figures 12 to 14: crowds that hide alike."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.findings import CurvePoint, Reidentification
from sottovoce.papers.comprise_2021.crowd import core_of, equivalent_crowds
from sottovoce.speaker.embeddings import Embeddings


def curve(values: dict[int, float]) -> Reidentification:
    points = tuple(CurvePoint(1, size, value, 20 / size, k=20) for size, value in values.items())
    return Reidentification(740, "cosine", top_k=points)


def test_a_crowd_that_hides_alike_is_interpolated() -> None:
    """Half way between 100 and 400 speakers on a logarithmic scale are 200."""
    curves = {
        "baseline": curve({20: 1.0, 100: 0.9, 400: 0.7}),
        "xvector, ignorant": curve({20: 1.0, 40: 0.8}),
    }
    ((name, size, value, found),) = equivalent_crowds(curves)
    assert (name, size, value) == ("xvector, ignorant", 40, 0.8)
    assert float(found) == pytest.approx(math.sqrt(100 * 400))


def test_test_speakers_have_enough_trials() -> None:
    for each, speakers in ((1, 60), (3, 20), (6, 20)):
        names = [f"s{i:03d}" for i in range(200) for _ in range(each)]
        vectors = np.random.default_rng(0).normal(size=(len(names), 4))
        core = core_of(Embeddings.of(vectors, names))
        assert len(core.names) == speakers and len(core) >= 60
    few = Embeddings.of(np.random.default_rng(0).normal(size=(30, 4)), [str(i) for i in range(30)])
    assert core_of(few) is few


def test_no_crowd_beyond_everybody_is_made_up() -> None:
    curves = {"baseline": curve({20: 1.0, 100: 0.9}), "mcadams": curve({20: 1.0, 40: 0.5})}
    ((_, _, _, found),) = equivalent_crowds(curves)
    assert found.startswith("more than 100")
