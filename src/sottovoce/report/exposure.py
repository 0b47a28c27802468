"""The page of exposures of somebody's model: a plain reading, a figure and all numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sottovoce import __version__
from sottovoce.findings import CanaryGroup, Exposure
from sottovoce.report.html import bullets, document, element
from sottovoce.report.memorisation import METHODS, PAPERS
from sottovoce.report.memorisation_readings import given_away, group_sentence
from sottovoce.report.panels import panel
from sottovoce.report.svg import Axis, Line, line_chart
from sottovoce.report.tables import make_table

TITLE = "What the model remembers"


def exposure_readings(groups: Sequence[CanaryGroup]) -> list[str]:
    """Say in plain words what a model gives away.

    Parameters
    ----------
    groups : sequence of CanaryGroup
        Canaries by specification and repetitions; those that were not inserted are left out.
    """
    lines = []
    for spec in dict.fromkeys(group.spec for group in groups):
        told = [
            group.repetitions
            for group in groups
            if group.spec == spec
            and group.repetitions
            and 2 * given_away(group) > len(group.canaries)
        ]
        if told:
            times = "one occurrence" if min(told) == 1 else f"{min(told)} occurrences"
            lines.append(f"A model trained on this text gives away {spec} after {times}.")
    lines += [group_sentence(group) for group in groups if group.repetitions]
    return lines


def exposure_page(exposures: Mapping[str, Exposure], groups: Sequence[CanaryGroup]) -> str:
    """Write the page.

    Parameters
    ----------
    exposures : mapping of str to Exposure
        By the name of the canary.
    groups : sequence of CanaryGroup
        The same by specification and repetitions.
    """
    readings = exposure_readings(groups)
    rows = [
        (
            name,
            f"{exposure.exposure_bits:.2f}",
            f"{exposure.maximum_bits:.2f}",
            "–" if exposure.rank is None else f"{exposure.rank:,}",
            f"{exposure.space:,}",
            f"{exposure.p_value:.2g}",
            exposure.method,
        )
        for name, exposure in exposures.items()
    ]
    headings = ("canary", "exposure, bits", "at most", "rank", "values", "p-value", "method")
    figures = [] if not groups else [_figure(groups)]
    return document(
        TITLE,
        element("header", element("p", "sottovoce", class_="kicker"), element("h1", TITLE)),
        element(
            "main",
            element("div", bullets(readings), class_="card") if readings else None,
            make_table("Exposure of each canary", headings, rows).to_html(),
            element("div", *figures, class_="figures"),
            *(element("p", line) for line in METHODS[:3]),
            element("p", PAPERS, class_="soft"),
        ),
        element("footer", element("p", f"Written by sottovoce {__version__}.")),
    )


def _figure(groups: Sequence[CanaryGroup]) -> str:
    """Mean exposure over the number of insertions."""
    counts = sorted({group.repetitions for group in groups})
    most = max(entry.exposure.maximum_bits for group in groups for entry in group.canaries)
    lines, rows = [], []
    for number, spec in enumerate(dict.fromkeys(group.spec for group in groups)):
        points = [
            (counts.index(group.repetitions), group.bits) for group in groups if group.spec == spec
        ]
        x, y = [point[0] for point in points], [point[1] for point in points]
        lines.append(Line(spec, x, y, number, points=len(points) < 2))
        rows += [(spec, str(counts[place]), f"{bits:.2f}") for place, bits in points]
    null = Line("never seen, on average", [0, max(1, len(counts) - 1)], [1.44, 1.44], len(lines))
    figure = line_chart(
        "Exposure over insertions",
        f"Mean exposure in bits by number of insertions, at most {most:.2f}.",
        Axis(
            "insertions",
            0,
            max(1, len(counts) - 1),
            tuple((float(place), str(count)) for place, count in enumerate(counts)),
        ),
        Axis.nice("exposure in bits", 0, most),
        [*lines, null],
    )
    table = make_table("Mean exposure", ("secret", "insertions", "bits"), rows)
    return panel(figure, table, "The top of the figure is full exposure.")
