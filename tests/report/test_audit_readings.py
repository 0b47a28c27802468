"""What is said about findings follows from them, and never says too much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from audit_case import findings_in
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.report.readings import (
    above_chance,
    informed_first,
    overall,
    percent,
    strongest,
    verdict,
)
from sottovoce.report.tradeoff import Choice, front


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return findings_in(Path(tmp_path_factory.mktemp("audit")))


def with_linked(row: dict[str, Any], value: float, low: float, high: float) -> dict[str, Any]:
    point = {"length": 1, "population": 8, "chance": 0.125, "value": value}
    curves = {"linkability": [{**point, "low": low, "high": high}], "speakers": []}
    eer = {"value": 0.5, "low": 0.4, "high": 0.6, "chance": 0.5}
    return {**row, "reidentification": curves, "measures": {**row["measures"], "eer": eer}}


def test_an_interval_that_holds_chance_is_not_above_it(findings: dict[str, Any]) -> None:
    row = findings["rows"][1]
    assert not above_chance(with_linked(row, 0.3, 0.1, 0.5))
    assert above_chance(with_linked(row, 0.3, 0.2, 0.4))


def test_an_eer_away_from_chance_is_evidence_too(findings: dict[str, Any]) -> None:
    row = with_linked(findings["rows"][1], 0.125, 0.1, 0.2)
    row["measures"]["eer"] = {"value": 0.4, "low": 0.35, "high": 0.45, "chance": 0.5}
    assert above_chance(row)


@pytest.mark.parametrize(
    ("low", "trusted", "kind"),
    [(0.2, True, "bad"), (0.2, False, "bad"), (0.1, True, "good"), (0.1, False, "doubt")],
)
def test_only_a_trusted_attacker_may_comfort(
    findings: dict[str, Any], low: float, trusted: bool, kind: str
) -> None:
    row = with_linked(findings["rows"][1], 0.3, low, 0.4)
    row["trust"] = {**row["trust"], "trustworthy": trusted, "reasons": [] if trusted else ["why"]}
    found = verdict([row], findings["originals"])
    assert found.kind == kind
    assert (found.doubts != ()) is not trusted


def test_a_trusted_ignorant_attacker_does_not_vouch_for_a_weak_informed_one(
    findings: dict[str, Any],
) -> None:
    weak, trusted = (with_linked(findings["rows"][1], 0.13, 0.1, 0.2) for _ in range(2))
    weak["trust"] = {**weak["trust"], "trustworthy": False, "reasons": ["why"]}
    trusted["attacker"] = "ignorant"
    assert verdict([trusted, weak], findings["originals"]).kind == "doubt"


def test_the_strongest_attack_is_the_one_that_links_most(findings: dict[str, Any]) -> None:
    rows = findings["rows"][:2]
    assert strongest(rows)["attacker"] == "semi-informed"
    assert [one["attacker"] for one in informed_first(rows)] == ["semi-informed", "ignorant"]
    rows = [with_linked(rows[0], 0.6, 0.5, 0.7), with_linked(rows[1], 0.4, 0.3, 0.5)]
    assert strongest(rows)["attacker"] == "ignorant"


def test_all_verdicts_in_a_sentence(findings: dict[str, Any]) -> None:
    rows = {"a": findings["rows"][:2], "b": findings["rows"][2:]}
    said = overall(rows).replace("\u00a0", " ")
    assert said.startswith("Of 2 anonymisers tried, 1 let people be found again.")
    assert "Fewest are found behind b: 12.5 % of single recordings" in said
    assert overall({}) == "Nothing was attacked."


def test_without_crowds_the_eer_speaks(findings: dict[str, Any]) -> None:
    row = {**findings["rows"][1], "reidentification": {}}
    assert "tells pairs of one speaker from others" in verdict([row], findings["originals"]).finding


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.368, "36.8 %"), (0.00012, "0.012 %"), (None, "–")],
)
def test_shares_in_words(value: float | None, shown: str) -> None:
    assert percent(value).replace("\u00a0", " ") == shown


choices = st.lists(
    st.builds(
        Choice,
        st.just("a"),
        st.just("m"),
        st.integers(0, 5).map(float),
        st.integers(0, 5).map(float),
    ),
    min_size=1,
    max_size=12,
)


@given(choices, st.booleans())
def test_the_front_holds_whom_nobody_beats(given_choices: list[Choice], higher: bool) -> None:
    best = front(given_choices, higher_is_better=higher)
    sign = 1 if higher else -1

    def beaten(one: Choice) -> bool:
        return any(
            (other.risk <= one.risk and sign * other.utility >= sign * one.utility)
            and (other.risk, other.utility) != (one.risk, one.utility)
            for other in given_choices
        )

    assert best and all((one in best) is not beaten(one) for one in given_choices)
    # along the front, more risk buys more utility
    utilities = [sign * one.utility for one in best]
    assert utilities == sorted(utilities)
