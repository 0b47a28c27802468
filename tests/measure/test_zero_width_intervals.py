"""Intervals where resamples cannot vary, against closed forms; alarms only where there is cause."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.measure import Scores, ScoreSummary, measure_scores
from sottovoce.measure.scores import Speakers


def unseen(units: int) -> float:
    """Clopper and Pearson's upper limit of 0 of k, 95 %."""
    return float(1 - 0.025 ** (1 / units))


RNG = np.random.default_rng(5)


def measured(mated: np.ndarray, nonmated: np.ndarray, **options: object) -> ScoreSummary:
    return measure_scores(Scores(mated, nonmated, **options), replicates=60)  # type: ignore[arg-type]


def apart(units: int, others: int = 500) -> ScoreSummary:
    return measured(RNG.normal(50, 1, units), RNG.normal(0, 1, others))


@pytest.mark.parametrize("units", [20, 40, 200])
def test_scores_wholly_apart_leave_the_doubt_of_so_many(units: int) -> None:
    found = apart(units).measures
    wrong = unseen(units)
    entropy = -wrong * math.log2(wrong) - (1 - wrong) * math.log2(1 - wrong)
    assert (found["eer"].low, found["eer"].high) == pytest.approx((0, wrong))
    assert (found["rocch_eer"].low, found["rocch_eer"].high) == pytest.approx((0, wrong))
    assert (found["min_cllr"].low, found["min_cllr"].high) == pytest.approx((0, entropy))
    expected = (1 - wrong) * (1 - 2 * wrong)  # the bin of the mated holds 1 − e of them, D = 1 − 2e
    assert (found["d_sys"].low, found["d_sys"].high) == pytest.approx((expected, 1))
    share = found["tpr_at_fpr_0.01"]
    assert (share.low, share.high) == pytest.approx((1 - unseen(units), 1))
    evidence = found["d_ece"]
    assert evidence.low is not None and evidence.value is not None and evidence.low < evidence.value


def test_more_scores_leave_less_doubt() -> None:
    few, many = (apart(units).measures["d_ece"].low for units in (20, 300))
    assert few is not None and many is not None and few < many


def test_a_share_of_none_is_not_certain() -> None:
    share = measured(RNG.normal(-9, 1, 25), RNG.normal(0, 1, 400)).measures["tpr_at_fpr_0.01"]
    assert (share.value, share.low) == (0, 0)
    assert share.high == pytest.approx(unseen(25))


def test_speakers_count_where_they_are_resampled() -> None:
    names = np.repeat(np.arange(10), 20)
    speakers = Speakers.from_names(names, np.zeros(900, int), np.repeat(np.arange(1, 10), 100))
    found = measured(RNG.normal(50, 1, 200), RNG.normal(0, 1, 900), speakers=speakers)
    assert found.interval is not None and found.interval.unit == "speaker"
    assert found.measures["eer"].high == pytest.approx(unseen(10))


def test_mated_trials_of_one_speaker_are_resampled_as_trials_and_it_is_said() -> None:
    speakers = Speakers.from_names(
        np.zeros(40, int), np.zeros(760, int), np.repeat(np.arange(1, 20), 40)
    )
    mated, nonmated = RNG.normal(1.8, 1, 40), RNG.normal(0, 1, 760)
    known, unknown = measured(mated, nonmated, speakers=speakers), measured(mated, nonmated)
    assert known.interval is not None and known.interval.unit == "trial"
    assert known.measures == unknown.measures
    assert known.warning_codes == ("too-few-speakers",)
    assert unknown.warning_codes == ("speakers-unknown",)


def wrong_way(summary: ScoreSummary) -> bool:
    return "wrong-way" in summary.warning_codes


def test_chance_is_no_alarm_and_turned_scores_are() -> None:
    noise = [measured(RNG.normal(0, 1, 100), RNG.normal(0, 1, 1000)) for _ in range(20)]
    assert sum(map(wrong_way, noise)) <= 3, "nominal: one in forty"
    plain = Scores(RNG.normal(-1, 1, 100), RNG.normal(0, 1, 1000))
    assert wrong_way(measure_scores(plain, interval=None))
    assert wrong_way(measure_scores(plain, only=["min_cllr"], replicates=60))
    assert wrong_way(measure_scores(plain, replicates=60))
