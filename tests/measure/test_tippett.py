"""Tippett curves against counts of likelihood ratios that reach a value."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
import pytest
from reference_sets import small_reference_sets

from sottovoce.findings import TippettCurve
from sottovoce.measure import Scores, calibrate, score_curves
from sottovoce.measure.tippett import POWERS, reached_share, tippett_curves
from sottovoce.report.panels import score_panels
from sottovoce.report.scores import tippett_figure

SETS = small_reference_sets()
each_set = pytest.mark.parametrize("scores", SETS, ids=lambda scores: scores.name)


def check(curve: TippettCurve, mated: list[float], nonmated: list[float]) -> None:
    """Every point of the curve, and every power of ten, against plain counts."""
    for value, share, other in zip(curve.log10_lr, curve.mated, curve.nonmated, strict=True):
        slack = 1e-12 * max(1.0, abs(value))
        for side, found in ((mated, share), (nonmated, other)):
            reach = [
                np.mean([x / math.log(10) >= value + s for x in side]) for s in (slack, -slack)
            ]
            assert reach[0] - 1e-12 <= found <= reach[1] + 1e-12
    for power in POWERS:
        shares = reached_share(curve, power)
        for side, found in zip((mated, nonmated), shares, strict=True):
            assert found == pytest.approx(
                float(np.mean([x / math.log(10) >= power - 1e-9 for x in side])), abs=1e-12
            )


@each_set
def test_curves_count_likelihood_ratios(scores: Scores) -> None:
    tippett = score_curves(scores).tippett
    assert tippett == tippett_curves(scores)
    assert tippett is not None
    check(tippett.scores, scores.mated.tolist(), scores.nonmated.tolist())
    oracle = calibrate(scores, laplace=True)
    llrs = (oracle.llr(side).tolist() for side in (scores.mated, scores.nonmated))
    check(tippett.calibrated, *llrs)


@each_set
def test_curves_fall_from_one_to_zero(scores: Scores) -> None:
    tippett = tippett_curves(scores)
    for curve in (tippett.scores, tippett.calibrated):
        assert list(curve.log10_lr) == sorted(curve.log10_lr)
        for shares in (curve.mated, curve.nonmated):
            assert shares[0] == 1 and shares[-1] == 0
            assert np.all(np.diff(shares) <= 0)
        assert len(curve.log10_lr) < 250


@each_set
def test_the_figure_and_the_panel_are_drawn(scores: Scores) -> None:
    curves = score_curves(scores)
    assert curves.tippett is not None
    figure = tippett_figure(scores.name, curves.tippett)
    assert ElementTree.fromstring(figure.svg).tag.endswith("svg")
    panels = score_panels({scores.name: curves})
    assert "Tippett" in panels[-1] and "10^+2" in panels[-1]
