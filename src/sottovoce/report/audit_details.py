"""The lower half of an audit's page: each attack with its figures, and provenance."""

from __future__ import annotations

import json
from pathlib import Path

from sottovoce import __version__
from sottovoce.core.records import to_json
from sottovoce.findings import (
    AnonymiserFinding,
    AttackRow,
    AuditFindings,
    NotMeasured,
    Provenance,
)
from sottovoce.findings.files import PROVENANCE, read_provenance
from sottovoce.report.audit_tables import (
    groups_table,
    measures_table,
    techniques_table,
    trust_table,
)
from sottovoce.report.audit_verdicts import (
    WEAK,
    attack_name,
    attacker_sentence,
    attribute_sentences,
    rows_by_anonymiser,
    trust_sentences,
)
from sottovoce.report.evidence import evidence_sentences, evidence_table
from sottovoce.report.formats import counted, percent
from sottovoce.report.html import Markup, bullets, element, folded, joined, mark
from sottovoce.report.panels import (
    people_panel,
    population_panels,
    score_panels,
    similarity_panel,
)
from sottovoce.report.verdicts import headline_point

LONGEST_LABEL = 32
"""Letters of an anonymiser's name that a legend has room for."""

# ------------------------------------------------------------------------- attack by attack


def attack_details(findings: AuditFindings) -> Markup:
    """Build every attack, folded, the first one open: figures, people, groups, trust.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    """
    anonymisers = {anonymiser.anonymiser: anonymiser for anonymiser in findings.anonymisers}
    parts: list[Markup | None] = []
    is_open = True
    for label, rows in rows_by_anonymiser(findings).items():
        anonymiser = anonymisers.get(label)
        parts += [element("h3", label), None if anonymiser is None else _method(anonymiser)]
        for row in rows:
            parts.append(_attack(findings, row, is_open=is_open))
            is_open = False
        if anonymiser is not None and not isinstance(anonymiser.similarity, NotMeasured):
            matrices = element("div", similarity_panel(anonymiser.similarity), class_="figures")
            parts.append(folded(f"{label}: voice similarity matrices", matrices, class_="row"))
    return joined(parts)


def _method(anonymiser: AnonymiserFinding) -> Markup:
    """Describe the anonymiser: what it does, keeps and leaves."""
    card = anonymiser.card
    settings = ", ".join(f"{name} = {value}" for name, value in anonymiser.settings.items())
    return element(
        "p",
        f"{card.summary} Keeps {', '.join(card.keeps)}. {card.leaks} "
        f"Reversible: {card.reversible}. ",
        f"Settings: {settings}. " if settings else None,
        element("small", f"{card.reference}."),
    )


def _attack(findings: AuditFindings, row: AttackRow, *, is_open: bool) -> Markup:
    trusted = row.trust.trustworthy
    attributes = attribute_sentences(row)
    groups = groups_table(row)
    return folded(
        _attack_heading(row),
        element("p", attacker_sentence(row)),
        bullets([f"Careful: {warning}." for warning in _warnings(row)]),
        None if trusted else bullets([f"{WEAK}: {reason}." for reason in row.trust.reasons]),
        folded("All measures of the scores", measures_table(row.scores).to_html()),
        element("div", *_panels(findings, row), class_="figures"),
        None if groups is None else groups.to_html(),
        *_evidence(row),
        element("p", " ".join(attributes)) if attributes else None,
        folded("What was tried", techniques_table(row).to_html()),
        folded(
            "Can this attacker be trusted?",
            trust_table(row).to_html(),
            bullets(trust_sentences(row.trust), class_="soft"),
            is_open=not trusted,
        ),
        bullets(row.reidentification.notes, class_="soft"),
        is_open=is_open,
        class_="row",
    )


def _warnings(row: AttackRow) -> list[str]:
    """Warnings about the scores, and those about re-identification that they do not include."""
    curves = row.reidentification
    by_code = zip(curves.warning_codes, curves.warnings, strict=True)
    further = [text for code, text in by_code if code not in row.scores.warning_codes]
    return [*row.scores.warnings, *further]


def _evidence(row: AttackRow) -> list[Markup | None]:
    """What each kind of evidence alone links; nothing where none was fused."""
    if not row.evidence:
        return []
    sentences = [f"{sentence}." for sentence in evidence_sentences(row.evidence)]
    return [evidence_table(row.evidence, row.attacker).to_html(), bullets(sentences)]


def _attack_heading(row: AttackRow) -> Markup:
    point = headline_point(row.reidentification.linkability)
    return joined(
        [
            f"{row.anonymiser}: {attack_name(row)} attacker",
            None if point is None else f", Linkability {percent(point.value)}",
            None if row.trust.trustworthy else joined([" ", mark(WEAK, "doubt")]),
        ]
    )


def _panels(findings: AuditFindings, row: AttackRow) -> list[Markup | None]:
    originals = findings.originals_for(row.linkage)
    label = row.anonymiser
    if len(label) > LONGEST_LABEL:
        label = f"{label[: LONGEST_LABEL - 1]}…"
    return [
        *score_panels({"original": originals.curves, f"{label}, {row.attacker}": row.curves}),
        *population_panels(row.reidentification, originals.reidentification),
        people_panel(row.reidentification),
    ]


# -------------------------------------------------------------------------------- provenance


def provenance_section(findings: AuditFindings, folder: Path) -> Markup:
    """Build versions, seed, encoder, recordings left out, and the study.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    folder : Path
        Its folder, whose ``provenance.json`` is shown if it has been written.
    """
    record = read_provenance(folder) if (folder / PROVENANCE).is_file() else None
    parts = []
    for name, value in _provenance_entries(findings, record).items():
        if value is not None:
            parts += [element("dt", name), element("dd", value)]
    study = json.dumps(to_json(findings.study), indent=2, ensure_ascii=False)
    return joined(
        [
            element("dl", *parts),
            _excluded(f"{findings.corpus.name} (corpus)", findings.corpus.excluded),
            _excluded(f"{findings.training.name} (training)", findings.training.excluded),
            folded("The study as it was given", element("pre", study)),
        ]
    )


def _provenance_entries(
    findings: AuditFindings, record: Provenance | None
) -> dict[str, str | None]:
    encoder = findings.encoder
    seed = findings.study.get("seed")
    return {
        "sottovoce": __version__ if record is None else record.version,
        "Python": None if record is None else record.python,
        **({} if record is None else record.libraries),
        "seed": None if seed is None else str(seed),
        "draws": None if record is None else record.draws,
        "confidence of intervals": percent(findings.confidence),
        "encoder": encoder.name,
        "encoder's origin": encoder.origin,
        "encoder's licence": encoder.licence,
        "encoder's SHA-256": encoder.sha256,
        "SHA-256 of the trial list": (
            None if findings.trial_list is None else findings.trial_list.sha256
        ),
        **(
            {}
            if record is None
            else {f"SHA-256 of {name}": corpus.sha256 for name, corpus in record.inputs.items()}
        ),
    }


def _excluded(name: str, reasons: tuple[str, ...]) -> Markup:
    """List the recordings that were left out."""
    if not reasons:
        return element("p", f"Left out of {name}: nothing.")
    return folded(f"Left out of {name}: {counted(len(reasons), 'recording')}", bullets(reasons))
