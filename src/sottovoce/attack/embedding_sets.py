"""The embeddings an attack works with, and the checks that keep its result honest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sottovoce.attack.draws import first_draws, number_of_draws
from sottovoce.attack.knowledge import Attacker, Form, Part
from sottovoce.attack.trial_pairs import check_listed
from sottovoce.core.errors import InputError, first_few
from sottovoce.corpus.trials import TrialList
from sottovoce.findings import FROZEN, RepresentationDescription
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.leakage import check_training, shared_recordings

_ADVICE: dict[Form, str] = {
    "original": "give the originals",
    "attacker": "name the anonymiser, or give speech it anonymised with other draws",
    "similar": "name a similar anonymiser, or give speech it anonymised",
    "released": "anonymise the enrolment recordings in the same run as the trials",
}
JOIN = "+"
"""Between the parts of the name of a representation."""
OTHER_EVIDENCE = "evidence"
"""Part of a representation: pitch, rhythm, words and the like."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkedSpeech:
    """What one attacker links and trains on, in one representation of speech."""

    representation: RepresentationDescription
    enrol: Embeddings
    trial: Embeddings
    train: Embeddings

    @property
    def joint(self) -> bool:
        """Whether vectors have a block for each other representation of the voice."""
        parts = self.representation.name.split(JOIN)
        return len(parts) > 1 and OTHER_EVIDENCE not in parts

    @property
    def draws(self) -> int:
        """How many times enrolment or training speech was anonymised."""
        return max(number_of_draws(self.enrol), number_of_draws(self.train))

    def check(self) -> None:
        """Refuse training speech that holds speakers or recordings under attack.

        Raises
        ------
        InputError
            With the code ``not-disjoint``.
        """
        check_training(self.train, self.trial, self.enrol)


@dataclass(frozen=True, slots=True)
class EmbeddingSets:
    """Embeddings by part and form; the set ``("trial", "released")`` is attacked."""

    embeddings: Mapping[tuple[Part, Form], Embeddings]
    trials: TrialList | None = None
    """Pairs that are compared; None for every enrolled speaker with every trial."""

    def __getitem__(self, key: tuple[Part, Form]) -> Embeddings:
        if key not in self.embeddings:
            part, form = key
            raise InputError(
                f"no {form} {part} speech; this attacker needs it: {_ADVICE[form]}",
                code="missing-speech",
            )
        return self.embeddings[key]

    def linked_by(self, attacker: Attacker, draws: int) -> LinkedSpeech:
        """Return what an attacker links and trains on.

        Parameters
        ----------
        attacker : Attacker
            Decides the forms of enrolment and training speech.
        draws : int
            How many draws it uses, if there are so many.
        """
        return LinkedSpeech(
            RepresentationDescription(FROZEN, None, ()),
            first_draws(self["enrol", attacker.enrolment], draws),
            self["trial", "released"],
            first_draws(self["train", attacker.training], draws),
        )

    def check(self, attacker: Attacker) -> None:
        """Refuse sets that would make the result of the attack mean something else.

        Parameters
        ----------
        attacker : Attacker
            Its needs are checked; sets that it does not use are not.

        Raises
        ------
        InputError
            ``missing-speech`` for a set that is not there, ``mismatch`` for vectors of another
            dimension, ``not-enrolled`` for speakers of trials without enrolment, ``not-disjoint``
            for speakers trained on and attacked, or recordings enrolled and tried.
        """
        trial = self["trial", "released"]
        for key in attacker.needs:
            _check_dimension(trial, self[key])
        enrolments = [self["enrol", "original"], self["enrol", attacker.enrolment]]
        for train in (self["train", "original"], self["train", attacker.training]):
            check_training(train, trial, *enrolments)
        for enrol in enrolments:
            for trials in (trial, self["trial", "original"]):
                if self.trials is None:
                    _check_enrolled(enrol, trials)
                    _check_recordings_disjoint(enrol, trials)
                else:
                    check_listed(self.trials, enrol, trials)


def _check_dimension(trial: Embeddings, embeddings: Embeddings) -> None:
    if embeddings.dimension != trial.dimension:
        raise InputError(
            f"{embeddings.origin}: vectors of {embeddings.dimension} numbers, {trial.origin} has "
            f"{trial.dimension}; embed all with one encoder",
            code="mismatch",
        )


def _check_enrolled(enrol: Embeddings, trial: Embeddings) -> None:
    missing = np.setdiff1d(trial.names, enrol.names)
    if len(missing):
        raise InputError(
            f"{enrol.origin}: no enrolment of {first_few(map(str, missing), len(missing))}; every "
            "speaker of the trials needs one, or leave their trials out",
            code="not-enrolled",
        )


def _check_recordings_disjoint(enrol: Embeddings, trial: Embeddings) -> None:
    if enrol.utterances is None or trial.utterances is None:
        _, rows = shared_recordings(enrol, trial)
        common = [f"row {row}" for row in np.sort(rows)]
    else:
        common = [str(name) for name in np.intersect1d(enrol.utterances, trial.utterances)]
    if common:
        raise InputError(
            f"{first_few(common, len(common))}: both enrolment and trial; a recording would be "
            "compared with itself: use the splits enrol and trial, or sessions",
            code="not-disjoint",
        )
