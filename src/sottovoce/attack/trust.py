"""Whether an attack is good enough to say anything about an anonymiser.

A weak attacker flatters the anonymiser. Before a failure to link counts as protection, the attacker
must have shown that it can attack: on originals, on its own training speakers, against a control
that cannot succeed, and in agreement with other linkage functions. The control follows Giomi et
al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023.

An attack that fails says little as long as a stronger one is at hand. The advice names what this
attack did not use: representations and evidence that were not tried or not available, more draws,
more training speakers, more trials. Better attempts that held-out speakers did not choose are
reasons not to trust it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sottovoce.attack.embedding_sets import OTHER_EVIDENCE
from sottovoce.findings import Trust, TrustEvidence, TrustLimits, UnavailableRepresentation

LIMITS = TrustLimits(originals=0.15, training=0.25, control=0.10, behind=0.05)
ENOUGH_DRAWS = 3
"""With fewer draws, more of them are worth trying."""
ENOUGH_SPEAKERS = 100
"""With fewer training speakers, more of them are worth trying."""
PHRASES = {OTHER_EVIDENCE: "other evidence than the voice"}
"""What advice calls something that was not tried, if not by its name."""
SIGNIFICANT = 0.05
"""A larger p-value does not tell an attack from chance."""


def judge(
    evidence: TrustEvidence, limits: TrustLimits = LIMITS, *, advice: tuple[str, ...] = ()
) -> Trust:
    """Compare the evidence with the limits.

    Parameters
    ----------
    evidence : TrustEvidence
        EERs of the attack and of what it is compared with; missing values are no reason.
    limits : TrustLimits, default LIMITS
        What the evidence is compared with.
    advice : tuple of str, default ()
        Stronger attacks that would be worth trying.

    Returns
    -------
    Trust
        Trustworthy if no limit is exceeded; every limit that is exceeded is a reason.
    """
    reasons = []
    if evidence.originals > limits.originals:
        reasons.append(
            f"on originals its EER is {evidence.originals:.1%}, above {limits.originals:.0%}: it "
            "hardly tells these voices apart without any anonymisation"
        )
    if evidence.training is not None and evidence.training > limits.training:
        reasons.append(
            f"on its own training vectors its EER is {evidence.training:.1%}, above "
            f"{limits.training:.0%}: it did not learn"
        )
    if evidence.control is not None and abs(evidence.control - 0.5) > limits.control:
        reasons.append(
            f"under exchanged names its EER is {evidence.control:.1%} instead of about 50%: "
            "something other than the speaker decides the scores"
        )
    for prefix, eers in (
        ("with the linkage function", evidence.linkages),
        ("as the attacker", evidence.less_informed),
    ):
        reasons += _better_attacks(prefix, eers, evidence.attack, limits.behind)
    return Trust(not reasons, tuple(reasons), evidence, limits, advice)


def _better_attacks(
    prefix: str, eers: Mapping[str, float], attack: float, margin: float
) -> list[str]:
    return [
        f"{prefix} {name} the EER is {eer:.1%}, this attack's {attack:.1%}: use that one instead"
        for name, eer in eers.items()
        if eer < attack - margin
    ]


@dataclass(frozen=True, slots=True)
class Effort:
    """What an attack made use of."""

    unused: Sequence[str]
    """Representations and evidence that this attacker could have, but which were not tried."""
    unavailable: Sequence[UnavailableRepresentation]
    draws: int | None
    """How many times the attacker anonymised its speech; None if it could not."""
    speakers: int
    """Training speakers."""
    p_value: float | None
    """Of the attack against chance."""


def advise(effort: Effort) -> tuple[str, ...]:
    """Return what a stronger attack would do, most promising first.

    Parameters
    ----------
    effort : Effort
        What the attack made use of.
    """
    reasons = {entry.name: entry.reason for entry in effort.unavailable}
    untried = [PHRASES.get(name, name) for name in effort.unused if name not in reasons]
    lines = []
    if untried:
        lines.append(f"try linkage strongest, which also uses {', '.join(untried)}")
    lines += [
        f"{name}, which was not available: {reasons[name]}"
        for name in effort.unused
        if name in reasons
    ]
    if effort.draws is not None and effort.draws < ENOUGH_DRAWS:
        lines.append(
            f"anonymise enrolment and training speech more often than {_times(effort.draws)}: "
            f"draws {ENOUGH_DRAWS} or more"
        )
    if effort.speakers < ENOUGH_SPEAKERS:
        lines.append(f"train on more than {effort.speakers} speakers")
    if effort.p_value is not None and effort.p_value > SIGNIFICANT:
        lines.append(
            f"attack more speakers or trials: with these the attack cannot be told from names "
            f"exchanged at random (p = {effort.p_value:.2f})"
        )
    return tuple(lines)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
