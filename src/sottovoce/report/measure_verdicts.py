"""What a page of measures says first: one or two sentences, and whether they are bad news.

Nothing here is good news: that one attacker finds no evidence does not mean that there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sottovoce.report.page import Markup, element

if TYPE_CHECKING:
    from sottovoce.findings import Reidentification, ScoreSummary, Similarity

STRONGER = "A stronger attacker may still find some."


def of_scores(summary: ScoreSummary) -> Markup | None:
    """Whether pairs of one speaker are told from pairs of two."""
    found = summary.measures.get("eer")
    if found is None or found.value is None or found.chance is None:
        return None
    limit = found.value if found.high is None else found.high
    numbers = (
        f"A threshold errs in {100 * found.value:.1f} % of both kinds of pairs; guessing, in "
        f"{100 * found.chance:.0f} %."
    )
    if limit < found.chance:
        return _card("bad", "These scores tell who is who.", numbers)
    return _card("doubt", "These scores show no evidence.", f"{numbers} {STRONGER}")


def of_similarity(found: Similarity) -> Markup:
    """Whether voices are still like themselves."""
    from sottovoce.report.similarity import STANDS_OUT

    alike = sum(one.value >= STANDS_OUT for one in found.standing_out)
    everybody = len(found.speakers)
    if alike:
        return _card(
            "bad",
            "Voices are still like themselves.",
            f"{alike:,} of {everybody:,} anonymised voices are clearly nearer to their own "
            "originals than to other people's.",
        )
    return _card(
        "doubt",
        "Voices are no longer like themselves.",
        f"None of {everybody:,} anonymised voices is clearly nearer to its own original. "
        f"{STRONGER}",
    )


def of_reidentification(found: Reidentification) -> Markup | None:
    """Whether people are found again in the largest crowd."""
    if not found.linkability:
        return None
    worst = max(found.linkability, key=lambda one: (one.population, one.value))
    recordings = "one recording" if worst.length == 1 else f"{worst.length:,} recordings"
    numbers = (
        f"With {recordings}, {100 * worst.value:.1f} % are named rightly among "
        f"{worst.population:,} people; guessing, {100 * worst.chance:.1f} %."
    )
    limit = worst.value if worst.low is None else worst.low
    if limit > worst.chance:
        return _card("bad", "People are found again.", numbers)
    return _card(
        "doubt", "People are not found more often than by guessing.", f"{numbers} {STRONGER}"
    )


def _card(kind: str, verdict: str, numbers: str) -> Markup:
    return element("p", element("strong", verdict), f" {numbers}", class_=f"card {kind} finding")
