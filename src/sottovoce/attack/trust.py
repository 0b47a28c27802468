"""Whether an attack is good enough to say anything about an anonymiser.

A weak attacker flatters the anonymiser. Before a failure to link counts as protection the attacker
must have shown that it can attack: on originals, on its own training speakers, against a control
that cannot succeed, and in agreement with other linkage functions. The control follows Giomi et
al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ORIGINALS = 0.15
"""Largest EER on originals of an attacker that can tell voices apart."""
TRAINING = 0.25
"""Largest EER on the very vectors it was trained on."""
CONTROL = 0.10
"""How far from 50 % the EER under exchanged names may be."""
BEHIND = 0.05
"""By how much another linkage function, or one that knows less, may do better."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """EERs that tell how good the attacker is."""

    originals: float
    """Originals enrolled, originals attacked, trained on originals."""
    attack: float
    """The attack itself."""
    training: float | None
    """On the vectors it was trained on."""
    held_out: float | None
    """On training speakers it was not trained on."""
    control: float | None
    """Under exchanged names, mean of several exchanges; None with fewer than 3 speakers."""
    linkages: Mapping[str, float]
    """The same attack with other linkage functions."""
    less_informed: Mapping[str, float]
    """The same trials attacked by those who know less."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The judgement, and why."""

    trustworthy: bool
    reasons: tuple[str, ...]
    evidence: Evidence

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        found = {name: getattr(self.evidence, name) for name in self.evidence.__slots__}
        for name in ("linkages", "less_informed"):
            found[name] = dict(found[name])
        return {
            "trustworthy": self.trustworthy,
            "reasons": list(self.reasons),
            "evidence": found,
            "limits": {
                "originals": ORIGINALS,
                "training": TRAINING,
                "control": CONTROL,
                "behind": BEHIND,
            },
        }


def judge(evidence: Evidence) -> Trust:
    """Hold the evidence against the limits; every limit that is passed is a reason."""
    reasons = []
    if evidence.originals > ORIGINALS:
        reasons.append(
            f"on originals its EER is {evidence.originals:.1%}, above {ORIGINALS:.0%}: it hardly "
            "tells these voices apart without any anonymisation"
        )
    if evidence.training is not None and evidence.training > TRAINING:
        reasons.append(
            f"on its own training vectors its EER is {evidence.training:.1%}, above {TRAINING:.0%}:"
            " it did not learn"
        )
    if evidence.control is not None and abs(evidence.control - 0.5) > CONTROL:
        reasons.append(
            f"under exchanged names its EER is {evidence.control:.1%} instead of about 50%: "
            "something other than the speaker decides the scores"
        )
    reasons += _better("with the linkage function", evidence.linkages, evidence.attack)
    reasons += _better("as the attacker", evidence.less_informed, evidence.attack)
    return Trust(not reasons, tuple(reasons), evidence)


def _better(how: str, others: Mapping[str, float], attack: float) -> list[str]:
    return [
        f"{how} {name} the EER is {found:.1%}, this attack's {attack:.1%}: take that one instead"
        for name, found in others.items()
        if found < attack - BEHIND
    ]
