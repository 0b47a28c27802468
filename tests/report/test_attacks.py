"""Attacks and audits in the terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from audit_case import findings_in

from sottovoce.findings import (
    AttackerDescription,
    AttackRecord,
    AttackSettings,
    AttributeInference,
    AuditFindings,
    LimitResult,
    LinkageTraining,
    NotMeasured,
    Trust,
    TrustEvidence,
    TrustLimits,
)
from sottovoce.report.attacks import (
    audit_remarks,
    limit_remark,
    print_attacks,
    print_audit,
    print_audits,
)

TRAINED = LinkageTraining("plda", {}, 5, 50, None, None)


def record(name: str, *reasons: str) -> AttackRecord:
    return AttackRecord(
        attacker=AttackerDescription(name, "original", "original", 0, "knows little"),
        settings=AttackSettings(),
        enrolled_speakers=1234,
        trials=40,
        trained=TRAINED,
        trained_on_originals=TRAINED,
        eer=0.0929,
        eer_on_originals=0.0154,
        trust=Trust(
            not reasons,
            reasons,
            TrustEvidence(0.0154, 0.0929, None, None, None, None, {}, {}),
            TrustLimits(0.15, 0.25, 0.1, 0.05),
            (),
        ),
        embeddings={},
        representation="frozen",
        draws=1,
        representations=(),
        techniques=(),
        unavailable=(),
        evidence=(),
    )


def inference(name: str, low: float, *, better: bool) -> AttributeInference:
    return AttributeInference(name, ("a", "b"), 8, 40, 0.9, low, 0.95, 0.5, 0.9, better)


def test_one_row_an_attack(capsys: pytest.CaptureFixture[str]) -> None:
    print_attacks([record("ignorant"), record("informed", "weak [b]")], {}, ["half were [used]"])
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert ["ignorant", "plda", "1,234", "40", "9.29%", "1.54%", "yes"] in rows
    assert ["informed", "plda", "1,234", "40", "9.29%", "1.54%", "no"] in rows
    assert "• informed is not trustworthy: weak [b]" in printed
    assert "ignorant is not trustworthy" not in printed
    assert "• half were [used]" in printed  # text of a user is no markup


def test_attributes_stand_beside_what_guessing_gives(capsys: pytest.CaptureFixture[str]) -> None:
    attributes: dict[str, AttributeInference | NotMeasured] = {
        "gender": inference("gender", 0.8, better=True),
        "accent": inference("accent", 0.4, better=False),
        "shoe": NotMeasured("shoe: 0 values"),
    }
    print_attacks([record("ignorant")], attributes)
    printed = " ".join(capsys.readouterr().out.split())
    assert "gender is told right for 90% (80% to 95%); always guessing" in printed
    assert "most frequent: 50%" in printed and "• shoe: 0 values" in printed
    assert printed.count("not surely better than guessing") == 1


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> AuditFindings:
    return findings_in(tmp_path_factory.mktemp("audit"), synthetic=True)


def test_an_audit_is_one_table(findings: AuditFindings, capsys: pytest.CaptureFixture[str]) -> None:
    print_audit(findings)
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert rows[0][:4] == ["The", "corpus", "is", "synthetic:"]
    (originals,) = [row for row in rows if row[:2] == ["none", "plda"]]
    assert originals[2:5] == ["97%", "12.5%", "37%"]
    eer = findings.originals[0].scores.measures["eer"].value
    d_sys = findings.originals[0].scores.measures["d_sys"].value
    corrected = findings.originals[0].scores.measures["d_sys_corrected"].value
    assert eer is not None and d_sys is not None and corrected is not None
    assert originals[5:] == [f"{d_sys:.2f}", f"{corrected:.2f}", f"{eer:.1%}"]
    assert [row[-1] for row in rows if row and row[0] == "bend(by=0.8)"] == ["yes", "yes"]
    assert "exceeded: linkability@population=8 < 0.5 for bend(by=0.8)" in printed
    assert "1 recording was left out" in printed


def test_audits_that_cannot_be_compared_are_marked(
    findings: AuditFindings, capsys: pytest.CaptureFixture[str]
) -> None:
    print_audits({"a": findings, "b": findings})
    assert "differ" not in capsys.readouterr().out
    other = replace(
        findings,
        corpus=replace(findings.corpus, name="x", attacked_speakers=3),
        training=replace(findings.training, name="y"),
        encoder=replace(findings.encoder, sha256="z"),
    )
    print_audits({"a": findings, "b": other})
    printed = capsys.readouterr().out
    for subject in ("corpora", "training corpora", "numbers of speakers", "encoders"):
        assert f"the {subject} differ" in printed
    first = [line.split()[0] for line in printed.splitlines() if line[:1] in "ab" and line]
    assert first == ["audit", *4 * ["a"], *4 * ["b"]]


def test_a_limit_that_was_not_measured_is_told(findings: AuditFindings) -> None:
    limit = LimitResult("eer > 0.3", "any anonymiser", "ignorant", "any", None, exceeded=True)
    line = "not measured: eer > 0.3 for any anonymiser against ignorant"
    assert limit_remark(limit) == line
    assert audit_remarks(replace(findings, limits=(limit,)))[0] == line
