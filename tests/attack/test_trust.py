"""The judgement on an attacker: every limit that is passed is a reason."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sottovoce.attack import TrustEvidence, judge
from sottovoce.attack.trust import LIMITS, Effort, advise
from sottovoce.findings import UnavailableRepresentation

GOOD = TrustEvidence(
    originals=0.02,
    attack=0.20,
    training=0.05,
    held_out=0.10,
    control=0.5,
    p_value=0.01,
    linkages={"cosine": 0.22, "plda": 0.17},
    less_informed={"ignorant": 0.3},
)

BAD: list[tuple[dict[str, Any], str]] = [
    ({"originals": LIMITS.originals + 0.01}, "on originals its EER is 16.0%, above 15%"),
    (
        {"training": LIMITS.training + 0.01},
        "on its own training vectors its EER is 26.0%",
    ),
    ({"control": 0.5 + LIMITS.control + 0.01}, "under exchanged names its EER is 61.0%"),
    ({"control": 0.5 - LIMITS.control - 0.01}, "under exchanged names its EER is 39.0%"),
    ({"linkages": {"plda": 0.14}}, "with the linkage function plda the EER is 14.0%"),
    ({"less_informed": {"ignorant": 0.1}}, "as the attacker ignorant the EER is 10.0%"),
]


def test_advice_names_what_is_worth_trying_and_nothing_else() -> None:
    missing = (
        UnavailableRepresentation("undone", "dar declares no inverse"),
        UnavailableRepresentation("words", "install a recogniser"),
    )
    effort = Effort(("retrained", "evidence", "words"), missing, 2, 99, 0.3)
    assert advise(effort) == (
        "try linkage strongest, which also uses retrained, other evidence than the voice",
        "words, which was not available: install a recogniser",
        "anonymise enrolment and training speech more often than twice: draws 3 or more",
        "train on more than 99 speakers",
        "attack more speakers or trials: with these the attack cannot be told from names exchanged "
        "at random (p = 0.30)",
    )
    assert advise(Effort((), missing, None, 100, 0.05)) == ()


def test_a_good_attacker_is_trustworthy() -> None:
    trust = judge(GOOD)
    assert trust.trustworthy and trust.reasons == ()


@pytest.mark.parametrize(("changed", "reason"), BAD)
def test_each_limit_is_a_reason_of_its_own(changed: dict[str, Any], reason: str) -> None:
    trust = judge(replace(GOOD, **changed))
    assert not trust.trustworthy
    assert len(trust.reasons) == 1 and trust.reasons[0].startswith(reason)


def test_all_reasons_are_given() -> None:
    worst = {key: value for changed, _ in BAD for key, value in changed.items()}
    assert len(judge(replace(GOOD, **worst)).reasons) == 5


@pytest.mark.parametrize(
    "changed",
    [
        {"originals": LIMITS.originals},
        {"training": LIMITS.training},
        {"training": None},
        {"held_out": None},
        {"held_out": 0.6},
        {"control": 0.5 + LIMITS.control - 1e-9},
        {"control": None},
        {"linkages": {"plda": 0.20 - LIMITS.behind + 1e-9}},
        {"linkages": {}, "less_informed": {}},
    ],
)
def test_at_the_limit_or_unknown_is_no_reason(changed: dict[str, Any]) -> None:
    assert judge(replace(GOOD, **changed)).trustworthy


def test_the_record_names_limits_and_evidence() -> None:
    record = json.loads(json.dumps(judge(replace(GOOD, originals=0.4)).to_dict()))
    assert record["trustworthy"] is False and len(record["reasons"]) == 1
    assert record["limits"] == {
        "originals": 0.15,
        "training": 0.25,
        "control": 0.10,
        "behind": 0.05,
    }
    assert record["evidence"]["linkages"] == {"cosine": 0.22, "plda": 0.17}
    assert set(record["evidence"]) == set(TrustEvidence.__slots__)
