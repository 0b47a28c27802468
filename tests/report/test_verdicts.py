"""The first sentences of a page of one result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from audit_case import similarity_of

from sottovoce.findings import (
    CurvePoint,
    Reidentification,
    ScoreSummary,
    SpeakerSimilarity,
)
from sottovoce.measure import Scores, measure_scores, score_curves
from sottovoce.report.pages import reidentification_page, scores_page, similarity_page
from sottovoce.report.verdicts import (
    headline_point,
    reidentification_verdict,
    scores_verdict,
    similarity_verdict,
)

STRONGER = "A stronger attacker may still find some."


def scores_at(distance: float) -> Scores:
    rng = np.random.default_rng(0)
    return Scores(rng.normal(distance, 1, 200), rng.normal(0, 1, 400))


def summary_at(distance: float, only: list[str] | None = None) -> ScoreSummary:
    return measure_scores(scores_at(distance), replicates=50, only=only)


def test_scores_are_bad_news_where_their_eer_is_surely_below_chance() -> None:
    verdict = scores_verdict(summary_at(2.0))
    assert verdict is not None and verdict.kind == "bad"
    assert verdict.headline == "These scores tell who is who."
    assert "guessing: 50 %." in verdict.finding.replace("\u00a0", " ")
    assert "D_sys" in verdict.finding and verdict.finding.endswith("guessing: 0.")
    page = scores_page(summary_at(2.0), score_curves(scores_at(2.0)))
    assert '<p class="card bad finding"><strong>These scores tell who is who.</strong>' in page


def test_evidence_that_no_threshold_finds_is_bad_news_too() -> None:
    rng = np.random.default_rng(1)
    beside = np.concatenate((rng.normal(-4, 1, 150), rng.normal(4, 1, 150)))
    verdict = scores_verdict(measure_scores(Scores(beside, rng.normal(0, 1, 900)), replicates=50))
    assert verdict is not None and verdict.kind == "bad"
    reversed_scores = scores_verdict(summary_at(-2.0))
    assert reversed_scores is not None and reversed_scores.kind == "bad"


def test_no_evidence_is_no_good_news() -> None:
    verdict = scores_verdict(summary_at(0.0))
    assert verdict is not None and verdict.kind == "doubt"
    assert STRONGER in verdict.finding


def test_without_an_eer_nothing_is_said() -> None:
    summary = summary_at(1.0, only=["d_ece"])
    assert scores_verdict(summary) is None
    assert (
        "finding" not in scores_page(summary, score_curves(scores_at(1.0))).partition("<main>")[2]
    )


@pytest.mark.parametrize(("low", "kind"), [(0.3, "bad"), (0.1, "doubt"), (None, "bad")])
def test_people_are_found_where_the_interval_is_above_chance(low: float | None, kind: str) -> None:
    small = CurvePoint(length=1, population=5, value=1.0, chance=0.2)
    large = CurvePoint(length=3, population=10, value=0.4, chance=0.1, low=low)
    result = Reidentification(10, "cosine", linkability=(small, large))
    verdict = reidentification_verdict(result)
    assert verdict is not None and verdict.kind == kind
    assert "the right one of 10 people for 40\u00a0% of conversations of 3" in verdict.finding
    assert "Guessing names 10\u00a0%." in verdict.finding
    assert f'class="card {kind} finding"' in reidentification_page(result)


def test_nobody_to_be_found_is_no_verdict() -> None:
    assert reidentification_verdict(Reidentification(10, "cosine")) is None


@pytest.mark.parametrize(("excess", "kind"), [(0.1, "bad"), (0.09, "doubt")])
def test_voices_that_are_like_themselves_are_counted(excess: float, kind: str) -> None:
    speakers = ("ann", "bob", "cy")
    matrix = np.full((3, 3), 0.5)
    result = replace(
        similarity_of({"oo": matrix, "op": matrix, "pp": matrix}, speakers),
        standing_out=(SpeakerSimilarity("bob", excess), SpeakerSimilarity("ann", 0.0)),
    )
    verdict = similarity_verdict(result)
    assert verdict.kind == kind
    assert verdict.finding.startswith("1 of 3" if kind == "bad" else "None of 3")
    assert ("bob (0.10)" in similarity_page(result)) is (kind == "bad")


def test_the_headline_is_of_the_shortest_conversations_in_the_largest_population() -> None:
    points = [CurvePoint(length, size, 0.5, 0.1) for length in (3, 1) for size in (20, 5)]
    assert headline_point(points) is points[2]
    assert headline_point(()) is None
