"""All measures of a set in one object: the contract of ``measure --json``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError, SottovoceError, UsageError
from sottovoce.measure import (
    Scores,
    Speakers,
    cllr,
    disclosure,
    eer,
    linkability,
    measure_scores,
    min_cllr,
    rocch_eer,
    tpr_at_fpr,
)
from sottovoce.measure.catalogue import MEASURES
from sottovoce.measure.disclosure import TAGS

CONTRACT = (
    "eer",
    "rocch_eer",
    "cllr",
    "min_cllr",
    "d_ece",
    "worst_case_log10_lr",
    "d_sys",
    "d_sys_corrected",
)


def a_set(mated: int = 60, nonmated: int = 400, *, speakers: int = 0) -> Scores:
    rng = np.random.default_rng(0)
    who = None
    if speakers:
        enrol = rng.integers(0, speakers, nonmated)
        who = Speakers(np.arange(mated) % speakers, enrol, (enrol + 1) % speakers, speakers)
    return Scores(rng.normal(1, 1, mated), rng.normal(0, 1, nonmated), speakers=who, name="mine")


def entry_of(scores: Scores, **options: Any) -> dict[str, Any]:
    """Through JSON and back, with NaN and infinity refused."""
    found: dict[str, Any] = json.loads(
        json.dumps(measure_scores(scores, **options).to_dict(), allow_nan=False)
    )
    return found


def test_keys_of_the_contract() -> None:
    entry = entry_of(a_set(), replicates=20)
    assert (entry["n_mated"], entry["n_nonmated"]) == (60, 400)
    assert set(CONTRACT) <= set(entry["measures"])
    assert entry["tag"] in TAGS
    assert entry["tag_meaning"] == TAGS[entry["tag"]]
    assert entry["attainable_log10_lr"] == disclosure(a_set()).attainable_log10_lr
    for name in CONTRACT:
        one = entry["measures"][name]
        assert {"value", "low", "high", "chance", "direction", "n_mated", "n_nonmated"} <= set(one)
        assert one["low"] <= one["value"] <= one["high"]
        assert (one["n_mated"], one["n_nonmated"]) == (60, 400)


def test_values_are_those_of_the_functions() -> None:
    scores = a_set(nonmated=1000)
    found = {
        name: one.value for name, one in measure_scores(scores, interval=None).measures.items()
    }
    assert found["eer"] == eer(scores)
    assert found["rocch_eer"] == pytest.approx(rocch_eer(scores), rel=1e-12)
    assert found["cllr"] == cllr(scores)
    assert found["min_cllr"] == pytest.approx(min_cllr(scores), rel=1e-12)
    assert found["d_ece"] == pytest.approx(disclosure(scores).d_ece, rel=1e-12)
    assert found["worst_case_log10_lr"] == disclosure(scores).worst_case_log10_lr
    assert found["d_sys"] == pytest.approx(linkability(scores).d_sys, rel=1e-12)
    assert found["tpr_at_fpr_0.01"] == pytest.approx(tpr_at_fpr(scores, 0.01), rel=1e-12)
    assert found["tpr_at_fpr_0.001"] == pytest.approx(tpr_at_fpr(scores, 0.001), rel=1e-12)
    assert found["tpr_at_fpr_0.0001"] is None


def test_tag_goes_with_the_worst_case() -> None:
    apart = Scores(np.arange(99) + 1.0, -np.arange(99) - 1.0)
    summary = measure_scores(apart, interval=None)
    assert summary.measures["worst_case_log10_lr"].value == 2.0
    assert summary.tag == "C"
    assert summary.attainable_log10_lr == 2.0


def test_the_tag_is_there_whatever_is_asked_for() -> None:
    assert measure_scores(a_set(), only=["eer"], interval=None).tag == disclosure(a_set()).tag


@pytest.mark.parametrize(
    ("name", "chance", "direction"),
    [
        ("eer", 0.5, "lower = more disclosed"),
        ("rocch_eer", 0.5, "lower = more disclosed"),
        ("cllr", 1.0, "lower = more disclosed"),
        ("min_cllr", 1.0, "lower = more disclosed"),
        ("d_ece", 0.0, "higher = more disclosed"),
        ("tpr_at_fpr_0.01", 0.01, "higher = more disclosed"),
    ],
)
def test_chance_level_and_direction(name: str, chance: float, direction: str) -> None:
    one = measure_scores(a_set(), interval=None).measures[name]
    assert (one.chance, one.direction) == (chance, direction)


def test_chance_level_of_linkability_is_measured() -> None:
    one = measure_scores(a_set(), interval=None).measures["d_sys"]
    assert one.direction == "higher = more disclosed"
    assert one.chance is not None
    assert 0.0 < one.chance < 0.3
    assert one.chance == pytest.approx(linkability(a_set(), permutations=500).chance, abs=0.03)


def test_chance_level_of_the_worst_case_is_that_of_shuffled_labels() -> None:
    """A maximum over few scores is well above 0 without any evidence."""
    rng = np.random.default_rng(2)
    shuffled = [rng.permutation(100.0 * np.arange(160)) for _ in range(400)]
    expected = [disclosure(Scores(s[:40], s[40:])).worst_case_log10_lr for s in shuffled]
    one = measure_scores(a_set(40, 120), interval=None).measures["worst_case_log10_lr"]
    error = float(np.std(expected)) * (1 / 400 + 1 / 100) ** 0.5
    assert one.direction == "higher = more disclosed"
    assert one.chance == pytest.approx(float(np.mean(expected)), abs=5 * error)


def test_evidence_points_the_way_the_direction_says() -> None:
    """More disclosed data move every measure the way its direction says."""
    rng = np.random.default_rng(1)
    noise, other = rng.normal(0, 1, 300), rng.normal(0, 1, 20_000)
    weak = measure_scores(Scores(noise + 0.5, other), interval=None)
    strong = measure_scores(Scores(noise * 0.3 + 8, other), interval=None)
    for name in MEASURES.defaults():
        before, after = weak.measures[name].value, strong.measures[name].value
        assert before is not None
        assert after is not None
        if MEASURES[name].lower_discloses:
            assert after < before, name
        else:
            assert after > before, name


# ---------------------------------------------------------------------------- too little data


@pytest.mark.parametrize("interval", [None, 0.95])
def test_too_few_data_is_no_number_but_a_note(interval: float | None) -> None:
    entry = entry_of(a_set(mated=19, nonmated=99), interval=interval)["measures"]
    assert entry["d_sys"]["value"] is None
    assert "19 mated scores; D_sys needs 20" in entry["d_sys"]["note"]
    assert "low" not in entry["d_sys"]
    assert entry["tpr_at_fpr_0.01"]["value"] is None
    assert "needs 100" in entry["tpr_at_fpr_0.01"]["note"]
    assert entry["eer"]["value"] is not None


def test_enough_data_again() -> None:
    entry = entry_of(a_set(mated=20, nonmated=100), interval=None)["measures"]
    assert entry["d_sys"]["value"] is not None
    assert entry["tpr_at_fpr_0.01"]["value"] is not None
    assert entry["tpr_at_fpr_0.001"]["value"] is None


@pytest.mark.parametrize("sides", [([1], [0]), ([0], [1]), ([2], [2]), ([1] * 30, [1] * 30)])
def test_the_smallest_and_dullest_sets_work(sides: tuple[list[float], list[float]]) -> None:
    entry = entry_of(Scores(*sides), replicates=20)
    assert entry["measures"]["d_sys"]["value"] is None
    for name in CONTRACT[:-2]:
        assert isinstance(entry["measures"][name]["value"], float), name


def test_notes_of_measures_that_need_care() -> None:
    measures = measure_scores(a_set(), interval=None).measures
    assert "natural-log likelihood ratios" in (measures["cllr"].note or "")
    assert "not a confidence interval" in (measures["worst_case_log10_lr"].note or "")
    assert measures["eer"].note is None
    assert "note" not in measures["eer"].to_dict()


# ------------------------------------------------------------------------------------ choosing


def test_only_what_is_asked_for_in_that_order() -> None:
    summary = measure_scores(a_set(), only=["d_ece", "eer"], replicates=20)
    assert list(summary.measures) == ["d_ece", "eer"]
    assert summary.measures["eer"].value == eer(a_set())


@pytest.mark.parametrize("name", MEASURES.defaults())
def test_each_measure_alone_is_what_it_is_among_all(name: str) -> None:
    scores = a_set(nonmated=10_000)
    alone = measure_scores(scores, only=[name], interval=None).measures[name]
    among = measure_scores(scores, interval=None).measures[name]
    assert alone.value == pytest.approx(among.value, rel=1e-12)
    assert alone.chance == among.chance


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("err", "did you mean 'eer'"),
        ("min-cllr", "did you mean 'min_cllr'"),
        ("d_sy", "did you mean 'd_sys'"),
        ("zzz", "known: cllr, d_ece, d_sys, eer"),
    ],
)
def test_an_unknown_measure_is_refused_with_a_hint(name: str, hint: str) -> None:
    with raises_code("unknown-name", UsageError):
        measure_scores(a_set(), only=["eer", name])


# ------------------------------------------------------------------------------------ intervals


def test_without_an_interval_there_are_no_ends() -> None:
    entry = entry_of(a_set(), interval=None)
    assert entry["interval"] is None
    assert all("low" not in one and "high" not in one for one in entry["measures"].values())


@pytest.mark.parametrize("interval", [0.0, 1.0, 95, -0.5, float("nan")])
def test_confidence_lies_between_0_and_1(interval: float) -> None:
    with raises_code("out-of-range", InputError):
        measure_scores(a_set(), interval=interval)


@pytest.mark.parametrize("replicates", [19, 1, 0, -5])
def test_an_interval_needs_resamples(replicates: int) -> None:
    with raises_code("out-of-range", SottovoceError):
        measure_scores(a_set(), replicates=replicates)


@pytest.mark.parametrize(
    ("speakers", "unit", "count"), [(0, "trial", 460), (4, "trial", 460), (12, "speaker", 12)]
)
def test_how_the_interval_was_made(speakers: int, unit: str, count: int) -> None:
    entry = entry_of(a_set(speakers=speakers), interval=0.9, replicates=25, only=["eer"])
    assert entry["interval"] == {
        "confidence": 0.9,
        "unit": unit,
        "count": count,
        "replicates": 25,
    }


def test_a_thousand_resamples_unless_told_otherwise() -> None:
    assert entry_of(a_set(), only=["eer"])["interval"]["replicates"] == 1000


def test_the_same_seed_gives_the_same_summary() -> None:
    scores = a_set(speakers=12)
    first = entry_of(scores, replicates=30, seed=3)
    assert entry_of(scores, replicates=30, seed=3) == first
    other = entry_of(scores, replicates=30, seed=4)
    assert other != first
    values = [{name: one["value"] for name, one in e["measures"].items()} for e in (first, other)]
    assert values[0] == values[1]


def test_intervals_stay_within_what_is_possible() -> None:
    apart = Scores(np.arange(40) + 100.0, np.arange(150))
    entry = entry_of(apart, replicates=50)["measures"]
    for name, one in entry.items():
        if one["value"] is not None:
            low, high = MEASURES[name].bounds
            assert low <= one["low"] <= one["high"] <= high + 1e-12, name


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    measure_scores(
        a_set(), only=["eer"], replicates=25, progress=lambda done, of: told.append((done, of))
    )
    assert told[-1] == (25, 25)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_names_are_kept() -> None:
    assert measure_scores(a_set(), only=["eer"], interval=None).name == "mine"


def test_a_high_confidence_needs_as_many_resamples() -> None:
    with raises_code("out-of-range"):
        measure_scores(a_set(), interval=0.9999, replicates=20)
    summary = measure_scores(a_set(), interval=0.9999, only=["eer"])
    assert summary.interval is not None and summary.interval.replicates == 10_000
    wide, usual = summary.measures["eer"], measure_scores(a_set(), only=["eer"]).measures["eer"]
    assert wide.low is not None and usual.low is not None and wide.low < usual.low
    assert wide.high is not None and usual.high is not None and wide.high > usual.high


@pytest.mark.parametrize("only", ["min_dcf_0.05", "min_cllr", "d_ece"])
@pytest.mark.parametrize(("speakers", "codes"), [(29, ("few-speakers",)), (30, ())])
def test_few_speakers_are_warned_of_with_every_measure(
    only: str, speakers: int, codes: tuple[str, ...]
) -> None:
    summary = measure_scores(a_set(speakers=speakers), only=[only], replicates=25)
    assert summary.warning_codes == codes
    names = ("Cllr_min", "D_ECE")
    assert all(name in warning for warning in summary.warnings for name in names)
