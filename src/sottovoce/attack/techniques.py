"""Everything that an attacker can try, and which of it held-out training speakers choose.

A technique is a representation of speech with a linkage function. All are judged on the same
training speakers, which neither the linkage function nor any encoder was trained on; those under
attack decide nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from sottovoce.attack.embedding_sets import LinkedSpeech
from sottovoce.attack.knowledge import Attacker
from sottovoce.attack.score import Cohort, Over, ScoreTable, score_all, score_listed
from sottovoce.attack.training import (
    CHOSEN,
    Judging,
    LinkageTrainer,
    TrainedLinkage,
)
from sottovoce.core.errors import TooFewError
from sottovoce.corpus.trials import TrialList
from sottovoce.findings import AttackSettings, Technique, UnavailableRepresentation
from sottovoce.measure import eer
from sottovoce.speaker.embeddings import Embeddings


@dataclass(frozen=True, slots=True)
class Candidates:
    """The representations that an attacker has, and those that it has not."""

    speech: tuple[LinkedSpeech, ...]
    unavailable: tuple[UnavailableRepresentation, ...] = ()
    unused: tuple[str, ...] = ()
    """Representations and evidence that this attacker could have, but which were not tried."""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One technique, trained and tried on the released trials."""

    linked: LinkedSpeech
    trained: TrainedLinkage
    table: ScoreTable
    eer: float

    def describe(self, *, chosen: bool) -> Technique:
        """Return the record of the technique.

        Parameters
        ----------
        chosen : bool
            Whether the attack is made with it.
        """
        merit = self.trained.merit[0]
        return Technique(
            self.linked.representation.name,
            self.trained.name,
            merit if math.isfinite(merit) else None,
            self.trained.record.held_out_eer,
            self.eer,
            chosen,
        )

    def name_beside(self, other: Attempt) -> str:
        """Name the linkage function, and the representation where it is not that of ``other``.

        Parameters
        ----------
        other : Attempt
            What it is compared with.
        """
        name = self.linked.representation.name
        same = name == other.linked.representation.name
        return self.trained.name if same else f"{self.trained.name} ({name})"


def try_all(
    speech: Sequence[LinkedSpeech],
    attacker: Attacker,
    settings: AttackSettings,
    trainer: LinkageTrainer,
    trials: TrialList | None,
) -> list[Attempt]:
    """Train and try every linkage function in every representation.

    Parameters
    ----------
    speech : sequence of LinkedSpeech
        One per representation.
    attacker : Attacker
        Whoever knows the operator's draws is judged within a draw, everybody else across draws.
    settings : AttackSettings
        The linkage function that it names is among those that are tried.
    trainer : LinkageTrainer
        Owns the trained linkage functions.
    trials : TrialList or None
        Pairs that are compared; None for every enrolled speaker with every trial.

    Raises
    ------
    TooFewError
        If there are too few speakers or recordings to train on.
    """
    seen = frozenset(name for linked in speech for name in linked.representation.trained_on)
    judging = Judging(settings.seed, not attacker.knows_draws, seen)
    attempts = []
    for linked in speech:
        linked.check()
        for trained in _trained(linked.train, settings.linkage, trainer, judging):
            table = link(linked.enrol, linked.trial, trained, linked.train, settings, trials)
            attempts.append(Attempt(linked, trained, table, eer(table.scores())))
    return attempts


def _trained(
    train: Embeddings, linkage: str, trainer: LinkageTrainer, judging: Judging
) -> list[TrainedLinkage]:
    """The linkage function that the settings name, and all that an attacker may choose from."""
    named = [] if linkage in CHOSEN else [trainer.train(linkage, train, judging)]
    try:
        others = trainer.candidates(train, judging)
    except TooFewError:
        if not named:
            raise
        others = []
    return named + [other for other in others if other.name != linkage]


def choose(attempts: Sequence[Attempt], linkage: str) -> Attempt:
    """Return the attempt that does best on held-out training speakers.

    A technique that joins all representations is taken if its EER on them is not worse than the
    best by more than the share of one of these speakers: so small a difference may be due to one
    of them, and what rests on all representations depends least on such luck.

    Parameters
    ----------
    attempts : sequence of Attempt
        At least one.
    linkage : str
        A linkage function that it must use, or one of
        :data:`~sottovoce.attack.training.CHOSEN`.
    """
    allowed = [a for a in attempts if linkage in CHOSEN or a.trained.name == linkage]
    best = min(allowed, key=lambda attempt: attempt.trained.merit)
    limit = _held_out_eer(best) + 1 / max(1, _judges(attempts))
    joint = [a for a in allowed if a.linked.joint and _held_out_eer(a) <= limit]
    return min(joint or [best], key=lambda attempt: attempt.trained.merit)


def _held_out_eer(attempt: Attempt) -> float:
    """EER on held-out training speakers; infinite where there are too few."""
    rate = attempt.trained.record.held_out_eer
    return math.inf if rate is None else rate


def _judges(attempts: Sequence[Attempt]) -> int:
    """How many training speakers no encoder was trained on."""
    seen = {name for attempt in attempts for name in attempt.linked.representation.trained_on}
    return len(set(attempts[0].linked.train.names.tolist()) - seen)


def link(
    enrol: Embeddings,
    trial: Embeddings,
    trained: TrainedLinkage,
    training: Embeddings,
    settings: AttackSettings,
    trials: TrialList | None,
) -> ScoreTable:
    """Score enrolled speakers against trials as the settings say.

    Parameters
    ----------
    enrol : Embeddings
        Enrolment recordings, in all draws.
    trial : Embeddings
        Trial recordings.
    trained : TrainedLinkage
        The linkage function.
    training : Embeddings
        The cohort where scores are normalised.
    settings : AttackSettings
        ``over``, ``norm`` and ``nearest`` are used.
    trials : TrialList or None
        Pairs that are compared; None for every enrolled speaker with every trial.
    """
    over: Over = next(name for name in get_args(Over) if name == settings.over)
    cohort = None
    if settings.norm != "none":
        most = min(settings.nearest, len(training.names))
        cohort = Cohort(training, most if settings.norm == "as-norm" else None)
    if trials is not None:
        return score_listed(enrol, trial, trained.linkage, trials, over=over, cohort=cohort)
    return score_all(enrol, trial, trained.linkage, over=over, cohort=cohort)
