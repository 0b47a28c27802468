"""Attacks and audits in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sottovoce.findings import (
    AttackRecord,
    AttackReport,
    AttackRow,
    AttributeInference,
    AuditFindings,
    LimitResult,
    NotMeasured,
    OriginalsFinding,
    ScoreSummary,
    SliceCurve,
)
from sottovoce.report.audit_verdicts import technique_name
from sottovoce.report.decisions import decide_all
from sottovoce.report.evidence import evidence_sentences, evidence_table
from sottovoce.report.formats import counted
from sottovoce.report.slices import slice_table
from sottovoce.report.tables import Column, Table
from sottovoce.report.terminal import Terminal
from sottovoce.report.verdicts import headline_point

# ---------------------------------------------------------------------------------- attacks


def print_attacks(
    records: Sequence[AttackRecord],
    attributes: Mapping[str, AttributeInference | NotMeasured],
    notes: Sequence[str] = (),
) -> None:
    """Print one row per attack, then remarks.

    Parameters
    ----------
    records : sequence of AttackRecord
        All on the same speech.
    attributes : mapping of str to AttributeInference or NotMeasured
        Inferences from that speech, by the name of the attribute.
    notes : sequence of str, optional
        Further remarks.
    """
    terminal = Terminal()
    terminal.table(_attack_table(records))
    for record in records:
        if record.evidence:
            terminal.line()
            terminal.table(evidence_table(record.evidence, record.attacker.name))
    curves = _slice_curves(records)
    if curves:
        terminal.line()
        terminal.table(slice_table(curves))
    terminal.line()
    terminal.bullets((*_attack_remarks(records), *_attribute_remarks(attributes), *notes))


def _slice_curves(records: Sequence[AttackRecord]) -> dict[str, SliceCurve | NotMeasured]:
    """Curves of slices by what was attacked, originals first."""
    curves: dict[str, SliceCurve | NotMeasured] = {}
    for record in records:
        if isinstance(record, AttackReport):
            if record.original_slices is not None:
                curves.setdefault("originals", record.original_slices)
            if record.slices is not None:
                curves[record.attacker.name] = record.slices
    return curves


def _attack_table(records: Sequence[AttackRecord]) -> Table:
    """Arrange attackers, what they linked with, and their EERs."""
    columns = (
        *(Column(name, "left") for name in ("attacker", "linkage", "speakers", "trials")),
        *(Column(name) for name in ("EER", "on originals", "trustworthy")),
    )
    rows = tuple(
        (
            record.attacker.name,
            record.trained.name,
            f"{record.enrolled_speakers:,}",
            f"{record.trials:,}",
            f"{record.eer:.2%}",
            f"{record.eer_on_originals:.2%}",
            _yes_or_no(record.trust.trustworthy),
        )
        for record in records
    )
    return Table("Attacks", columns, rows)


def _attack_remarks(records: Sequence[AttackRecord]) -> list[str]:
    doubts = [
        f"{record.attacker.name} is not trustworthy: {reason}"
        for record in records
        for reason in record.trust.reasons
    ]
    leaks = [
        f"{record.attacker.name}: {sentence[0].lower()}{sentence[1:]}"
        for record in records
        for sentence in evidence_sentences(record.evidence)
    ]
    return doubts + leaks


def _attribute_remarks(attributes: Mapping[str, AttributeInference | NotMeasured]) -> list[str]:
    lines = []
    for name, result in attributes.items():
        if isinstance(result, NotMeasured):
            lines.append(result.note)
            continue
        doubt = "" if result.better_than_guessing else "; not surely better than guessing"
        lines.append(
            f"{name} is told right for {result.accuracy:.0%} ({result.low:.0%} to "
            f"{result.high:.0%}); always guessing the most frequent: {result.majority:.0%}{doubt}"
        )
    return lines


# ----------------------------------------------------------------------------------- audits


def print_audit(findings: AuditFindings) -> None:
    """Print a table of all attacks of an audit, then what to do, then remarks.

    Parameters
    ----------
    findings : AuditFindings
        Everything that the audit found.
    """
    terminal = Terminal()
    if findings.synthetic:
        terminal.heading("The corpus is synthetic: the figures show how the tool works.")
    terminal.table(_audit_table(_audit_rows(findings)))
    terminal.line()
    for decision in decide_all(findings):
        terminal.heading(f"{decision.anonymiser}: {decision.action.value}")
        terminal.line(f"{decision.reasons[0].upper()}{decision.reasons[1:]}")
    terminal.line()
    terminal.bullets(audit_remarks(findings))


def print_audits(audits: Mapping[str, AuditFindings]) -> None:
    """Print the attacks of several audits in one table, and whether they can be compared.

    Parameters
    ----------
    audits : mapping of str to AuditFindings
        The audits by their names.
    """
    terminal = Terminal()
    rows = [(name, *row) for name, findings in audits.items() for row in _audit_rows(findings)]
    terminal.table(_audit_table(rows, "audit"))
    terminal.line()
    terminal.bullets(_differences(list(audits.values())))


def _differences(audits: Sequence[AuditFindings]) -> list[str]:
    """Say why figures of these audits mean different things."""
    lines = []
    if len({findings.corpus.name for findings in audits}) > 1:
        lines.append("the corpora differ: differences may be those of the speakers")
    if len({findings.training.name for findings in audits}) > 1:
        lines.append("the training corpora differ: differences may be those of the speakers")
    if len({findings.corpus.attacked_speakers for findings in audits}) > 1:
        lines.append("the numbers of speakers differ, and with them the chance level")
    if len({findings.encoder.sha256 for findings in audits}) > 1:
        lines.append("the encoders differ: a weaker one makes any anonymiser look better")
    return lines


def _audit_table(rows: Sequence[tuple[str, ...]], *first: str) -> Table:
    columns = (
        *(Column(name, "left") for name in (*first, "anonymiser", "attacker", "linked with")),
        *(
            Column(name)
            for name in (
                "Linkability",
                "chance",
                "Singling Out",
                "D_sys",
                "corrected",
                "EER",
                "trust",
            )
        ),
    )
    return Table("Every anonymiser under every attacker", columns, tuple(rows))


def _audit_rows(findings: AuditFindings) -> list[tuple[str, ...]]:
    """Return one row per attack, originals first."""
    rows: list[tuple[str, ...]] = [
        ("none", "", originals.linked_with, *_numbers(originals), "")
        for originals in findings.originals
    ]
    rows += [
        (
            row.anonymiser,
            row.attacker,
            technique_name(row),
            *_numbers(row),
            _yes_or_no(row.trust.trustworthy),
        )
        for row in findings.rows
    ]
    return rows


def _numbers(row: AttackRow | OriginalsFinding) -> list[str]:
    linked = headline_point(row.reidentification.linkability)
    isolated = headline_point(row.reidentification.singling_out)
    return [
        "" if linked is None else f"{linked.value:.0%}",
        "" if linked is None else f"{linked.chance:.1%}",
        "" if isolated is None else f"{isolated.value:.0%}",
        _measure(row.scores, "d_sys", ".2f"),
        _measure(row.scores, "d_sys_corrected", ".2f"),
        _measure(row.scores, "eer", ".1%"),
    ]


def _measure(scores: ScoreSummary, name: str, form: str) -> str:
    estimate = scores.measures.get(name)
    return "" if estimate is None or estimate.value is None else format(estimate.value, form)


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def audit_remarks(findings: AuditFindings) -> list[str]:
    """Return limits that do not hold, attackers that are too weak, recordings left out.

    Parameters
    ----------
    findings : AuditFindings
        Everything that the audit found.
    """
    lines = [limit_remark(limit) for limit in findings.exceeded_limits]
    lines += [
        f"{row.anonymiser} against {row.attacker} is not trustworthy, the attacker is too "
        f"weak: {'; '.join(row.trust.reasons)}"
        for row in findings.rows
        if row.trust.reasons
    ]
    left_out = len(findings.corpus.excluded) + len(findings.training.excluded)
    if left_out:
        verb = "was" if left_out == 1 else "were"
        lines.append(
            f"{counted(left_out, 'recording')} {verb} left out; the report names them, and why"
        )
    lines.append("Linkability and Singling Out: one utterance, the largest population.")
    lines.append("corrected: D_sys without the bias of its histogram, the one to judge by.")
    return lines


def limit_remark(limit: LimitResult) -> str:
    """Say that a limit does not hold.

    Parameters
    ----------
    limit : LimitResult
        A limit that is exceeded, or whose figure was not measured.
    """
    subject = f"{limit.limit} for {limit.anonymiser} against {limit.attacker}"
    if limit.value is None:
        return f"not measured: {subject}"
    return f"exceeded: {subject} (it is {limit.value:.4g})"
