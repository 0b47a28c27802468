"""The embeddings an attack works with, and the checks that keep its result honest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from sottovoce.attack.knowledge import Attacker, Form, Part
from sottovoce.core.errors import InputError, first_few
from sottovoce.speaker.embeddings import Embeddings


@dataclass(frozen=True, slots=True)
class Material:
    """Embeddings by part and form; ``trial`` in form ``theirs`` is what is attacked."""

    embeddings: Mapping[tuple[Part, Form], Embeddings]
    reserved: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Speakers by what else they were used for, such as the anonymiser's pool or an encoder."""

    def __getitem__(self, what: tuple[Part, Form]) -> Embeddings:
        if what not in self.embeddings:
            part, form = what
            raise InputError(f"no {form} {part} speech; this attacker needs it: {_HOW[form]}")
        return self.embeddings[what]

    def checked(self, attacker: Attacker) -> Material:
        """Refuse anything that would make the attack's figures mean something else."""
        trial = self["trial", "theirs"]
        for what in attacker.needs:
            _same_dimension(trial, self[what])
        enrolments = [self["enrol", "original"], self["enrol", attacker.enrolment]]
        for enrol in enrolments:
            _same_speakers(enrol, trial)
        groups = {
            "evaluation": _names(trial, *enrolments),
            "training": _names(self["train", "original"], self["train", attacker.training]),
            **self.reserved,
        }
        check_disjoint(groups)
        for enrol in enrolments:
            for other in (trial, self["trial", "original"]):
                _apart(enrol, other)
        return self


_HOW: dict[Form, str] = {
    "original": "name the originals",
    "own": "name the anonymiser, or speech it anonymised with other draws",
    "similar": "name a similar anonymiser, or speech it anonymised",
    "theirs": "anonymise the enrolment recordings in the same run as the trials",
}


def check_disjoint(groups: Mapping[str, Iterable[str]]) -> None:
    """Refuse speakers that are in two groups: who was trained on is not evaluated on."""
    names = list(groups)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            common = sorted(set(groups[one]) & set(groups[other]))
            if common:
                raise InputError(
                    f"{first_few(common, len(common))}: in the {one} and in the {other} speakers; "
                    "these must be different people: take others, or rename if they only share a "
                    "name"
                )


def _names(*sets: Embeddings) -> frozenset[str]:
    return frozenset(str(name) for one in sets for name in one.names)


def _same_dimension(one: Embeddings, other: Embeddings) -> None:
    if one.dimension != other.dimension:
        raise InputError(
            f"{other.origin}: vectors of {other.dimension} numbers, {one.origin} has "
            f"{one.dimension}; embed all with one encoder"
        )


def _same_speakers(enrol: Embeddings, trial: Embeddings) -> None:
    missing = np.setdiff1d(trial.names, enrol.names)
    if len(missing):
        listed = first_few((str(one) for one in missing), len(missing))
        raise InputError(
            f"{enrol.origin}: no enrolment of {listed}; every speaker of the trials needs one, or "
            "leave their trials out"
        )


def _apart(enrol: Embeddings, trial: Embeddings) -> None:
    if enrol.utterances is None or trial.utterances is None:
        return
    both = np.intersect1d(enrol.utterances, trial.utterances)
    if len(both):
        listed = first_few((str(one) for one in both), len(both))
        raise InputError(
            f"{listed}: both enrolment and trial; a recording would be compared with itself: "
            "give splits enrol and trial, or sessions"
        )
