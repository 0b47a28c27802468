"""Reference values of Linkability, rank and top-k in populations of every size.

Origin: Linkability as Vauquier et al. define it in "Legally validated evaluation framework for
voice anonymization" (equation 4), "averaged over all subsets by enumeration", by an independent
plain implementation. All sets are simulated.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.measure.conversations import make_trials
from sottovoce.measure.identification import expected_rank, top_k
from sottovoce.measure.population import Scoring, Standing, stand
from sottovoce.measure.reidentification import reidentify
from sottovoce.measure.reidentification_settings import ReidentificationSettings
from sottovoce.speaker import Cosine, Embeddings

SETS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "reference_reidentification.json").read_text("utf-8")
)["sets"]


def embeddings(name: str) -> tuple[Embeddings, Embeddings]:
    entry = SETS[name]
    enrol = Embeddings.of(np.array(entry["enrol"], np.float32), entry["enrol_speakers"])
    trial = Embeddings.of(np.array(entry["trial"], np.float32), entry["trial_speakers"])
    return enrol, trial


def standing(name: str) -> Standing:
    enrol, trial = embeddings(name)
    trials = make_trials(trial, enrol, length=1, most=1, rng=np.random.default_rng(0))
    return stand(Scoring(enrol, trials, Cosine()))


@pytest.mark.parametrize("name", SETS)
def test_linkability_in_every_population(name: str) -> None:
    expected: dict[str, float] = SETS[name]["expected"]["linkability_by_population"]
    found = top_k(standing(name), [int(size) for size in expected]).mean(axis=0)
    assert found == pytest.approx(list(expected.values()), abs=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_ranks_and_top_3_among_everybody(name: str) -> None:
    expected = SETS[name]["expected"]
    counted = standing(name)
    ranks = expected_rank(counted, [counted.models])[:, 0]
    enrol, trial = embeddings(name)
    by_name = dict(zip(enrol.names[counted.speakers].tolist(), ranks.tolist(), strict=True))
    in_file_order = [by_name[one] for one in trial.names[trial.speakers].tolist()]
    assert in_file_order == expected["rank_in_full_population"]
    assert ranks.mean() == pytest.approx(expected["mean_rank"], abs=1e-9)
    found = top_k(counted, [counted.models], 3).mean()
    assert found == pytest.approx(expected["top_3"], abs=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_the_whole_study_says_the_same(name: str) -> None:
    expected = SETS[name]["expected"]
    linkability: dict[str, float] = expected["linkability_by_population"]
    sizes = tuple(int(size) for size in linkability if int(size) > 1)
    settings = ReidentificationSettings(lengths=(1,), populations=sizes, k=3, confidence=None)
    found = reidentify(*embeddings(name), settings=settings)
    assert [point.population for point in found.linkability] == list(sizes)
    for point in found.linkability:
        assert point.value == pytest.approx(linkability[str(point.population)], abs=1e-9)
    assert found.rank[-1].value == pytest.approx(expected["mean_rank"], abs=1e-9)
    assert found.top_k[-1].value == pytest.approx(expected["top_3"], abs=1e-9)
    assert found.top_k[-1].k == 3


def test_the_reference_has_four_sets() -> None:
    assert sorted(SETS) == ["easy", "hard", "medium", "nothing"]
    assert [len(SETS[name]["enrol_speakers"]) for name in sorted(SETS)] == [10, 12, 10, 10]
