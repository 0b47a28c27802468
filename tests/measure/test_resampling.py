"""Weighted tallies: the same counts and costs in every way of adding them up."""

from __future__ import annotations

import numpy as np
import pytest
from paired_systems import paired_systems

from sottovoce.measure import Scores
from sottovoce.measure.acceleration import ALWAYS, loops_for
from sottovoce.measure.resampling import SpeakerTallies, TrialTallies, draw_weights
from sottovoce.measure.tally import Tally


def literal(scores: Scores, tally: Tally, weights: np.ndarray) -> list[Tally | None]:
    """Every trial counts as often as its speakers do together."""
    who = scores.speakers
    assert who is not None
    by_trial = (weights[who.mated], weights[who.nonmated_enrol] * weights[who.nonmated_trial])
    return TrialTallies(scores, tally)(np.concatenate(by_trial))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("speakers", [9, 140])  # a table of all pairs, and blocks of trials
@pytest.mark.parametrize("costs", [False, True])
def test_weights_of_speakers_are_products_on_their_trials(
    speakers: int, costs: bool, compiled: bool
) -> None:
    loops = loops_for(ALWAYS) if compiled else None
    if compiled and loops is None:
        pytest.skip("numba is not installed")
    (scores,) = paired_systems([1.0], speakers=speakers, utterances=2)
    who = scores.speakers
    assert who is not None
    tally = Tally.of(scores, costs=costs, loops=loops)
    weights = draw_weights(speakers, np.random.default_rng(0), 5)
    tallies = SpeakerTallies(scores, who, tally)(weights)
    for ours, expected in zip(tallies, literal(scores, tally, weights), strict=True):
        assert ours is not None
        assert expected is not None
        assert np.array_equal(ours.mated, expected.mated)
        assert np.array_equal(ours.nonmated, expected.nonmated)
        assert (ours.costs is None) == (not costs)
        for cost, exact in zip(ours.costs or (), expected.costs or (), strict=True):
            assert cost.total == pytest.approx(exact.total, rel=1e-6)
