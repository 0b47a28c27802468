"""Scores of Kaldi sent to the service with their trials."""

from __future__ import annotations

import json

import numpy as np
from live_service import Service

from sottovoce.measure import Scores, measure_scores


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
