"""Tables and sentences for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from sottovoce.findings import Estimate, ScoreSummary
from sottovoce.measure.catalogue import MEASURES, Measure
from sottovoce.measure.disclosure import TAGS


def summary_table(summary: ScoreSummary) -> Table:
    """One row a measure: value, interval, chance level, direction, counts."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure")
    table.add_column("value", justify="right")
    if summary.interval:
        table.add_column(f"{100 * summary.interval.confidence:g} % interval", justify="right")
    table.add_column("chance", justify="right")
    table.add_column("reads", no_wrap=True)
    table.add_column("mated + non-mated", justify="right", no_wrap=True)
    for name, estimate in summary.measures.items():
        measure = MEASURES[name]
        cells = [measure.label, _number(estimate.value, measure)]
        if summary.interval:
            cells.append(_range(estimate, measure))
        cells += [_number(estimate.chance, measure), estimate.direction, _counts(estimate)]
        table.add_row(*cells)
    return table


def plain(text: str) -> Text:
    """Words of a user's, such as a file's name: no markup, no control characters."""
    return Text("".join(c if c.isprintable() else "?" for c in text))


def compare_table(summaries: Sequence[ScoreSummary]) -> Table:
    """One row a measure, one column a set of scores."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure")
    for summary in summaries:
        table.add_column(plain(summary.name), justify="right", overflow="fold")
    table.add_column("reads", no_wrap=True)
    for name, first in summaries[0].measures.items():
        measure = MEASURES[name]
        cells = [_with_range(summary.measures[name], measure) for summary in summaries]
        table.add_row(measure.label, *cells, first.direction)
    table.add_row("worst-case category", *(summary.tag for summary in summaries), "")
    counts = (f"{s.n_mated:,} + {s.n_nonmated:,}" for s in summaries)
    table.add_row("mated + non-mated", *counts, "")
    return table


def remarks(summary: ScoreSummary) -> list[str]:
    """What has to be said beside the numbers, in plain words."""
    lines = [f"Careful: {warning}." for warning in summary.warnings]
    worst = summary.measures.get("worst_case_log10_lr")
    if worst is not None and worst.value is not None:
        lines.append(_worst_case(summary, worst))
    if summary.interval:
        plan = summary.interval
        lines.append(
            f"Intervals: {plan.replicates:,} resamples of {plan.count:,} {plan.unit}s."
            + _caution(plan.unit)
        )
    for name, estimate in summary.measures.items():
        if estimate.note:
            lines.append(f"{MEASURES[name].label}: {estimate.note}.")
    return lines


def _worst_case(summary: ScoreSummary, worst: Estimate) -> str:
    by_chance = (worst.value or 0.0) <= (worst.chance or 0.0)
    excuse = "; no more than as many scores show by chance" if by_chance else ""
    return (
        f"Worst case, category {summary.tag}: {TAGS[summary.tag]}{excuse}. These scores could have "
        f"shown at most log10(l) = {summary.attainable_log10_lr:.2f}."
    )


def compare_remarks(summaries: Sequence[ScoreSummary]) -> list[str]:
    """What has to be said beside a comparison: what holds for all once, the rest by set."""
    lines = ["Below each value its interval and, in brackets, its chance level."]
    said = {summary.name: remarks(summary) for summary in summaries}
    for name, own in said.items():
        for line in own:
            if all(line in others for others in said.values()):
                lines.append(line)
            else:
                lines.append(f"{name}: {line}")
    return list(dict.fromkeys(lines))


def _caution(unit: str) -> str:
    if unit == "speaker":
        return ""
    return (
        " Speakers are unknown or fewer than 5, so trials were drawn as if independent: the "
        "intervals are too narrow if trials share speakers."
    )


def _number(value: float | None, measure: Measure) -> str:
    if value is None:
        return "–"
    if measure.unit == "%":
        return f"{100 * value:.2f} %"
    return f"{value:.3f}" if value < 1e4 else f"{value:.4g}"


def _range(estimate: Estimate, measure: Measure) -> str:
    if estimate.low is None or estimate.high is None:
        return "–"
    return f"{_number(estimate.low, measure)} – {_number(estimate.high, measure)}"


def _with_range(estimate: Estimate, measure: Measure) -> str:
    value = _number(estimate.value, measure)
    spread = "" if estimate.low is None else f"\n{_range(estimate, measure)}"
    return f"{value}{spread}\n({_number(estimate.chance, measure)})"


def _counts(estimate: Estimate) -> str:
    return f"{estimate.n_mated:,} + {estimate.n_nonmated:,}"
