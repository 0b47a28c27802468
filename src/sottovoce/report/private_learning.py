"""The report of a study of private training: accuracy over ε, and the privacy card."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sottovoce import __version__
from sottovoce.learn.auditing import PrivacyAudit
from sottovoce.learn.settings import PrivateRun
from sottovoce.learn.study_results import PrivateStudyResult, StudyCell
from sottovoce.report.formats import counted, percent, percent_column
from sottovoce.report.html import Markup, bullets, document, element
from sottovoce.report.panels import panel
from sottovoce.report.svg import Axis, Figure, Line, line_chart
from sottovoce.report.tables import Table, make_table, with_interval

MODELS = {
    "none": "no normalisation",
    "layer": "layer norm",
    "group": "group norm",
    "batch": "batch norm",
}
"""Names of the models in words."""


def private_learning_table(result: PrivateStudyResult) -> Table:
    """Build the table of accuracies by model and budget.

    Parameters
    ----------
    result : PrivateStudyResult
        All cells of a study.
    """
    rows = [
        (
            MODELS[cell.model],
            "∞" if cell.epsilon is None else f"{cell.epsilon:g}",
            "–" if cell.run.spent is None else f"{cell.run.spent.rdp_epsilon:.3g}",
            "–" if cell.run.spent is None else f"{cell.run.spent.pld_epsilon:.3g}",
            with_interval(cell.mean, cell.low, cell.high, percent_column),
            f"{cell.learning_rate:g}",
            "yes" if cell.run.guarantee != "none" else "none",
        )
        for cell in result.cells
    ]
    headings = (
        "model",
        "budget ε",
        "ε spent (RDP)",
        "ε spent (PLD)",
        "accuracy",
        "learning rate",
        "guarantee",
    )
    return make_table("Accuracy on test records, by model and budget", headings, rows, text=(6,))


def accuracy_figure(result: PrivateStudyResult) -> Figure:
    """Draw accuracy over ε, with intervals over seeds and the level of chance.

    Parameters
    ----------
    result : PrivateStudyResult
        All cells of a study.
    """
    private = [cell for cell in result.cells if cell.epsilon is not None]
    powers = [math.log10(cell.epsilon or 1) for cell in private]
    low, high = min(powers) - 0.1, max(powers) + 0.1
    ticks = tuple(
        (math.log10(epsilon), f"{epsilon:g}")
        for epsilon in sorted({c.epsilon or 1 for c in private})
    )
    lines: list[Line] = [Line("chance", [low, high], [result.chance] * 2, style=2)]
    for style, model in enumerate(dict.fromkeys(cell.model for cell in private)):
        lines += _model_lines(
            sorted((c for c in private if c.model == model), key=lambda c: c.epsilon or 0), style
        )
    return line_chart(
        "Accuracy over ε",
        "Accuracy on test records over the privacy budget, one line a model, with the 95 % "
        "interval of the mean over seeds; smaller ε is more private.",
        Axis("ε (logarithmic); smaller is more private", low, high, ticks),
        Axis.nice("accuracy", 0.0, 1.0),
        lines,
    )


def _model_lines(cells: Sequence[StudyCell], style: int) -> list[Line]:
    style += 0 if style < 2 else 1  # 2 is the style of chance
    x = [math.log10(cell.epsilon or 1) for cell in cells]
    lines = []
    if all(cell.low is not None for cell in cells):
        ends = np.array([(cell.low, cell.high) for cell in cells], float)
        lines.append(Line("", x, ends, style=style, band=True))
    means = [cell.mean for cell in cells]
    return [*lines, Line(MODELS[cells[0].model], x, means, style=style)]


def privacy_card(run: PrivateRun) -> list[str]:
    """Say what a run guarantees, to whom, and under which assumptions.

    Parameters
    ----------
    run : PrivateRun
        A finished run.
    """
    if run.spent is None:
        return ["Nothing is guaranteed: no noise was added."]
    spent = run.spent
    factor = math.exp(min(spent.rdp_epsilon, 100))
    number = f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}"
    size = number if factor < 1e6 else f"e^{spent.rdp_epsilon:.0f}"
    lines = []
    if run.guarantee == "none":
        lines.append("Nothing is guaranteed: " + "; ".join(run.reasons) + ". ε is nominal.")
    if run.measured_sensitivity is not None:
        lines.append(
            f"A single record was seen to change the sum of gradients by "
            f"{run.measured_sensitivity:.3g} times the clipping bound; ε assumes at most 1."
        )
    return [
        *lines,
        f"To whom: {run.unit}, of {run.units:,} in the training data.",
        "What: whatever an attacker concludes from the model, it would conclude at most "
        f"{size} times as likely if that {'record' if run.unit == 'record' else 'person'} were "
        f"missing (ε = {spent.rdp_epsilon:.3g} by RDP, {spent.pld_epsilon:.3g} by PLD), except "
        f"with probability δ = {spent.delta:g}.",
        f"How: {counted(spent.steps, 'step')}, lots drawn at random (Poisson, q = "
        f"{spent.sampling_rate:.3g}), gradients clipped to {run.clip:g}, noise of "
        f"{spent.noise_multiplier:.3g} times that; neighbours: {spent.neighbours}; "
        f"{spent.library}; {run.draws}.",
        "For each model alone: what several released models spend adds up.",
        "Not covered: the choice of settings by trying them on the same data, the list of words or "
        "classes that was taken from the data, and what is true of everybody in them.",
    ]


def audit_sentence(audit: PrivacyAudit, audited: str) -> str:
    """Say what the attack on canaries found.

    Parameters
    ----------
    audit : PrivacyAudit
        The lower bound.
    audited : str
        Which cell was audited.
    """
    verdict = (
        "MORE than it claims: the claim is wrong"
        if audit.refutes_claim
        else "which does not contradict its claim"
    )
    claim = "" if audit.claimed_epsilon is None else f" (claimed: {audit.claimed_epsilon:.3g})"
    return (
        f"Audit of {audited}: an attacker who sees every noisy gradient guessed {audit.correct} of "
        f"{audit.guesses} canaries rightly, so with {percent(audit.confidence)} confidence ε is at "
        f"least {audit.epsilon_lower:.2f}{claim}, {verdict}. A stronger attack may find more."
    )


def private_learning_page(result: PrivateStudyResult) -> str:
    """Build the page of a study of private training.

    Parameters
    ----------
    result : PrivateStudyResult
        All cells, and the audit if there was one.
    """
    table = private_learning_table(result)
    private = [cell for cell in result.cells if cell.epsilon is not None]
    return document(
        "Private training",
        element(
            "header", element("p", "sottovoce", class_="kicker"), element("h1", "Private training")
        ),
        element(
            "main",
            element("p", _summary(result), class_="card finding"),
            None if result.audit is None else element("p", _audit(result)),
            table.to_html(),
            _figure(result, table) if private else None,
            *(_card(cell) for cell in private),
            bullets(study_remarks(result)),
        ),
        element("footer", element("p", f"Written by sottovoce {__version__}.")),
    )


def study_remarks(result: PrivateStudyResult) -> list[str]:
    """Say what to be careful about.

    Parameters
    ----------
    result : PrivateStudyResult
        All cells of a study.
    """
    remarks = []
    if result.tuning_runs:
        remarks.append(
            f"Learning rates were chosen by {counted(result.tuning_runs, 'run')} on held-out "
            "training records; what that choice discloses is in no ε."
        )
    if any(cell.low is None for cell in result.cells):
        remarks.append("A single seed has no interval; take three or more.")
    return remarks


def _summary(result: PrivateStudyResult) -> str:
    best = max(result.cells, key=lambda cell: cell.mean)
    budget = "without noise" if best.epsilon is None else f"with ε = {best.epsilon:g}"
    return (
        f"Trained on {counted(result.train_records, 'record')} ({result.data}), tested on "
        f"{result.test_records:,}: the best model is right in {percent(best.mean)} {budget} "
        f"({MODELS[best.model]}); always naming the most frequent class, in "
        f"{percent(result.chance)}."
    )


def _audit(result: PrivateStudyResult) -> str:
    return "" if result.audit is None else audit_sentence(result.audit, result.audited or "")


def _figure(result: PrivateStudyResult, table: Table) -> Markup:
    caption = "What privacy costs: the nearer a line stays to its right-hand end, the less."
    return element("div", panel(accuracy_figure(result), table, caption), class_="figures")


def _card(cell: StudyCell) -> Markup:
    heading = f"Privacy card: {MODELS[cell.model]}, budget ε = {cell.epsilon:g}"
    return element("section", element("h2", heading), bullets(privacy_card(cell.run)))
