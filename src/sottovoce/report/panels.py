"""Panels of a page: a figure, how to read it, and its numbers folded under it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sottovoce.findings import (
    EceCurve,
    NotMeasured,
    Reidentification,
    ScoreCurves,
    ScoreHistogram,
    Similarity,
    Tippett,
    most_exposed,
)
from sottovoce.measure.tippett import POWERS, reached_share
from sottovoce.report.formats import percent_column
from sottovoce.report.html import Markup, element, folded, scrolling
from sottovoce.report.reidentification import (
    CURVES,
    curve_figure,
    hiding_population,
    speaker_figure,
)
from sottovoce.report.scores import det_figure, ece_figure, histogram_figure, tippett_figure
from sottovoce.report.similarity import similarity_figure
from sottovoce.report.svg import Figure
from sottovoce.report.tables import Table, make_table

MOST_ROWS = 100
"""Rows of a table under a figure; all are in ``measures.json``."""

CELLS = 60
"""Along one side of a quadrant of the similarity matrices: a page may hold many."""

ODDS_STEP = 2
"""Between the rows of the table under ECE profiles, in natural-log odds."""

HOW_TO_READ = {
    "linkability": "How often the right person is named, over how many people there are to choose "
    "from. It falls with the size of the population, but so does chance.",
    "singling_out": "How often a rule made from one person's speech fits exactly one person of the "
    "population. A random rule does in 36.8 %; above that, someone is isolated more easily.",
    "one_minus_rocch_eer": "One minus the equal error rate. It hardly changes with the size of the "
    "population, which is why it must not be read as the risk of one person.",
}
"""By the curves over population size that a page shows."""


def panel(figure: Figure, numbers: Table, caption: str) -> Markup:
    """Build a panel.

    Parameters
    ----------
    figure : Figure
        The drawing.
    numbers : Table
        What is drawn, folded under it.
    caption : str
        How to read it.
    """
    return element(
        "figure",
        scrolling(figure.title, Markup(figure.svg)),
        element("figcaption", caption),
        folded(f"Numbers: {figure.title}", numbers.to_html(), class_="data"),
    )


def score_panels(sets: Mapping[str, ScoreCurves]) -> list[Markup]:
    """Build the panels of score sets: ECE profiles, DET curves, and two of the last set.

    These are its histogram and its Tippett plot.

    Parameters
    ----------
    sets : mapping of str to ScoreCurves
        The curves of each score set by its name; the last one is what the page is about.
    """
    name, curves = list(sets.items())[-1]
    panels = [_ece_panel(sets), _histogram_panel(name, curves.histogram), _det_panel(sets)]
    return panels if curves.tippett is None else [*panels, _tippett_panel(name, curves.tippett)]


def _ece_panel(sets: Mapping[str, ScoreCurves]) -> Markup:
    curves = [curves_of_set.ece for curves_of_set in sets.values()]
    rows = [
        (
            f"{round(curves[0].prior_log_odds[i]):+d}",
            f"{curves[0].zero_evidence[i]:.4f}",
            *(f"{curve.ece[i]:.4f}" for curve in curves),
        )
        for i in _table_places(curves[0])
    ]
    headings = ("prior log-odds", "zero evidence", *sets)
    return panel(
        ece_figure(sets),
        make_table("Empirical cross-entropy in bits", headings, rows),
        "What the attacker still does not know after the best use of the scores. The line of zero "
        "evidence is perfect privacy; the area between is what is disclosed on average.",
    )


def _table_places(curve: EceCurve) -> list[int]:
    """Return where the log-odds are multiples of the step."""
    steps = np.asarray(curve.prior_log_odds) / ODDS_STEP
    places: list[int] = np.flatnonzero(np.isclose(steps, np.rint(steps), atol=1e-9)).tolist()
    return places


def _histogram_panel(name: str, histogram: ScoreHistogram | NotMeasured) -> Markup:
    if isinstance(histogram, NotMeasured):
        return element("p", f"No histogram: {histogram.note}.", class_="soft")
    rows = [
        (
            f"{histogram.edges[i]:.3g} to {histogram.edges[i + 1]:.3g}",
            percent_column(histogram.mated[i]),
            percent_column(histogram.nonmated[i]),
            f"{histogram.local[i]:.3f}",
        )
        for i in range(len(histogram.local))
    ]
    return panel(
        histogram_figure(name, histogram),
        make_table("Scores by bin", ("score", "mated", "non-mated", "D(s)"), rows),
        "Scores of pairs of one speaker (mated) and of two (non-mated). Where the local "
        "linkability D(s) is 1, a score gives its pair away.",
    )


def _det_panel(sets: Mapping[str, ScoreCurves]) -> Markup:
    misses = [
        {rate.false_alarm: rate.miss for rate in curves.miss_rates} for curves in sets.values()
    ]
    rows = [
        (
            percent_column(false_alarm),
            *(percent_column(miss_of_set.get(false_alarm)) for miss_of_set in misses),
        )
        for false_alarm in misses[0]
    ]
    headings = ("false alarms", *(f"misses, {name}" for name in sets))
    return panel(
        det_figure(sets),
        make_table("Misses at rates of false alarms", headings, rows),
        "Both errors of an attacker who decides by a threshold. The nearer to the lower left "
        "corner, the more is disclosed.",
    )


def _tippett_panel(name: str, tippett: Tippett) -> Markup:
    """The plot, and how often both kinds of likelihood ratios reach powers of ten."""
    rows = [
        (
            f"10^{power:+d}" if power else "1",
            *map(percent_column, reached_share(tippett.calibrated, power)),
            *map(percent_column, reached_share(tippett.scores, power)),
        )
        for power in POWERS
    ]
    headings = (
        "likelihood ratio at least",
        "mated, calibrated",
        "non-mated, calibrated",
        "mated, as scored",
        "non-mated, as scored",
    )
    return panel(
        tippett_figure(name, tippett),
        make_table("Pairs that reach a likelihood ratio", headings, rows),
        "How often the attacker's evidence is at least so strong, for pairs of one speaker (mated) "
        "and of two (non-mated). Non-mated pairs above a likelihood ratio of 1 mislead.",
    )


def population_panels(
    result: Reidentification, originals: Reidentification | None = None
) -> list[Markup]:
    """Build the panels of Linkability, Singling Out and 1 − EER over the number of people.

    Parameters
    ----------
    result : Reidentification
        Curves of anonymised speech.
    originals : Reidentification, optional
        The same of speech before anonymisation.
    """
    return [_curve_panel(name, result, originals) for name in HOW_TO_READ if result.curve(name)]


def _curve_panel(name: str, result: Reidentification, reference: Reidentification | None) -> Markup:
    """A curve over all sizes that were computed, above a table of those that are reported."""
    curve = CURVES[name]
    points = result.curve(name)
    originals = () if reference is None else reference.curve(name)
    drawn = result.drawn_curve(name)
    drawn_originals = () if reference is None else reference.drawn_curve(name)
    before = {(point.length, point.population): point.value for point in originals}
    rows = [
        (
            f"{point.population:,}",
            str(point.length),
            percent_column(point.value),
            f"{percent_column(point.low)} to {percent_column(point.high)}",
            percent_column(point.chance),
            percent_column(point.no_evidence),
            percent_column(before.get((point.length, point.population))),
        )
        for point in points
    ]
    headings = (
        "people",
        "recordings a conversation",
        curve.label,
        "interval",
        "chance",
        "this protocol without evidence",
        "originals",
    )
    return panel(
        curve_figure(drawn, curve, originals=drawn_originals),
        make_table(f"{curve.label} by number of people", headings, rows),
        HOW_TO_READ[name],
    )


def people_panel(result: Reidentification) -> Markup | None:
    """Build the panel of how the risk is spread over people; None without people.

    Parameters
    ----------
    result : Reidentification
        The risk of each speaker.
    """
    if not result.speakers:
        return None
    worst = most_exposed(result.speakers, MOST_ROWS)
    rows = [
        (
            risk.speaker,
            str(risk.length),
            str(risk.trials),
            percent_column(risk.linkability),
            hiding_population(risk),
        )
        for risk in worst
    ]
    headings = (
        "speaker",
        "recordings a conversation",
        "trials",
        "named among everybody",
        "hidden in a population of",
    )
    caption = f"The {len(worst):,} most exposed people, each at the length that exposes them most"
    return panel(
        speaker_figure(result.speakers),
        make_table(caption, headings, rows),
        "People in order of falling risk. A mean hides them: look at the left end of the line. "
        "Hidden: named in fewer than half of the populations of this size.",
    )


def similarity_panel(result: Similarity) -> Markup:
    """Build the panel of the similarity matrices.

    Parameters
    ----------
    result : Similarity
        Voices before and after anonymisation.
    """
    columns = []
    for kind in ("oo", "op", "pp"):
        matrix = result.matrix(kind)
        to_self = np.diag(matrix)
        to_others = (matrix.sum(axis=1) - to_self) / max(1, len(to_self) - 1)
        columns += [to_self, to_others]
    order = np.argsort(-(columns[2] - columns[3]), kind="stable")[:MOST_ROWS]
    rows = [(result.speakers[i], *(f"{column[i]:.3f}" for column in columns)) for i in order]
    headings = [
        f"{side}, {kind}"
        for kind in ("original–original", "original–anonymised", "anonymised–anonymised")
        for side in ("self", "others")
    ]
    return panel(
        similarity_figure(result, cells=CELLS),
        make_table("Similarity to oneself and to others", ("speaker", *headings), rows),
        "Each cell compares two voices. A bright diagonal in the upper right quarter means that "
        "people are recognised behind their anonymised voices; one in the lower right quarter, "
        "that anonymised voices still differ from each other.",
    )
