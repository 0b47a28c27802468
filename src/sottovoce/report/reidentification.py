"""Re-identification risk for a person: tables, remarks and curves over population size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.core.files import write_text
from sottovoce.findings import (
    CurvePoint,
    ExcludedSpeakers,
    OpenSetPoint,
    Reidentification,
    SpeakerRisk,
    most_exposed,
)
from sottovoce.report.formats import MISSING, counted, utterances_a_conversation
from sottovoce.report.svg import Axis, Figure, Line, line_chart
from sottovoce.report.tables import Cell, Column, Lines, Table, make_table
from sottovoce.report.terminal import Terminal


@dataclass(frozen=True, slots=True)
class CurveLabel:
    """How a curve over population size is called, and its unit."""

    label: str
    unit: str
    """``%``, ``bits`` or empty for ranks, of which a lower one discloses more."""


CURVES = {
    "linkability": CurveLabel("Linkability", "%"),
    "singling_out": CurveLabel("Singling Out", "%"),
    "one_minus_rocch_eer": CurveLabel("1 − ROCCH-EER", "%"),
    "top_k": CurveLabel("top-k", "%"),
    "rank": CurveLabel("mean rank", ""),
    "normalised_rank": CurveLabel("normalised rank", "%"),
    "rank_disclosure": CurveLabel("rank disclosure", "bits"),
    "worst_rank_disclosure": CurveLabel("worst rank disclosure", "bits"),
}
"""By the name of the curve in :class:`~sottovoce.findings.Reidentification`."""

HIDDEN_IN_NO_POPULATION = "more than these"
"""In place of a population size, for a speaker whom the largest one does not hide."""

# ------------------------------------------------------------------------ tables and remarks


def print_reidentification(result: Reidentification) -> None:
    """Print one table per conversation length, the most exposed speakers, and remarks.

    Parameters
    ----------
    result : Reidentification
        Curves and speakers.
    """
    terminal = Terminal(width=130)
    for length in sorted({point.length for point in result.linkability}):
        terminal.heading(
            f"\nConversations of {counted(length, 'utterance')}, "
            f"{result.enrolled_speakers:,} enrolled speakers, {result.linkage}"
        )
        terminal.table(_population_table(result, length))
    terminal.heading("\nMost exposed speakers")
    terminal.table(speaker_table(most_exposed(result.speakers)))
    terminal.bullets(reidentification_remarks(result))


def _population_table(result: Reidentification, length: int) -> Table:
    curves = {
        name: {point.population: point for point in result.curve(name) if point.length == length}
        for name in CURVES
    }
    curves = {name: points for name, points in curves.items() if points}
    columns = [Column("population")]
    for name, points in curves.items():
        k = next(iter(points.values())).k
        columns.append(Column(CURVES[name].label if k is None else f"top-{k}"))
    rows: list[tuple[Cell, ...]] = []
    for size in sorted({size for points in curves.values() for size in points}):
        cells = [
            _cell(points[size], CURVES[name].unit) if size in points else MISSING
            for name, points in curves.items()
        ]
        rows.append((f"{size:,}", *cells))
    return Table(f"Measures by population, length {length}", tuple(columns), tuple(rows))


def _cell(point: CurvePoint, unit: str) -> Lines:
    smaller = []
    if point.low is not None and point.high is not None:
        smaller.append(f"{_number(point.low, unit)}–{_number(point.high, unit)}")
    level = point.chance if point.no_evidence is None else point.no_evidence
    return Lines(_number(point.value, unit), (*smaller, f"({_number(level, unit)})"))


def _number(value: float, unit: str) -> str:
    if unit == "%":
        return f"{100 * value:.1f}" if value >= 0.001 or value == 0 else f"{100 * value:.2g}"
    return f"{value:.2f}" if unit else f"{value:,.1f}"


def speaker_table(risks: Sequence[SpeakerRisk]) -> Table:
    """Arrange speakers: how often they are linked, and which population hides them.

    Parameters
    ----------
    risks : sequence of SpeakerRisk
        One row each.
    """
    headings = (
        "speaker",
        "length",
        "trials",
        "linked among everybody",
        "hidden in a population of",
    )
    rows = [
        (
            risk.speaker,
            str(risk.length),
            str(risk.trials),
            f"{100 * risk.linkability:.1f} %",
            hiding_population(risk),
        )
        for risk in risks
    ]
    return make_table("Most exposed speakers", headings, rows)


def hiding_population(risk: SpeakerRisk) -> str:
    """Write the population in which a speaker is linked in fewer than half of the cases.

    Parameters
    ----------
    risk : SpeakerRisk
        Of one speaker.
    """
    return HIDDEN_IN_NO_POPULATION if risk.vanishes_at is None else f"{risk.vanishes_at:,}"


def reidentification_remarks(result: Reidentification) -> list[str]:
    """Return what has to be known beside the numbers.

    Parameters
    ----------
    result : Reidentification
        Curves and speakers.
    """
    lines = [
        "Percentages; below each value its interval over speakers and, in brackets, chance level. "
        "Higher = more disclosed, except for ranks.",
        "Hidden: linked in fewer than half of the populations of this size.",
    ]
    if result.singling_out:
        lowest = min(point.no_evidence or 1.0 for point in result.singling_out)
        lines.append(
            f"Singling Out: a random predicate isolates someone in 36.8 % of populations; with "
            f"this protocol's threshold, scores without evidence do so in {100 * lowest:.1f} % or "
            "a little more, the level in brackets."
        )
    for excluded in result.excluded:
        lines += _excluded_remarks(excluded)
    cautions = [f"Careful: {warning}." for warning in result.warnings]
    return [*cautions, *lines, *result.notes]


def _excluded_remarks(excluded: ExcludedSpeakers) -> list[str]:
    counts = {
        "speakers not enrolled": excluded.speakers_not_enrolled,
        "speakers with too few utterances": excluded.speakers_with_too_few_utterances,
    }
    return [
        f"Left out at length {excluded.length}: {count:,} {reason}."
        for reason, count in counts.items()
        if count
    ]


# ----------------------------------------------------------------------------------- figures


def write_reidentification_figures(result: Reidentification, directory: Path) -> None:
    """Write one SVG a measure, a line a conversation length, over population size.

    Parameters
    ----------
    result : Reidentification
        Curves and speakers; a curve with a single population is not drawn.
    directory : Path
        Where the files go.
    """
    for name, curve in CURVES.items():
        points = result.drawn_curve(name)
        if len({point.population for point in points}) > 1:
            write_text(directory / f"{name}.svg", curve_figure(points, curve).svg)
    if len({point.population for point in result.open_set}) > 1:
        write_text(directory / "open_set.svg", _open_set_figure(result.open_set).svg)
    if result.speakers:
        write_text(directory / "speakers.svg", speaker_figure(result.speakers).svg)


def _open_set_figure(points: Sequence[OpenSetPoint]) -> Figure:
    """Draw EER and D_sys of verification against a growing population, a line a length."""
    sizes = [point.population for point in points]
    ends = [math.log10(min(sizes)), math.log10(max(sizes))]
    lines = [Line("EER by chance", ends, [0.5, 0.5], 0)]
    for length in sorted({point.length for point in points}):
        selected = [point for point in points if point.length == length]
        across = [math.log10(point.population) for point in selected]
        name = utterances_a_conversation(length)
        lines.append(Line(f"EER, {name}", across, [point.eer for point in selected], len(lines)))
        d_sys = [point.d_sys for point in selected if point.d_sys is not None]
        if len(d_sys) == len(selected):
            lines.append(Line(f"D_sys, {name}", across, d_sys, len(lines)))
    return line_chart(
        "Open-set verification in a growing population",
        "Equal error rate and linkability D_sys when the trial speakers and a growing number of "
        "others are enrolled; a lower EER and a higher D_sys disclose more.",
        population_axis(sizes),
        Axis.nice("EER and D_sys", 0, 1.05),
        lines,
    )


def curve_figure(
    points: Sequence[CurvePoint], curve: CurveLabel, *, originals: Sequence[CurvePoint] = ()
) -> Figure:
    """Draw a measure over population size (logarithmic), with chance level and intervals.

    Parameters
    ----------
    points : sequence of CurvePoint
        At one or more conversation lengths.
    curve : CurveLabel
        Label and unit of the measure.
    originals : sequence of CurvePoint, optional
        The same of speech before anonymisation, drawn without intervals.
    """
    scale = 100 if curve.unit == "%" else 1
    sizes = sorted({point.population for point in (*points, *originals)})
    marks = len(sizes) == 1
    first = [point for point in points if point.length == points[0].length]
    chance = [scale * point.chance for point in first]
    lines = [Line("chance", _log_sizes(first), chance, 0, points=marks)]
    kind = ", anonymised" if originals else ""
    lines += _curve_lines(points, kind, scale, first_style=1, marks=marks, intervals=True)
    style = 1 + sum(not line.band for line in lines[1:])
    lines += _curve_lines(
        originals, ", original", scale, first_style=style, marks=marks, intervals=False
    )
    top = max(float(np.max(line.y)) for line in lines) or 1.0
    title = f"{curve.label} over population size"
    return line_chart(
        title,
        f"{title}, one line per conversation length, with intervals and the chance level.",
        population_axis(sizes),
        Axis.nice(f"{curve.label}{f' in {curve.unit}' if curve.unit else ''}", 0, 1.05 * top),
        lines,
    )


def _curve_lines(
    points: Sequence[CurvePoint],
    kind: str,
    scale: int,
    *,
    first_style: int,
    marks: bool,
    intervals: bool,
) -> list[Line]:
    """Return one line per conversation length, each followed by the band of its intervals."""
    lines = []
    for style, length in enumerate(sorted({point.length for point in points}), start=first_style):
        selected = [point for point in points if point.length == length]
        across = _log_sizes(selected)
        name = f"{utterances_a_conversation(length)}{kind}"
        values = [scale * point.value for point in selected]
        lines.append(Line(name, across, values, style, points=marks))
        if intervals and all(point.low is not None for point in selected):
            band = [(scale * (point.low or 0), scale * (point.high or 0)) for point in selected]
            lines.append(Line(name, across, band, style, band=True))
    return lines


def _log_sizes(points: Sequence[CurvePoint]) -> list[float]:
    return [math.log10(point.population) for point in points]


def population_axis(sizes: Sequence[int]) -> Axis:
    """Build a logarithmic axis of population sizes.

    Parameters
    ----------
    sizes : sequence of int
        All sizes that are drawn.
    """
    low, high = math.log10(min(sizes)), math.log10(max(sizes))
    marks = [
        m * 10**e for e in range(8) for m in (1, 2, 5) if min(sizes) <= m * 10**e <= max(sizes)
    ]
    if not marks or max(sizes) > 1.4 * marks[-1]:
        marks.append(max(sizes))
    ticks = tuple((math.log10(size), f"{size:,}") for size in marks)
    margin = 0.1 if low == high else 0.0
    return Axis("speakers in the population", low - margin, high + margin, ticks)


def speaker_figure(risks: Sequence[SpeakerRisk]) -> Figure:
    """Draw how linkability among everybody is spread over speakers, a line a length.

    Parameters
    ----------
    risks : sequence of SpeakerRisk
        Of all speakers, at one or more conversation lengths.
    """
    lines = []
    for style, length in enumerate(sorted({risk.length for risk in risks}), start=1):
        values = np.sort([100 * risk.linkability for risk in risks if risk.length == length])[::-1]
        share = 100 * np.arange(1, len(values) + 1) / len(values)
        lines.append(Line(utterances_a_conversation(length), share, values, style))
    return line_chart(
        "Linkability among everybody, speaker by speaker",
        "Speakers in order of falling risk: the share of speakers on the horizontal axis are "
        "linked at least as often as the line shows.",
        Axis.nice("share of speakers in %", 0, 100),
        Axis.nice("linked in %", 0, 105),
        lines,
    )
