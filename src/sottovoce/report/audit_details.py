"""The lower half of an audit's page: each attack with its figures, the methods, provenance."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sottovoce import __version__
from sottovoce.core.errors import InputError
from sottovoce.core.records import to_json
from sottovoce.corpus.audio import load_audio, load_length
from sottovoce.corpus.utterance import Utterance
from sottovoce.findings import (
    AnonymiserFinding,
    AttackRow,
    AuditFindings,
    Example,
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


# ----------------------------------------------------------------------------------- methods


def methods_section() -> Markup:
    """Build the list of what is measured, how, and whose work that is."""
    parts = []
    for name, text, papers in METHODS:
        source = element("small", f" {papers}.") if papers else None
        parts += [element("dt", name), element("dd", text, source)]
    return element("dl", *parts)


METHODS = (
    (
        "Attackers",
        "Speech is split into enrolment (whose speaker the attacker knows) and trials. An encoder "
        "turns recordings into vectors, a linkage function scores pairs. What an attacker may "
        "enrol with and train on follows from what it knows.",
        "Srivastava, Vauquier, Sahidullah, Bellet, Tommasi and Vincent, Evaluating voice "
        "conversion-based privacy protection against informed attackers, ICASSP 2020; Tomashenko "
        "et al., The VoicePrivacy 2020 Challenge: results and findings, Computer Speech & Language "
        "74, 2022",
    ),
    (
        "Linkability and Singling Out",
        "Linkability: the share of trials for which the true speaker scores highest among N "
        "enrolled; chance 1/N. Singling Out: the share of populations in which a rule made from "
        "one person's speech fits exactly one recording; a random rule does in 1/e = 36.8 %.",
        "Vauquier, Srivastava, Hosseini and Vincent, Legally validated evaluation framework for "
        "voice anonymization, 2025; after Article 29 Working Party, Opinion 05/2014, and Cohen and "
        "Nissim, Towards formalizing the GDPR's notion of singling out, PNAS 117(15), 2020",
    ),
    (
        "D_ECE and worst case",
        "How many bits the scores disclose on average over all priors (0 to 0.72), and the "
        "strongest evidence for or against any one pair, with its category 0, A to F.",
        "Nautsch, Patino, Tomashenko, Yamagishi, Noé, Bonastre, Todisco and Evans, The Privacy "
        "ZEBRA: Zero Evidence Biometric Recognition Assessment, Interspeech 2020",
    ),
    (
        "Linkability of scores D_sys; EER",
        "D_sys: how far mated scores stand out where they occur, without any threshold; the "
        "corrected one, by which it is judged, is without the bias of the histogram. EER: the "
        "error of an attacker who misses as often as it raises false alarms.",
        "Maouche, Srivastava, Vauquier, Bellet, Tommasi and Vincent, A comparative study of speech "
        "anonymization metrics, Interspeech 2020; Gomez-Barrero, Galbally, Rathgeb and Busch, "
        "General framework to evaluate unlinkability in biometric template protection systems, "
        "IEEE TIFS 13(6), 2018",
    ),
    (
        "Similarity matrices, DeID and G_VD",
        "Voices before and after compared with each other, speaker by speaker.",
        "Noé, Bonastre, Matrouf, Tomashenko, Nautsch and Evans, Speech pseudonymisation assessment "
        "using voice similarity matrices, Interspeech 2020",
    ),
    (
        "Privacy against utility",
        "Anonymisers by the strongest attack on them and by what they keep.",
        "Srivastava, Maouche, Sahidullah, Vincent, Bellet, Tommasi, Tomashenko, Wang and "
        "Yamagishi, Privacy and utility of x-vector based speaker anonymization, IEEE/ACM TASLP "
        "30, 2022; COMPRISE, Deliverable D2.3, 2021",
    ),
    (
        "Whether an attacker can be trusted",
        "It must tell voices apart on originals, fit its own training speakers, fail under "
        "exchanged names, and not be beaten by one that knows less or links otherwise.",
        "Giomi, Boenisch, Wehmeyer and Tasnádi, A unified framework for quantifying privacy risk "
        "in synthetic data, PoPETs 2023",
    ),
    (
        "Intervals",
        "Speakers are drawn again with replacement, since recordings of one person are not "
        "independent; where speakers are unknown or too few, trials.",
        "",
    ),
)
"""What is measured, how, and the papers."""


PAIRS = 3
"""Pairs an anonymiser at most."""
SECONDS = 6.0
"""Of each recording at most."""
BUDGET = 3_000_000
"""Characters of all recordings together."""
RATE = 16000


def listening(anonymisers: Sequence[AnonymiserFinding], folder: Path) -> dict[str, Markup]:
    """Build players of original and anonymised recordings, by anonymiser.

    The first pair of every anonymiser comes first, then the second pairs, while there is room.
    They are FLAC, so that one hears the anonymiser and not the codec.

    Parameters
    ----------
    anonymisers : sequence of AnonymiserFinding
        Their examples are shown.
    folder : Path
        The audit's folder, which paths of examples are relative to.
    """
    pairs: dict[str, list[Markup]] = {anonymiser.anonymiser: [] for anonymiser in anonymisers}
    remaining, truncated = BUDGET, set[str]()
    for turn in range(PAIRS):
        for anonymiser in anonymisers:
            if turn >= len(anonymiser.examples):
                continue
            try:
                pair, size = _pair(anonymiser.examples[turn], folder)
            except InputError as error:
                pair, size = element("p", f"Cannot be played: {error}", class_="soft"), 0
            if size > remaining:
                truncated.add(anonymiser.anonymiser)
                continue
            remaining -= size
            pairs[anonymiser.anonymiser].append(pair)
    return {name: _section(players, name in truncated) for name, players in pairs.items()}


def _section(pairs: list[Markup], truncated: bool) -> Markup:
    remark = None
    if truncated:
        remark = "More were left out to keep the page small; they are in the audit's folder."
    elif not pairs:
        remark = "No recordings to listen to."
    return joined([*pairs, element("p", remark, class_="soft") if remark else None])


def _pair(example: Example, folder: Path) -> tuple[Markup, int]:
    """Return both players, and how many characters their sound takes."""
    sides = {
        "original": _sound(
            Utterance(
                example.utterance,
                _locate(example.original, folder),
                example.speaker,
                start=example.start,
                end=example.end,
                channel=example.channel,
            )
        ),
        "anonymised": _sound(
            Utterance(example.utterance, _locate(example.anonymised, folder), example.speaker)
        ),
    }
    players = [
        element(
            "div",
            element("small", side),
            element(
                "audio",
                controls=True,
                preload="none",
                src=data,
                aria_label=f"{example.utterance}, {side}",
            ),
        )
        for side, data in sides.items()
    ]
    speaker = element("small", f"speaker {example.speaker}")
    label = element("div", example.utterance, " ", speaker)
    return element("div", label, *players, class_="pair"), sum(map(len, sides.values()))


def _locate(path: str, folder: Path) -> Path:
    """Return the path inside the audit's folder, or where it was when the audit was run."""
    inside = folder / path
    return inside if inside.exists() else Path(path)


def _sound(utterance: Utterance) -> str:
    """Return the beginning of an utterance as a data address."""
    import soundfile

    start = utterance.start or 0.0
    end = utterance.end
    if end is None and load_length(utterance.path).seconds > start + SECONDS:
        end = start + SECONDS
    elif end is not None:
        end = min(end, start + SECONDS)
    samples = load_audio(replace(utterance, end=end), RATE)
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, RATE, format="FLAC", subtype="PCM_16")
    return f"data:audio/flac;base64,{base64.b64encode(buffer.getvalue()).decode()}"
