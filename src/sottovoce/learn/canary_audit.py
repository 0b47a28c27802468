"""Auditing a trainer: canaries in one run, and an attacker that sees every noisy gradient.

The attacker has what differential privacy grants it: all weights and noisy gradients, the
canaries, and the rest of the data; it does not know lots, noise and which canaries were inserted.
In each step it computes what a canary would change in the clipped sum (Δ), and how much of that is
in the noisy sum. With sound normalisation Δ is the canary's own clipped gradient; with statistics
of the lot it is also what the canary does to the gradients of others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from sottovoce.core.types import FloatArray
from sottovoce.core.types import Progress as ShowProgress
from sottovoce.learn.auditing import PrivacyAudit, audit_scores
from sottovoce.learn.draws import Draws
from sottovoce.learn.gradients import (
    Batch,
    Gradients,
    Loss,
    clipped_sum,
    per_sample_gradients,
    select,
)
from sottovoce.learn.normalisation import Statistics
from sottovoce.learn.settings import PrivateRun
from sottovoce.learn.trainer import NoisyStep, PrivateTrainer

ATTACK = "share of each canary's influence in the noisy gradients of all steps"


def audit_training(
    build: Callable[[Batch], PrivateTrainer],
    data: Batch,
    canaries: Batch,
    *,
    draws: Draws | None = None,
    confidence: float = 0.95,
    every: int = 1,
    progress: ShowProgress | None = None,
) -> tuple[PrivacyAudit, PrivateRun]:
    """Train once with some canaries and bound ε from below by an attack on them.

    Parameters
    ----------
    build : callable
        Makes the trainer for given training data, without units and checkpoint.
    data : tuple of Tensor
        Training data without canaries.
    canaries : tuple of Tensor
        m canaries, shaped as the data.
    draws : Draws, optional
        Coins of the insertions; by default secret ones.
    confidence : float, default 0.95
        Of the bound.
    every : int, default 1
        The attacker looks at each step whose number is a multiple of this.
    progress : callable, optional
        Called with steps that are done and of all.

    Returns
    -------
    PrivacyAudit
        The lower bound beside the claim.
    PrivateRun
        What the audited run claims.
    """
    coins = (draws or Draws.generate()).coins("canaries", len(canaries[0])).astype(bool)
    inserted = select(canaries, torch.as_tensor(np.flatnonzero(coins)))
    trainer = build(tuple(torch.cat(parts) for parts in zip(data, inserted, strict=True)))
    attacker = CanaryAttacker(trainer, data, canaries, every=every)
    run = trainer.train(observe=attacker.observe, progress=progress)
    audit = audit_scores(
        attacker.scores,
        coins,
        delta=trainer.settings.delta,
        confidence=confidence,
        claimed_epsilon=None if run.spent is None else run.spent.pld_epsilon,
        attack=ATTACK,
    )
    return audit, run


class CanaryAttacker:
    """Scores canaries by what it sees of training.

    Parameters
    ----------
    trainer : PrivateTrainer
        The trainer whose steps are observed.
    data : tuple of Tensor
        Training data without canaries, which the attacker knows.
    canaries : tuple of Tensor
        The canaries.
    every : int, default 1
        It looks at each step whose number is a multiple of this.
    """

    def __init__(
        self, trainer: PrivateTrainer, data: Batch, canaries: Batch, *, every: int = 1
    ) -> None:
        self._trainer, self._canaries, self._every = trainer, canaries, every
        size = min(trainer.settings.lot_size, len(data[0]))
        rows = np.linspace(0, len(data[0]) - 1, size).astype(np.int64)
        self._reference = select(data, torch.as_tensor(rows))
        self._scale = trainer.settings.lot_size / size
        self.scores: FloatArray = np.zeros(len(canaries[0]))
        """Of each canary, the log-likelihood ratio of its insertion up to a constant factor."""

    def observe(self, step: NoisyStep) -> None:
        """Look at one step, before its update.

        Parameters
        ----------
        step : NoisyStep
            What everybody may see.
        """
        if step.step % self._every:
            return
        trainer = self._trainer
        base, influence = canary_influence(
            trainer.model,
            trainer.loss,
            self._reference,
            self._canaries,
            clip=trainer.settings.clip,
            statistics=trainer.statistics,
        )
        seen = _flat(step.gradient) * trainer.settings.lot_size - self._scale * base
        expected = trainer.sampling_rate * influence.square().sum(1) / 2
        self.scores += (influence @ seen - expected).double().numpy()


def canary_influence(
    model: nn.Module,
    loss: Loss,
    reference: Batch,
    canaries: Batch,
    *,
    clip: float,
    statistics: Statistics | None,
) -> tuple[Tensor, Tensor]:
    """Compute the clipped sum of a reference lot, and what each canary would change in it.

    Parameters
    ----------
    model : nn.Module
        The model with its present weights.
    loss : callable
        As in training.
    reference : tuple of Tensor
        A lot that the attacker knows.
    canaries : tuple of Tensor
        m canaries.
    clip : float
        C, the clipping bound.
    statistics : Statistics or None
        Where the statistics of batch norm come from.

    Returns
    -------
    Tensor, parameters
        The clipped sum of the reference.
    Tensor, m × parameters
        Its change by each canary.
    """

    def total(batch: Batch) -> Tensor:
        if statistics is not None:
            statistics.refresh(model, batch[0])
        return _flat(clipped_sum(per_sample_gradients(model, loss, batch), clip))

    base = total(reference)
    rows = range(len(canaries[0]))
    if statistics is None or statistics.sound:
        gradients = per_sample_gradients(model, loss, canaries)
        alone = [
            _flat(clipped_sum({name: part[i : i + 1] for name, part in gradients.items()}, clip))
            for i in rows
        ]
        return base, torch.stack(alone)
    joined = (
        tuple(
            torch.cat([part, other[i : i + 1]])
            for part, other in zip(reference, canaries, strict=True)
        )
        for i in rows
    )
    return base, torch.stack([total(batch) - base for batch in joined])


def _flat(gradients: Gradients) -> Tensor:
    return torch.cat([part.flatten() for part in gradients.values()])
