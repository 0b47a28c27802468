"""Traits inferred from text: the table of training and test text, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.findings import NotMeasured, TextTraits
from sottovoce.report.formats import percent
from sottovoce.report.html import Markup, bullets, element, joined
from sottovoce.report.tables import Lines, Table, make_table

_ALL = "all"


def traits_table(traits: TextTraits) -> Table:
    """Arrange macro-F1 by training text, test text and utterances behind an answer.

    Parameters
    ----------
    traits : TextTraits
        One trait, before and after one transformation.
    """
    lengths = list(dict.fromkeys(score.pooled for score in traits.scores))
    pairs = list(dict.fromkeys((score.trained_on, score.tested_on) for score in traits.scores))
    rows = []
    for trained_on, tested_on in pairs:
        cells: list[str | Lines] = []
        for pooled in lengths:
            score = traits.score(trained_on, tested_on, pooled)
            if score is None:
                cells.append("–")
            else:
                ends = f"{score.low:.3f} to {score.high:.3f}; p = {score.p_value:.2g}"
                cells.append(Lines(f"{score.macro_f1:.3f}", (ends,)))
        rows.append((trained_on, tested_on, *cells))
    headings = ["trained on", "tested on"]
    headings += [
        f"{_ALL} utterances" if pooled is None else f"{pooled} utterance{'s' * (pooled > 1)}"
        for pooled in lengths
    ]
    what = f", {traits.transformation}" if traits.transformation else ""
    caption = f"{traits.attribute} from text{what}: macro-F1"
    return make_table(caption, headings, rows, text=(1,))


def traits_remarks(traits: TextTraits) -> list[str]:
    """Say what the table rests on.

    Parameters
    ----------
    traits : TextTraits
        One trait.
    """
    chance = [score.chance for score in traits.scores]
    lines = [
        f"{traits.speakers} speakers, {traits.utterances:,} utterances of at least "
        f"{traits.least_words} words; values {', '.join(traits.values)}. Always giving the most "
        f"frequent answer: macro-F1 {traits.majority_f1:.3f}, "
        f"{percent(traits.majority_accuracy)} right. Exchanged labels: macro-F1 "
        f"{min(chance):.3f} to {max(chance):.3f}.",
    ]
    if traits.changed is not None:
        lines.append(f"{percent(traits.changed)} of the utterances were changed.")
    if traits.split == "utterance":
        lines.append(
            "Speakers are in training and test: whoever recognises a person seems to infer a "
            "trait. Read the division by speaker instead."
        )
    return lines


def traits_section(traits: Sequence[TextTraits] | NotMeasured) -> Markup:
    """Build the part of a page.

    Parameters
    ----------
    traits : sequence of TextTraits or NotMeasured
        All traits, or why there are none.
    """
    if isinstance(traits, NotMeasured):
        return element("p", f"Not measured: {traits.note}.", class_="soft")
    return joined(
        part
        for entry in traits
        for part in (traits_table(entry).to_html(), bullets(traits_remarks(entry), class_="soft"))
    )
