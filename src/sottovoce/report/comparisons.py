"""Differences between score sets for a person: which one discloses more, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sottovoce.findings import Comparison, PairedDifference
from sottovoce.measure.catalogue import MEASURES, Measure
from sottovoce.report.formats import MISSING
from sottovoce.report.tables import Cell, Table, make_table
from sottovoce.report.terminal import Terminal

UNDECIDED = "undecided"
"""Which set discloses more where the interval of the difference holds zero."""


def print_differences(comparison: Comparison) -> None:
    """Print the differences between some score sets, and the remarks on them.

    Parameters
    ----------
    comparison : Comparison
        Differences of every measure.
    """
    terminal = Terminal()
    terminal.line()
    terminal.table(difference_table(comparison))
    terminal.line()
    terminal.bullets(difference_remarks(comparison))


def difference_table(comparison: Comparison, caption: str = "Differences") -> Table:
    """Arrange differences, one row per measure and pair of sets.

    Parameters
    ----------
    comparison : Comparison
        Differences of every measure.
    caption : str, default "Differences"
        Of the table.
    """
    plan = comparison.interval
    several = len(comparison.sets) > 2
    headings = ["measure", *(["pair"] if several else []), _difference_heading(comparison)]
    if plan:
        headings += [f"{100 * plan.confidence:g} % interval", "resamples below / above 0"]
    headings.append("discloses more")
    rows = [
        _row(MEASURES[name], difference, several=several, resampled=plan is not None)
        for name, differences in comparison.differences.items()
        for difference in differences
    ]
    text = (1, len(headings) - 1) if several else (len(headings) - 1,)
    return make_table(caption, headings, rows, text=text)


def _difference_heading(comparison: Comparison) -> str:
    if len(comparison.sets) > 2:
        return "difference"
    return " − ".join(compared.name for compared in comparison.sets)


def _row(
    measure: Measure, difference: PairedDifference, *, several: bool, resampled: bool
) -> tuple[Cell, ...]:
    cells: list[Cell] = [measure.label]
    if several:
        cells.append(f"{difference.first} − {difference.second}")
    cells.append(signed(difference.value, measure))
    if resampled:
        cells += [_interval(difference, measure), _shares(difference)]
    cells.append(_more(difference))
    return tuple(cells)


def signed(value: float | None, measure: Measure) -> str:
    """Write a difference of a measure with its sign; shares in percentage points.

    Parameters
    ----------
    value : float or None
        The difference.
    measure : Measure
        What it is a difference of.

    Examples
    --------
    >>> signed(0.0581, MEASURES["eer"]), signed(-0.25, MEASURES["min_cllr"])
    ('+5.81 points', '-0.250')
    """
    if value is None:
        return MISSING
    if measure.unit == "%":
        return f"{100 * value:+.2f} points"
    return f"{value:+.3f}"


def _interval(difference: PairedDifference, measure: Measure) -> str:
    if difference.low is None or difference.high is None:
        return MISSING
    low, high = (
        signed(end, measure).removesuffix(" points") for end in (difference.low, difference.high)
    )
    return f"{low} to {high}"


def _shares(difference: PairedDifference) -> str:
    if difference.share_below is None or difference.share_above is None:
        return MISSING
    return f"{difference.share_below:.1%} / {difference.share_above:.1%}"


def _more(difference: PairedDifference) -> str:
    if difference.low is None:
        return MISSING
    return difference.discloses_more or UNDECIDED


def difference_remarks(comparison: Comparison) -> list[str]:
    """Return what has to be known beside the differences.

    Parameters
    ----------
    comparison : Comparison
        Differences of every measure.
    """
    lines = [f"Careful: {warning}." for warning in comparison.warnings]
    if comparison.interval is not None:
        lines.append(_pairing_remark(comparison))
        if len(comparison.sets) > 2:
            lines.append(
                "The intervals of one measure hold for all pairs together, so they are wider than "
                "those of a single pair."
            )
    for name, differences in comparison.differences.items():
        lines += _notes(MEASURES[name], differences)
    return lines


def _pairing_remark(comparison: Comparison) -> str:
    plan = comparison.interval
    resamples = "" if plan is None else f"{plan.replicates:,} resamples"
    count = 0 if plan is None else plan.count
    if comparison.paired_by == "nothing":
        return f"Differences: {resamples} of each set for itself; nothing is paired."
    trials = "the same trials" if comparison.same_trials else "trials that may differ"
    if comparison.paired_by == "speaker":
        return f"Differences: {resamples} of the {count:,} speakers of all sets, {trials}."
    return (
        f"Differences: {resamples} of the {count:,} trials of all sets. Speakers are unknown or "
        "fewer than 5, so trials were drawn as if independent: the intervals are too narrow if "
        "trials share speakers."
    )


def _notes(measure: Measure, differences: Sequence[PairedDifference]) -> Iterable[str]:
    notes = dict.fromkeys(difference.note for difference in differences if difference.note)
    return [f"{measure.label}: {note}." for note in notes]
