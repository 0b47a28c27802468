"""Showing a re-identification study: tables, remarks and curves over population size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from sottovoce.core.files import write_text
from sottovoce.findings import CurvePoint, OpenSetPoint, Reidentification, SpeakerRisk, most_exposed
from sottovoce.report.score_set import console_for
from sottovoce.report.svg import Axis, Line, line_chart
from sottovoce.report.tables import plain

CURVES = {
    "linkability": ("Linkability", "%"),
    "singling_out": ("Singling Out", "%"),
    "one_minus_rocch_eer": ("1 − ROCCH-EER", "%"),
    "top_k": ("top-k", "%"),
    "rank": ("mean rank", ""),
    "normalised_rank": ("normalised rank", "%"),
    "rank_disclosure": ("rank disclosure", "bits"),
    "worst_rank_disclosure": ("worst rank disclosure", "bits"),
}
"""What each curve is called and its unit; lower discloses more for the two of rank only."""


def print_study(found: Reidentification, *, shown: Sequence[str] = tuple(CURVES)) -> None:
    """Print one table a conversation length, the most exposed speakers, and remarks."""
    console = console_for(width=130)
    lengths = sorted({point.length for point in found.linkability})
    for length in lengths:
        console.print(
            f"\nConversations of {length} utterance{'s' if length > 1 else ''}, "
            f"{found.enrolled_speakers:,} enrolled speakers, {found.linkage}",
            style="bold",
            highlight=False,
        )
        console.print(_table(found, length, shown))
    console.print("\nMost exposed speakers", style="bold")
    console.print(speaker_table(most_exposed(found.speakers)))
    for line in remarks(found):
        console.print(f"• {line}", highlight=False, markup=False)


def _table(found: Reidentification, length: int, shown: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("population", justify="right")
    curves = {n: [p for p in getattr(found, n) if p.length == length] for n in shown}
    for name, points in curves.items():
        if points:
            label = CURVES[name][0]
            table.add_column(f"top-{points[0].k}" if name == "top_k" else label, justify="right")
    for size in sorted({p.population for points in curves.values() for p in points}):
        cells = []
        for name, points in curves.items():
            if points:
                at = [p for p in points if p.population == size]
                cells.append(_cell(at[0], CURVES[name][1]) if at else "–")
        table.add_row(f"{size:,}", *cells)
    return table


def _cell(point: CurvePoint, unit: str) -> str:
    value = _number(point.value, unit)
    spread = ""
    if point.low is not None and point.high is not None:
        spread = f"\n{_number(point.low, unit)}–{_number(point.high, unit)}"
    level = point.chance if point.no_evidence is None else point.no_evidence
    return f"{value}{spread}\n({_number(level, unit)})"


def _number(value: float, unit: str) -> str:
    if unit == "%":
        return f"{100 * value:.1f}" if value >= 0.001 or value == 0 else f"{100 * value:.2g}"
    return f"{value:,.1f}" if unit == "" else f"{value:.2f}"


def speaker_table(risks: Sequence[SpeakerRisk]) -> Table:
    """One row a speaker: how often linked among everybody, and in what crowd that stops."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    headings = ("speaker", "length", "trials", "linked among everybody", "hidden in a crowd of")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "speaker" else "right")
    for one in risks:
        hidden = "more than these" if one.vanishes_at is None else f"{one.vanishes_at:,}"
        linked = f"{100 * one.linkability:.1f} %"
        table.add_row(plain(one.speaker), str(one.length), str(one.trials), linked, hidden)
    return table


def remarks(found: Reidentification) -> list[str]:
    """What has to be said beside the numbers."""
    lines = [
        "Percentages; below each value its interval over speakers and, in brackets, chance level. "
        "Higher = more disclosed, except for ranks.",
        "Hidden: linked in fewer than half of the populations of this size.",
    ]
    if found.singling_out:
        lowest = min(p.no_evidence or 1.0 for p in found.singling_out)
        lines.append(
            f"Singling Out: a random predicate isolates someone in 36.8 % of crowds; with this "
            f"protocol's threshold, scores without evidence do so in {100 * lowest:.1f} % or a "
            "little more, the level in brackets."
        )
    for excluded in found.excluded:
        lines += [
            f"Left out at length {excluded.length}: {count:,} {reason}."
            for count, reason in (
                (excluded.speakers_not_enrolled, "speakers not enrolled"),
                (
                    excluded.speakers_with_too_few_utterances,
                    "speakers with too few utterances",
                ),
            )
            if count
        ]
    return [*lines, *found.notes]


def write_study_figures(found: Reidentification, directory: Path) -> None:
    """Write one SVG a measure, a line a conversation length, over population size."""
    for name, (label, unit) in CURVES.items():
        points: list[CurvePoint] = getattr(found, name)
        if len({p.population for p in points}) > 1:
            write_text(directory / f"{name}.svg", curve_figure(points, label, unit))
    if len({one.population for one in found.open_set}) > 1:
        write_text(directory / "open_set.svg", open_set_figure(found.open_set))
    if found.speakers:
        write_text(directory / "speakers.svg", speaker_figure(found.speakers))


def open_set_figure(found: Sequence[OpenSetPoint]) -> str:
    """EER and D_sys of verification against a growing population, a line a length."""
    lines = [Line("EER by chance", _span(found), [0.5, 0.5], 0)]
    style = 1
    for length in sorted({one.length for one in found}):
        own = [one for one in found if one.length == length]
        across = [math.log10(one.population) for one in own]
        for word, values in (("EER", [o.eer for o in own]), ("D_sys", [o.d_sys for o in own])):
            if all(value is not None for value in values):
                name = f"{word}, {length} utterance{'s' if length > 1 else ''} a conversation"
                lines.append(Line(name, across, [v or 0.0 for v in values], style))
                style += 1
    return line_chart(
        "Open-set verification in a growing population",
        "Equal error rate and linkability D_sys when the trial speakers and a growing number of "
        "others are enrolled; a lower EER and a higher D_sys disclose more.",
        population_axis([one.population for one in found]),
        Axis.nice("EER and D_sys", 0, 1.05),
        lines,
    )


def _span(found: Sequence[OpenSetPoint]) -> list[float]:
    sizes = [one.population for one in found]
    return [math.log10(min(sizes)), math.log10(max(sizes))]


def curve_figure(
    points: Sequence[CurvePoint], label: str, unit: str, *, originals: Sequence[CurvePoint] = ()
) -> str:
    """A measure over population size (logarithmic), with its chance level and intervals.

    With ``originals``, also what is found in speech before anonymisation, without intervals.
    """
    scale = 100 if unit == "%" else 1
    sizes = sorted({p.population for p in (*points, *originals)})
    first = [p for p in points if p.length == points[0].length]
    alone = len(sizes) == 1
    lines = [Line("chance", _logs(first), [scale * p.chance for p in first], 0, points=alone)]
    for kind, own_points in (("anonymised", points), ("original", originals)):
        for length in sorted({p.length for p in own_points}):
            own = [p for p in own_points if p.length == length]
            name = f"{length} utterance{'s' if length > 1 else ''} a conversation"
            name += f", {kind}" if originals else ""
            style = 1 + sum(not line.band for line in lines[1:])
            values = [scale * p.value for p in own]
            lines.append(Line(name, _logs(own), values, style, points=alone))
            if kind == "anonymised" and all(p.low is not None for p in own):
                band = [(scale * (p.low or 0), scale * (p.high or 0)) for p in own]
                lines.append(Line(name, _logs(own), band, style, band=True))
    top = max(float(np.max(line.y)) for line in lines) or 1.0
    title = f"{label} over population size"
    return line_chart(
        title,
        f"{title}, one line a conversation length, with intervals over speakers, and chance level.",
        population_axis(sizes),
        Axis.nice(f"{label}{f' in {unit}' if unit else ''}", 0, 1.05 * top),
        lines,
    )


def _logs(points: Sequence[CurvePoint]) -> list[float]:
    return [math.log10(p.population) for p in points]


def population_axis(sizes: Sequence[int]) -> Axis:
    """A logarithmic axis of population sizes."""
    low, high = math.log10(min(sizes)), math.log10(max(sizes))
    marks = [
        m * 10**e for e in range(8) for m in (1, 2, 5) if min(sizes) <= m * 10**e <= max(sizes)
    ]
    if not marks or max(sizes) > 1.4 * marks[-1]:
        marks.append(max(sizes))
    ticks = tuple((math.log10(size), f"{size:,}") for size in marks)
    room = 0.1 if low == high else 0.0
    return Axis("speakers in the population", low - room, high + room, ticks)


def speaker_figure(risks: Sequence[SpeakerRisk]) -> str:
    """How linkability among everybody is spread over speakers, a line a conversation length."""
    lines = []
    for style, length in enumerate(sorted({one.length for one in risks}), start=1):
        values = np.sort([100 * one.linkability for one in risks if one.length == length])[::-1]
        share = 100 * np.arange(1, len(values) + 1) / len(values)
        name = f"{length} utterance{'s' if length > 1 else ''} a conversation"
        lines.append(Line(name, share, values, style))
    return line_chart(
        "Linkability among everybody, speaker by speaker",
        "Speakers in order of falling risk: the share of speakers on the horizontal axis are "
        "linked at least as often as the line shows.",
        Axis.nice("share of speakers in %", 0, 100),
        Axis.nice("linked in %", 0, 105),
        lines,
    )
