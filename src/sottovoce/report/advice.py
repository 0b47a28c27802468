"""What would make a release safer, and where the limits that it is held against come from."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sottovoce.findings import AttackRow, AuditFindings, ReleaseLimits
from sottovoce.report.audit_verdicts import is_trusted, rows_by_anonymiser
from sottovoce.report.decisions import FEW_SPEAKERS, Action, Decision, Risk, word_error_rates
from sottovoce.report.formats import counted, percent, speech_of_length

ENOUGH_PEOPLE = 30
"""People from which intervals are thought to cover what was not seen."""
FEW_EXPOSED = 1 / 3
"""Share of people up to which it helps to leave them out."""
WORTH_SAYING = 0.05
"""Smallest difference in risk that is worth an advice."""

CONTRACT = (
    "Let the recipients sign that they look for nobody, combine the recordings with nothing that "
    "could name people, pass nothing on, and delete everything afterwards; keep a list of who has "
    "access."
)
TRANSCRIPTS = (
    "Release texts instead of voices, with private words masked, if the purpose allows it."
)
ONE_TRIED = "Audit other anonymisers too: only one was tried, and another may hide people better."
NEW_VOICE = (
    "Change more of the voice: stronger settings, or an anonymiser that makes a new voice instead "
    "of bending the old one."
)
SPOKEN_NAMES = (
    "Mask names and other private words that are spoken before you release anything: this decision "
    "is about the voices alone."
)
REPEAT = (
    "Audit again when recordings, method or settings change, and when better attacks are known."
)


def improvements(findings: AuditFindings, decision: Decision) -> list[str]:
    """Say what would make the release of one anonymiser's output safer, the most helpful first.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    decision : Decision
        The advice on the anonymiser.
    """
    rows = rows_by_anonymiser(findings)[decision.anonymiser]
    if decision.action is Action.ACCEPT:
        return [SPOKEN_NAMES, REPEAT]
    lines = [CONTRACT, SPOKEN_NAMES] if decision.action is Action.BOUND else []
    lines += _stronger_attack(rows) if decision.action is Action.UNDECIDED else []
    lines += _more_people(findings, decision, rows)
    if decision.action in (Action.REFUSE, Action.BOUND):
        lines.append(ONE_TRIED if len(findings.anonymisers) == 1 else NEW_VOICE)
    lines += _less_speech(decision)
    lines += _fewer_exposed_people(rows)
    return [*lines, TRANSCRIPTS]


def best_choice(findings: AuditFindings, decisions: Sequence[Decision]) -> str:
    """Name the anonymiser behind which fewest are found, with the words that it costs.

    Parameters
    ----------
    findings : AuditFindings
        An audit, for the words that are lost.
    decisions : sequence of Decision
        On at least one of its anonymisers.
    """

    def upper(decision: Decision) -> float:
        return math.inf if decision.risk is None else decision.risk.high

    best = min(decisions, key=upper)
    if best.risk is None:
        return "How often people are found again was not measured."
    after, _ = word_error_rates(findings, best.anonymiser)
    words = "" if after is None else f", and {percent(after)} of the words are recognised wrongly"
    return (
        f"Of the {len(decisions):,} anonymisers tried, {best.anonymiser} hides people best: they "
        f"are found in up to {percent(best.risk.high)} of the cases{words}."
    )


def _stronger_attack(rows: Sequence[AttackRow]) -> list[str]:
    if is_trusted(rows):
        return []
    advice = list(dict.fromkeys(text for row in rows for text in row.trust.advice))
    further = f": {'; '.join(advice[:2])}" if advice else ""
    return [f"Attack with a stronger attacker before anything is decided{further}."]


def _more_people(
    findings: AuditFindings, decision: Decision, rows: Sequence[AttackRow]
) -> list[str]:
    """Ask for more people where they could change the decision."""
    attacked = findings.corpus.attacked_speakers
    needed = _people_needed(decision.risk, findings.release, attacked)
    few = any(FEW_SPEAKERS in row.reidentification.warning_codes for row in rows)
    if few and decision.action is Action.UNDECIDED:
        needed = max(needed or 0, ENOUGH_PEOPLE)
    if needed is None or needed <= attacked:
        return []
    return [f"Attack more people: about {needed:,} instead of {attacked:,} would narrow it down."]


def _people_needed(risk: Risk | None, limits: ReleaseLimits, attacked: int) -> int | None:
    """Estimate how many people would bring the interval below the next limit.

    The width of an interval falls with the root of the number of people. None where the value
    itself lies above the limit: more people would not help.
    """
    if risk is None:
        return None
    limit = limits.bound if risk.high > limits.bound else limits.public
    if risk.value >= limit or risk.high <= limit:
        return None
    ratio = (risk.high - risk.value) / (limit - risk.value)
    needed = math.ceil(attacked * ratio**2 / 10 - 1e-9) * 10
    return needed if needed <= 100 * attacked else None


def _less_speech(decision: Decision) -> list[str]:
    """Compare the shortest conversations with those that disclose most."""
    risk = decision.risk
    if risk is None or risk.isolates:
        return []
    curves = risk.row.reidentification.by_size
    shortest = min(curves, key=lambda curve: curve.length, default=None)
    if shortest is None:
        return []
    point = shortest.point(risk.point.population)
    high = point.value if point.high is None else point.high
    if risk.high - high < WORTH_SAYING:
        return []
    return [
        f"Give less speech of each person: with {speech_of_length(point.length)} it is up to "
        f"{percent(high)}, with {speech_of_length(risk.point.length)} up to {percent(risk.high)}."
    ]


def _fewer_exposed_people(rows: Sequence[AttackRow]) -> list[str]:
    """Say how many people are named in at least half of their recordings by any attack."""
    exposed = {
        risk.speaker
        for row in rows
        for risk in row.reidentification.speakers
        if risk.linkability >= 0.5
    }
    everybody = {risk.speaker for row in rows for risk in row.reidentification.speakers}
    if not exposed or len(exposed) > FEW_EXPOSED * len(everybody):
        return []
    people = counted(len(exposed), "person", "people")
    verb = "is" if len(exposed) == 1 else "are"
    return [
        f"Leave out those who are easiest to find, and audit again: {people} of "
        f"{len(everybody):,} {verb} named in at least half of the recordings."
    ]


def limits_explained(limits: ReleaseLimits) -> str:
    """Say where the limits come from, and that they are no law.

    Parameters
    ----------
    limits : ReleaseLimits
        Of a study.
    """
    among = [f"{round(1 / limit):,}" for limit in (limits.public, limits.bound)]
    meaning = (
        f"{percent(limits.public)} is as if an attacker guessed among {among[0]} people, "
        f"{percent(limits.bound)} as if among {among[1]}."
    )
    if limits != ReleaseLimits():
        return f"The limits are this study's own choice, not a rule of law. {meaning}"
    return (
        f"The limits are defaults, not a rule of law; whoever releases may set others. {meaning} "
        "The first is the threshold that the European Medicines Agency (Policy 0070) and Health "
        "Canada recommend for clinical reports that anybody can read; the second is the customary "
        "smallest cell of five people. Neither was made for voices."
    )
