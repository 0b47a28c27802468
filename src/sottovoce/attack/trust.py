"""Whether an attack is good enough to say anything about an anonymiser.

A weak attacker flatters the anonymiser. Before a failure to link counts as protection, the attacker
must have shown that it can attack: on originals, on its own training speakers, against a control
that cannot succeed, and in agreement with other linkage functions. The control follows Giomi et
al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023.
"""

from __future__ import annotations

from collections.abc import Mapping

from sottovoce.findings import Trust, TrustEvidence, TrustLimits

LIMITS = TrustLimits(originals=0.15, training=0.25, control=0.10, behind=0.05)


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
