"""The first sentence of a page of measures, and scores of Kaldi sent with their trials."""

from __future__ import annotations

import json

import numpy as np
import pytest
from live_service import Service

from sottovoce.findings import CurvePoint, Reidentification
from sottovoce.measure import Scores, measure_scores
from sottovoce.report.measure_verdicts import of_reidentification, of_scores


def verdict_of(apart: float, **settings: object) -> str:
    rng = np.random.default_rng(0)
    scores = Scores(rng.normal(apart, 1, 200), rng.normal(0, 1, 400))
    return str(of_scores(measure_scores(scores, replicates=50, **settings)))  # type: ignore[arg-type]


def test_scores_are_bad_news_where_their_eer_is_surely_below_chance() -> None:
    told = verdict_of(2.0)
    assert 'class="card bad finding"' in told
    assert "These scores tell who is who." in told and "guessing, in 50 %" in told


@pytest.mark.parametrize("apart", [0.0, -0.5])
def test_no_evidence_is_no_good_news(apart: float) -> None:
    told = verdict_of(apart)
    assert 'class="card doubt finding"' in told
    assert "A stronger attacker may still find some." in told


def test_without_an_eer_nothing_is_said() -> None:
    assert verdict_of(1.0, only=["d_ece"]) == "None"


@pytest.mark.parametrize(("low", "kind"), [(0.3, "bad"), (0.1, "doubt"), (None, "bad")])
def test_people_are_found_where_the_interval_is_above_chance(low: float | None, kind: str) -> None:
    small = CurvePoint(length=1, population=5, value=1.0, chance=0.2)
    large = CurvePoint(length=3, population=10, value=0.4, chance=0.1, low=low)
    told = str(of_reidentification(Reidentification(10, "cosine", linkability=(small, large))))
    assert f"card {kind}" in told
    assert "With 3 recordings, 40.0 % are named rightly among 10 people" in told


def test_nobody_to_be_found_is_no_verdict() -> None:
    assert of_reidentification(Reidentification(10, "cosine")) is None


def kaldi() -> dict[str, bytes]:
    rng = np.random.default_rng(3)
    pairs = [(f"a{i}", f"b{j}", i == j) for i in range(20) for j in range(20)]
    return {
        "scores": "\n".join(f"{a} {b} {rng.normal(2 * m, 1):.6f}" for a, b, m in pairs).encode(),
        "trials": "\n".join(f"{a} {b} {'non' * (not m)}target" for a, b, m in pairs).encode(),
    }


def test_scores_of_kaldi_come_with_their_trials(service: Service) -> None:
    sent = kaldi()
    answer = service.post("/v1/measure?interval=0", files=sent)
    assert answer.status_code == 200, answer.text
    scores = {
        tuple(line.split()[:2]): float(line.split()[2])
        for line in sent["scores"].decode().splitlines()
    }
    labels = {
        tuple(line.split()[:2]): line.endswith(" target")
        for line in sent["trials"].decode().splitlines()
    }
    mated = [score for pair, score in scores.items() if labels[pair]]
    other = [score for pair, score in scores.items() if not labels[pair]]
    wanted = measure_scores(Scores(np.array(mated), np.array(other)), interval=None)
    assert answer.json()["measures"] == json.loads(json.dumps(wanted.to_dict()))["measures"]


def test_what_is_wrong_with_trials_is_said_of_the_trials(service: Service) -> None:
    sent = kaldi()
    answer = service.post("/v1/measure", files={**sent, "trials": b"a0 b0 perhaps\n"})
    assert answer.status_code == 400
    assert "the trials" in answer.json()["error"] and "/proc" not in answer.json()["error"]


def test_a_form_may_hold_scores_alone(service: Service) -> None:
    rows = b"score,label\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(40))
    form = service.post("/v1/measure?interval=0&only=eer", files={"scores": rows})
    body = service.post("/v1/measure?interval=0&only=eer", data=rows)
    assert form.status_code == 200, form.text
    assert form.json() == body.json()
