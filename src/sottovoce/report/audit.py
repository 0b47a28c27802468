"""The report of an audit: one page that a person can read, print and act on.

The verdict comes first, in plain words; then every number; then what it rests on.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from sottovoce import __version__
from sottovoce.findings import (
    AttackRow,
    AuditFindings,
    CurvePoint,
    Reidentification,
    RowsComparison,
)
from sottovoce.report.assessment import assessment_section
from sottovoce.report.audit_details import attack_details, provenance_section
from sottovoce.report.audit_tables import EER_WARNING, exceeded_by, limits_table, summary_table
from sottovoce.report.audit_verdicts import (
    WEAK,
    anonymiser_verdict,
    audit_verdict,
    rows_by_anonymiser,
    same_point,
    strongest_attack,
)
from sottovoce.report.comparisons import (
    headline_comparison,
    rows_caption,
    rows_comparison_table,
    rows_remarks,
)
from sottovoce.report.decision_page import decision_section
from sottovoce.report.decisions import decide_all
from sottovoce.report.formats import counted, interval_in_brackets, percent, speech_of_length
from sottovoce.report.glossary import explained, glossary_section
from sottovoce.report.html import (
    Content,
    Markup,
    bullets,
    document,
    element,
    folded,
    joined,
    mark,
)
from sottovoce.report.listening import listening
from sottovoce.report.methods import methods_section
from sottovoce.report.retrained import retrained_section
from sottovoce.report.slices import slice_curves, slices_section
from sottovoce.report.text_traits import traits_section
from sottovoce.report.utility import tradeoff_panels, utility_notes, utility_table
from sottovoce.report.verdicts import headline_point

CONTENTS = {
    "decision": "What to do",
    "verdict": "Verdict",
    "questions": "Questions of the law",
    "numbers": "All attacks",
    "details": "Attack by attack",
    "slices": "Slices",
    "words": "What is said",
    "utility": "What is kept",
    "listen": "Listen",
    "methods": "Methods",
    "provenance": "Provenance",
    "glossary": "Glossary",
}
"""Headings of the sections by their ids."""

CARDS = 6
"""Verdicts shown at once; those of further anonymisers are folded."""

SYNTHETIC = (
    "Synthetic speech: a computer made the voices of this study. This page shows how a decision "
    "reads; it is no ground to release recordings of people."
)

GENDERS = {"f": "women", "m": "men", "": "not stated"}


def render(findings: AuditFindings, folder: Path, *, audio: bool = True) -> str:
    """Write the page of an audit.

    Parameters
    ----------
    findings : AuditFindings
        Everything that the audit found.
    folder : Path
        The audit's folder, with its recordings and its ``provenance.json``.
    audio : bool, default True
        Put recordings to listen to on the page.

    Returns
    -------
    str
        HTML of one file that fetches nothing; the same findings give the same text.
    """
    players = listening(findings.anonymisers, folder) if audio else {}
    decisions = decide_all(findings)
    return document(
        f"{findings.name}: what voices still give away",
        _header(findings, audio),
        element(
            "main",
            _section("decision", decision_section(findings, decisions)),
            _section("verdict", _verdicts(findings), _limits(findings)),
            _section("questions", assessment_section(findings, decisions)),
            _section("numbers", _numbers(findings)),
            _section("details", attack_details(findings)),
            _optional_section("slices", slices_section(findings)),
            _optional_section(
                "words",
                None if findings.text_traits is None else traits_section(findings.text_traits),
            ),
            _section("utility", _utility(findings)),
            _section("listen", _listen(players)) if players else None,
            _section("methods", methods_section()),
            _section("provenance", provenance_section(findings, folder)),
            _section("glossary", glossary_section()),
        ),
        element("footer", element("p", f"Written by sottovoce {__version__}.")),
    )


def _optional_section(name: str, content: Markup | None) -> Markup | None:
    return None if content is None else _section(name, content)


def _section(name: str, *content: Content) -> Markup:
    heading = element("h2", CONTENTS[name], id=name)
    return element("section", heading, *content, id=f"{name}-page", aria_labelledby=name)


def _header(findings: AuditFindings, audio: bool) -> Markup:
    missing = {
        name
        for name, is_there in (
            ("listen", audio),
            ("slices", bool(slice_curves(findings))),
            ("words", findings.text_traits is not None),
        )
        if not is_there
    }
    links = [
        element("a", heading, href=f"#{name}")
        for name, heading in CONTENTS.items()
        if name not in missing
    ]
    return element(
        "header",
        element("p", "sottovoce audit", class_="kicker"),
        element("h1", f"{findings.name}: what voices still give away"),
        element("p", _description(findings)),
        element("p", SYNTHETIC, class_="notice") if findings.synthetic else None,
        element("nav", bullets(links), aria_label="Contents"),
    )


def _description(findings: AuditFindings) -> str:
    """Say who was attacked, with how much speech, and what attackers trained on."""
    corpus, training = findings.corpus, findings.training
    genders = ", ".join(
        f"{count:,} {GENDERS.get(name, name)}" for name, count in corpus.genders.items() if count
    )
    kind = "synthetic voices" if findings.synthetic else "people"
    some = (
        ""
        if corpus.attacked_speakers == corpus.speakers
        else (f" of {corpus.attacked_speakers:,} of them")
    )
    source = "the same corpus" if training.part_of_corpus else training.name
    sentences = [
        f"{corpus.name}: {corpus.speakers:,} {kind}{f' ({genders})' if genders else ''}, "
        f"{corpus.utterances:,} recordings, {_duration(corpus.hours)}.",
        f"Attacked: {counted(corpus.trial, 'recording')}{some}; the attacker knows "
        f"{counted(corpus.enrol, 'other')} of the same speakers.",
        f"Attackers trained on {counted(training.speakers, 'other speaker')} "
        f"({counted(training.utterances, 'recording')}) of {source}.",
    ]
    if findings.trial_list is not None:
        pairs = counted(findings.trial_list.pairs, "pair")
        sentences.append(
            f"Measures of scores rest on a list of {pairs}, {findings.trial_list.mated:,} of them "
            "of one speaker."
        )
    if corpus.excluded:
        excluded = counted(len(corpus.excluded), "recording")
        sentences.append(f"Left out: {excluded}, listed under provenance.")
    return " ".join(sentences)


def _duration(hours: float) -> str:
    """Write hours, minutes or seconds, whichever gives a small number."""
    for unit, size in (("h", 1.0), ("min", 60.0)):
        if hours * size >= 1:
            return f"{hours * size:.3g} {unit}"
    return f"{hours * 3600:.0f} s"


# ---------------------------------------------------------------------------------- verdicts


def _verdicts(findings: AuditFindings) -> Markup:
    rows_of = rows_by_anonymiser(findings)
    cards = [_card(findings, label, rows) for label, rows in rows_of.items() if rows]
    further = cards[CARDS:]
    return joined(
        [
            element("p", explained(audit_verdict(rows_of)), class_="lead"),
            element("div", *cards[:CARDS], class_="verdicts"),
            folded(
                f"{len(further):,} more anonymisers",
                element("div", *further, class_="verdicts"),
                class_="row",
            )
            if further
            else None,
            element(
                "p",
                f"In brackets: {percent(findings.confidence)} intervals over "
                "speakers. Each verdict rests on the strongest attack that was tried; it is a "
                "lower limit of the risk, never an upper one.",
                class_="soft",
            ),
        ]
    )


def _card(findings: AuditFindings, label: str, rows: list[AttackRow]) -> Markup:
    strongest = strongest_attack(rows)
    originals = findings.originals_for(strongest.linkage).reidentification
    verdict = anonymiser_verdict(rows, originals)
    exceeded = sum(len(exceeded_by(findings, row)) for row in rows)
    limits = mark(f"{counted(exceeded, 'limit')} exceeded", "bad") if exceeded else None
    doubts = (
        [element("p", mark(WEAK, "doubt")), bullets(map(explained, verdict.doubts))]
        if verdict.doubts
        else []
    )
    return element(
        "article",
        element("h3", label, " ", mark("synthetic", "doubt") if findings.synthetic else None),
        element("p", mark(verdict.headline, verdict.kind), " ", limits),
        element("p", explained(verdict.finding), class_="finding"),
        _gauge(strongest.reidentification, originals),
        bullets(map(explained, verdict.further)),
        *doubts,
        class_=f"card {verdict.kind}",
    )


GAUGE_WIDTH, GAUGE_HEIGHT, GAUGE_TOP, GAUGE_THICKNESS, GAUGE_MARGIN = 560, 66, 26, 16, 4


def _gauge(result: Reidentification, originals: Reidentification) -> Markup | None:
    """Draw Linkability on a bar, between chance and what it is without anonymisation."""
    point = headline_point(result.linkability)
    if point is None:
        return None
    before = same_point(originals, point)
    title = f"{percent(point.value)}{interval_in_brackets(point.low, point.high)}, chance "
    title += percent(point.chance)
    title += "" if before is None else f", originals {percent(before.value)}"
    bar = f'x="{GAUGE_MARGIN}" y="{GAUGE_TOP}" height="{GAUGE_THICKNESS}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {GAUGE_WIDTH} {GAUGE_HEIGHT}" '
        'role="img" font-family="system-ui, sans-serif" font-size="13" fill="#222">',
        f"<title>Linkability: {escape(title)}</title>",
        f'<rect class="track" {bar} width="{GAUGE_WIDTH - 2 * GAUGE_MARGIN}"/>',
        f'<rect class="bar" {bar} width="{_gauge_x(point.value) - GAUGE_MARGIN:.1f}"/>',
        *_gauge_interval(point),
        _gauge_tick(point.chance, f"chance {percent(point.chance)}", below=True),
        _gauge_tick(point.value, f"Linkability {percent(point.value)}", below=False),
    ]
    if before is not None:
        parts.append(_gauge_tick(before.value, f"originals {percent(before.value)}", below=True))
    return element("div", Markup("".join([*parts, "</svg>"])), class_="gauge")


def _gauge_x(share: float) -> float:
    return GAUGE_MARGIN + share * (GAUGE_WIDTH - 2 * GAUGE_MARGIN)


def _gauge_interval(point: CurvePoint) -> list[str]:
    """Draw the interval as a line through the bar."""
    if point.low is None or point.high is None:
        return []
    low, high = _gauge_x(point.low), _gauge_x(point.high)
    path = f"M{low:.1f} {GAUGE_TOP + GAUGE_THICKNESS / 2 - 4}v8m0-4H{high:.1f}m0-4v8"
    return [
        f'<path class="halo" d="{path}" fill="none" stroke-width="6"/>',
        f'<path d="{path}" fill="none" stroke="#222" stroke-width="2"/>',
    ]


def _gauge_tick(share: float, label: str, *, below: bool) -> str:
    x = _gauge_x(share)
    anchor = "end" if x > GAUGE_WIDTH * 0.6 else "start" if x < GAUGE_WIDTH * 0.3 else "middle"
    y, text_y = GAUGE_TOP - 6, GAUGE_TOP - 10
    if below:
        y, text_y = GAUGE_TOP + GAUGE_THICKNESS, GAUGE_HEIGHT - 6
    return (
        f'<path d="M{x:.1f} {y}v6" stroke="#222" stroke-width="2"/>'
        f'<text x="{x:.1f}" y="{text_y}" text-anchor="{anchor}">{escape(label)}</text>'
    )


def _limits(findings: AuditFindings) -> Markup | None:
    if not findings.limits:
        return None
    exceeded = len(findings.exceeded_limits)
    return folded(
        f"Limits of this study: {exceeded:,} of {len(findings.limits):,} exceeded",
        limits_table(findings.limits).to_html(),
        is_open=bool(exceeded),
    )


# ---------------------------------------------------------------------------- other sections


def _numbers(findings: AuditFindings) -> Markup:
    points = [headline_point(row.reidentification.linkability) for row in findings.originals]
    point = next((point for point in points if point is not None), None)
    length = "" if point is None else f" Of {speech_of_length(point.length)}."
    return joined(
        [
            summary_table(findings).to_html(),
            element("p", "This table scrolls sideways.", class_="soft narrow"),
            element("p", "Small: intervals over speakers.", length, class_="soft"),
            element("p", explained(EER_WARNING)),
            _comparisons(findings),
        ]
    )


def _comparisons(findings: AuditFindings) -> Markup | None:
    """Differences between anonymisers, then, folded, all others."""
    headline = headline_comparison(findings.comparisons)
    others = [comparison for comparison in findings.comparisons if comparison is not headline]
    folds = [
        folded(rows_caption(comparison), _comparison(comparison), class_="row")
        for comparison in others
    ]
    if headline is None:
        return joined(folds) if folds else None
    return joined(
        [
            element("h3", "Which protects better"),
            element(
                "p",
                "The same speakers and trials were resampled for both anonymisers of a pair, so "
                "what they share cancels: a difference can be certain where intervals overlap.",
            ),
            _comparison(headline),
            *folds,
        ]
    )


def _comparison(comparison: RowsComparison) -> Markup:
    table = rows_comparison_table(comparison).to_html()
    return joined([table, bullets(rows_remarks(comparison), class_="soft")])


def _utility(findings: AuditFindings) -> Markup:
    panels = tradeoff_panels(findings)[1:]  # the first is on the first page
    return joined(
        [
            utility_table(findings).to_html(),
            bullets(utility_notes(findings), class_="soft"),
            element("h3", "Risk against what is kept") if panels else None,
            element("div", *panels, class_="figures") if panels else None,
            retrained_section(findings),
        ]
    )


def _listen(players: dict[str, Markup]) -> Markup:
    parts = [joined([element("h3", label), pairs]) for label, pairs in players.items()]
    return joined(parts)
