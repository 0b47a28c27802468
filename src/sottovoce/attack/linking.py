"""An attack: train what this attacker may train, link, and judge how good the attacker was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from sottovoce.attack.embedding_sets import EmbeddingSets, LinkedSpeech
from sottovoce.attack.evidence_links import evidence_links
from sottovoce.attack.knowledge import ATTACKERS, Attacker
from sottovoce.attack.score import Over, ScoreTable
from sottovoce.attack.techniques import Attempt, Candidates, choose, link, try_all
from sottovoce.attack.training import Judging, LinkageTrainer, TrainedLinkage
from sottovoce.attack.trust import Effort, advise, judge
from sottovoce.core.blas_threads import one_thread
from sottovoce.core.errors import SottovoceError, UsageError
from sottovoce.findings import AttackSettings, EvidenceLink, Technique, Trust, TrustEvidence
from sottovoce.measure import eer
from sottovoce.measure.scores import Scores

PERMUTATIONS = 99
"""Exchanges of names behind the control, at most."""
FEWEST = 20
"""Exchanges of names behind the control, at least."""
MAX_CONTROL_PAIRS = 50_000_000
"""Pairs that are scored for the control, unless the fewest exchanges need more."""
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
    linked: LinkedSpeech
    """What was linked, in the representation that was chosen."""
    candidates: Candidates
    """All that it was chosen from."""
    techniques: tuple[Technique, ...]
    """Everything that was tried."""
    evidence: tuple[EvidenceLink, ...]
    """What each kind of evidence alone links."""


@one_thread()
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
    trained = trainer.train(settings.linkage, training, Judging(settings.seed))
    enrol, trial = sets["enrol", "original"], sets["trial", "original"]
    table = link(enrol, trial, trained, training, settings, sets.trials)
    return Baseline(table, trained, eer(table.scores()))


@one_thread()
def attack(
    sets: EmbeddingSets,
    attacker: Attacker,
    settings: AttackSettings | None = None,
    *,
    trainer: LinkageTrainer | None = None,
    baseline: Baseline | None = None,
    candidates: Candidates | None = None,
) -> Attack:
    """Attack the released trials with what ``attacker`` knows.

    Parameters
    ----------
    sets : EmbeddingSets
        All that the attacker needs, with the encoder as it is.
    attacker : Attacker
        What it enrols with and trains on.
    settings : AttackSettings, optional
        How to link; default the settings' defaults.
    trainer : LinkageTrainer, optional
        Owns the trained linkage functions; default a new one.
    baseline : Baseline, optional
        The same settings on originals, as :func:`attack_originals` returns; default computed here.
    candidates : Candidates, optional
        Representations to choose from, as
        :func:`~sottovoce.attack.representation.prepare_candidates` returns; default ``sets`` alone.

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
    candidates = candidates or Candidates((sets.linked_by(attacker, settings.draws),))
    attempts = try_all(candidates.speech, attacker, settings, trainer, sets.trials)
    best = choose(attempts, settings.linkage)
    control = _control(best.table, best.eer, settings.seed)
    evidence = TrustEvidence(
        originals=baseline.eer,
        attack=best.eer,
        training=best.trained.record.training_eer,
        held_out=best.trained.record.held_out_eer,
        control=control.eer,
        p_value=control.p_value,
        linkages=_other_attempts(attempts, best),
        less_informed=_less_informed(sets, attacker, baseline.trained, settings),
    )
    return Attack(
        attacker,
        settings,
        best.table,
        best.trained,
        baseline,
        judge(evidence, advice=advise(_effort(attacker, best, candidates, control.p_value))),
        best.linked,
        candidates,
        tuple(attempt.describe(chosen=attempt is best) for attempt in attempts),
        evidence_links(attempts, settings, sets.trials),
    )


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


@dataclass(frozen=True, slots=True)
class _Control:
    """What the scores give under names that are exchanged at random."""

    eer: float | None
    p_value: float | None


def _control(table: ScoreTable, attack: float, seed: int) -> _Control:
    """EER under exchanged names, over pairs of different speakers only.

    Pairs of the same speaker would count as non-mated with high scores, and push the EER far above
    50 % where speakers are few. With two speakers there are no other pairs.
    """
    if len(np.unique(table.enrolled)) < 3:
        return _Control(None, None)
    rng, different = np.random.default_rng(seed), table.nonmated
    exchanges = int(np.clip(MAX_CONTROL_PAIRS // table.values.size, FEWEST, PERMUTATIONS))
    claims = [table.permute_names(rng).mated for _ in range(exchanges)]
    try:
        eers = [
            eer(Scores(table.values[claim], table.values[different & ~claim])) for claim in claims
        ]
    except SottovoceError:  # a list of trials has too few pairs of different speakers
        return _Control(None, None)
    as_low = sum(rate <= attack for rate in eers)
    return _Control(float(np.mean(eers)), (1 + as_low) / (1 + exchanges))


def _other_attempts(attempts: Sequence[Attempt], best: Attempt) -> dict[str, float]:
    """EER of each attempt that was not chosen, those of other representations marked."""
    return {attempt.name_beside(best): attempt.eer for attempt in attempts if attempt is not best}


def _effort(
    attacker: Attacker, best: Attempt, candidates: Candidates, p_value: float | None
) -> Effort:
    return Effort(
        unused=candidates.unused,
        unavailable=candidates.unavailable,
        draws=best.linked.draws if attacker.anonymises else None,
        speakers=len(best.linked.train.names),
        p_value=p_value,
    )


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
            linked = sets.linked_by(other, settings.draws)
            table = link(linked.enrol, linked.trial, trained, training, settings, sets.trials)
            eers[other.name] = eer(table.scores())
    return eers
