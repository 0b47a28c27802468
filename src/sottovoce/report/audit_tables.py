"""The tables of an audit's page: every attack, limits, groups, and whether attackers are good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sottovoce.findings import (
    AttackRow,
    AuditFindings,
    CurvePoint,
    Estimate,
    LimitResult,
    OriginalsFinding,
    ScoreSummary,
    UtilityEstimate,
)
from sottovoce.measure.catalogue import MEASURES
from sottovoce.report.audit_verdicts import (
    WEAK,
    attack_name,
    rows_by_anonymiser,
    technique_name,
)
from sottovoce.report.formats import (
    MISSING,
    NumberFormat,
    counted,
    decimals,
    percent,
    percent_column,
)
from sottovoce.report.html import Markup, breakable, element, joined, mark
from sottovoce.report.tables import Cell, Lines, Table, make_table, with_interval
from sottovoce.report.utility import utility_cell
from sottovoce.report.verdicts import headline_point

EER_WARNING = (
    "Careful with the EER: it is a mean over pairs and thresholds. It hardly changes with the "
    "number of people, and people who are easy to find vanish in it. A high EER alone does not "
    "mean that nobody is found."
)


def summary_table(findings: AuditFindings) -> Table:
    """Arrange one row per anonymiser and attacker, the originals first.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    """
    wer = findings.original_utility.get("wer")
    rows = [_originals_row(originals, wer) for originals in findings.originals]
    classes = ["reference"] * len(rows)
    utilities = {anonymiser.anonymiser: anonymiser.utility for anonymiser in findings.anonymisers}
    for label, attacks in rows_by_anonymiser(findings).items():
        wer = utilities.get(label, {}).get("wer")
        for number, row in enumerate(attacks):
            rows.append(_attack_row(row, wer, exceeded_by(findings, row)))
            classes.append("" if number else "first")
    return make_table(
        "Every anonymiser under every attacker",
        _summary_headings(findings),
        rows,
        text=(1, 5),
        row_classes=classes,
    )


def _summary_headings(findings: AuditFindings) -> tuple[Cell, ...]:
    points = [headline_point(row.reidentification.linkability) for row in findings.originals]
    point = next((point for point in points if point is not None), None)
    people = "" if point is None else f" of {point.population:,}"
    chance = "1/N" if point is None else percent(point.chance)
    return (
        "anonymiser",
        "attacker",
        Lines("Singling Out", ("chance 36.8\u00a0%",)),
        Lines(f"Linkability{people}", (f"chance {chance}",)),
        Lines("D_ECE in bits", ("chance 0",)),
        "worst case for one pair",
        Lines("EER", ("chance 50\u00a0%",)),
        "WER",
    )


def _originals_row(originals: OriginalsFinding, wer: UtilityEstimate | None) -> tuple[Cell, ...]:
    attacker = f"on originals ({originals.linked_with})"
    return ("original", attacker, *_numbers(originals), utility_cell(wer, percent_column))


def _attack_row(
    row: AttackRow, wer: UtilityEstimate | None, exceeded: Sequence[LimitResult]
) -> tuple[Cell, ...]:
    marks = []
    if not row.trust.trustworthy:
        marks.append(mark(WEAK, "doubt"))
    if exceeded:
        marks.append(mark(f"{counted(len(exceeded), 'limit')} exceeded", "bad"))
    attacker = joined(
        [
            f"{attack_name(row)} ({technique_name(row)})",
            *(joined([element("br"), text]) for text in marks),
        ]
    )
    return (
        breakable(row.anonymiser),
        attacker,
        *_numbers(row),
        utility_cell(wer, percent_column),
    )


def _numbers(row: AttackRow | OriginalsFinding) -> tuple[Cell, ...]:
    scores = row.scores
    return (
        _point_cell(headline_point(row.reidentification.singling_out)),
        _point_cell(headline_point(row.reidentification.linkability)),
        _estimate_cell(scores.measures.get("d_ece"), decimals(3)),
        f"{scores.tag}: {scores.tag_meaning}",
        _estimate_cell(scores.measures.get("eer"), percent_column),
    )


def _point_cell(point: CurvePoint | None) -> Cell:
    if point is None:
        return MISSING
    return with_interval(point.value, point.low, point.high, percent_column)


def _estimate_cell(estimate: Estimate | None, write: NumberFormat) -> Cell:
    if estimate is None:
        return MISSING
    return with_interval(estimate.value, estimate.low, estimate.high, write)


def measures_table(scores: ScoreSummary) -> Table:
    """Arrange all measures of the scores of an attack, with chance level and direction.

    Parameters
    ----------
    scores : ScoreSummary
        Its measures.
    """
    rows = []
    for name, estimate in scores.measures.items():
        measure = MEASURES[name]
        write = percent_column if measure.unit == "%" else decimals(3)
        value = _estimate_cell(estimate, write)
        rows.append((measure.label, value, write(estimate.chance), measure.direction))
    headings = ("measure", "value", "chance", "reads")
    return make_table("Measures of the scores", headings, rows, text=(3,))


def exceeded_by(findings: AuditFindings, row: AttackRow) -> list[LimitResult]:
    """Return the limits that one attack exceeds.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    row : AttackRow
        One of its attacks.
    """
    attack = (row.anonymiser, row.attacker, row.linkage, row.encoder, row.draws)
    return [
        limit
        for limit in findings.exceeded_limits
        if (limit.anonymiser, limit.attacker, limit.linkage, limit.encoder, limit.draws) == attack
    ]


def limits_table(limits: Sequence[LimitResult]) -> Table:
    """Arrange every limit that was set, those that do not hold first.

    Parameters
    ----------
    limits : sequence of LimitResult
        Of a study.
    """
    rows = [
        (
            limit.limit,
            breakable(limit.anonymiser),
            limit.attacker,
            MISSING if limit.value is None else f"{limit.value:.4g}",
            _limit_mark(limit),
        )
        for limit in sorted(limits, key=lambda limit: not limit.exceeded)
    ]
    headings = ("limit", "anonymiser", "attacker", "value", "state")
    return make_table("Limits set in the study", headings, rows, text=(1, 2, 4))


def _limit_mark(limit: LimitResult) -> Markup:
    return mark("exceeded", "bad") if limit.exceeded else mark("kept", "good")


def groups_table(row: AttackRow) -> Table | None:
    """Arrange the risk of groups of speakers, such as women and men; None without groups.

    Parameters
    ----------
    row : AttackRow
        An attack.
    """
    rows = [
        (f"{name}: {value or 'not stated'}", f"{risk.speakers:,}", percent_column(risk.linkability))
        for name, groups in row.groups.items()
        for value, risk in groups.items()
    ]
    caption = "Groups: how often their members are named among everybody"
    return make_table(caption, ("group", "speakers", "Linkability"), rows) if rows else None


def trust_table(row: AttackRow) -> Table:
    """Arrange what shows whether the attacker can attack at all.

    Parameters
    ----------
    row : AttackRow
        Its attack.
    """
    evidence, limits = row.trust.evidence, row.trust.limits
    rows = [
        ("originals, before anonymisation", evidence.originals, _at_most(limits.originals)),
        ("its own training vectors", evidence.training, _at_most(limits.training)),
        ("training speakers it was not trained on", evidence.held_out, MISSING),
        ("control: names exchanged", evidence.control, f"50\u00a0% ± {percent(limits.control)}"),
        ("this attack", evidence.attack, MISSING),
        *_rivals("linked with {}", evidence.linkages),
        *_rivals("by the {} attacker", evidence.less_informed),
    ]
    return make_table(
        "Can this attacker attack? Its EERs",
        ("on", "EER", "allowed"),
        [(subject, percent_column(eer), allowed) for subject, eer, allowed in rows],
    )


def techniques_table(row: AttackRow) -> Table:
    """Arrange everything that the attacker tried, the chosen first.

    Parameters
    ----------
    row : AttackRow
        Its attack. Held-out training speakers chose; what the attacked trials gave is shown for
        information.
    """
    rows = [
        (
            technique.representation,
            technique.linkage,
            MISSING if technique.min_cllr is None else f"{technique.min_cllr:.3f}",
            percent_column(technique.held_out_eer),
            percent_column(technique.eer),
            "chosen" if technique.chosen else MISSING,
        )
        for technique in sorted(row.techniques, key=lambda technique: not technique.chosen)
    ]
    return make_table(
        "What was tried",
        (
            "representation",
            "linked with",
            Lines("Cllr_min", ("held-out speakers",)),
            Lines("EER", ("held-out speakers",)),
            Lines("EER", ("attacked, for information",)),
            "choice",
        ),
        rows,
        text=(1, 5),
    )


def _at_most(limit: float) -> str:
    return f"at most {percent(limit)}"


def _rivals(subject: str, eers: Mapping[str, float]) -> list[tuple[str, float, str]]:
    return [(subject.format(name), eer, "not clearly lower") for name, eer in eers.items()]
