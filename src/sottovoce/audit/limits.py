"""Limits that a study sets on its figures, so that it can stand in somebody's CI.

``linkability@population=40,attacker=semi-informed: "< 0.5"``: the Linkability of the semi-informed
attacker in a population of 40 must be below one half. Without a population the name is that of a
score measure, where ``linkability`` is D_sys.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.findings import Reidentification
from sottovoce.measure.catalogue import MEASURES

CURVES = Reidentification.CURVES
FILTERS = ("population", "length", "attacker", "method", "linkage")
LEAST = {"population": 2, "length": 1}
"""Conditions that are numbers, and the smallest that can be."""
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: a figure, where it applies, and what it must be."""

    text: str
    measure: str
    where: Mapping[str, str]
    comparison: str
    bound: float

    @classmethod
    def of(cls, name: str, condition: str) -> Limit:
        """Read one entry of the study's ``limits``."""
        measure, _, rest = name.partition("@")
        where = _conditions(name, rest)
        found = re.fullmatch(r"\s*(<=|>=|<|>)\s*([-+.\deE]+)\s*", condition)
        try:
            bound = float(found.group(2)) if found else None
        except ValueError:
            bound = None
        if found is None or bound is None or not math.isfinite(bound):
            raise UsageError(f'{name}: {condition!r} is no limit; write e.g. "< 0.05"')
        known = list(CURVES if "population" in where else MEASURES)
        if measure not in known:
            raise UsageError(f"{name}: {did_you_mean('figure', measure, known)}")
        if "length" in where and "population" not in where:
            raise UsageError(f"{name}: length= is for figures over crowds; add population= as well")
        return cls(f"{name} {condition}", measure, where, found.group(1), bound)

    def among(self, known: Mapping[str, Sequence[str]]) -> Limit:
        """Refuse values of conditions that are not among those known, which no row would have."""
        for key in self.where:
            if key in known and self.where[key] not in known[key]:
                hint = did_you_mean(f"{key} of this study", self.where[key], list(known[key]))
                raise UsageError(f"limits: {self.text}: {hint}")
        return self

    def check(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Every row it applies to, with the figure and whether the limit is exceeded.

        A limit that applies to no row is exceeded: nothing was measured that could keep it.
        """
        own = [
            row
            for row in rows
            if all(row[key] == self.where[key] for key in FILTERS[2:] if key in self.where)
        ]
        for row in own:
            for value in self._values(row):
                yield self._entry(row["anonymiser"], row["attacker"], row["linkage"], value)
        if not own:
            method = self.where.get("method", "any anonymiser")
            attacker = self.where.get("attacker", "any attacker")
            yield self._entry(method, attacker, self.where.get("linkage", "any"), None)

    def _entry(
        self, anonymiser: str, attacker: str, linkage: str, value: float | None
    ) -> dict[str, Any]:
        return {
            "limit": self.text,
            "anonymiser": anonymiser,
            "attacker": attacker,
            "linkage": linkage,
            "value": value,
            "exceeded": value is None or not COMPARISONS[self.comparison](value, self.bound),
        }

    def _values(self, row: Mapping[str, Any]) -> list[float | None]:
        """The figure in a row; None, which exceeds any limit, where it was not measured."""
        if "population" not in self.where:
            found = row["measures"].get(self.measure, {}).get("value")
            return [found]
        points = [
            point["value"]
            for point in row["reidentification"].get(self.measure, ())
            if all(
                str(point[key]) == self.where[key]
                for key in ("population", "length")
                if key in self.where
            )
        ]
        return points or [None]


def _conditions(name: str, text: str) -> dict[str, str]:
    """What stands behind the @, by name; numbers as they are written in the results."""
    where: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, sign, value = (one.strip() for one in part.partition("="))
        if not sign or key not in FILTERS:
            raise UsageError(f"{name}: {did_you_mean('condition', key, list(FILTERS))}")
        if key in where:
            raise UsageError(f"{name}: {key}= stands twice; write two limits")
        if key in LEAST:
            if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) < LEAST[key]:
                raise UsageError(f"{name}: {key}= must be a whole number from {LEAST[key]}")
            value = str(int(value))
        where[key] = value
    return where
