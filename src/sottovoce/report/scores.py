"""Score sets for a person: tables, remarks and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from sottovoce.core.files import write_text
from sottovoce.findings import (
    Estimate,
    NotMeasured,
    Resampling,
    ScoreCurves,
    ScoreHistogram,
    ScoreSummary,
    Tippett,
)
from sottovoce.measure.catalogue import MEASURES, Measure
from sottovoce.report.formats import MISSING
from sottovoce.report.svg import Axis, Figure, Line, line_chart
from sottovoce.report.tables import Cell, Column, Lines, Table
from sottovoce.report.terminal import Terminal

DET_RATES = (0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95)
"""Marks on the axes of DET curves."""
TIPPETT_LIMIT = 8.0
"""Logarithms of likelihood ratios beyond this, to base 10, are drawn at the edge."""

# ------------------------------------------------------------------------ tables and remarks


def print_summary(summary: ScoreSummary) -> None:
    """Print the table of one score set and the remarks on it.

    Parameters
    ----------
    summary : ScoreSummary
        Every measure of the set.
    """
    terminal = Terminal()
    terminal.heading(f"{summary.name}\n")
    terminal.table(summary_table(summary))
    terminal.line()
    terminal.bullets(summary_remarks(summary))


def print_comparison(summaries: Sequence[ScoreSummary]) -> None:
    """Print several score sets in one table.

    Parameters
    ----------
    summaries : sequence of ScoreSummary
        All with the same measures.
    """
    terminal = Terminal()
    terminal.table(comparison_table(summaries))
    terminal.line()
    terminal.bullets(_comparison_remarks(summaries))


def summary_table(summary: ScoreSummary) -> Table:
    """Arrange one score set, one row per measure: value, interval, chance, direction, counts.

    Parameters
    ----------
    summary : ScoreSummary
        Every measure of the set.
    """
    columns = [Column("measure", "left"), Column("value")]
    if summary.interval:
        columns.append(Column(f"{100 * summary.interval.confidence:g} % interval"))
    columns += [
        Column("chance"),
        Column("reads", "left", wrap=False),
        Column("mated + non-mated", wrap=False),
    ]
    rows = []
    for name, estimate in summary.measures.items():
        measure = MEASURES[name]
        cells = [measure.label, number_of(estimate.value, measure)]
        if summary.interval:
            cells.append(_range(estimate, measure))
        counts = f"{estimate.n_mated:,} + {estimate.n_nonmated:,}"
        rows.append((*cells, number_of(estimate.chance, measure), estimate.direction, counts))
    return Table("All numbers", tuple(columns), tuple(rows))


def comparison_table(summaries: Sequence[ScoreSummary]) -> Table:
    """Arrange several score sets, one row per measure and one column per set.

    Parameters
    ----------
    summaries : sequence of ScoreSummary
        All with the same measures.
    """
    columns = [
        Column("measure", "left"),
        *(Column(summary.name) for summary in summaries),
        Column("reads", "left", wrap=False),
    ]
    rows: list[tuple[Cell, ...]] = []
    for name, first in summaries[0].measures.items():
        measure = MEASURES[name]
        cells = [_with_range(summary.measures[name], measure) for summary in summaries]
        rows.append((measure.label, *cells, first.direction))
    rows.append(("worst-case category", *(summary.tag for summary in summaries), ""))
    counts = [f"{summary.n_mated:,} + {summary.n_nonmated:,}" for summary in summaries]
    rows.append(("mated + non-mated", *counts, ""))
    return Table("Score sets side by side", tuple(columns), tuple(rows))


def summary_remarks(summary: ScoreSummary) -> list[str]:
    """Return what has to be known beside the numbers, in plain words.

    Parameters
    ----------
    summary : ScoreSummary
        Every measure of the set.
    """
    lines = [f"Careful: {warning}." for warning in summary.warnings]
    worst = summary.measures.get("worst_case_log10_lr")
    if worst is not None and worst.value is not None:
        lines.append(_worst_case(summary, worst))
    if summary.interval:
        lines.append(_interval_remark(summary.interval))
    labels_by_note: dict[str, list[str]] = {}
    for name, estimate in summary.measures.items():
        if estimate.note:
            labels_by_note.setdefault(estimate.note, []).append(MEASURES[name].label)
    lines += [f"{', '.join(labels)}: {note}." for note, labels in labels_by_note.items()]
    return lines


def _worst_case(summary: ScoreSummary, worst: Estimate) -> str:
    by_chance = (worst.value or 0.0) <= (worst.chance or 0.0)
    excuse = "; no more than as many scores show by chance" if by_chance else ""
    return (
        f"Worst case, category {summary.tag}: {summary.tag_meaning}{excuse}. These scores could "
        f"have shown at most log10(l) = {summary.attainable_log10_lr:.2f}."
    )


def _interval_remark(interval: Resampling) -> str:
    line = f"Intervals: {interval.replicates:,} resamples of {interval.count:,} {interval.unit}s."
    if interval.unit == "speaker":
        return line
    return (
        f"{line} Speakers are unknown or fewer than 5, so trials were drawn as if independent: "
        "the intervals are too narrow if trials share speakers."
    )


def _comparison_remarks(summaries: Sequence[ScoreSummary]) -> list[str]:
    """Return the remarks that hold for all sets once, and the others with the set's name."""
    lines = ["Below each value its interval and, in brackets, its chance level."]
    remarks = {summary.name: summary_remarks(summary) for summary in summaries}
    for name, lines_of_set in remarks.items():
        for line in lines_of_set:
            shared = all(line in other for other in remarks.values())
            lines.append(line if shared else f"{name}: {line}")
    return list(dict.fromkeys(lines))


def number_of(value: float | None, measure: Measure) -> str:
    """Write a value of a measure, or a dash.

    Parameters
    ----------
    value : float or None
        The value.
    measure : Measure
        Whose value it is.
    """
    if value is None:
        return MISSING
    if measure.unit == "%":
        return f"{100 * value:.2f} %"
    return f"{value:.3f}" if value < 1e4 else f"{value:.4g}"


def _range(estimate: Estimate, measure: Measure) -> str:
    if estimate.low is None or estimate.high is None:
        return MISSING
    return f"{number_of(estimate.low, measure)} – {number_of(estimate.high, measure)}"


def _with_range(estimate: Estimate, measure: Measure) -> Lines:
    interval = () if estimate.low is None else (_range(estimate, measure),)
    chance = f"({number_of(estimate.chance, measure)})"
    return Lines(number_of(estimate.value, measure), (*interval, chance))


# ----------------------------------------------------------------------------------- figures


def write_score_figures(sets: Mapping[str, ScoreCurves], directory: Path) -> None:
    """Write ECE profiles, DET curves, and a histogram and a Tippett plot per set as SVG files.

    Parameters
    ----------
    sets : mapping of str to ScoreCurves
        The curves of each score set by its name.
    directory : Path
        Where the files go.
    """
    write_text(directory / "ece_log_odds.svg", ece_figure(sets).svg)
    write_text(directory / "ece_prior.svg", ece_figure(sets, over_prior=True).svg)
    write_text(directory / "det.svg", det_figure(sets).svg)
    for name, curves in sets.items():
        ending = ".svg" if len(sets) == 1 else f"_{name}.svg"
        if curves.tippett is not None:
            write_text(directory / f"tippett{ending}", tippett_figure(name, curves.tippett).svg)
        if isinstance(curves.histogram, NotMeasured):
            line = f"no histogram of {name}: {curves.histogram.note}"
            Terminal(stderr=True).line(line)
            continue
        figure = histogram_figure(name, curves.histogram)
        write_text(directory / f"histogram{ending}", figure.svg)


def ece_figure(sets: Mapping[str, ScoreCurves], *, over_prior: bool = False) -> Figure:
    """Draw ECE profiles after oracle calibration, with the profile of zero evidence.

    Parameters
    ----------
    sets : mapping of str to ScoreCurves
        The curves of each score set by its name.
    over_prior : bool, default False
        Draw them over the prior itself instead of its log-odds.
    """
    first = next(iter(sets.values())).ece
    lines = [
        Line(
            "zero evidence (perfect privacy)",
            _across(first.prior_log_odds, over_prior),
            first.zero_evidence,
            0,
        )
    ]
    for style, (name, curves) in enumerate(sets.items(), start=1):
        across = _across(curves.ece.prior_log_odds, over_prior)
        lines.append(Line(f"{name} {_disclosure(curves)}", across, curves.ece.ece, style))
    x = Axis.nice("prior probability π that a pair is mated", 0, 1)
    if not over_prior:
        x = Axis.nice("prior log-odds ln(π / (1−π))", -10, 10, about=10)
    return line_chart(
        "What the adversary still does not know (ECE)",
        "Empirical cross-entropy in bits over the adversary's prior; the further a line lies below "
        "that of zero evidence, the more is disclosed. In brackets: D_ECE in bits, worst case "
        "log10(l), category. " + "; ".join(line.name for line in lines),
        x,
        Axis.nice("ECE in bits", 0, 1.05),
        lines,
    )


def _disclosure(curves: ScoreCurves) -> str:
    return f"({curves.d_ece:.3f}, {curves.worst_case_log10_lr:.2f}, {curves.tag})"


def _across(log_odds: Sequence[float], over_prior: bool) -> NDArray[np.float64]:
    """Return the log-odds themselves, or the prior probabilities."""
    odds = np.asarray(log_odds, dtype=np.float64)
    return np.asarray(1 / (1 + np.exp(-odds))) if over_prior else odds


def histogram_figure(name: str, histogram: ScoreHistogram) -> Figure:
    """Draw histograms of both classes with the local linkability D(s) over them.

    Parameters
    ----------
    name : str
        What the score set is called.
    histogram : ScoreHistogram
        Shares of both classes and D(s) by bin.
    """
    x = np.repeat(histogram.edges, 2)[1:-1]
    top = 1.08 * max(*histogram.mated, *histogram.nonmated)
    lines = [
        Line("mated", x, np.repeat(histogram.mated, 2), 2, fill=True),
        Line("non-mated", x, np.repeat(histogram.nonmated, 2), 1, fill=True),
        Line("local linkability D(s), right axis", x, np.repeat(histogram.local, 2), 0, right=True),
    ]
    return line_chart(
        f"Scores of {name}: D_sys = {histogram.d_sys:.3f}",
        f"Histogram of mated and non-mated scores in {len(histogram.local)} equal bins. Where the "
        "local linkability is 1 a score gives its pair away; where it is 0 it does not link. "
        f"Its mean over mated scores is D_sys = {histogram.d_sys:.3f}.",
        Axis.nice("score", histogram.edges[0], histogram.edges[-1]),
        Axis.nice("share of scores in a bin", 0, top),
        lines,
        right=Axis.nice("D(s)", 0, 1.08),
    )


def tippett_figure(name: str, tippett: Tippett) -> Figure:
    """Draw how often likelihood ratios reach a value, as they are and after oracle calibration.

    Parameters
    ----------
    name : str
        What the score set is called.
    tippett : Tippett
        Both curves of the set.
    """
    lines = []
    for curve, how, styles in (
        (tippett.calibrated, "best calibration", (2, 1)),
        (tippett.scores, "scores as they are", (4, 3)),
    ):
        steps = np.clip(np.repeat(curve.log10_lr, 2)[:-1], -TIPPETT_LIMIT, TIPPETT_LIMIT)
        for label, shares, style in zip(
            ("mated", "non-mated"), (curve.mated, curve.nonmated), styles, strict=True
        ):
            lines.append(Line(f"{label}, {how}", steps, np.repeat(shares, 2)[1:], style))
    values = np.concatenate([np.asarray(line.x) for line in lines])
    low, high = min(values.min(), -1.0), max(values.max(), 1.0)
    return line_chart(
        f"Tippett plot of {name}",
        "Share of mated and of non-mated pairs whose likelihood ratio is at least a value; the "
        "further the two lines of a kind are apart, the more is disclosed. Non-mated pairs right "
        "of 0 and mated pairs left of it are misleading evidence. "
        + "; ".join(line.name for line in lines),
        Axis.nice("log10 of the likelihood ratio", float(low), float(high)),
        Axis.nice("share of pairs", 0, 1.05),
        lines,
    )


def det_figure(sets: Mapping[str, ScoreCurves]) -> Figure:
    """Draw miss rate over false-alarm rate on normal-deviate scales, and the line of equal errors.

    Parameters
    ----------
    sets : mapping of str to ScoreCurves
        The curves of each score set by its name.
    """
    ticks = tuple((float(scipy.special.ndtri(rate)), f"{100 * rate:g}") for rate in DET_RATES)
    low, high = ticks[0][0], float(scipy.special.ndtri(0.98))
    equal = np.array([low, high])
    lines = [
        Line(
            f"{name} (EER {100 * curves.eer:.1f} %, ROCCH-EER {100 * curves.rocch_eer:.1f} %)",
            scipy.special.ndtri(np.clip(curves.det.false_alarm, 1e-6, 1 - 1e-6)),
            scipy.special.ndtri(np.clip(curves.det.miss, 1e-6, 1 - 1e-6)),
            style,
        )
        for style, (name, curves) in enumerate(sets.items(), start=1)
    ]
    return line_chart(
        "Errors of an adversary who decides by a threshold (DET)",
        "Miss rate over false-alarm rate at every threshold, on normal-deviate scales; nearer to "
        "the lower left corner = more disclosed. " + "; ".join(line.name for line in lines),
        Axis("false alarms in %", low, high, ticks),
        Axis("misses in %", low, high, ticks),
        [Line("equal errors", equal, equal, 0), *lines],
    )
