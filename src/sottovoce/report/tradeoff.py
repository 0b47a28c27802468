"""What is protected against what is kept, over all anonymisers of an audit, and who is best.

Srivastava et al. 2022 and the COMPRISE project draw design choices in this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.report.page import Markup, figure, table
from sottovoce.report.readings import Found, crowd, original_utility, percent, strongest
from sottovoce.report.svg import Axis, Line, line_chart


@dataclass(frozen=True, slots=True)
class Choice:
    """An anonymiser by its risk and by one kind of utility."""

    name: str
    method: str
    risk: float
    """Linkability of the strongest attack on it."""
    utility: float


@dataclass(frozen=True, slots=True)
class Kept:
    """One kind of utility: its name, direction, and what the original has of it."""

    key: str
    label: str
    higher_is_better: bool
    percent: bool = False
    original: float | None = None


KINDS = (
    Kept("wer", "word error rate", False, percent=True),
    Kept("quality", "estimated quality, 1 to 5", True),
    Kept("f0_correlation", "F0 correlation", True, original=1.0),
    Kept("gvd_db", "voice distinctiveness G_VD in dB", True, original=0.0),
)


def front(choices: Sequence[Choice], *, higher_is_better: bool) -> list[Choice]:
    """The choices that no other beats: as safe and as useful, and better in one (Pareto)."""

    def worth(one: Choice) -> float:
        return one.utility if higher_is_better else -one.utility

    def beats(a: Choice, b: Choice) -> bool:
        as_good = a.risk <= b.risk and worth(a) >= worth(b)
        return as_good and (a.risk < b.risk or worth(a) > worth(b))

    kept = [one for one in choices if not any(beats(other, one) for other in choices)]
    return sorted(kept, key=lambda one: (one.risk, one.utility))


def tradeoffs(findings: Found) -> list[Markup]:
    """One figure a kind of utility that at least two anonymisers were measured for."""
    drawn = []
    for kind in KINDS:
        choices = _choices(findings, kind)
        if len(choices) > 1:
            drawn.append(_figure(choices, kind, _original(findings, kind)))
    return drawn


def _choices(findings: Found, kind: Kept) -> list[Choice]:
    found = []
    for one in findings["anonymisers"]:
        rows = [row for row in findings["rows"] if row["anonymiser"] == one["anonymiser"]]
        point = crowd(strongest(rows), "linkability") if rows else None
        value = _utility(one, kind)
        if point is not None and value is not None:
            found.append(Choice(one["anonymiser"], one["method"], point["value"], value))
    return found


def _utility(one: Found, kind: Kept) -> float | None:
    if kind.key == "gvd_db":
        value: Any = one.get("similarity", {}).get("gvd_db")
    else:
        value = one.get("utility", {}).get(kind.key, {}).get("value")
    return None if value is None else float(value)


def _original(findings: Found, kind: Kept) -> Choice | None:
    """Speech as it was, for comparison."""
    point = crowd(findings["originals"], "linkability")
    value = kind.original
    if value is None:
        value = original_utility(findings, kind.key).get("value")
    return None if point is None or value is None else Choice("original", "", point["value"], value)


def _figure(choices: Sequence[Choice], kind: Kept, original: Choice | None) -> Markup:
    best = front(choices, higher_is_better=kind.higher_is_better)
    scale = 100 if kind.percent else 1
    numbers = {one.name: str(i) for i, one in enumerate(choices, start=1)}
    lines = [
        Line(
            "front: no other choice is both safer and more useful",
            [100 * one.risk for one in best],
            [scale * one.utility for one in best],
            0,
        )
    ]
    for style, method in enumerate(dict.fromkeys(one.method for one in choices), start=1):
        own = [one for one in choices if one.method == method]
        lines.append(_marks(method, own, scale, style, tuple(numbers[one.name] for one in own)))
    if original is not None:
        lines.append(_marks("original", [original], scale, len(lines), ("original",)))
    everyone = [*choices, *([original] if original else [])]
    better = "higher" if kind.higher_is_better else "lower"
    svg = line_chart(
        f"Risk against {kind.label}",
        f"Each mark is an anonymiser: Linkability under the strongest attack on it, and its "
        f"{kind.label} ({better} is better). "
        + "; ".join(f"{numbers[one.name]}: {one.name}" for one in choices),
        Axis.nice("Linkability, strongest attack, in %", 0, 105),
        _axis([scale * one.utility for one in everyone], kind),
        lines,
    )
    return figure(
        svg,
        _table(choices, best, kind, numbers),
        f"Left is safer; {better} is more useful. Numbers stand for anonymisers, as in the table "
        "below. The line joins those that no other beats in both.",
    )


def _marks(
    name: str, own: Sequence[Choice], scale: int, style: int, labels: tuple[str, ...]
) -> Line:
    across = [100 * one.risk for one in own]
    up = [scale * one.utility for one in own]
    return Line(name, across, up, style, points=True, labels=labels)


def _axis(values: Sequence[float], kind: Kept) -> Axis:
    low, high = min(*values, 0.0), max(values)
    room = 0.08 * (high - low) or 0.1
    label = f"{kind.label} in %" if kind.percent else kind.label
    return Axis.nice(label, low - room if low < 0 else 0.0, high + room)


def _table(
    choices: Sequence[Choice], best: Sequence[Choice], kind: Kept, numbers: dict[str, str]
) -> Markup:
    rows = [
        (
            f"{numbers[one.name]}: {one.name}",
            percent(one.risk, exact=True),
            percent(one.utility, exact=True) if kind.percent else f"{one.utility:.3f}",
            "yes" if one in best else "no",
        )
        for one in choices
    ]
    return table(
        f"Linkability and {kind.label}",
        ("anonymiser", "Linkability", kind.label, "on the front"),
        rows,
    )
