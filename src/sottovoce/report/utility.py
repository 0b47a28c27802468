"""What anonymised speech keeps: tables, and risk against utility with the best choices.

Srivastava et al. 2022 and the COMPRISE project draw design choices in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sottovoce.findings import (
    AnonymiserFinding,
    AuditFindings,
    NotMeasured,
    Range,
    Similarity,
    UtilityEstimate,
)
from sottovoce.report.audit_verdicts import rows_by_anonymiser, strongest_attack
from sottovoce.report.formats import MISSING, NumberFormat, decimals, percent_column
from sottovoce.report.html import Markup, breakable
from sottovoce.report.panels import panel
from sottovoce.report.svg import Axis, Line, line_chart
from sottovoce.report.tables import Cell, Table, make_table, with_interval
from sottovoce.report.verdicts import headline_point

FURTHER: tuple[tuple[str, str, NumberFormat], ...] = (
    ("f0_correlation", "F0 correlation", decimals(3)),
    ("duration_ratio", "duration, anonymised : original", decimals(3)),
    ("loudness_difference_db", "loudness difference in dB", decimals(2)),
)
"""Key, heading and number format of utilities that compare each recording with its original."""

MOST_NAMED, LONGEST_NAME = 6, 30
"""Anonymisers, and letters of their names, that have room beside the marks of a figure."""

# ----------------------------------------------------------------------------------- tables


def utility_table(findings: AuditFindings) -> Table:
    """Arrange what each anonymiser keeps, beside the originals.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    """
    originals = findings.original_utility
    rows: list[tuple[Cell, ...]] = []
    for anonymiser in findings.anonymisers:
        utility = anonymiser.utility
        rows.append(
            (
                breakable(anonymiser.anonymiser),
                utility_cell(utility.get("wer"), percent_column),
                utility_cell(originals.get("wer"), percent_column),
                utility_cell(utility.get("quality"), decimals(2)),
                utility_cell(originals.get("quality"), decimals(2)),
                *(utility_cell(utility.get(key), write) for key, _, write in FURTHER),
                *_similarity_cells(anonymiser.similarity),
            )
        )
    headings = (
        "anonymiser",
        "WER",
        "WER of originals",
        "estimated quality, 1 to 5",
        "quality of originals",
        *(label for _, label, _ in FURTHER),
        "voice distinctiveness G_VD in dB",
        "de-identification DeID",
    )
    return make_table("Each anonymiser, with intervals", headings, rows)


def utility_cell(estimate: UtilityEstimate | None, write: NumberFormat) -> Cell:
    """Build a cell with one utility and its interval; a dash where it was not measured.

    Parameters
    ----------
    estimate : UtilityEstimate or None
        How much of one property is kept.
    write : callable
        Writes one number.
    """
    if estimate is None:
        return MISSING
    return with_interval(estimate.value, estimate.low, estimate.high, write)


def _similarity_cells(similarity: Similarity | NotMeasured) -> tuple[Cell, Cell]:
    """Return G_VD and DeID."""
    if isinstance(similarity, NotMeasured):
        return MISSING, MISSING
    return (
        _range_cell(similarity.gvd_db, similarity.range_of("gvd_db"), decimals(2)),
        _range_cell(similarity.deid, similarity.range_of("deid"), decimals(3)),
    )


def _range_cell(value: float | None, interval: Range | None, write: NumberFormat) -> Cell:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return with_interval(value, low, high, write)


def utility_notes(findings: AuditFindings) -> list[str]:
    """Say who recognised the words, on how much, and what could not be measured and why.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    """
    lines: list[str] = []
    for anonymiser in findings.anonymisers:
        for name, estimate in anonymiser.utility.items():
            lines += _utility_note(name, estimate)
        if isinstance(anonymiser.similarity, NotMeasured):
            lines.append(f"voice similarity: {anonymiser.similarity.note}")
    return [f"{line.rstrip('.')}." for line in dict.fromkeys(lines)]


def _utility_note(name: str, estimate: UtilityEstimate) -> list[str]:
    if estimate.note is not None:
        return [f"{name.replace('_', ' ')}: {estimate.note}"]
    if estimate.recogniser is not None:
        return [
            f"WER: {estimate.recogniser}, {estimate.utterances or 0:,} utterances, "
            f"{estimate.words or 0:,} words; lower is better"
        ]
    if estimate.model is not None:
        return [
            f"Quality: {estimate.model}, {estimate.utterances or 0:,} utterances; made to rate "
            "noise suppression, so a hint and no listening test; higher is better"
        ]
    return []


# ----------------------------------------------------------------------------------- figures


@dataclass(frozen=True, slots=True)
class Choice:
    """An anonymiser by its risk and by one kind of utility."""

    name: str
    method: str
    risk: float
    """Linkability of the strongest attack on it."""
    utility: float


@dataclass(frozen=True, slots=True)
class UtilityKind:
    """One kind of utility: its label and direction, and where its values are."""

    label: str
    higher_is_better: bool
    read: Callable[[AnonymiserFinding], float | None]
    """Returns the value of an anonymiser."""
    read_original: Callable[[AuditFindings], float | None]
    """Returns the value of speech as it was."""
    is_share: bool = False
    """Whether it is written in per cent."""


def _measured(key: str) -> Callable[[AnonymiserFinding], float | None]:
    def read(anonymiser: AnonymiserFinding) -> float | None:
        estimate = anonymiser.utility.get(key)
        return None if estimate is None else estimate.value

    return read


def _measured_on_originals(key: str) -> Callable[[AuditFindings], float | None]:
    def read(findings: AuditFindings) -> float | None:
        estimate = findings.original_utility.get(key)
        return None if estimate is None else estimate.value

    return read


def _distinctiveness(anonymiser: AnonymiserFinding) -> float | None:
    similarity = anonymiser.similarity
    return None if isinstance(similarity, NotMeasured) else similarity.gvd_db


KINDS = (
    UtilityKind(
        "word error rate", False, _measured("wer"), _measured_on_originals("wer"), is_share=True
    ),
    UtilityKind(
        "estimated quality, 1 to 5",
        True,
        _measured("quality"),
        _measured_on_originals("quality"),
    ),
    UtilityKind("F0 correlation", True, _measured("f0_correlation"), lambda findings: 1.0),
    UtilityKind("voice distinctiveness G_VD in dB", True, _distinctiveness, lambda findings: 0.0),
)


def pareto_front(choices: Sequence[Choice], *, higher_is_better: bool) -> list[Choice]:
    """Return the choices that no other beats: as safe and as useful, and better in one.

    Parameters
    ----------
    choices : sequence of Choice
        Anonymisers by risk and utility.
    higher_is_better : bool
        Whether more utility is a larger number.

    Returns
    -------
    list of Choice
        In the order of rising risk.
    """

    def worth(choice: Choice) -> float:
        return choice.utility if higher_is_better else -choice.utility

    def beats(a: Choice, b: Choice) -> bool:
        as_good = a.risk <= b.risk and worth(a) >= worth(b)
        return as_good and (a.risk < b.risk or worth(a) > worth(b))

    unbeaten = [choice for choice in choices if not any(beats(rival, choice) for rival in choices)]
    return sorted(unbeaten, key=lambda choice: (choice.risk, choice.utility))


def tradeoff_panels(findings: AuditFindings) -> list[Markup]:
    """Build one panel per kind of utility that at least two anonymisers were measured for.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    """
    panels = []
    for kind in KINDS:
        choices = _choices(findings, kind)
        if len(choices) > 1:
            panels.append(_tradeoff_panel(choices, kind, _original(findings, kind)))
    return panels


def _choices(findings: AuditFindings, kind: UtilityKind) -> list[Choice]:
    rows_of = rows_by_anonymiser(findings)
    choices = []
    for anonymiser in findings.anonymisers:
        rows = rows_of[anonymiser.anonymiser]
        if not rows:
            continue
        point = headline_point(strongest_attack(rows).reidentification.linkability)
        value = kind.read(anonymiser)
        if point is not None and value is not None:
            choices.append(Choice(anonymiser.anonymiser, anonymiser.method, point.value, value))
    return choices


def _original(findings: AuditFindings, kind: UtilityKind) -> Choice | None:
    """Return speech as it was, for comparison, at the highest risk of any linkage function."""
    points = [headline_point(row.reidentification.linkability) for row in findings.originals]
    risks = [point.value for point in points if point is not None]
    value = kind.read_original(findings)
    return None if not risks or value is None else Choice("original", "", max(risks), value)


def _tradeoff_panel(
    choices: Sequence[Choice], kind: UtilityKind, original: Choice | None
) -> Markup:
    best = pareto_front(choices, higher_is_better=kind.higher_is_better)
    labels = _mark_labels(choices)
    everything = [*choices, *([original] if original else [])]
    better = "higher" if kind.higher_is_better else "lower"
    figure = line_chart(
        f"Risk against {kind.label}",
        f"Each mark is an anonymiser: Linkability under the strongest attack on it, and its "
        f"{kind.label} ({better} is better). "
        + "; ".join(_labelled(choice, labels) for choice in choices),
        Axis.nice("people found by the strongest attack (Linkability), in %", 0, 105),
        _utility_axis([_scale(kind) * choice.utility for choice in everything], kind),
        _tradeoff_lines(choices, best, original, kind, labels),
    )
    numbered = any(name != label for name, label in labels.items())
    return panel(
        figure,
        _tradeoff_table(choices, best, kind, labels),
        f"Left is safer; {better} is more useful. "
        "The line joins those that no other beats in both."
        + (" The numbers stand for anonymisers, as in the table below." if numbered else ""),
    )


def _mark_labels(choices: Sequence[Choice]) -> dict[str, str]:
    """Return what stands beside each mark: the name, or a number if names take too much room."""
    names = [choice.name for choice in choices]
    if len(names) <= MOST_NAMED and max(map(len, names)) <= LONGEST_NAME:
        return {name: name for name in names}
    return {name: str(i) for i, name in enumerate(names, start=1)}


def _labelled(choice: Choice, labels: Mapping[str, str]) -> str:
    """Return the name of a choice, after its number if it has one."""
    label = labels[choice.name]
    return choice.name if label == choice.name else f"{label}: {choice.name}"


def _tradeoff_lines(
    choices: Sequence[Choice],
    best: Sequence[Choice],
    original: Choice | None,
    kind: UtilityKind,
    mark_labels: Mapping[str, str],
) -> list[Line]:
    """Return the front as a line, and marks for each method and for original speech."""
    scale = _scale(kind)
    lines = [
        Line(
            "front: no other choice is both safer and more useful",
            [100 * choice.risk for choice in best],
            [scale * choice.utility for choice in best],
            0,
        )
    ]
    for method in dict.fromkeys(choice.method for choice in choices):
        selected = [choice for choice in choices if choice.method == method]
        labels = tuple(mark_labels[choice.name] for choice in selected)
        lines.append(_marks(method, selected, scale, len(lines), labels))
    if original is not None:
        lines.append(_marks("original", [original], scale, len(lines), ("original",)))
    return lines


def _marks(
    name: str, choices: Sequence[Choice], scale: int, style: int, labels: tuple[str, ...]
) -> Line:
    x = [100 * choice.risk for choice in choices]
    y = [scale * choice.utility for choice in choices]
    return Line(name, x, y, style, points=True, labels=labels)


def _scale(kind: UtilityKind) -> int:
    return 100 if kind.is_share else 1


def _utility_axis(values: Sequence[float], kind: UtilityKind) -> Axis:
    low, high = min(*values, 0.0), max(values)
    margin = 0.08 * (high - low) or 0.1
    label = f"{kind.label} in %" if kind.is_share else kind.label
    return Axis.nice(label, low - margin if low < 0 else 0.0, high + margin)


def _tradeoff_table(
    choices: Sequence[Choice],
    best: Sequence[Choice],
    kind: UtilityKind,
    labels: Mapping[str, str],
) -> Table:
    write = percent_column if kind.is_share else decimals(3)
    rows = [
        (
            _labelled(choice, labels),
            percent_column(choice.risk),
            write(choice.utility),
            "yes" if choice in best else "no",
        )
        for choice in choices
    ]
    return make_table(
        f"Linkability and {kind.label}",
        ("anonymiser", "Linkability", kind.label, "on the front"),
        rows,
    )
