"""An attack: train what this attacker may train, link, and judge how good the attacker was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from sottovoce.attack.embedding_sets import EmbeddingSets
from sottovoce.attack.knowledge import ATTACKERS, Attacker
from sottovoce.attack.score import Cohort, Over, ScoreTable, score_all, score_listed
from sottovoce.attack.training import LinkageTrainer, TrainedLinkage, linkages_tried_by_best
from sottovoce.attack.trust import judge
from sottovoce.core.errors import SottovoceError, UsageError
from sottovoce.corpus.trials import TrialList
from sottovoce.findings import AttackSettings, Trust, TrustEvidence
from sottovoce.measure import eer
from sottovoce.measure.scores import Scores
from sottovoce.speaker.embeddings import Embeddings

PERMUTATIONS = 20
"""Exchanges of names behind the control."""
NORMS = ("none", "s-norm", "as-norm")
"""Kinds of score normalisation."""


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """The attack on originals, trained on originals: how good the attacker is by itself."""

    table: ScoreTable
    trained: TrainedLinkage
    eer: float


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """The scores of an attack, and what they rest on."""

    attacker: Attacker
    settings: AttackSettings
    table: ScoreTable
    """Scores of the released trials."""
    trained: TrainedLinkage
    baseline: Baseline
    trust: Trust


def attack_originals(
    sets: EmbeddingSets, settings: AttackSettings, trainer: LinkageTrainer
) -> Baseline:
    """Attack originals with a linkage function trained on originals.

    Parameters
    ----------
    sets : EmbeddingSets
        Only the originals are used.
    settings : AttackSettings
        How to link.
    trainer : LinkageTrainer
        Owns the trained linkage functions.
    """
    training = sets["train", "original"]
    trained = trainer.train(settings.linkage, training, seed=settings.seed)
    enrol, trial = sets["enrol", "original"], sets["trial", "original"]
    table = _link(enrol, trial, trained, training, settings, sets.trials)
    return Baseline(table, trained, eer(table.scores()))


def attack(
    sets: EmbeddingSets,
    attacker: Attacker,
    settings: AttackSettings | None = None,
    *,
    trainer: LinkageTrainer | None = None,
    baseline: Baseline | None = None,
) -> Attack:
    """Attack the released trials with what ``attacker`` knows.

    Parameters
    ----------
    sets : EmbeddingSets
        All that the attacker needs.
    attacker : Attacker
        What it enrols with and trains on.
    settings : AttackSettings, optional
        How to link; default the settings' defaults.
    trainer : LinkageTrainer, optional
        Owns the trained linkage functions; default a new one.
    baseline : Baseline, optional
        The same settings on originals, as :func:`attack_originals` returns; default computed here.

    Raises
    ------
    InputError
        See :meth:`EmbeddingSets.check`.
    """
    settings = settings or AttackSettings()
    check_settings(settings)
    trainer = trainer or LinkageTrainer()
    sets.check(attacker)
    baseline = baseline or attack_originals(sets, settings, trainer)
    training = sets["train", attacker.training]
    trained = trainer.train(settings.linkage, training, seed=settings.seed)
    enrol, trial = sets["enrol", attacker.enrolment], sets["trial", "released"]
    table = _link(enrol, trial, trained, training, settings, sets.trials)
    evidence = TrustEvidence(
        originals=baseline.eer,
        attack=eer(table.scores()),
        training=trained.record.training_eer,
        held_out=trained.record.held_out_eer,
        control=_control(table, settings.seed),
        linkages=_other_linkages(sets, attacker, trained, settings, trainer),
        less_informed=_less_informed(sets, attacker, baseline.trained, settings),
    )
    return Attack(attacker, settings, table, trained, baseline, judge(evidence))


def check_settings(settings: AttackSettings) -> None:
    """Refuse settings that no attack knows.

    Parameters
    ----------
    settings : AttackSettings
        ``over`` and ``norm`` are checked; an unknown linkage function is refused in training.

    Raises
    ------
    UsageError
        With the code ``unknown-name``.
    """
    for name, value, known in (
        ("over", settings.over, get_args(Over)),
        ("norm", settings.norm, NORMS),
    ):
        if value not in known:
            raise UsageError(f"{name} {value!r}; use {', '.join(known)}", code="unknown-name")


def _link(
    enrol: Embeddings,
    trial: Embeddings,
    trained: TrainedLinkage,
    training: Embeddings,
    settings: AttackSettings,
    trials: TrialList | None,
) -> ScoreTable:
    over: Over = next(name for name in get_args(Over) if name == settings.over)
    cohort = None
    if settings.norm != "none":
        most = min(settings.nearest, len(training.names))
        cohort = Cohort(training, most if settings.norm == "as-norm" else None)
    if trials is not None:
        return score_listed(enrol, trial, trained.linkage, trials, over=over, cohort=cohort)
    return score_all(enrol, trial, trained.linkage, over=over, cohort=cohort)


def _control(table: ScoreTable, seed: int) -> float | None:
    """EER under exchanged names, over pairs of different speakers only.

    Pairs of the same speaker would count as non-mated with high scores, and push the EER far above
    50 % where speakers are few. With two speakers there are no other pairs.
    """
    if len(np.unique(table.enrolled)) < 3:
        return None
    rng, different = np.random.default_rng(seed), table.nonmated
    claims = [table.permute_names(rng).mated for _ in range(PERMUTATIONS)]
    try:
        eers = [
            eer(Scores(table.values[claim], table.values[different & ~claim])) for claim in claims
        ]
    except SottovoceError:  # a list of trials has too few pairs of different speakers
        return None
    return float(np.mean(eers))


def _other_linkages(
    sets: EmbeddingSets,
    attacker: Attacker,
    trained: TrainedLinkage,
    settings: AttackSettings,
    trainer: LinkageTrainer,
) -> dict[str, float]:
    """EER of the same attack with each linkage function that was not used."""
    training = sets["train", attacker.training]
    enrol, trial = sets["enrol", attacker.enrolment], sets["trial", "released"]
    eers = {}
    for name in linkages_tried_by_best():
        if name != trained.name:
            other = trainer.train(name, training, seed=settings.seed)
            table = _link(enrol, trial, other, training, settings, sets.trials)
            eers[name] = eer(table.scores())
    return eers


def _less_informed(
    sets: EmbeddingSets, attacker: Attacker, trained: TrainedLinkage, settings: AttackSettings
) -> dict[str, float]:
    """EER on the same trials of less informed attackers that train on originals.

    Those whose enrolment speech is not there are left out.
    """
    training = sets["train", "original"]
    eers = {}
    for other in (ATTACKERS[name] for name in ATTACKERS):
        comparable = other.training == "original" and attacker.knows_more_than(other)
        if comparable and ("enrol", other.enrolment) in sets.embeddings:
            enrol, trial = sets["enrol", other.enrolment], sets["trial", "released"]
            table = _link(enrol, trial, trained, training, settings, sets.trials)
            eers[other.name] = eer(table.scores())
    return eers
