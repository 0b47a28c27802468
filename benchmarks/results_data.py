"""The figures of docs/results.md: their types, and how findings of audits become part of them.

The findings of an audit are large and stay where they were made; what the page shows of them is
kept in ``docs/results.json``, so that methods can be attacked one at a time, on several machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sottovoce.audit.differences import LocatedRow, compare_rows
from sottovoce.core.files import read_json
from sottovoce.core.records import Record, from_json, write_json
from sottovoce.findings import AttackRow, AuditFindings, Estimate, UtilityEstimate
from sottovoce.findings.attack import STRONGEST, AttributeInference
from sottovoce.findings.audit import OriginalsFinding

NONE = "none"
"""The method of originals."""
MEASURES = ("eer", "d_sys_corrected")
ADVICE = "run the studies with benchmarks/results_run.py first"


@dataclass(frozen=True, slots=True)
class Figure(Record):
    """A value with the ends of its interval, where there is one."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Difference(Record):
    """One attack minus another on the same speech, paired by speaker."""

    to: str
    """The other attack; ``same`` technique means that nothing differs."""
    same: bool
    figure: Figure


@dataclass(frozen=True, slots=True)
class EvidenceFigures(Record):
    """What one kind of evidence links by itself."""

    name: str
    top_1: float
    eer: float
    share: float


@dataclass(frozen=True, slots=True)
class AttackFigures(Record):
    """What one attack links."""

    corpus: str
    seed: int
    """Of the draws of the released speech."""
    method: str
    attacker: str
    attack: str
    """A representation linked with ``best``, or ``fused`` or ``strongest``."""
    measures: Mapping[str, Figure]
    d_ece: float | None = None
    worst_case: str | None = None
    linkability: Figure | None = None
    linked_with: str | None = None
    representation: str | None = None
    trustworthy: bool | None = None
    evidence: tuple[EvidenceFigures, ...] = ()
    to_best: Mapping[str, Difference] = field(default_factory=dict)
    """``strongest`` minus the single attack that links most, by measure."""
    to_lazy: Mapping[str, Difference] = field(default_factory=dict)
    """Semi-informed minus lazy-informed, by measure."""


@dataclass(frozen=True, slots=True)
class SpeechFigures(Record):
    """What is kept of speech."""

    corpus: str
    method: str
    wer: Figure
    quality: Figure
    f0_correlation: float | None
    gender: Figure | None


@dataclass(frozen=True, slots=True)
class Results(Record):
    """All figures of the page."""

    attacks: tuple[AttackFigures, ...] = ()
    speech: tuple[SpeechFigures, ...] = ()

    def attack(
        self, method: str, attacker: str, attack: str, *, corpus: str = "libri40", seed: int = 0
    ) -> AttackFigures | None:
        """Return an attack, or None where it was not run."""
        wanted = (corpus, seed, method, attacker, attack)
        return next((entry for entry in self.attacks if _attack_key(entry) == wanted), None)

    def kept(self, method: str, corpus: str) -> SpeechFigures | None:
        """Return what a method keeps of speech, or None where it was not measured."""
        return next((e for e in self.speech if (e.corpus, e.method) == (corpus, method)), None)

    def updated(self, newer: Results) -> Results:
        """Return these figures, with those of the same attack or speech from newer ones."""
        return Results(
            tuple({_attack_key(e): e for e in (*self.attacks, *newer.attacks)}.values()),
            tuple({(e.corpus, e.method): e for e in (*self.speech, *newer.speech)}.values()),
        )


def _attack_key(entry: AttackFigures) -> tuple[str, int, str, str, str]:
    return entry.corpus, entry.seed, entry.method, entry.attacker, entry.attack


def read_results(path: Path) -> Results:
    """Read the figures of the page."""
    return from_json(Results, read_json(path, ADVICE), source=path.name)


def write_results(path: Path, results: Results) -> None:
    """Write the figures of the page, in an order that does not depend on that of the runs."""
    attacks = sorted(results.attacks, key=_attack_key)
    speech = sorted(results.speech, key=lambda entry: (entry.corpus, entry.method))
    write_json(path, Results(tuple(attacks), tuple(speech)))


# ------------------------------------------------------------------------------------- findings


def read_findings(folder: Path, audit: Path) -> Results:
    """Read what the page shows of the findings of all runs.

    Parameters
    ----------
    folder : Path
        With the findings, a JSON file of each run.
    audit : Path
        Folder with the scores of the attacks, which are compared pair by pair.
    """
    results = Results()
    for path in sorted(folder.glob("*.json")):
        findings = from_json(AuditFindings, read_json(path, ADVICE), source=path.name)
        results = results.updated(_figures(findings, audit))
    return results


def _figures(findings: AuditFindings, audit: Path) -> Results:
    corpus = str(findings.study["corpus"])
    seed = int(str(findings.study["release_seed"]))
    rows = {(row.attacker, _attack(row)): row for row in findings.rows}
    attacks = [_attack_figures(row, corpus, seed, rows, audit) for row in rows.values()]
    if seed:
        return Results(tuple(attacks))
    originals = next(entry for entry in findings.originals if entry.linkage == "best")
    (anonymiser,) = findings.anonymisers
    gender = findings.rows[0].attributes.get("gender")
    speech = [
        _speech_figures(corpus, NONE, findings.original_utility, None),
        _speech_figures(corpus, anonymiser.method, anonymiser.utility, gender),
    ]
    on_originals = _measured((corpus, 0, NONE, "on originals", STRONGEST), originals)
    return Results((on_originals, *attacks), tuple(speech))


def _attack(row: AttackRow) -> str:
    return row.encoder if row.linkage == "best" else row.linkage


def _figure(estimate: Estimate | UtilityEstimate) -> Figure:
    return Figure(estimate.value, estimate.low, estimate.high)


def _attack_figures(
    row: AttackRow,
    corpus: str,
    seed: int,
    rows: Mapping[tuple[str, str], AttackRow],
    audit: Path,
) -> AttackFigures:
    attack = _attack(row)
    singles = [other for (who, _), other in rows.items() if who == row.attacker]
    singles = [other for other in singles if _attack(other) != STRONGEST]
    lazy = rows.get(("lazy-informed", attack))
    informed = row.attacker == "semi-informed"
    return replace(
        _measured((corpus, seed, row.method, row.attacker, attack), row),
        representation=row.representation,
        trustworthy=row.trust.trustworthy,
        evidence=tuple(EvidenceFigures(e.name, e.top_1, e.eer, e.share) for e in row.evidence),
        to_best=_to_best(row, singles, audit) if attack == STRONGEST and singles else {},
        to_lazy=_differences(row, lazy, audit) if informed and lazy is not None else {},
    )


def _measured(
    key: tuple[str, int, str, str, str], entry: AttackRow | OriginalsFinding
) -> AttackFigures:
    """What attacks on originals and on released speech have in common."""
    linkability = entry.reidentification.linkability[-1]
    return AttackFigures(
        *key,
        {measure: _figure(entry.scores.measures[measure]) for measure in MEASURES},
        entry.scores.measures["d_ece"].value,
        entry.scores.tag,
        Figure(linkability.value, linkability.low, linkability.high),
        entry.linked_with,
    )


def _to_best(row: AttackRow, singles: Sequence[AttackRow], audit: Path) -> dict[str, Difference]:
    """Compare with the single attack that is the strongest on the attacked speakers."""
    signs = {"eer": -1.0, "d_sys_corrected": 1.0}
    best = {
        measure: max(singles, key=lambda s: sign * (s.scores.measures[measure].value or 0))
        for measure, sign in signs.items()
    }
    compared = {_attack(other): _differences(row, other, audit) for other in best.values()}
    return {measure: compared[_attack(other)][measure] for measure, other in best.items()}


def _differences(first: AttackRow, second: AttackRow, audit: Path) -> dict[str, Difference]:
    """First minus second, by measure."""
    name = _attack(second)
    if _technique(first) == _technique(second):
        return dict.fromkeys(MEASURES, Difference(name, True, Figure(0.0, 0.0, 0.0)))
    located = [LocatedRow(row, audit) for row in (first, second)]
    (comparison,) = compare_rows(located, interval=0.95)
    differences = {}
    for measure in MEASURES:
        (change,) = comparison.scores.differences[measure]
        differences[measure] = Difference(
            name, False, Figure(change.value, change.low, change.high)
        )
    return differences


def _technique(row: AttackRow) -> tuple[str, str, str, str]:
    """What makes two attacks of a method the same."""
    return row.attacker, row.representation, row.linked_with, str(row.trained.settings)


def _speech_figures(
    corpus: str, method: str, utility: Mapping[str, UtilityEstimate], gender: object
) -> SpeechFigures:
    told = None
    if isinstance(gender, AttributeInference):
        told = Figure(gender.accuracy, gender.low, gender.high)
    correlation = None if method == NONE else utility["f0_correlation"].value
    return SpeechFigures(
        corpus, method, _figure(utility["wer"]), _figure(utility["quality"]), correlation, told
    )


def seeds_of(attacks: Iterable[AttackFigures], corpus: str) -> list[int]:
    """Return the seeds of the draws with which a corpus was released."""
    return sorted({entry.seed for entry in attacks if entry.corpus == corpus})
