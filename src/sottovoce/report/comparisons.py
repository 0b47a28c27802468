"""Differences between score sets for a person: which one discloses more, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sottovoce.findings import Comparison, PairedDifference, RowsComparison
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
    cells.append(signed(difference.value, measure.unit))
    if resampled:
        cells += [_interval(difference, measure.unit), _shares(difference)]
    cells.append(_more(difference))
    return tuple(cells)


def signed(value: float | None, unit: str) -> str:
    """Write a difference with its sign; shares in percentage points.

    Parameters
    ----------
    value : float or None
        The difference.
    unit : str
        Of the measure; ``%`` for shares.

    Examples
    --------
    >>> signed(0.0581, "%"), signed(-0.25, "bits")
    ('+5.81 points', '-0.250')
    """
    if value is None:
        return MISSING
    if unit == "%":
        return f"{100 * value:+.2f} points"
    return f"{value:+.3f}"


def _interval(difference: PairedDifference, unit: str) -> str:
    if difference.low is None or difference.high is None:
        return MISSING
    low, high = (
        signed(end, unit).removesuffix(" points") for end in (difference.low, difference.high)
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


# ------------------------------------------------------------------------- attacks of an audit


def print_rows_comparisons(comparisons: Sequence[RowsComparison]) -> None:
    """Print the comparison of anonymisers under the strongest attacker that is common to them.

    Parameters
    ----------
    comparisons : sequence of RowsComparison
        Comparisons of one audit or of several.
    """
    headline = headline_comparison(comparisons)
    if headline is None:
        return
    terminal = Terminal()
    terminal.line()
    terminal.heading(rows_caption(headline))
    terminal.table(rows_comparison_table(headline))
    terminal.line()
    terminal.bullets(rows_remarks(headline))


def headline_comparison(comparisons: Sequence[RowsComparison]) -> RowsComparison | None:
    """Return the comparison of most anonymisers under the attacker that links most.

    Parameters
    ----------
    comparisons : sequence of RowsComparison
        Comparisons of one audit or of several.

    Returns
    -------
    RowsComparison or None
        None if there is only one anonymiser.
    """

    def strength(comparison: RowsComparison) -> tuple[int, float]:
        pairs = comparison.linkability
        values = [value for pair in pairs for value in (pair.first_value, pair.second_value)]
        known = [value for value in values if value is not None]
        return len(comparison.scores.sets), sum(known) / len(known) if known else -1.0

    candidates = [comparison for comparison in comparisons if comparison.subject == "anonymisers"]
    return max(candidates, key=strength, default=None)


def rows_caption(comparison: RowsComparison) -> str:
    """Return the caption of a comparison of attacks.

    Parameters
    ----------
    comparison : RowsComparison
        Anonymisers or attackers.
    """
    if comparison.subject == "anonymisers":
        return f"Which protects better against the attacker {comparison.under}?"
    return f"Which attacker finds more in speech of {comparison.under}?"


def rows_comparison_table(comparison: RowsComparison) -> Table:
    """Arrange a comparison of attacks, one row per measure and pair, Linkability first.

    Parameters
    ----------
    comparison : RowsComparison
        Anonymisers or attackers.
    """
    plan = comparison.scores.interval
    interval = "interval" if plan is None else f"{100 * plan.confidence:g} % interval"
    anonymisers = comparison.subject == "anonymisers"
    rows = [_rows_row("Linkability", "%", pair, anonymisers) for pair in comparison.linkability]
    for name, pairs in comparison.scores.differences.items():
        measure = MEASURES[name]
        rows += [_rows_row(measure.label, measure.unit, pair, anonymisers) for pair in pairs]
    last = "protects better" if anonymisers else "finds more"
    headings = ("measure", "pair", "difference", interval, "resamples below / above 0", last)
    return make_table(rows_caption(comparison), headings, rows, text=(1, 5))


def _rows_row(label: str, unit: str, pair: PairedDifference, anonymisers: bool) -> tuple[Cell, ...]:
    if pair.low is None:
        decision = MISSING
    elif pair.discloses_more is None:
        decision = UNDECIDED
    elif anonymisers:
        decision = pair.second if pair.discloses_more == pair.first else pair.first
    else:
        decision = pair.discloses_more
    return (
        label,
        f"{pair.first} − {pair.second}",
        signed(pair.value, unit),
        _interval(pair, unit),
        _shares(pair),
        decision,
    )


def rows_remarks(comparison: RowsComparison) -> list[str]:
    """Return what has to be known beside a comparison of attacks.

    Parameters
    ----------
    comparison : RowsComparison
        Anonymisers or attackers.
    """
    notes = dict.fromkeys(pair.note for pair in comparison.linkability if pair.note)
    lines = difference_remarks(comparison.scores) + [f"Linkability: {note}." for note in notes]
    if comparison.subject == "anonymisers":
        lines.append(
            "A difference holds for this attacker; a weaker attacker can make an anonymiser look "
            "better than it is."
        )
    return lines
