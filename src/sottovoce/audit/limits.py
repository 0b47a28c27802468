"""Limits that a study sets on its figures, so that it can stand in somebody's CI.

``linkability@population=40,attacker=semi-informed: "< 0.5"``: the Linkability of the semi-informed
attacker in a population of 40 must be below one half. Without a population the name is that of a
score measure, where ``linkability`` is D_sys.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.measure.summary import MEASURES
from sottovoce.registry import did_you_mean

CURVES = (
    "linkability",
    "singling_out",
    "one_minus_rocch_eer",
    "rank",
    "normalised_rank",
    "top_k",
    "rank_disclosure",
)
FILTERS = ("population", "length", "attacker", "method", "linkage")
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
        where = {}
        for part in filter(None, rest.split(",")):
            key, sign, value = part.partition("=")
            if not sign or key.strip() not in FILTERS:
                raise UsageError(f"{name}: {did_you_mean('condition', key.strip(), list(FILTERS))}")
            where[key.strip()] = value.strip()
        found = re.fullmatch(r"\s*(<=|>=|<|>)\s*([-+.\deE]+)\s*", condition)
        try:
            bound = float(found.group(2)) if found else None
        except ValueError:
            bound = None
        if found is None or bound is None:
            raise UsageError(f'{name}: {condition!r} is no limit; write e.g. "< 0.05"')
        known = list(CURVES if "population" in where else MEASURES)
        if measure not in known:
            raise UsageError(f"{name}: {did_you_mean('figure', measure, known)}")
        return cls(f"{name} {condition}", measure, where, found.group(1), bound)

    def check(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Every row it applies to, with the figure and whether the limit is exceeded."""
        for row in rows:
            if all(row[key] == self.where[key] for key in FILTERS[2:] if key in self.where):
                for value in self._values(row):
                    yield {
                        "limit": self.text,
                        "anonymiser": row["anonymiser"],
                        "attacker": row["attacker"],
                        "linkage": row["linkage"],
                        "value": value,
                        "exceeded": value is None
                        or not COMPARISONS[self.comparison](value, self.bound),
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
