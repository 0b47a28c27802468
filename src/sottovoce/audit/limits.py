"""Limits that a study sets on its figures, so that an audit can stand in continuous integration.

``linkability@population=40,attacker=semi-informed: "< 0.5"``: the Linkability of the semi-informed
attacker in a population of 40 must be below one half. Without a population the name is that of a
score measure, such as ``eer`` or ``d_sys``.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.findings import AttackRow, LimitResult, Reidentification
from sottovoce.measure.catalogue import MEASURES

CONDITIONS = ("population", "length", "attacker", "method", "linkage", "encoder")
"""What may stand behind the @."""
SMALLEST = {"population": 2, "length": 1}
"""Conditions that are numbers, and the smallest value of each."""
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit: a figure, where it applies, and what it must be."""

    text: str
    """As the study has it."""
    measure: str
    conditions: Mapping[str, str]
    comparison: str
    bound: float

    @classmethod
    def parse(cls, name: str, requirement: str) -> Limit:
        """Parse an entry of the study's ``limits``.

        Parameters
        ----------
        name : str
            A figure and its conditions, such as ``linkability@population=40``.
        requirement : str
            A comparison and a number, such as ``< 0.5``.

        Raises
        ------
        UsageError
            ``unknown-name`` for a figure or condition that does not exist, ``malformed`` otherwise.
        """
        measure, _, condition_text = name.partition("@")
        conditions = _parse_conditions(name, condition_text)
        match = re.fullmatch(r"\s*(<=|>=|<|>)\s*([-+.\deE]+)\s*", requirement)
        try:
            bound = float(match.group(2)) if match else None
        except ValueError:
            bound = None
        if match is None or bound is None or not math.isfinite(bound):
            raise UsageError(
                f'{name}: {requirement!r} is no limit; write e.g. "< 0.05"', code="malformed"
            )
        known = list(Reidentification.CURVES) if "population" in conditions else MEASURES.defaults()
        if measure not in known:
            raise UsageError(
                f"{name}: {did_you_mean('figure', measure, known)}", code="unknown-name"
            )
        if "length" in conditions and "population" not in conditions:
            raise UsageError(
                f"{name}: length= is for figures over populations; add population= as well",
                code="malformed",
            )
        return cls(f"{name} {requirement}", measure, conditions, match.group(1), bound)

    def check_conditions(self, known: Mapping[str, Sequence[str]]) -> None:
        """Refuse values of conditions that no row of a study has.

        Parameters
        ----------
        known : mapping of str to sequence of str
            The values that a condition may have.

        Raises
        ------
        UsageError
            With the code ``unknown-name``.
        """
        for condition, value in self.conditions.items():
            if condition in known and value not in known[condition]:
                hint = did_you_mean(f"{condition} of this study", value, list(known[condition]))
                raise UsageError(f"limits: {self.text}: {hint}", code="unknown-name")

    @property
    def population(self) -> int | None:
        """The population that it is about, if any."""
        value = self.conditions.get("population")
        return None if value is None else int(value)

    def check(self, rows: Sequence[AttackRow]) -> Iterator[LimitResult]:
        """Compare the figures of all rows that the limit applies to.

        A limit that applies to no row is exceeded: nothing was measured that could satisfy it.

        Parameters
        ----------
        rows : sequence of AttackRow
            All attacks of an audit.
        """
        applicable = [row for row in rows if self._applies(row)]
        for row in applicable:
            for value in self._values(row):
                yield LimitResult(
                    self.text,
                    row.anonymiser,
                    row.attacker,
                    row.linkage,
                    value,
                    self._is_exceeded(value),
                    encoder=row.encoder,
                    draws=row.draws,
                )
        if not applicable:
            method = self.conditions.get("method", "any anonymiser")
            attacker = self.conditions.get("attacker", "any attacker")
            linkage = self.conditions.get("linkage", "any")
            yield LimitResult(self.text, method, attacker, linkage, None, True)

    def _applies(self, row: AttackRow) -> bool:
        names = {
            "attacker": row.attacker,
            "method": row.method,
            "linkage": row.linkage,
            "encoder": row.encoder,
        }
        return all(
            value == names[condition]
            for condition, value in self.conditions.items()
            if condition in names
        )

    def _is_exceeded(self, value: float | None) -> bool:
        return value is None or not COMPARISONS[self.comparison](value, self.bound)

    def _values(self, row: AttackRow) -> list[float | None]:
        """The figures of a row; None, which exceeds any limit, where it was not measured."""
        if self.population is None:
            estimate = row.scores.measures.get(self.measure)
            return [None if estimate is None else estimate.value]
        length = self.conditions.get("length")
        values: list[float | None] = [
            point.value
            for point in row.reidentification.curve(self.measure)
            if point.population == self.population and length in (None, str(point.length))
        ]
        return values or [None]


def _parse_conditions(name: str, text: str) -> dict[str, str]:
    """The conditions behind the @ by name; numbers as they are written in the results."""
    conditions: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        condition, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or condition not in CONDITIONS:
            raise UsageError(
                f"{name}: {did_you_mean('condition', condition, list(CONDITIONS))}",
                code="unknown-name",
            )
        if condition in conditions:
            raise UsageError(
                f"{name}: {condition}= is given twice; write two limits", code="malformed"
            )
        if condition in SMALLEST:
            smallest = SMALLEST[condition]
            if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) < smallest:
                raise UsageError(
                    f"{name}: {condition}= must be a whole number from {smallest}",
                    code="out-of-range",
                )
            value = str(int(value))
        conditions[condition] = value
    return conditions
