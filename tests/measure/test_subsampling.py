"""Standard errors from subsamples against closed forms and literal weights."""

from __future__ import annotations

import numpy as np
import pytest
from paired_systems import paired_systems

from sottovoce.measure import Scores, pair_sets
from sottovoce.measure.catalogue import MEASURES
from sottovoce.measure.joint_draws import JointSets, plan_together
from sottovoce.measure.resampling import SpeakerTallies, TrialTallies
from sottovoce.measure.subsampling import (
    LEFT_OUT,
    TILT,
    Deviations,
    halve_speakers,
    leave_out_speakers,
    left_out_speakers,
    thinned,
)
from sottovoce.measure.tally import Tally


def deviations(sets: list[Scores], name: str, replicates: int = 4000) -> Deviations:
    paired = pair_sets(sets, same_trials=True)
    plan = plan_together(paired, 0.95, replicates)
    return JointSets(paired, [MEASURES[name]], plan).deviate(0)


def test_a_share_of_mated_trials_has_the_standard_error_of_a_mean_over_speakers() -> None:
    """Every speaker has ten mated trials, so FNMR is the mean of the shares of the speakers."""
    sets = paired_systems([0.8, 1.2], speakers=25)
    shares = [(scores.mated < 0.5).reshape(25, 10).mean(axis=1) for scores in sets]
    expected = np.std(shares[0] - shares[1], ddof=1) / 5
    deviating = deviations(sets, "fnmr_at_0.5")
    standard = deviating.errors([(0, 1)], 0, 24)
    assert standard.errors == pytest.approx([expected], rel=0.08)
    # 24 of the speakers and 799 of the subsamples, since there is no noise of pairs
    assert standard.degrees == pytest.approx([1 / (1 / 24 + 1 / 799)])
    assert np.ptp(deviating.pairs) < 1e-12


def test_trials_are_left_out_where_speakers_are_unknown() -> None:
    sets = [Scores(s.mated, s.nonmated, name=s.name) for s in paired_systems([0.8, 1.2])]
    differ = (sets[0].mated < 0.5).astype(float) - (sets[1].mated < 0.5)
    deviating = deviations(sets, "fnmr_at_0.5")
    expected = differ.std(ddof=1) / np.sqrt(len(differ))
    standard = deviating.errors([(0, 1)], 0, len(differ) - 1)
    assert standard.errors == pytest.approx([expected], rel=0.08)
    assert len(deviating.pairs) == 0


def test_pairs_of_speakers_that_add_up_have_no_noise_of_pairs() -> None:
    """Non-mated scores are what both speakers add, and so large that their cost is the score."""
    sets = paired_systems([0.8, 1.2], speakers=16)
    rng = np.random.default_rng(1)
    additive = []
    for scores in sets:
        who = scores.speakers
        assert who is not None
        adds = rng.normal(30, 1, 16)
        nonmated = adds[who.nonmated_enrol] + adds[who.nonmated_trial]
        additive.append(Scores(scores.mated, nonmated, speakers=who, name=scores.name))
    noisy, quiet = (deviations(some, "cllr", 1000) for some in (sets, additive))
    assert quiet.pairs.std() < 0.01 * quiet.left_out.std()
    assert noisy.pairs.std() > 0.1 * noisy.left_out.std()


def test_tilted_tallies_are_those_of_literal_weights() -> None:
    (scores,) = paired_systems([1.0], speakers=9)
    who = scores.speakers
    assert who is not None
    tally = Tally.of(scores, costs=True)
    signs = halve_speakers(9, np.random.default_rng(0))[:, :6]
    weights = 1 + TILT * signs[who.nonmated_enrol] * signs[who.nonmated_trial]
    mated = np.ones((len(scores.mated), 6))
    literal = TrialTallies(scores, tally)(np.concatenate((mated, weights)))
    for ours, expected in zip(
        SpeakerTallies(scores, who, tally).tilted(signs, TILT), literal, strict=True
    ):
        assert expected is not None
        assert ours.costs is not None
        assert expected.costs is not None
        np.testing.assert_allclose(ours.mated, expected.mated)
        np.testing.assert_allclose(ours.nonmated, expected.nonmated, rtol=1e-6)
        for side in (0, 1):
            assert ours.costs[side].total == pytest.approx(expected.costs[side].total, rel=1e-6)


@pytest.mark.parametrize("speakers", [5, 6, 20, 101])
def test_two_fifths_of_the_speakers_are_left_out(speakers: int) -> None:
    weights = leave_out_speakers(speakers, np.random.default_rng(0))
    assert np.all(weights.sum(axis=0) == speakers - left_out_speakers(speakers))
    assert left_out_speakers(speakers) == pytest.approx(LEFT_OUT * speakers, abs=0.5)
    signs = halve_speakers(speakers, np.random.default_rng(0))
    assert np.all(np.abs(signs.sum(axis=0)) == speakers % 2)


def test_a_thinned_tally_keeps_costs_and_counts_in_proportion() -> None:
    (scores,) = paired_systems([1.0])
    tally = Tally.of(scores, costs=True, squares=True)
    rng = np.random.default_rng(0)
    kept = [thinned(tally, 0.6, rng) for _ in range(300)]
    assert np.mean([t.n_nonmated for t in kept]) == pytest.approx(0.6 * tally.n_nonmated, rel=0.01)
    assert tally.costs is not None
    mean_cost = tally.costs[1].total / tally.n_nonmated
    costs = np.array([t.costs[1].total / t.n_nonmated for t in kept if t.costs is not None])
    assert costs.mean() == pytest.approx(mean_cost, rel=0.01)
    squares = tally.costs[1].squares
    assert squares is not None
    spread = np.sqrt((squares / tally.n_nonmated - mean_cost**2) / tally.n_nonmated)
    assert costs.std() == pytest.approx(spread * np.sqrt(0.4 / 0.6), rel=0.15)


def normal_deviations(variance: float, noise: float, least_share: float) -> Deviations:
    """Two sets, of which the second is constant, with given variances of the first."""
    rng = np.random.default_rng(0)
    sides = []
    for size, wanted in ((200, variance), (100, noise)):
        column = rng.normal(0, 1, size)
        column *= np.sqrt(wanted) / column.std(ddof=1)
        sides.append(np.stack((column, np.zeros(size)), axis=1)[..., None])
    return Deviations(sides[0], sides[1], least_share=least_share)


def test_a_difference_of_variances_has_the_degrees_of_satterthwaite() -> None:
    standard = normal_deviations(3.0, 1.0, 0.25).errors([(0, 1)], 0, 19)
    assert standard.errors == pytest.approx([np.sqrt(2)])
    assert standard.degrees == pytest.approx([4 / (4 / 19 + 9 / 199 + 1 / 99)])


def test_no_more_than_all_is_taken_for_noise_of_pairs() -> None:
    standard = normal_deviations(3.0, 2.9, 0.25).errors([(0, 1)], 0, 19)
    assert standard.errors == pytest.approx([np.sqrt(0.75)])
    assert standard.degrees == pytest.approx([1 / (1 / 19 + 1 / 199)])
    constant = normal_deviations(0.0, 0.0, 0.25).errors([(0, 1)], 0, 19)
    assert constant.errors == pytest.approx([0.0])
    assert constant.degrees == pytest.approx([19.0])


def test_subsamples_of_independent_pairs_show_their_variance_as_often_as_is_said() -> None:
    """Scores that no speaker influences: what remains is the least share of what is shown."""
    rng = np.random.default_rng(0)
    (scores,) = paired_systems([1.0], speakers=30)
    who = scores.speakers
    assert who is not None
    shares = []
    for _ in range(4):
        sets = [
            Scores(
                np.zeros(len(scores.mated)),
                rng.normal(size=len(scores.nonmated)),
                speakers=who,
                name=str(number),
            )
            for number in range(2)
        ]
        found = deviations(sets, "fmr_at_0", 1000)
        left_out = (found.left_out[:, 0] - found.left_out[:, 1]).var()
        accepted = [np.mean(some.nonmated >= 0) for some in sets]
        truth = sum(share * (1 - share) for share in accepted) / len(scores.nonmated)
        shares.append(truth / left_out)
    assert np.mean(shares) == pytest.approx(found.least_share, rel=0.15)
