"""What each attacker knows: the speech it enrols with, the speech it trains on, and its rank.

The names are those of Srivastava et al. ("Evaluating voice conversion-based privacy protection
against informed attackers", ICASSP 2020) and of the VoicePrivacy Challenges. What other authors
call informed is semi-informed here; an attacker trained on a *similar* anonymiser is near-informed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sottovoce.core.registry import Registry
from sottovoce.findings import AttackerDescription

Form = Literal["original", "attacker", "similar", "released"]
"""How speech is treated before the attacker uses it.

``original``: not at all. ``attacker``: with the anonymiser under attack, but with the attacker's
draws. ``similar``: with another anonymiser of the same kind. ``released``: as the operator released
it, with the operator's draws.
"""
Part = Literal["enrol", "trial", "train"]
"""The use of speech in an attack: enrolment, trial or training."""

UNRANKED = -1
"""Rank of an attacker that does not declare one: below all that do."""


@dataclass(frozen=True, slots=True)
class Attacker:
    """An attacker: what it enrols with, what it trains on, and how much that is.

    A package adds its own with an entry point in the group ``sottovoce.attackers``. It should
    declare a rank. Without one it is ranked below all others, so it never stands for the best
    informed attacker of an audit, and all attackers that train on originals count as less informed.

    >>> ATTACKERS["semi-informed"].rank > ATTACKERS["ignorant"].rank
    True
    """

    name: str
    enrolment: Form
    """How its enrolment speech is treated."""
    training: Form
    """How its training speech is treated."""
    summary: str
    """A predicate for reports, such as "has the anonymiser and …"."""
    rank: int = UNRANKED
    """How much it knows: 0 nothing about the anonymisation, 1 has an anonymiser to enrol with or a
    similar one, 2 trains on the output of the anonymiser, 3 also knows the draws."""

    @property
    def needs(self) -> tuple[tuple[Part, Form], ...]:
        """Speech that an attack needs besides the released trials.

        Originals of all three parts are always needed: they show how good the attacker is without
        any anonymisation.
        """
        sets: list[tuple[Part, Form]] = [
            ("enrol", "original"),
            ("trial", "original"),
            ("train", "original"),
            ("enrol", self.enrolment),
            ("train", self.training),
        ]
        return tuple(dict.fromkeys(sets))

    @property
    def linked(self) -> tuple[tuple[Part, Form], ...]:
        """Speech that it enrols with, attacks and trains on."""
        return (("enrol", self.enrolment), ("trial", "released"), ("train", self.training))

    @property
    def anonymises(self) -> bool:
        """Whether it anonymises speech itself, as often as it likes."""
        return bool({"attacker", "similar"} & {self.enrolment, self.training})

    @property
    def knows_draws(self) -> bool:
        """Whether it enrols with speech of the operator's draws, so that pseudo-voices link."""
        return self.enrolment == "released"

    def knows_more_than(self, other: Attacker) -> bool:
        """Whether ``other`` counts as less informed.

        Parameters
        ----------
        other : Attacker
            Never itself. Every other attacker counts as less informed than an unranked one, so that
            an attacker of unknown strength is held against all of them.
        """
        if other.name == self.name:
            return False
        return self.rank == UNRANKED or other.rank < self.rank

    def describe(self) -> AttackerDescription:
        """Return the record of this attacker for results."""
        return AttackerDescription(
            self.name, self.enrolment, self.training, self.rank, self.summary
        )


ATTACKERS: Registry[Attacker] = Registry("attacker", group="sottovoce.attackers")
"""Attackers by name."""
for _attacker in (
    Attacker(
        "ignorant",
        "original",
        "original",
        "does not know that speech was anonymised: enrols with originals, trains on originals",
        rank=0,
    ),
    Attacker(
        "lazy-informed",
        "attacker",
        "original",
        "anonymises the enrolment speech with draws of its own, trains on originals",
        rank=1,
    ),
    Attacker(
        "near-informed",
        "similar",
        "similar",
        "has a similar anonymiser: enrols with it and trains on its output",
        rank=1,  # it does not have the anonymiser itself
    ),
    Attacker(
        "semi-informed",
        "attacker",
        "attacker",
        "has the anonymiser: enrols and trains on its output, with draws of its own",
        rank=2,
    ),
    Attacker(
        "informed",
        "released",
        "attacker",
        "has the anonymiser and knows the draws: enrols with them, trains on the anonymiser's "
        "output",
        rank=3,
    ),
):
    ATTACKERS.add(_attacker.name, _attacker)
