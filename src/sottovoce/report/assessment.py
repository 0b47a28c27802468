"""The findings of an audit under the questions of data protection law, and what they leave open.

The three questions of the Article 29 Working Party (Opinion 05/2014 on anonymisation techniques,
WP 216), and those of a data protection impact assessment (Article 35(7) GDPR; Guidelines WP 248).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sottovoce.findings import AttackRow, AttributeInference, AuditFindings, NotMeasured
from sottovoce.report.audit_verdicts import rows_by_anonymiser, strongest_attack
from sottovoce.report.decisions import Decision, release_risks, word_error_rates
from sottovoce.report.formats import counted, interval_in_brackets, percent
from sottovoce.report.glossary import explained
from sottovoce.report.html import Markup, bullets, element, joined
from sottovoce.report.verdicts import headline_point


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what the audit found about it, and what it does not tell."""

    title: str
    question: str
    findings: tuple[str, ...]
    """Empty where nothing was tested."""
    open_points: str


def working_party_questions(findings: AuditFindings) -> list[Question]:
    """Return singling out, linkability and inference with what was and was not tested.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    """
    rows_of = {label: rows for label, rows in rows_by_anonymiser(findings).items() if rows}
    return [
        Question(
            "Singling out",
            "Can one person be isolated among the others?",
            _per_anonymiser(rows_of, _isolation),
            "isolating somebody by what is said, by dates, places or other data that come with "
            "the recordings.",
        ),
        Question(
            "Linkability",
            "Can recordings of one person be linked with each other, or with a known voice?",
            _per_anonymiser(rows_of, _linking),
            "links with recordings of other rooms, devices or years than those of this corpus; "
            "attackers with better means to compare voices or more data.",
        ),
        Question(
            "Inference",
            "Can something about a person be concluded from the recording?",
            _per_anonymiser(rows_of, _inference),
            "everything else that a voice can tell, such as age, origin, health or mood, and all "
            "that the words tell.",
        ),
    ]


def impact_questions(findings: AuditFindings, decisions: Sequence[Decision]) -> list[Question]:
    """Return the questions of a data protection impact assessment that an audit contributes to.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    decisions : sequence of Decision
        On all its anonymisers.
    """
    corpus = findings.corpus
    return [
        Question(
            "Description",
            "What is processed, and what for?",
            (
                f"{counted(corpus.utterances, 'recording')} of "
                f"{counted(corpus.speakers, 'person', 'people')} ({corpus.name}).",
            ),
            "purpose, legal basis, recipients and how long recordings are kept; yours to state.",
        ),
        Question(
            "Necessity and proportion",
            "Is the processing needed, and is what remains still fit for the purpose?",
            tuple(_usefulness(findings, decision) for decision in decisions),
            "whether the purpose needs voices at all, or whether transcripts would do.",
        ),
        Question(
            "Likelihood",
            "How likely is it that somebody is found again?",
            tuple(_likelihood(decision) for decision in decisions),
            "how many people would try, and what else they know.",
        ),
        Question(
            "Severity",
            "Whom does it hit, and how hard?",
            tuple(
                f"{label}: {text}"
                for label, rows in rows_by_anonymiser(findings).items()
                if rows
                for text in _exposure(rows)
            ),
            "the harm to a person who is found; it depends on what the recordings say.",
        ),
        Question(
            "Measures",
            "What lowers the risk, and by how much?",
            tuple(_before_and_after(findings, decision) for decision in decisions),
            "contracts, access control and deletion, which this audit does not see.",
        ),
        Question(
            "What remains",
            "Which risk is left, and who accepts it?",
            tuple(f"{decision.anonymiser}: {decision.action.value}." for decision in decisions),
            "the advice of the data protection officer, the views of the people concerned, and "
            "the signature of whoever is responsible.",
        ),
    ]


def assessment_section(findings: AuditFindings, decisions: Sequence[Decision]) -> Markup:
    """Build both lists of questions.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    decisions : sequence of Decision
        On all its anonymisers.
    """
    return joined(
        [
            element("h3", "Three questions of the Article 29 Working Party"),
            element(
                "p",
                "From Opinion 05/2014 on anonymisation techniques. This page reports what was "
                "tried; it does not decide what the law calls personal data.",
                class_="soft",
            ),
            _questions(working_party_questions(findings)),
            element("h3", "Questions of a data protection impact assessment"),
            element(
                "p",
                "After Article 35(7) of the General Data Protection Regulation and the guidelines "
                "WP 248.",
                class_="soft",
            ),
            _questions(impact_questions(findings, decisions)),
        ]
    )


def _questions(questions: Sequence[Question]) -> Markup:
    parts = []
    for question in questions:
        answer = bullets(map(explained, question.findings)) or element("p", "Not tested.")
        remark = element(
            "p", element("strong", "Not tested: "), question.open_points, class_="soft"
        )
        term = element("dt", element("strong", question.title), element("br"), question.question)
        parts += [term, element("dd", answer, remark)]
    return element("dl", *parts, class_="questions")


# ---------------------------------------------------------------------------------- findings


def _per_anonymiser(
    rows_of: Mapping[str, Sequence[AttackRow]],
    describe: Callable[[Sequence[AttackRow]], list[str]],
) -> tuple[str, ...]:
    return tuple(f"{label}: {text}" for label, rows in rows_of.items() for text in describe(rows))


def _isolation(rows: Sequence[AttackRow]) -> list[str]:
    points = [headline_point(row.reidentification.singling_out) for row in rows]
    known = [point for point in points if point is not None]
    if not known:
        return []
    point = max(known, key=lambda point: point.value)
    guessed = point.chance if point.no_evidence is None else point.no_evidence
    return [
        f"Singling Out {percent(point.value)}{interval_in_brackets(point.low, point.high)} in "
        f"groups of {point.population:,}; guessing: {percent(guessed)}."
    ]


def _linking(rows: Sequence[AttackRow]) -> list[str]:
    row = strongest_attack(rows)
    point = headline_point(row.reidentification.linkability)
    sentences = []
    if point is not None:
        sentences.append(
            f"Linkability {percent(point.value)}{interval_in_brackets(point.low, point.high)} "
            f"among {point.population:,} people, {row.attacker} attacker; guessing: "
            f"{percent(point.chance)}."
        )
    eer = row.scores.measures.get("eer")
    if eer is not None and eer.value is not None:
        sentences.append(
            f"EER of pairs {percent(eer.value)}{interval_in_brackets(eer.low, eer.high)}; "
            "guessing: 50\u00a0%."
        )
    return [" ".join(sentences)] if sentences else []


def _inference(rows: Sequence[AttackRow]) -> list[str]:
    attributes = {name: result for row in rows for name, result in row.attributes.items()}
    return [text for name, result in attributes.items() for text in _attribute(name, result)]


def _attribute(name: str, result: AttributeInference | NotMeasured) -> list[str]:
    if isinstance(result, NotMeasured):
        return []
    return [
        f"{name} is told right for {percent(result.accuracy)}"
        f"{interval_in_brackets(result.low, result.high)}; always answering the most frequent: "
        f"{percent(result.majority)}."
    ]


def _usefulness(findings: AuditFindings, decision: Decision) -> str:
    after, before = word_error_rates(findings, decision.anonymiser)
    if after is None:
        return f"{decision.anonymiser}: how many words are lost was not measured."
    against = "" if before is None else f", {percent(before)} before"
    return f"{decision.anonymiser}: word error rate {percent(after)}{against}."


def _likelihood(decision: Decision) -> str:
    risk = decision.risk
    if risk is None:
        return f"{decision.anonymiser}: not measured."
    return (
        f"{decision.anonymiser}: up to {percent(risk.high)} in a circle of "
        f"{risk.point.population:,} people, by the {risk.row.attacker} attacker."
    )


def _exposure(rows: Sequence[AttackRow]) -> list[str]:
    row = strongest_attack(rows)
    speakers = row.reidentification.speakers
    shortest = min((risk.length for risk in speakers), default=0)
    risks = [risk.linkability for risk in speakers if risk.length == shortest]
    if not risks:
        return []
    exposed = sum(risk >= 0.5 for risk in risks)
    return [f"{exposed:,} of {len(risks):,} people are named in half or more of their recordings."]


def _before_and_after(findings: AuditFindings, decision: Decision) -> str:
    if decision.risk is None:
        return f"{decision.anonymiser}: not measured."
    row, point = decision.risk.row, decision.risk.point
    originals = findings.originals_for(row.linkage).reidentification
    kind = "isolated beyond guessing" if decision.risk.isolates else "named"
    before = [
        risk.value
        for risk in release_risks([replace(row, reidentification=originals)], point.population)
        if risk.isolates == decision.risk.isolates and risk.point.length == point.length
    ]
    start = f" without anonymisation {percent(before[0])}," if before else ""
    return (
        f"{decision.anonymiser}: {kind} by the {row.attacker} attacker{start} with it "
        f"{percent(decision.risk.value)}."
    )
