"""Things that were wrong once."""

from __future__ import annotations

import json

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.measure import (
    Scores,
    Speakers,
    Tally,
    calibrate,
    ece_profile,
    eer,
    linkability,
    measure_scores,
    tpr_at_fpr,
)
from sottovoce.measure.resampling import resample


def test_weighted_counts_of_very_full_cells_do_not_saturate(engine: str) -> None:
    """Sums in single precision stop growing at 2^24."""
    speakers, trials = 40, 18_000_000
    enrol = np.zeros(trials, np.int64)
    trial = np.ones(trials, np.int64)
    who = Speakers(np.arange(speakers), enrol, trial, speakers)
    scores = Scores(np.arange(speakers) + 1.0, np.zeros(trials, np.float32), speakers=who)
    rng = np.random.default_rng(0)
    drawn = next(resample(scores, Tally.of(scores), replicates=1, rng=rng))
    assert drawn.n_nonmated % trials == 0  # a product of two whole weights times the trials


def test_cuts_that_hold_neither_class_are_refused() -> None:
    with raises_code("wrong-cuts", InputError):
        Tally.on(np.array([0.0, 3.0]), np.array([0.0, 10.0]), [np.array([-5.0, 3.0])])
    with raises_code("empty", InputError):
        Tally.on(np.empty(0), np.array([0.0]), [np.array([1.0])])


def test_a_range_too_small_for_bins_costs_linkability_only() -> None:
    scores = Scores([1.0] * 20, [1.0, float(np.nextafter(1.0, 2.0))])
    found = measure_scores(scores, interval=None).measures
    assert found["d_sys"].value is None and found["eer"].value is not None


def test_one_bin_is_not_a_comforting_zero() -> None:
    with pytest.raises(SottovoceError):
        linkability(Tally.of(Scores(np.arange(5.0) + 10, np.arange(5.0)), bins=1))


def test_the_prior_may_be_extreme_but_not_certain() -> None:
    scores = Scores([1.0, 2.0], [0.0, 1.5])
    assert np.all(np.isfinite(ece_profile(scores, [-1000.0, 1000.0]).ece))
    with raises_code("not-finite", InputError):
        ece_profile(scores, [np.inf])


def test_doubles_beyond_single_precision_against_single_precision() -> None:
    assert eer(Scores(np.array([1e50, 1.0]), np.array([0, 1, 2], np.float32))) == pytest.approx(0.4)


def test_rates_that_are_whole_multiples_of_one_score() -> None:
    assert tpr_at_fpr(Scores([60.0], np.arange(49.0)), 1 / 49) == 1.0
    assert tpr_at_fpr(Scores([0.0], [1.0] * 10), 1 - 1e-13) == 1.0
    above, below = np.full(15, 2.0), np.full(7, 1.0)
    assert tpr_at_fpr(Scores([1.5, 0.5], np.concatenate((above, below))), 15 / 22) == 0.5


def test_a_calibration_is_json() -> None:
    found = calibrate(Scores([5.0], [0.0]))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["llrs"] == ["-inf", "inf"]
    assert np.isnan(found.llr([np.nan])[0])


def test_a_message_is_one_line_whatever_it_quotes() -> None:
    assert str(InputError("a\nb:  c")) == "a b: c"
