"""The verdicts of an audit, in plain words.

The verdict on an anonymiser rests on the strongest result that was seen, whoever the attacker was.
That nobody is found counts only if the best informed attackers have shown that they can attack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sottovoce.findings import (
    FROZEN,
    STRONGEST,
    AttackRow,
    AttributeInference,
    AuditFindings,
    CurvePoint,
    NotMeasured,
    Reidentification,
    Trust,
)
from sottovoce.report.formats import interval_in_brackets, percent, speech_of_length
from sottovoce.report.verdicts import (
    MEASURE,
    Kind,
    Verdict,
    d_sys_sentence,
    eer_sentence,
    headline_point,
    linkability_sentence,
    point_discloses,
    scores_disclose,
)

WEAK = "not trustworthy: attacker too weak"


def discloses(row: AttackRow) -> bool:
    """Return whether linking, isolating or telling pairs apart surely beats guessing.

    Parameters
    ----------
    row : AttackRow
        One attack. The whole interval must lie beyond chance; without an interval, the value.
    """
    curves = (row.reidentification.linkability, row.reidentification.singling_out)
    return any(point_discloses(headline_point(curve)) for curve in curves) or scores_disclose(
        row.scores
    )


def most_informed_first(rows: Sequence[AttackRow]) -> list[AttackRow]:
    """Order attacks by how much their attackers know, the most first.

    Parameters
    ----------
    rows : sequence of AttackRow
        Attacks; those of attackers of equal rank keep their order.
    """
    return sorted(rows, key=lambda row: -row.attacker_rank)


def strongest_attack(rows: Sequence[AttackRow]) -> AttackRow:
    """Return the attack that links most, however much its attacker knows.

    Parameters
    ----------
    rows : sequence of AttackRow
        At least one attack; of equal successes the better informed attacker's is returned.
    """

    def success(row: AttackRow) -> tuple[float, float]:
        point = headline_point(row.reidentification.linkability)
        estimate = row.scores.measures.get(MEASURE)
        value = None if estimate is None else estimate.value
        return (-1.0 if point is None else point.value, -1.0 if value is None else -value)

    return max(most_informed_first(rows), key=success)


def rows_by_anonymiser(findings: AuditFindings) -> dict[str, list[AttackRow]]:
    """Return the attacks on each anonymiser, those of the best informed attackers first.

    Parameters
    ----------
    findings : AuditFindings
        An audit; an anonymiser that nobody attacked has an empty list.
    """
    labels = [anonymiser.anonymiser for anonymiser in findings.anonymisers]
    labels += [row.anonymiser for row in findings.rows]
    return {
        label: most_informed_first([row for row in findings.rows if row.anonymiser == label])
        for label in dict.fromkeys(labels)
    }


def anonymiser_verdict(rows: Sequence[AttackRow], originals: Reidentification) -> Verdict:
    """Give the verdict on one anonymiser from all attacks on it.

    Parameters
    ----------
    rows : sequence of AttackRow
        At least one attack.
    originals : Reidentification
        What the same linkage function does to speech that nobody anonymised.
    """
    row = strongest_attack(rows)
    disclosed = any(map(discloses, rows))
    trusted = is_trusted(rows)
    further = [
        attacker_sentence(row),
        *_longer_conversations(row.reidentification.linkability),
        *_isolation(row.reidentification.singling_out),
        *_exposed_people(row.reidentification),
        f"Worst case for any one pair, category {row.scores.tag}: {row.scores.tag_meaning}.",
        *filter(None, [d_sys_sentence(row.scores.measures.get("d_sys_corrected"))]),
        *attribute_sentences(row),
        *_other_attackers(rows, row),
    ]
    if disclosed and not trusted:
        further.append("At least that much: better attackers will do no worse.")
    kind, headline = _conclusion(disclosed, trusted)
    if kind == "good":
        further.append("Better attackers may exist; see what was not tested.")
    return Verdict(kind, headline, _finding(row, originals), tuple(further), _doubts(rows))


def _conclusion(disclosed: bool, trusted: bool) -> tuple[Kind, str]:
    if disclosed:
        return "bad", "Voices still give people away"
    if trusted:
        return "good", "No better than guessing, for the attackers tried here"
    return "doubt", f"No conclusion; {WEAK}"


def is_trusted(rows: Sequence[AttackRow]) -> bool:
    """Return whether an attacker of the highest rank has shown that it can attack.

    Parameters
    ----------
    rows : sequence of AttackRow
        At least one attack.
    """
    highest = max(row.attacker_rank for row in rows)
    return any(row.trust.trustworthy for row in rows if row.attacker_rank == highest)


def _doubts(rows: Sequence[AttackRow]) -> tuple[str, ...]:
    """Return the first reason against each attacker that is not trusted."""
    lines = []
    for row in most_informed_first(rows):
        reasons = row.trust.reasons
        more = f" (and {len(reasons) - 1} more, below)" if len(reasons) > 1 else ""
        lines += [f"{attack_name(row)}: {reason}{more}" for reason in reasons[:1]]
    return tuple(lines)


def attacker_sentence(row: AttackRow) -> str:
    """Say what the attacker knows.

    Parameters
    ----------
    row : AttackRow
        Its attack.
    """
    return f"This attacker {row.attacker_summary.rstrip('.')}."


def attack_name(row: AttackRow) -> str:
    """Name the attacker, with encoder and linkage function where the study names them.

    Parameters
    ----------
    row : AttackRow
        Its attack. If the attacker chose the linkage function by itself, the study's word for it
        differs from the function that was used.
    """
    names = [row.attacker]
    if row.encoder != FROZEN:
        names.append(row.encoder)
    if row.linkage in (row.linked_with, STRONGEST):
        names.append(row.linkage)
    return ", ".join(names)


def technique_name(row: AttackRow) -> str:
    """Say what an attack linked with: the linkage function, the representation, the draws.

    Parameters
    ----------
    row : AttackRow
        An attack. The encoder as it is, and a single draw, are not mentioned.
    """
    names = [row.linked_with]
    if row.representation != FROZEN:
        names.append(row.representation)
    if row.draws > 1:
        names.append(f"{row.draws} draws")
    return ", ".join(names)


def trust_sentences(trust: Trust) -> list[str]:
    """Say whether an attack can be told from chance, and which stronger one is worth trying.

    Parameters
    ----------
    trust : Trust
        Of an attack.
    """
    lines = []
    p_value = trust.evidence.p_value
    if p_value is not None:
        lines.append(
            f"Under names exchanged at random an EER as low as this has p = {p_value:.2g}."
        )
    return lines + [f"Worth trying: {advice}." for advice in trust.advice]


def _finding(row: AttackRow, originals: Reidentification) -> str:
    point = headline_point(row.reidentification.linkability)
    attacker = f"The {row.attacker} attacker"
    if point is None:
        return eer_sentence(attacker, row.scores.measures[MEASURE])
    before = same_point(originals, point)
    unprotected = "" if before is None else f"; without anonymisation it is {percent(before.value)}"
    return f"{linkability_sentence(attacker, point)}{unprotected}."


def same_point(other: Reidentification, point: CurvePoint) -> CurvePoint | None:
    """Return the Linkability of another result at the same length and population.

    Parameters
    ----------
    other : Reidentification
        The other result.
    point : CurvePoint
        Gives length and population.
    """
    place = (point.length, point.population)
    return next((p for p in other.linkability if (p.length, p.population) == place), None)


def _longer_conversations(points: Sequence[CurvePoint]) -> list[str]:
    """Say what the longest conversations give, in the largest population."""
    first = headline_point(points)
    longest = max((point.length for point in points), default=0)
    if first is None or longest == first.length:
        return []
    point = max(
        (point for point in points if point.length == longest),
        key=lambda point: point.population,
    )
    return [
        f"With more speech, {speech_of_length(longest)} and {point.population:,} people: "
        f"{percent(point.value)}{interval_in_brackets(point.low, point.high)}."
    ]


def _isolation(points: Sequence[CurvePoint]) -> list[str]:
    point = headline_point(points)
    if point is None:
        return []
    return [
        f"Singling Out: one person alone is isolated in {percent(point.value)}"
        f"{interval_in_brackets(point.low, point.high)} of populations of {point.population:,}; "
        f"by chance, in {percent(point.chance)}."
    ]


def _exposed_people(result: Reidentification) -> list[str]:
    """Say how many people are named more often than not."""
    shortest = min((risk.length for risk in result.speakers), default=0)
    risks = [risk.linkability for risk in result.speakers if risk.length == shortest]
    if not risks:
        return []
    exposed = sum(risk >= 0.5 for risk in risks)
    return [f"{exposed:,} of {len(risks):,} people are named in at least half of their recordings."]


def attribute_sentences(row: AttackRow) -> list[str]:
    """Say how well attributes are inferred, against the most frequent answer.

    Parameters
    ----------
    row : AttackRow
        An attack.
    """
    return [_attribute_sentence(name, result) for name, result in row.attributes.items()]


def _attribute_sentence(name: str, result: AttributeInference | NotMeasured) -> str:
    subject = name[:1].upper() + name[1:]
    if isinstance(result, NotMeasured):
        return f"{subject}: not tried, {result.note}."
    doubt = "" if result.better_than_guessing else "; not surely better than guessing"
    return (
        f"{subject} is told right for {percent(result.accuracy)}"
        f"{interval_in_brackets(result.low, result.high)}; always guessing the most frequent: "
        f"{percent(result.majority)}{doubt}."
    )


def _other_attackers(rows: Sequence[AttackRow], strongest: AttackRow) -> list[str]:
    """Say who else attacked, and how often they linked."""
    results = []
    for row in most_informed_first(rows):
        point = headline_point(row.reidentification.linkability)
        if row is not strongest and point is not None:
            weak = "" if row.trust.trustworthy else ", too weak to be trusted"
            results.append(f"{attack_name(row)} {percent(point.value)}{weak}")
    return [f"Other attackers: {'; '.join(results)}."] if results else []


def audit_verdict(rows_of: Mapping[str, Sequence[AttackRow]]) -> str:
    """Give all verdicts of an audit in one or two sentences.

    Parameters
    ----------
    rows_of : mapping of str to sequence of AttackRow
        The attacks on each anonymiser, as :func:`rows_by_anonymiser` returns them.
    """
    attacked = {label: rows for label, rows in rows_of.items() if rows}
    if not attacked:
        return "Nothing was attacked."
    disclosing = sum(any(map(discloses, rows)) for rows in attacked.values())
    text = f"Of {len(attacked):,} anonymisers tried, {disclosing:,} let people be found again."
    if len(attacked) == 1:
        verb = "lets" if disclosing else "did not let"
        text = f"The anonymiser tried {verb} people be found again."
    points = {
        label: headline_point(strongest_attack(rows).reidentification.linkability)
        for label, rows in attacked.items()
    }
    linked = {label: point for label, point in points.items() if point is not None}
    if len(linked) > 1:
        label, best = min(linked.items(), key=lambda item: item[1].value)
        text += (
            f" Fewest are found behind {label}: {percent(best.value)} of "
            f"{speech_of_length(best.length)} under the strongest attack, guessing "
            f"{percent(best.chance)}."
        )
    return text
