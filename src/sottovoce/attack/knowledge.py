"""What each attacker knows: a table of what it enrols with and what it trains on.

The names are those of Srivastava et al. ("Evaluating voice conversion-based privacy protection
against informed attackers", ICASSP 2020) and of the VoicePrivacy Challenges. What others call
informed is semi-informed here; trained on a *similar* anonymiser is near-informed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sottovoce.core.registry import Registry

Form = Literal["original", "own", "similar", "theirs"]
"""How speech is treated before the attacker uses it.

``original``: not at all. ``own``: with the anonymiser under attack and draws of the attacker's
own. ``similar``: with another anonymiser of the kind. ``theirs``: as released, draws and all.
"""
Part = Literal["enrol", "trial", "train"]


@dataclass(frozen=True, slots=True)
class Attacker:
    """One level of knowledge."""

    name: str
    enrolment: Form
    training: Form
    summary: str

    @property
    def needs(self) -> tuple[tuple[Part, Form], ...]:
        """What an attack needs beyond the anonymised trials.

        Originals of all three parts always: they show how good the attacker is without any
        anonymisation.
        """
        parts: list[tuple[Part, Form]] = [
            ("enrol", "original"),
            ("trial", "original"),
            ("train", "original"),
            ("enrol", self.enrolment),
            ("train", self.training),
        ]
        return tuple(dict.fromkeys(parts))


ATTACKERS: Registry[Attacker] = Registry("attacker", group="sottovoce.attackers")
for _one in (
    Attacker(
        "ignorant",
        "original",
        "original",
        "does not know that speech was anonymised: enrols with originals, trains on originals",
    ),
    Attacker(
        "lazy-informed",
        "own",
        "original",
        "anonymises the enrolment speech with draws of its own, trains on originals",
    ),
    Attacker(
        "near-informed",
        "similar",
        "similar",
        "has a similar anonymiser: enrols with it and trains on its output",
    ),
    Attacker(
        "semi-informed",
        "own",
        "own",
        "has the anonymiser: enrols and trains on its output, with draws of its own",
    ),
    Attacker(
        "informed",
        "theirs",
        "own",
        "has the anonymiser and knows the draws: enrols with them, trains on the anonymiser's "
        "output",
    ),
):
    ATTACKERS.add(_one.name, _one)
