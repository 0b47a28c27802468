"""What was measured as a page: the tables, figures and remarks of the command, in one HTML file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import TYPE_CHECKING, Any

from sottovoce import __version__
from sottovoce.core.errors import SottovoceError
from sottovoce.report import measure_verdicts as verdicts
from sottovoce.report.page import Markup, bullets, document, element, scrolling
from sottovoce.report.page import table as html_table

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.findings import Reidentification, ScoreSummary, Similarity
    from sottovoce.measure.scores import ScoreSource

HTML = "text/html"
HEADERS = {
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
"""Of a report: nothing runs and nothing is fetched; its own policy names its one style."""


def style_source() -> str:
    """How a policy names the style of reports, for the page that shows them."""
    found = re.search(r"style-src ('sha256-[^;]+')", unescape(document("")))
    if found is None:
        raise RuntimeError("reports do not say the digest of their style")
    return found[1]


def scores_page(summary: ScoreSummary, scores: ScoreSource) -> str:
    """Measures of scores, and what they look like."""
    from sottovoce.measure.tally import Tally
    from sottovoce.report.figures import det_figure, ece_figure, histogram_figure
    from sottovoce.report.tables import remarks, summary_table

    named = [("these scores", Tally.of(scores))]
    figures = [
        _figure(
            ece_figure(named),
            "What an attacker still does not know after the best use of the scores. The line of "
            "zero evidence is perfect privacy; the area between is disclosed on average.",
        ),
        _figure(
            det_figure(named),
            "Both errors of an attacker who decides by a threshold. The nearer to the lower left "
            "corner, the more is disclosed.",
        ),
    ]
    try:
        drawn = histogram_figure("these scores", scores)
    except SottovoceError as error:
        figures.append(element("p", f"No histogram: {error}.", class_="soft"))
    else:
        figures.append(
            _figure(
                drawn,
                "Scores of pairs of one speaker (mated) and of two (non-mated). Where they part, "
                "the local linkability D(s) is 1: a score gives its pair away.",
            )
        )
    return _page(
        "Measures of scores",
        summary_table(summary),
        verdict=verdicts.of_scores(summary),
        figures=figures,
        lines=remarks(summary),
    )


def similarity_page(found: Similarity) -> str:
    """Voices before and after anonymisation."""
    from sottovoce.report.audit_figures import similarity_figure
    from sottovoce.report.similarity import similarity_remarks, similarity_table

    return _page(
        "Voices before and after",
        similarity_table(found),
        verdict=verdicts.of_similarity(found),
        figures=[similarity_figure(found.to_dict())],
        lines=similarity_remarks(found),
    )


def reidentification_page(found: Reidentification) -> str:
    """How likely speakers are found again."""
    from sottovoce.findings import most_exposed
    from sottovoce.report.audit_figures import people_figure, population_figures
    from sottovoce.report.reidentification import remarks, speaker_table

    row = {"reidentification": found.to_dict()}
    return _page(
        "How likely people are found again",
        speaker_table(most_exposed(found.speakers)),
        caption="Most exposed speakers",
        verdict=verdicts.of_reidentification(found),
        figures=[*population_figures(row, {}), people_figure(row)],
        lines=remarks(found),
    )


def _page(
    title: str,
    table: Table,
    *,
    verdict: Markup | None,
    figures: Iterable[Markup | None],
    lines: Iterable[str],
    caption: str = "All numbers",
) -> str:
    return document(
        title,
        element("header", element("p", "sottovoce", class_="kicker"), element("h1", title)),
        element(
            "main",
            verdict,
            _as_html(caption, table),
            element("div", *figures, class_="figures"),
            bullets(lines),
        ),
        element("footer", element("p", f"Written by sottovoce {__version__}.")),
    )


def _as_html(caption: str, table: Table) -> Markup:
    """A table made for the terminal."""
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    headings = [str(column.header) for column in table.columns]
    words = [i for i, column in enumerate(table.columns) if column.justify == "left"]
    rows: list[tuple[Any, ...]] = list(zip(*columns, strict=True))
    return html_table(caption, headings, rows, words=words)


def _figure(svg: str, words: str) -> Markup:
    title = Markup(svg.partition("<title>")[2].partition("</title>")[0])
    return element("figure", scrolling(title, Markup(svg)), element("figcaption", words))
