"""Pages of single results: the verdict, the table, the figures and the remarks in one HTML file."""

from __future__ import annotations

from collections.abc import Iterable

from sottovoce import __version__
from sottovoce.findings import (
    Reidentification,
    ScoreCurves,
    ScoreSummary,
    Similarity,
    most_exposed,
)
from sottovoce.report.html import Markup, bullets, document, element
from sottovoce.report.panels import (
    people_panel,
    population_panels,
    score_panels,
    similarity_panel,
)
from sottovoce.report.reidentification import reidentification_remarks, speaker_table
from sottovoce.report.scores import summary_remarks, summary_table
from sottovoce.report.similarity import similarity_remarks, similarity_table
from sottovoce.report.tables import Table
from sottovoce.report.verdicts import (
    Verdict,
    reidentification_verdict,
    scores_verdict,
    similarity_verdict,
)

MEDIA_TYPE = "text/html"
RESPONSE_HEADERS = {
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
"""HTTP headers of a report: nothing runs and nothing is fetched; the page's own policy allows
only its own stylesheet."""


def scores_page(summary: ScoreSummary, curves: ScoreCurves) -> str:
    """Build the page of one score set.

    Parameters
    ----------
    summary : ScoreSummary
        Its measures.
    curves : ScoreCurves
        What its figures show.
    """
    return _page(
        "Measures of scores",
        summary_table(summary),
        verdict=scores_verdict(summary),
        panels=score_panels({"this set": curves}),
        remarks=summary_remarks(summary),
    )


def similarity_page(result: Similarity) -> str:
    """Build the page of voices before and after anonymisation.

    Parameters
    ----------
    result : Similarity
        Matrices and the numbers made of them.
    """
    return _page(
        "Voices before and after",
        similarity_table(result),
        verdict=similarity_verdict(result),
        panels=[similarity_panel(result)],
        remarks=similarity_remarks(result),
    )


def reidentification_page(result: Reidentification) -> str:
    """Build the page of how likely people are found again.

    Parameters
    ----------
    result : Reidentification
        Curves and speakers.
    """
    return _page(
        "How likely people are found again",
        speaker_table(most_exposed(result.speakers)),
        verdict=reidentification_verdict(result),
        panels=[*population_panels(result), people_panel(result)],
        remarks=reidentification_remarks(result),
    )


def _page(
    title: str,
    table: Table,
    *,
    verdict: Verdict | None,
    panels: Iterable[Markup | None],
    remarks: Iterable[str],
) -> str:
    return document(
        title,
        element("header", element("p", "sottovoce", class_="kicker"), element("h1", title)),
        element(
            "main",
            None if verdict is None else _card(verdict),
            table.to_html(),
            element("div", *panels, class_="figures"),
            bullets(remarks),
        ),
        element("footer", element("p", f"Written by sottovoce {__version__}.")),
    )


def _card(verdict: Verdict) -> Markup:
    return element(
        "p",
        element("strong", verdict.headline),
        f" {verdict.finding}",
        class_=f"card {verdict.kind} finding",
    )
