"""The first page of a report: what to do, why, what would be better, and what was not tested.

It is complete in itself, since it may be all that the person who decides reads or prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sottovoce.findings import AuditFindings
from sottovoce.report.advice import best_choice, improvements, limits_explained
from sottovoce.report.decisions import Action, Decision, word_error_rates
from sottovoce.report.formats import MISSING, percent_column
from sottovoce.report.glossary import explained
from sottovoce.report.html import Markup, breakable, bullets, element, joined, mark
from sottovoce.report.tables import Table, make_table
from sottovoce.report.utility import tradeoff_panels

CARDS = 3
"""Anonymisers that get a card each; more are a table."""
BETTER, NEXT = "What would make it better", "What to do before and after"
"""Headings of the advice on a release that is not, or is, acceptable."""
ROWS = 12
"""Rows of that table; all anonymisers are in the table of all attacks."""
ADVICE = 4
"""Pieces of advice a card, at most."""

ANSWERS = {
    Action.REFUSE: "Nothing should be released.",
    Action.UNDECIDED: "Nothing should be released yet: for {labels} this audit cannot decide.",
    Action.BOUND: (
        "Nothing should be published. What {labels} made may be given to people bound by a "
        "contract."
    ),
    Action.ACCEPT: (
        "What {labels} made is acceptable for release to anybody, by the limit of this study. That "
        "means that few people are found by the attacks tried here, not that nobody can be found."
    ),
}
"""What is said of all anonymisers together, by the best action among them."""


def decision_section(findings: AuditFindings, decisions: Sequence[Decision]) -> Markup:
    """Build the first page.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    decisions : sequence of Decision
        On all anonymisers that were attacked.
    """
    if not decisions:
        return element("p", "Nothing was attacked, so nothing can be said.", class_="lead")
    figure = next(iter(tradeoff_panels(findings)), None)
    several = len(decisions) > 1
    return joined(
        [
            element("p", explained(overall_answer(decisions)), class_="lead"),
            _cards(findings, decisions)
            if len(decisions) <= CARDS
            else decision_table(findings, decisions).to_html(),
            element("p", explained(best_choice(findings, decisions))) if several else None,
            element("p", explained(limits_explained(findings.release)), class_="soft"),
            element(
                "div",
                element("div", *_not_tested(findings)),
                element("div", figure) if figure else None,
                class_="beside",
            ),
        ]
    )


def overall_answer(decisions: Sequence[Decision]) -> str:
    """Answer for all anonymisers together whether anything may be released.

    Parameters
    ----------
    decisions : sequence of Decision
        At least one.
    """
    order = (Action.ACCEPT, Action.BOUND, Action.UNDECIDED, Action.REFUSE)
    counts = Counter(decision.action for decision in decisions)
    best = next(action for action in order if counts[action])
    labels = [decision.anonymiser for decision in decisions if decision.action is best]
    return ANSWERS[best].format(labels=" and ".join(labels))


def _cards(findings: AuditFindings, decisions: Sequence[Decision]) -> Markup:
    return element("div", *(_card(findings, decision) for decision in decisions), class_="verdicts")


def _card(findings: AuditFindings, decision: Decision) -> Markup:
    doubts = decision.doubts if decision.action is Action.UNDECIDED else ()
    summary = next(
        (a.card.summary for a in findings.anonymisers if a.anonymiser == decision.anonymiser), ""
    )
    return element(
        "article",
        element("h3", decision.anonymiser),
        element("p", summary, class_="soft") if summary else "",
        element(
            "p",
            element("strong", f"{decision.action.value}:"),
            " ",
            explained(decision.reasons),
            class_="finding",
        ),
        bullets(map(explained, doubts)),
        element("h4", NEXT if decision.action is Action.ACCEPT else BETTER),
        bullets(map(explained, improvements(findings, decision)[:ADVICE])),
        class_=f"card {decision.action.kind}",
    )


def decision_table(findings: AuditFindings, decisions: Sequence[Decision]) -> Table:
    """Arrange many decisions, those with the lowest risk first.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    decisions : sequence of Decision
        On its anonymisers; at most :data:`ROWS` are shown.
    """

    def risk_of(decision: Decision) -> float:
        return 2.0 if decision.risk is None else decision.risk.high

    rows = []
    for decision in sorted(decisions, key=risk_of)[:ROWS]:
        after, _ = word_error_rates(findings, decision.anonymiser)
        found = MISSING if decision.risk is None else percent_column(decision.risk.high)
        action = mark(decision.action.value, decision.action.kind)
        rows.append((breakable(decision.anonymiser), action, found, percent_column(after)))
    caption = "What to do with each anonymiser, those that hide people best first"
    if len(decisions) > ROWS:
        caption += f"; {ROWS} of {len(decisions):,}"
    headings = ("anonymiser", "what to do", "found in up to", "words wrong")
    return make_table(caption, headings, rows, text=(1,))


def _not_tested(findings: AuditFindings) -> list[Markup]:
    return [
        element("h3", "What was not tested"),
        bullets(map(explained, findings.not_tested)) or element("p", "The study does not say."),
    ]
