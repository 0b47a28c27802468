"""What to do with anonymised speech: an action in plain words, held against limits of the study.

Risks are judged at the upper end of their intervals, under the attack that finds most, for the
conversation length that discloses most. An audit whose attackers are weak, know too little or met
too few people never leads to a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sottovoce.findings import (
    AttackRow,
    AuditFindings,
    CurvePoint,
    ReleaseLimits,
)
from sottovoce.report.audit_verdicts import is_trusted, rows_by_anonymiser
from sottovoce.report.formats import counted, percent, speech_of_length
from sottovoce.report.verdicts import Kind

INFORMED_RANK = 2
"""Rank from which an attacker trains on the output of the anonymiser itself."""
KNOWLEDGE = {
    "ignorant": "does not know that voices were changed",
    "lazy-informed": "has the same method",
    "near-informed": "has a similar method and has learnt from its output",
    "semi-informed": "has the same method and has learnt from its output",
    "informed": "has the same method and knows its random choices",
}
"""What attackers know, in words that need no glossary."""
FEW_SPEAKERS = "few-speakers"
"""Code of the warning that intervals do not cover what so few speakers can show."""


class Action(Enum):
    """What is advised."""

    REFUSE = "Do not release"
    UNDECIDED = "Do not release yet: this audit cannot decide"
    BOUND = "Release only to people bound by a contract"
    ACCEPT = "Acceptable for release to anybody, by the limit of this study"

    @property
    def kind(self) -> Kind:
        """The colour of its mark."""
        if self is Action.REFUSE:
            return "bad"
        return "good" if self is Action.ACCEPT else "doubt"


@dataclass(frozen=True, slots=True)
class Risk:
    """How often an attack finds people, at one conversation length, in the circle of the study."""

    row: AttackRow
    point: CurvePoint
    isolates: bool
    """Whether people are isolated (Singling Out, beyond guessing) rather than named."""
    value: float
    low: float
    high: float
    """Ends of the interval; the value where there is none."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The advice on one anonymiser."""

    anonymiser: str
    action: Action
    reasons: str
    """Why, and what is lost: the rest of the sentence that begins with the action."""
    doubts: tuple[str, ...]
    """Why the audit cannot decide, or cannot decide for more people."""
    risk: Risk | None
    """The highest; None where nobody was looked for."""

    @property
    def sentence(self) -> str:
        """The action, its reason and what is lost, without the name of the anonymiser."""
        return f"{self.action.value}: {self.reasons}"


def decide_all(findings: AuditFindings) -> list[Decision]:
    """Give the advice on every anonymiser that was attacked, in the order of the study.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    """
    return [
        decide(findings, label, rows)
        for label, rows in rows_by_anonymiser(findings).items()
        if rows
    ]


def decide(findings: AuditFindings, label: str, rows: Sequence[AttackRow]) -> Decision:
    """Give the advice on one anonymiser.

    Parameters
    ----------
    findings : AuditFindings
        An audit, for its limits and for the words that are lost.
    label : str
        The anonymiser.
    rows : sequence of AttackRow
        All attacks on it, at least one.
    """
    risks = release_risks(rows, findings.release.people)
    highest = max(risks, key=lambda risk: risk.high, default=None)
    exceeded = [limit.limit for limit in findings.exceeded_limits if limit.anonymiser == label]
    doubts = _doubts(rows, risks, findings.release)
    action = _action(risks, findings.release, exceeded=bool(exceeded), doubts=doubts)
    reasons = [_risk_clause(highest, findings.release)]
    if exceeded:
        verb = "is" if len(exceeded) == 1 else "are"
        reasons.append(f"{counted(len(exceeded), 'limit')} that this study sets {verb} exceeded")
    reasons.append(_usefulness_clause(findings, label))
    return Decision(label, action, f"{'; '.join(reasons)}.", tuple(doubts), highest)


def _action(
    risks: Sequence[Risk], limits: ReleaseLimits, *, exceeded: bool, doubts: Sequence[str]
) -> Action:
    if exceeded or any(risk.low > limits.bound for risk in risks):
        return Action.REFUSE
    if doubts or not risks or any(risk.high > limits.bound for risk in risks):
        return Action.UNDECIDED
    if any(risk.high > limits.public for risk in risks):
        return Action.BOUND
    return Action.ACCEPT


def release_risks(rows: Sequence[AttackRow], people: int) -> list[Risk]:
    """Return how often each attack names or isolates people in a circle, at every length.

    Parameters
    ----------
    rows : sequence of AttackRow
        Attacks on one anonymiser.
    people : int
        Size of the circle; all people where there are fewer.
    """
    risks = []
    for row in rows:
        result = row.reidentification
        named = [curve.point(people) for curve in result.by_size] or _in_circle(
            result.linkability, people
        )
        risks += [_named(row, point) for point in named]
        risks += [_isolated(row, point) for point in _in_circle(result.singling_out, people)]
    return risks


def _in_circle(points: Sequence[CurvePoint], people: int) -> list[CurvePoint]:
    """At each length, the largest population within the circle, or the smallest beyond it."""
    chosen = []
    for length in sorted({point.length for point in points}):
        by_size = sorted((point for point in points if point.length == length), key=_population)
        within = [point for point in by_size if point.population <= people]
        chosen.append(within[-1] if within else by_size[0])
    return chosen


def _population(point: CurvePoint) -> int:
    return point.population


def _named(row: AttackRow, point: CurvePoint) -> Risk:
    low = point.value if point.low is None else point.low
    high = point.value if point.high is None else point.high
    return Risk(row, point, False, point.value, low, high)


def _isolated(row: AttackRow, point: CurvePoint) -> Risk:
    """Of the cases in which guessing isolates nobody, the share in which the attack does."""
    guessed = point.chance if point.no_evidence is None else point.no_evidence

    def beyond(share: float | None) -> float:
        value = point.value if share is None else share
        return max(0.0, (value - guessed) / (1 - guessed))

    return Risk(row, point, True, beyond(point.value), beyond(point.low), beyond(point.high))


# ------------------------------------------------------------------------------------ doubts


def _doubts(rows: Sequence[AttackRow], risks: Sequence[Risk], limits: ReleaseLimits) -> list[str]:
    """Say why this audit cannot clear a release, if it cannot."""
    doubts = []
    if not risks:
        doubts.append("Nobody was looked for among several people.")
    if not any(row.attacker_rank >= INFORMED_RANK for row in rows):
        doubts.append(
            "No attacker was tried that has the anonymiser and trains on its output; attackers who "
            "know less make any anonymiser look better than it is."
        )
    if not is_trusted(rows):
        doubts.append(
            "The attack is not trustworthy: it failed its own checks, so that it finds few people "
            "shows nothing."
        )
    people = min((row.reidentification.enrolled_speakers for row in rows), default=0)
    if any(FEW_SPEAKERS in row.reidentification.warning_codes for row in rows):
        doubts.append(
            f"Only {people:,} people were attacked: too few to have met those who are easiest to "
            "find."
        )
    if _too_few(risks, limits):
        doubts.append(
            "With so few people the risk is too uncertain: it may be below the limit or above it."
        )
    return doubts


def _too_few(risks: Sequence[Risk], limits: ReleaseLimits) -> bool:
    """Whether the interval holds the larger limit, and nothing surely lies above it."""
    surely_above = any(risk.low > limits.bound for risk in risks)
    return not surely_above and any(risk.low <= limits.bound < risk.high for risk in risks)


# ----------------------------------------------------------------------------------- clauses


def _risk_clause(risk: Risk | None, limits: ReleaseLimits) -> str:
    if risk is None:
        return "how often people are found again was not measured"
    allowed = (
        f"this study allows {percent(limits.public)} for release to anybody and "
        f"{percent(limits.bound)} for people bound by a contract"
    )
    attacker = _attacker_in_words(risk.row.attacker)
    point = risk.point
    if risk.isolates:
        return (
            f"{attacker} can isolate one person in up to {percent(risk.high)} of the groups of "
            f"{point.population:,} in which guessing isolates nobody; {allowed}"
        )
    return (
        f"among {point.population:,} people {attacker} names the right one for up to "
        f"{percent(risk.high)} of {speech_of_length(point.length)}, where guessing names "
        f"{percent(point.chance)}; {allowed}"
    )


def _attacker_in_words(name: str) -> str:
    """Say what an attacker knows; an attacker of a plug-in has its name only."""
    knows = KNOWLEDGE.get(name)
    if knows is None:
        return f"the {name} attacker"
    return f"{'an' if name[0] in 'ai' else 'a'} {name} attacker, who {knows},"


def _usefulness_clause(findings: AuditFindings, label: str) -> str:
    """Say how many words are lost."""
    after, before = word_error_rates(findings, label)
    if after is None:
        return "how many words are lost was not measured"
    against = "" if before is None else f", against {percent(before)} before"
    return f"of the words, a speech recogniser gets {percent(after)} wrong{against}"


def word_error_rates(findings: AuditFindings, label: str) -> tuple[float | None, float | None]:
    """Return the word error rate after anonymisation and before, where they were measured.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    label : str
        The anonymiser.
    """
    utilities = {finding.anonymiser: finding.utility for finding in findings.anonymisers}
    after = utilities.get(label, {}).get("wer")
    before = findings.original_utility.get("wer")
    return after.value if after else None, before.value if before else None
