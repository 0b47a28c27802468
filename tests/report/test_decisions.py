"""What is advised follows from the strongest attack, the upper end, and the study's limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from audit_case import BEND, MASK, findings_in, with_trust
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.findings import (
    AttackRow,
    AuditFindings,
    CurvePoint,
    LinkabilityBySize,
    Reidentification,
    ReleaseLimits,
    SpeakerRisk,
)
from sottovoce.report.advice import best_choice, improvements, limits_explained
from sottovoce.report.assessment import impact_questions, working_party_questions
from sottovoce.report.audit import render
from sottovoce.report.decision_page import decision_table, overall_answer
from sottovoce.report.decisions import Action, Decision, decide, decide_all, release_risks


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> AuditFindings:
    return findings_in(tmp_path_factory.mktemp("audit"))


def attack(
    row: AttackRow, value: float, low: float, high: float, *, isolated: float = 0.4
) -> AttackRow:
    """Return a trusted, semi-informed attack on 40 people with these figures among 20 of them."""
    curve = LinkabilityBySize(
        1, (2, 20, 40), (0.9, value, 0.01), (0.8, low, 0.0), (1.0, high, 0.02)
    )
    single = CurvePoint(1, 20, isolated, 0.368, low=isolated, high=isolated, no_evidence=0.4)
    result = Reidentification(40, "plda", by_size=(curve,), singling_out=(single,))
    return with_trust(replace(row, reidentification=result), trustworthy=True)


def decided(findings: AuditFindings, *rows: AttackRow) -> Decision:
    return decide(replace(findings, limits=(), rows=rows), BEND, rows)


@pytest.mark.parametrize(
    ("low", "value", "high", "action"),
    [
        (0.02, 0.04, 0.09, Action.ACCEPT),
        (0.02, 0.04, 0.091, Action.BOUND),
        (0.10, 0.15, 0.20, Action.BOUND),
        (0.10, 0.15, 0.201, Action.UNDECIDED),
        (0.20, 0.25, 0.30, Action.UNDECIDED),
        (0.21, 0.25, 0.30, Action.REFUSE),
        (0.80, 0.90, 0.95, Action.REFUSE),
    ],
)
def test_the_upper_end_decides(
    findings: AuditFindings, low: float, value: float, high: float, action: Action
) -> None:
    assert decided(findings, attack(findings.rows[1], value, low, high)).action is action


def test_the_strongest_attack_decides_whoever_it_is(findings: AuditFindings) -> None:
    weak = attack(findings.rows[1], 0.04, 0.02, 0.08)
    strong = replace(
        attack(findings.rows[1], 0.5, 0.4, 0.6), attacker="from-a-plugin", attacker_rank=-1
    )
    decision = decided(findings, weak, strong)
    assert decision.action is Action.REFUSE
    assert decision.risk is not None and decision.risk.row.attacker == "from-a-plugin"


def test_isolating_people_counts_as_finding_them(findings: AuditFindings) -> None:
    named_rarely = {"value": 0.04, "low": 0.02, "high": 0.05}
    for isolated, action in ((0.45, Action.ACCEPT), (0.5, Action.BOUND), (0.7, Action.REFUSE)):
        row = attack(findings.rows[1], **named_rarely, isolated=isolated)
        decision = decided(findings, row)
        assert decision.action is action, isolated
    assert decision.risk is not None and decision.risk.isolates
    assert decision.risk.value == pytest.approx((0.7 - 0.4) / (1 - 0.4))
    assert "can isolate one person in up to 50\u00a0%" in decision.sentence


def test_a_larger_corpus_does_not_make_a_circle_larger(findings: AuditFindings) -> None:
    row = attack(findings.rows[1], 0.5, 0.4, 0.6)  # among all 40 people: 1 %
    (named, _) = release_risks([row], 20)
    assert (named.point.population, named.value) == (20, 0.5)
    (named, _) = release_risks([row], 39)
    assert named.point.population == 20


def test_the_length_that_discloses_most_decides(findings: AuditFindings) -> None:
    row = attack(findings.rows[1], 0.05, 0.04, 0.06)
    curves = row.reidentification.by_size
    longer = replace(curves[0], length=3, values=(0.9, 0.5, 0.4), low=None, high=None)
    row = replace(row, reidentification=replace(row.reidentification, by_size=(*curves, longer)))
    decision = decided(findings, row)
    assert decision.action is Action.REFUSE
    assert "conversations of 3 recordings" in decision.sentence
    advice = " ".join(improvements(replace(findings, rows=(row,)), decision))
    assert "with single recordings it is up to 6\u00a0%" in advice


# ------------------------------------------------------------------------ no false comfort


def test_an_untrustworthy_attack_never_clears_a_release(findings: AuditFindings) -> None:
    harmless = attack(findings.rows[1], 0.04, 0.02, 0.05)
    decision = decided(findings, with_trust(harmless, trustworthy=False))
    assert decision.action is Action.UNDECIDED
    assert any("not trustworthy" in doubt for doubt in decision.doubts)
    found = attack(findings.rows[1], 0.9, 0.8, 0.95)
    assert decided(findings, with_trust(found, trustworthy=False)).action is Action.REFUSE


def test_too_few_people_never_clear_a_release(findings: AuditFindings) -> None:
    row = attack(findings.rows[1], 0.04, 0.02, 0.05)
    few = replace(row.reidentification, warnings=("few",), warning_codes=("few-speakers",))
    decision = decided(findings, replace(row, reidentification=few))
    assert decision.action is Action.UNDECIDED
    assert any("too few" in doubt for doubt in decision.doubts)


def test_attackers_that_know_too_little_never_clear_a_release(findings: AuditFindings) -> None:
    row = attack(findings.rows[1], 0.04, 0.02, 0.05)
    for rank, action in ((0, Action.UNDECIDED), (1, Action.UNDECIDED), (2, Action.ACCEPT)):
        assert decided(findings, replace(row, attacker_rank=rank)).action is action


def test_a_limit_of_the_study_that_is_exceeded_forbids_a_release(findings: AuditFindings) -> None:
    row = attack(findings.rows[1], 0.04, 0.02, 0.05)
    decision = decide(replace(findings, rows=(row,)), BEND, (row,))
    assert decision.action is Action.REFUSE
    assert "1 limit that this study sets is exceeded" in decision.sentence


def test_nothing_measured_is_no_permission(findings: AuditFindings) -> None:
    row = replace(findings.rows[1], reidentification=Reidentification(40, "plda"))
    decision = decided(findings, row)
    assert (decision.action, decision.risk) == (Action.UNDECIDED, None)
    assert "was not measured" in decision.sentence
    assert "not measured" in best_choice(findings, [decision])


any_share = st.floats(0, 1)


@given(any_share, any_share, any_share, st.booleans(), any_share, st.integers(-1, 3))
def test_more_risk_or_less_trust_never_softens_the_advice(
    a: float, b: float, c: float, trustworthy: bool, more: float, rank: int
) -> None:
    order = (Action.ACCEPT, Action.BOUND, Action.UNDECIDED, Action.REFUSE)
    case = _case()
    low, value, high = sorted((a, b, c))
    row = replace(attack(case.rows[1], value, low, high), attacker_rank=rank)
    worse = attack(case.rows[1], max(value, more), max(low, more), max(high, more))
    worse = with_trust(replace(worse, attacker_rank=rank), trustworthy=trustworthy)
    first, second = decided(case, row).action, decided(case, worse).action
    assert order.index(second) >= order.index(first)


_CASES: list[AuditFindings] = []


def _case() -> AuditFindings:
    """The case without recordings, made once: hypothesis takes no fixtures of a module's scope."""
    if not _CASES:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            _CASES.append(findings_in(Path(folder)))
    return _CASES[0]


# ----------------------------------------------------------------------------------- wording


def test_the_advice_and_the_loss_are_in_one_sentence(findings: AuditFindings) -> None:
    sentence = decided(findings, attack(findings.rows[1], 0.9, 0.8, 0.95)).sentence
    assert sentence.replace("\u00a0", " ") == (
        "Do not release: among 20 people a semi-informed attacker, who has the same method and has "
        "learnt from its output, names the right one for up to 95 % of single recordings, where "
        "guessing names 5 %; this study allows 9 % for release to anybody and 20 % for people "
        "bound by a contract; of the words, a speech recogniser gets 8 % wrong, against 5 % before."
    )


def test_words_that_were_not_counted_are_said(findings: AuditFindings) -> None:
    mute = replace(findings, anonymisers=(), original_utility={})
    assert "how many words are lost was not measured" in decided(mute, findings.rows[1]).sentence


@pytest.mark.parametrize(
    ("actions", "start"),
    [
        ((Action.REFUSE, Action.REFUSE), "Nothing should be released."),
        ((Action.UNDECIDED, Action.REFUSE), "Nothing should be released yet: for a this audit"),
        ((Action.UNDECIDED, Action.BOUND), "Nothing should be published. What b made may be given"),
        ((Action.ACCEPT, Action.BOUND), "What a made is acceptable for release to anybody, by the"),
    ],
)
def test_the_best_anonymiser_gives_the_answer(actions: tuple[Action, ...], start: str) -> None:
    decisions = [
        Decision(label, action, "", (), None) for label, action in zip("ab", actions, strict=True)
    ]
    assert overall_answer(decisions).startswith(start)


def test_default_limits_are_explained_and_not_called_law() -> None:
    text = limits_explained(ReleaseLimits()).replace("\u00a0", " ")
    assert "not a rule of law" in text and "European Medicines Agency" in text
    assert "9 % is as if an attacker guessed among 11 people, 20 % as if among 5." in text
    own = limits_explained(ReleaseLimits(public=0.05, bound=0.25)).replace("\u00a0", " ")
    assert "own choice, not a rule of law" in own and "among 20 people, 25 % as if among 4" in own
    assert "Medicines" not in own


def test_what_would_help_is_said(findings: AuditFindings) -> None:
    bound = attack(findings.rows[1], 0.08, 0.04, 0.12)
    decision = decided(findings, bound)
    case = replace(
        findings,
        rows=(bound,),
        anonymisers=findings.anonymisers[:1],
        corpus=replace(findings.corpus, attacked_speakers=40),
    )
    advice = improvements(case, decision)
    assert "sign that they look for nobody" in advice[0]
    assert "private words that are spoken" in advice[1]
    # 40 people leave 4 points above the value; the limit leaves one: sixteen times as many
    assert "about 640 instead of 40" in advice[2]
    assert "only one was tried" in advice[3]
    weak = with_trust(attack(findings.rows[1], 0.04, 0.02, 0.05), trustworthy=False)
    advice = improvements(replace(case, rows=(weak,)), decided(findings, weak))
    assert advice[0].startswith("Attack with a stronger attacker")
    fine = attack(findings.rows[1], 0.04, 0.02, 0.05)
    masked, again = improvements(replace(case, rows=(fine,)), decided(findings, fine))
    assert "private words that are spoken" in masked
    assert again.startswith("Audit again when recordings, method or settings change")


def test_exposed_people_are_counted_over_all_attacks(findings: AuditFindings) -> None:
    row = attack(findings.rows[1], 0.9, 0.8, 0.95)
    risks = [
        SpeakerRisk(name, 1, 5, share, None)
        for name, share in zip("abc", (0.5, 0.4, 0.3), strict=True)
    ]
    row = replace(row, reidentification=replace(row.reidentification, speakers=tuple(risks)))
    case = replace(findings, rows=(row,))
    assert any("1 person of 3 is named" in text for text in improvements(case, decided(case, row)))


def test_many_decisions_are_a_table_the_safest_first(findings: AuditFindings) -> None:
    decisions = decide_all(findings)
    table = decision_table(findings, [*decisions, *decisions[:1] * 20])
    assert len(table.rows) == 12 and table.caption.endswith("12 of 22")
    assert "mask" in str(table.rows[0][0]) and "bend" in str(table.rows[1][0])


# ------------------------------------------------------------------------- questions of the law


def test_each_question_says_what_was_tested_and_what_not(findings: AuditFindings) -> None:
    singling_out, linking, inference = working_party_questions(findings)
    assert [q.title for q in (singling_out, linking, inference)] == [
        "Singling out",
        "Linkability",
        "Inference",
    ]
    assert f"{BEND}: Singling Out 36.8" in singling_out.findings[0]
    assert f"{BEND}: Linkability 90" in linking.findings[0] and "EER" in linking.findings[0]
    assert f"{BEND}: gender is told right for 90" in inference.findings[0]
    assert not any("accent" in text for text in inference.findings)  # it was not tried
    questions = impact_questions(findings, decide_all(findings))
    assert all(question.open_points for question in questions)
    assert f"{MASK}: word error rate 30" in questions[1].findings[1]
    assert "without anonymisation 97" in questions[4].findings[0]


def test_the_first_page_is_complete_in_itself(findings: AuditFindings, tmp_path: Path) -> None:
    page = render(findings, tmp_path, audio=False)
    first = page[page.index('id="decision"') : page.index('id="verdict"')]
    for words in ("Do not release:", "What would make it better", "What was not tested"):
        assert words in first
    assert "not a rule of law" in first and "Risk against word error rate" in first
