"""Reference values of every score measure.

The values follow the definitions of Nautsch et al. 2020 (ZEBRA) and Maouche et al. 2020, "computed
by two independent plain implementations that agree to 1e-8 on 204 sets; equal scores are one step".
``spkanon_*`` are real speaker-verification LLRs (MIT, Franzreb et al. 2023), all other sets are
simulated. ``reference_scores.json`` holds the sets of up to 2,000 scores; the large ones are
checked too where they are at hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.core.errors import SottovoceError
from sottovoce.measure import (
    Scores,
    cllr,
    disclosure,
    eer,
    linkability,
    measure_scores,
    min_cllr,
    rocch_eer,
)

GOLDEN = json.loads((Path(__file__).parent / "reference_scores.json").read_text("utf-8"))["sets"]

WHOLE = Path(__file__).parents[3] / "shared" / "reference" / "scores"
WHOLE_NAMES = sorted(path.stem for path in WHOLE.glob("*.npz"))
ABSENT = pytest.param("", marks=pytest.mark.skip(reason="reference sets not at hand"))


def check(scores: Scores, expected: dict[str, Any]) -> None:
    found = disclosure(scores)
    values = {
        "eer": eer(scores),
        "rocch_eer": rocch_eer(scores),
        "cllr": cllr(scores),
        "min_cllr": min_cllr(scores),
        "d_ece": found.d_ece,
        "worst_case_log10_lr": found.worst_case_log10_lr,
    }
    for name, value in values.items():
        assert value == pytest.approx(expected[name], rel=1e-9, abs=1e-12), name
    assert found.tag == expected["tag"]
    if expected["linkability"] is None:
        with pytest.raises(SottovoceError):
            linkability(scores)
    else:
        linked = linkability(scores, permutations=0)
        assert linked.d_sys == pytest.approx(expected["linkability"], rel=1e-9, abs=1e-12)
        assert len(linked.local) == expected["linkability_bins"]


@pytest.mark.parametrize("name", GOLDEN)
def test_small_reference_set(name: str) -> None:
    entry = GOLDEN[name]
    check(Scores(entry["mated"], entry["nonmated"], name=name), entry["expected"])


@pytest.mark.parametrize("name", GOLDEN)
def test_summary_of_a_small_reference_set(name: str) -> None:
    """The summary takes another way (one tally with bins and costs) to the same numbers."""
    entry = GOLDEN[name]
    expected = entry["expected"]
    summary = measure_scores(Scores(entry["mated"], entry["nonmated"]), interval=None)
    assert summary.tag == expected["tag"]
    for measure in ("eer", "rocch_eer", "cllr", "min_cllr", "d_ece", "worst_case_log10_lr"):
        value = summary.measures[measure].value
        assert value == pytest.approx(expected[measure], rel=1e-9, abs=1e-12), measure
    linked = summary.measures["d_sys"].value
    if expected["linkability"] is None:
        assert linked is None
    else:
        assert linked == pytest.approx(expected["linkability"], rel=1e-9, abs=1e-12)


def test_the_copied_sets_are_all_there() -> None:
    assert len(GOLDEN) == 26
    assert sum(name.startswith("spkanon_") for name in GOLDEN) == 5


@pytest.mark.parametrize("name", WHOLE_NAMES or [ABSENT])
def test_reference_set(name: str) -> None:
    expected = json.loads((WHOLE / "expected.json").read_text("utf-8"))
    with np.load(WHOLE / f"{name}.npz", allow_pickle=False) as arrays:
        check(Scores(arrays["mated"], arrays["nonmated"], name=name), expected[name])


@pytest.mark.skipif(not WHOLE_NAMES, reason="reference sets not at hand")
def test_the_copy_says_what_the_reference_says() -> None:
    expected = json.loads((WHOLE / "expected.json").read_text("utf-8"))
    assert sorted(expected) == WHOLE_NAMES
    assert len(WHOLE_NAMES) == 60
    for name, entry in GOLDEN.items():
        with np.load(WHOLE / f"{name}.npz", allow_pickle=False) as arrays:
            assert np.array_equal(arrays["mated"], entry["mated"]), name
            assert np.array_equal(arrays["nonmated"], entry["nonmated"]), name
        assert entry["expected"].items() <= expected[name].items(), name
