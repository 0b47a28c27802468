"""How strong each voice method was measured to be and what it costs, for whoever must choose.

The figures are in ``method_results.json``, which ``recipes/write_method_results.py`` writes from
the findings of audits. They are those of one corpus of read speech; an audit of the recordings in
question says more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sottovoce.core.records import Record, from_json, optional
from sottovoce.report.formats import percent

FILE = "method_results.json"


@dataclass(frozen=True, slots=True)
class MethodResult(Record):
    """What was measured of one voice method with its default settings."""

    method: str
    found: float
    """Linkability of the strongest attack that does not know the draws."""
    found_high: float
    """Upper end of its interval."""
    words_wrong: float
    """Word error rate of a recogniser."""
    found_with_draws: float | None = optional()
    """Linkability of an attacker who knows the draws as well."""


@dataclass(frozen=True, slots=True)
class MethodResults(Record):
    """The figures of all methods that were measured, and where they come from."""

    origin: str
    people: int
    """Among how many people the attacks looked for somebody."""
    words_wrong_before: float
    """Word error rate of the originals."""
    methods: tuple[MethodResult, ...]

    def of(self, method: str) -> MethodResult | None:
        """Return the figures of one method; None if it was not measured.

        Parameters
        ----------
        method : str
            Its name.
        """
        return next((result for result in self.methods if result.method == method), None)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A method for a purpose, with what speaks against it."""

    purpose: str
    method: str
    reason: str


@cache
def read_method_results() -> MethodResults:
    """Read the figures that the package ships."""
    text = files("sottovoce.serve").joinpath(FILE).read_text(encoding="utf-8")
    return from_json(MethodResults, json.loads(text), source=FILE)


def recommendations(results: MethodResults) -> list[Recommendation]:
    """Return the method that hides people best, and the one that keeps most words.

    Parameters
    ----------
    results : MethodResults
        At least one method; people are hidden best where the upper end of the interval is lowest.
    """
    hiding = min(results.methods, key=lambda result: result.found_high)
    keeping = min(results.methods, key=lambda result: result.words_wrong)
    return [
        Recommendation("to hide who speaks", hiding.method, _figures(hiding, results)),
        Recommendation("to keep the words", keeping.method, _figures(keeping, results)),
    ]


def _figures(result: MethodResult, results: MethodResults) -> str:
    known = result.found_with_draws
    leaked = ""
    if known is not None and known > result.found_high:
        leaked = f" ({percent(known)} if the secret draws leak)"
    return (
        f"up to {percent(result.found_high)} of recordings are still linked to their speaker among "
        f"{results.people} people{leaked}, and {percent(result.words_wrong)} of words are "
        f"recognised wrongly, {percent(results.words_wrong_before)} before"
    )
