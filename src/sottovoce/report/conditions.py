"""Results by condition for a person: one column per condition, then their mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sottovoce.findings import (
    ComparisonByCondition,
    Estimate,
    Heterogeneity,
    MeasuresByCondition,
    PairedDifference,
    PooledEstimate,
)
from sottovoce.measure.catalogue import MEASURES, Measure
from sottovoce.report.comparisons import UNDECIDED, difference_remarks, signed
from sottovoce.report.formats import MISSING
from sottovoce.report.scores import number_of, summary_remarks
from sottovoce.report.tables import Cell, Lines, Table, make_table
from sottovoce.report.terminal import Terminal


def print_measures_by_condition(result: MeasuresByCondition) -> None:
    """Print every measure by condition and pooled, and the remarks.

    Parameters
    ----------
    result : MeasuresByCondition
        One score set.
    """
    terminal = Terminal()
    terminal.heading(f"{result.name} by {result.column}\n")
    terminal.table(measures_by_condition_table(result))
    terminal.line()
    remarks = {name: summary_remarks(summary) for name, summary in result.conditions.items()}
    notes = {MEASURES[name].label: pooled.note for name, pooled in result.pooled.items()}
    terminal.bullets(
        [
            *(f"Careful: {warning}." for warning in result.warnings),
            _pooling_remark(result.weights, result.weighted_by),
            *_by_condition(remarks),
            *(f"pooled {label}: {note}." for label, note in notes.items() if note),
        ]
    )


def measures_by_condition_table(result: MeasuresByCondition) -> Table:
    """Arrange measures, one row each: every condition, the mean, and how much conditions differ.

    Parameters
    ----------
    result : MeasuresByCondition
        One score set.
    """
    headings = ["measure", *result.conditions, "pooled", "conditions differ", "reads"]
    rows: list[tuple[Cell, ...]] = []
    for name, pooled in result.pooled.items():
        measure = MEASURES[name]
        estimates = [summary.measures[name] for summary in result.conditions.values()]
        cells = [_estimate(estimate, measure) for estimate in estimates]
        differ = difference_of(pooled.heterogeneity)
        rows.append((measure.label, *cells, _estimate(pooled, measure), differ, measure.direction))
    counts = [f"{part.n_mated:,} + {part.n_nonmated:,}" for part in result.conditions.values()]
    rows.append(("mated + non-mated", *counts, "", "", ""))
    return make_table("By condition", headings, rows, text=(len(headings) - 1,))


def _estimate(estimate: Estimate | PooledEstimate, measure: Measure) -> Cell:
    if estimate.low is None or estimate.high is None:
        return number_of(estimate.value, measure)
    ends = f"{number_of(estimate.low, measure)} – {number_of(estimate.high, measure)}"
    return Lines(number_of(estimate.value, measure), (ends,))


def difference_of(heterogeneity: Heterogeneity | None) -> Cell:
    """Write how much conditions differ: the p-value of Q, and I².

    Parameters
    ----------
    heterogeneity : Heterogeneity or None
        Of one measure.
    """
    if heterogeneity is None:
        return MISSING
    extremes = f"{heterogeneity.lowest} < {heterogeneity.highest}"
    share = f"I² {heterogeneity.i_squared:.0%}, p {heterogeneity.p_value:.3f}"
    return Lines(share, (extremes,))


def _pooling_remark(weights: Mapping[str, int], weighted_by: str) -> str:
    counts = ", ".join(f"{name} {count:,}" for name, count in weights.items())
    weighting = f"weighted by {weighted_by}s ({counts})"
    if weighted_by == "condition":
        weighting = "with equal weights"
    return (
        f"Pooled: mean over conditions {weighting}, never the scores of "
        "all conditions together. I² is the share of the spread between conditions that chance "
        "does not explain, p how often chance alone makes as much."
    )


def _by_condition(remarks: Mapping[str, Sequence[str]]) -> list[str]:
    """Remarks that hold for all conditions once, and the others with their condition."""
    lines = []
    for name, lines_of_condition in remarks.items():
        for line in lines_of_condition:
            shared = all(line in other for other in remarks.values())
            lines.append(line if shared else f"{name}: {line}")
    return list(dict.fromkeys(lines))


def print_comparison_by_condition(result: ComparisonByCondition) -> None:
    """Print differences by condition and pooled, and the remarks.

    Parameters
    ----------
    result : ComparisonByCondition
        Several score sets.
    """
    terminal = Terminal()
    terminal.heading(f"Differences by {result.column}\n")
    terminal.table(comparison_by_condition_table(result))
    terminal.line()
    remarks = {name: difference_remarks(part) for name, part in result.conditions.items()}
    terminal.bullets(
        [
            *(f"Careful: {warning}." for warning in result.warnings),
            _pooling_remark(result.weights, result.weighted_by),
            *_by_condition(remarks),
        ]
    )


def comparison_by_condition_table(result: ComparisonByCondition) -> Table:
    """Arrange differences, one row per measure and pair: every condition, then the mean.

    Parameters
    ----------
    result : ComparisonByCondition
        Several score sets.
    """
    headings = [
        "measure",
        "pair",
        *result.conditions,
        "pooled",
        "conditions differ",
        "discloses more",
    ]
    rows: list[tuple[Cell, ...]] = []
    for name, pooled in result.pooled.items():
        measure = MEASURES[name]
        for number, pair in enumerate(pooled):
            parts = [part.differences[name][number] for part in result.conditions.values()]
            whole = pair.difference
            rows.append(
                (
                    measure.label,
                    f"{whole.first} − {whole.second}",
                    *(_difference(part, measure) for part in (*parts, whole)),
                    difference_of(pair.heterogeneity),
                    MISSING if whole.low is None else whole.discloses_more or UNDECIDED,
                )
            )
    return make_table("By condition", headings, rows, text=(1, len(headings) - 1))


def _difference(difference: PairedDifference, measure: Measure) -> Cell:
    value = signed(difference.value, measure.unit)
    if difference.low is None or difference.high is None:
        return value
    ends = (signed(end, measure.unit) for end in (difference.low, difference.high))
    return Lines(value, (" to ".join(end.removesuffix(" points") for end in ends),))
