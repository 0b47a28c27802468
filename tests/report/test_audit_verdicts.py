"""What is said about an audit follows from its findings, and never says too much."""

from __future__ import annotations

from dataclasses import replace

import pytest
from audit_case import findings_in, with_trust
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.findings import AttackRow, AuditFindings, CurvePoint, Estimate, Reidentification
from sottovoce.report.audit_verdicts import (
    anonymiser_verdict,
    attack_name,
    audit_verdict,
    discloses,
    most_informed_first,
    rows_by_anonymiser,
    strongest_attack,
)
from sottovoce.report.utility import Choice, pareto_front


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> AuditFindings:
    return findings_in(tmp_path_factory.mktemp("audit"))


@pytest.fixture(scope="module")
def originals(findings: AuditFindings) -> Reidentification:
    return findings.originals[0].reidentification


def with_linkability(row: AttackRow, value: float, low: float, high: float) -> AttackRow:
    """Return an attack with one point of Linkability and scores that show nothing."""
    point = CurvePoint(length=1, population=8, value=value, chance=0.125, low=low, high=high)
    curves = Reidentification(enrolled_speakers=8, linkage="plda", linkability=(point,))
    return with_d_sys(with_eer(replace(row, reidentification=curves), 0.5, 0.4, 0.6), 0.02, 0.0)


def with_d_sys(row: AttackRow, value: float, low: float) -> AttackRow:
    """Return an attack with this corrected D_sys."""
    estimate = Estimate(value, 0.0, "higher = more disclosed", 60, 400, low, 1.0)
    measures = {**row.scores.measures, "d_sys_corrected": estimate}
    return replace(row, scores=replace(row.scores, measures=measures))


def with_eer(row: AttackRow, value: float, low: float, high: float) -> AttackRow:
    eer = Estimate(value, 0.5, "lower = more disclosed", 60, 400, low, high)
    measures = {**row.scores.measures, "eer": eer}
    return replace(row, scores=replace(row.scores, measures=measures))


def test_an_interval_that_holds_chance_is_not_above_it(findings: AuditFindings) -> None:
    row = findings.rows[1]
    assert not discloses(with_linkability(row, 0.3, 0.1, 0.5))
    assert discloses(with_linkability(row, 0.3, 0.2, 0.4))


def test_an_eer_away_from_chance_is_evidence_too(findings: AuditFindings) -> None:
    row = with_linkability(findings.rows[1], 0.125, 0.1, 0.2)
    assert discloses(with_eer(row, 0.4, 0.35, 0.45))
    assert not discloses(with_eer(row, 0.4, 0.35, 0.5))
    assert not discloses(with_eer(row, 0.6, 0.55, 0.65))


def test_a_corrected_d_sys_above_0_is_evidence_too(findings: AuditFindings) -> None:
    row = with_linkability(findings.rows[1], 0.125, 0.1, 0.2)
    assert discloses(with_d_sys(row, 0.2, 0.1))
    assert not discloses(with_d_sys(row, 0.2, 0.0))


def test_singling_out_is_held_against_its_own_protocol(findings: AuditFindings) -> None:
    row = with_linkability(findings.rows[1], 0.125, 0.1, 0.2)
    point = CurvePoint(1, 8, value=0.45, chance=0.368, low=0.4, high=0.5, no_evidence=0.41)
    for no_evidence, expected in ((0.41, False), (0.39, True), (None, True)):
        curves = replace(
            row.reidentification, singling_out=(replace(point, no_evidence=no_evidence),)
        )
        assert discloses(replace(row, reidentification=curves)) is expected


@pytest.mark.parametrize(
    ("low", "trusted", "kind"),
    [(0.2, True, "bad"), (0.2, False, "bad"), (0.1, True, "good"), (0.1, False, "doubt")],
)
def test_only_a_trusted_attacker_may_comfort(
    findings: AuditFindings, originals: Reidentification, low: float, trusted: bool, kind: str
) -> None:
    row = with_trust(with_linkability(findings.rows[1], 0.3, low, 0.4), trustworthy=trusted)
    verdict = anonymiser_verdict([row], originals)
    assert verdict.kind == kind
    assert (verdict.doubts != ()) is not trusted


def test_a_trusted_ignorant_attacker_does_not_vouch_for_a_weak_informed_one(
    findings: AuditFindings, originals: Reidentification
) -> None:
    at_chance = with_linkability(findings.rows[1], 0.13, 0.1, 0.2)
    weak = with_trust(at_chance, trustworthy=False)
    ignorant = replace(at_chance, attacker="ignorant", attacker_rank=0)
    assert anonymiser_verdict([ignorant, weak], originals).kind == "doubt"


@pytest.mark.parametrize(
    ("plugin_rank", "kind"), [(0, "good"), (1, "good"), (2, "good"), (3, "doubt")]
)
def test_an_attacker_of_a_plugin_ranks_by_what_it_knows(
    findings: AuditFindings, originals: Reidentification, plugin_rank: int, kind: str
) -> None:
    at_chance = with_linkability(findings.rows[1], 0.13, 0.1, 0.2)
    plugin = with_trust(
        replace(at_chance, attacker="from-a-plugin", attacker_rank=plugin_rank), trustworthy=False
    )
    assert at_chance.attacker_rank == 2
    assert anonymiser_verdict([at_chance, plugin], originals).kind == kind
    first = most_informed_first([at_chance, plugin])[0]
    assert first is (plugin if plugin_rank > 2 else at_chance)


def test_the_verdict_rests_on_the_strongest_result_of_anybody(
    findings: AuditFindings, originals: Reidentification
) -> None:
    informed = with_linkability(findings.rows[1], 0.2, 0.1, 0.3)
    plugin = replace(
        with_linkability(informed, 0.6, 0.5, 0.7), attacker="from-a-plugin", attacker_rank=0
    )
    verdict = anonymiser_verdict([informed, plugin], originals)
    assert verdict.kind == "bad"
    assert verdict.finding.startswith("The from-a-plugin attacker names the right one")


def test_the_strongest_attack_is_the_one_that_links_most(findings: AuditFindings) -> None:
    rows = findings.rows[:2]
    assert strongest_attack(rows).attacker == "semi-informed"
    assert [row.attacker for row in most_informed_first(rows)] == ["semi-informed", "ignorant"]
    rows = (with_linkability(rows[0], 0.6, 0.5, 0.7), with_linkability(rows[1], 0.4, 0.3, 0.5))
    assert strongest_attack(rows).attacker == "ignorant"
    equal = tuple(with_linkability(row, 0.4, 0.3, 0.5) for row in rows)
    assert strongest_attack(equal).attacker == "semi-informed"


def test_a_linkage_function_that_the_study_names_is_part_of_the_name(
    findings: AuditFindings,
) -> None:
    row = findings.rows[1]
    assert attack_name(row) == "semi-informed"
    assert attack_name(replace(row, linkage="plda")) == "semi-informed, plda"


def test_all_verdicts_in_a_sentence(findings: AuditFindings) -> None:
    sentence = audit_verdict({"a": findings.rows[:2], "b": findings.rows[2:]})
    sentence = sentence.replace("\u00a0", " ")
    assert sentence.startswith("Of 2 anonymisers tried, 1 let people be found again.")
    assert "Fewest are found behind b: 12.5 % of single recordings" in sentence
    assert audit_verdict({}) == audit_verdict({"a": []}) == "Nothing was attacked."


def test_an_anonymiser_that_nobody_attacked_is_listed(findings: AuditFindings) -> None:
    rows_of = rows_by_anonymiser(replace(findings, rows=findings.rows[:2]))
    assert {label: len(rows) for label, rows in rows_of.items()} == {
        "bend(by=0.8)": 2,
        "<mask> & co": 0,
    }


def test_without_populations_the_eer_speaks(
    findings: AuditFindings, originals: Reidentification
) -> None:
    row = replace(findings.rows[1], reidentification=Reidentification(8, "plda"))
    finding = anonymiser_verdict([row], originals).finding
    assert "tells pairs of one speaker from others" in finding


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
def test_the_front_holds_those_that_nobody_beats(all_choices: list[Choice], higher: bool) -> None:
    best = pareto_front(all_choices, higher_is_better=higher)
    sign = 1 if higher else -1

    def is_beaten(choice: Choice) -> bool:
        return any(
            (rival.risk <= choice.risk and sign * rival.utility >= sign * choice.utility)
            and (rival.risk, rival.utility) != (choice.risk, choice.utility)
            for rival in all_choices
        )

    assert best and all((choice in best) is not is_beaten(choice) for choice in all_choices)
    # along the front, more risk buys more utility
    utilities = [sign * choice.utility for choice in best]
    assert utilities == sorted(utilities)
