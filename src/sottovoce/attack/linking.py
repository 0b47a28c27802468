"""One attack: train what this attacker may train, link, and judge how good the attacker was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sottovoce.attack.embedding_sets import Material
from sottovoce.attack.knowledge import ATTACKERS, Attacker
from sottovoce.attack.score import Cohort, Over, ScoreTable, score_all
from sottovoce.attack.training import BEST, TRIED, Fitted, fit
from sottovoce.attack.trust import Evidence, Trust, judge
from sottovoce.measure import eer
from sottovoce.measure.scores import Scores
from sottovoce.speaker.embeddings import Embeddings

EXCHANGES = 20
"""Exchanges of names behind the control."""
_BELOW: dict[str, tuple[str, ...]] = {
    "ignorant": (),
    "lazy-informed": ("ignorant",),
    "near-informed": ("ignorant",),  # the lazy one has the anonymiser itself
}
"""Who knows less and trains on originals; where nothing is said, both."""

Norm = Literal["none", "s-norm", "as-norm"]


@dataclass(frozen=True, slots=True)
class Manner:
    """How the attacker links, whatever it knows."""

    linkage: str = BEST
    over: Over = "model"
    norm: Norm = "none"
    nearest: int = 100
    """Speakers of the cohort that as-norm takes for each pair, or all if there are fewer."""
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """What an attack found, and what it rests on."""

    attacker: Attacker
    manner: Manner
    table: ScoreTable
    """The attack on anonymised speech."""
    originals: ScoreTable
    """The same attacker on originals, trained on originals."""
    fitted: Fitted
    fitted_originals: Fitted
    trust: Trust

    def to_dict(self) -> dict[str, Any]:
        """The record: what it knew, what it trained on, how well it fitted, how it did."""
        return {
            "attacker": {
                "name": self.attacker.name,
                "enrolment": self.attacker.enrolment,
                "training": self.attacker.training,
                "summary": self.attacker.summary,
            },
            "manner": self.manner.to_dict(),
            "enrolled_speakers": len(self.table.enrolled),
            "trials": len(self.table.trials),
            "trained": self.fitted.to_dict(),
            "trained_on_originals": self.fitted_originals.to_dict(),
            "eer": self.trust.evidence.attack,
            "eer_on_originals": self.trust.evidence.originals,
            "trust": self.trust.to_dict(),
        }


def attack(material: Material, attacker: Attacker, manner: Manner | None = None) -> Attack:
    """Attack the trials of ``material`` with what ``attacker`` knows."""
    manner = manner or Manner()
    material = material.checked(attacker)
    training = material["train", attacker.training]
    fitted_originals = fit(manner.linkage, material["train", "original"], seed=manner.seed)
    fitted = (
        fitted_originals
        if attacker.training == "original"
        else fit(manner.linkage, training, seed=manner.seed)
    )
    trials = material["trial", "theirs"]
    table = _link(material["enrol", attacker.enrolment], trials, fitted, training, manner)
    originals = _link(
        material["enrol", "original"],
        material["trial", "original"],
        fitted_originals,
        material["train", "original"],
        manner,
    )
    evidence = Evidence(
        originals=eer(originals.scores()),
        attack=eer(table.scores()),
        training=fitted.training_eer,
        held_out=fitted.held_out_eer,
        control=_control(table, manner.seed),
        linkages=_others(material, attacker, fitted, manner),
        less_informed=_less_informed(material, attacker, fitted_originals, manner),
    )
    return Attack(attacker, manner, table, originals, fitted, fitted_originals, judge(evidence))


def _link(
    enrol: Embeddings, trial: Embeddings, fitted: Fitted, cohort: Embeddings, manner: Manner
) -> ScoreTable:
    return score_all(enrol, trial, fitted.linkage, over=manner.over, cohort=_cohort(cohort, manner))


def _cohort(voices: Embeddings, manner: Manner) -> Cohort | None:
    if manner.norm == "none":
        return None
    nearest = min(manner.nearest, len(voices.names)) if manner.norm == "as-norm" else None
    return Cohort(voices, nearest)


def _control(table: ScoreTable, seed: int) -> float | None:
    """EER under exchanged names, of pairs of two speakers only.

    Pairs of one speaker would count as non-mated with high scores and push it far above 50 % where
    speakers are few. Two speakers leave no other pairs.
    """
    if len(table.enrolled) < 3:
        return None
    rng, different = np.random.default_rng(seed), ~table.mated
    claimed = [table.permuted(rng).mated for _ in range(EXCHANGES)]
    found = [eer(Scores(table.values[c], table.values[different & ~c])) for c in claimed]
    return float(np.mean(found))


def _others(
    material: Material, attacker: Attacker, fitted: Fitted, manner: Manner
) -> dict[str, float]:
    """The same attack with the linkage functions that were not used."""
    training = material["train", attacker.training]
    found = {}
    for name in TRIED:
        if name != fitted.name:
            other = fit(name, training, seed=manner.seed)
            sides = material["enrol", attacker.enrolment], material["trial", "theirs"]
            found[name] = eer(_link(*sides, other, training, manner).scores())
    return found


def _less_informed(
    material: Material, attacker: Attacker, fitted: Fitted, manner: Manner
) -> dict[str, float]:
    """The same trials, linked by those who train on originals and know less."""
    below = _BELOW.get(attacker.name, ("ignorant", "lazy-informed"))
    cohort = material["train", "original"]
    found = {}
    for name in below:
        enrolment = ATTACKERS[name].enrolment
        if ("enrol", enrolment) in material.embeddings:
            sides = material["enrol", enrolment], material["trial", "theirs"]
            found[name] = eer(_link(*sides, fitted, cohort, manner).scores())
    return found
