"""Differentially private training of the models of a study. Needs torch (extra ``learn``).

A sentence is what is protected. A phrase that stands in several sentences has as many times ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sottovoce.core.records import Record
from sottovoce.findings import PrivacyFinding
from sottovoce.learn import Draws, PrivateRun, PrivateSettings, PrivateTrainer

_CHUNK = 32
"""Sentences whose gradients are in memory at once."""


@dataclass(frozen=True, slots=True)
class PrivacyBudget(Record):
    """Differentially private training of a model, by sentence."""

    epsilon: float
    delta: float
    clip: float = 0.5
    lot: int = 64
    learning_rate: float = 5e-3
    epochs: int = 10


def train_privately(
    model: nn.Module,
    loss: Callable[..., Tensor],
    data: tuple[Tensor, ...],
    budget: PrivacyBudget,
    check: Callable[[int], None],
    *,
    collate: Callable[[tuple[Tensor, ...]], tuple[Tensor, ...]] | None = None,
    draws: Draws | None = None,
) -> PrivateRun:
    """Train with DPSGD (Adam on noisy gradients).

    Parameters
    ----------
    model : nn.Module
        Trained in place.
    loss : callable
        ``loss(model, *batch)`` returns the mean loss of the words of a batch.
    data : tuple of Tensor
        Sentences, by the first dimension.
    budget : PrivacyBudget
        ε and δ of the whole run, and how it is spent.
    check : callable
        Called after each epoch with its number from 1.
    collate : callable, optional
        Prepares the sentences whose gradients are computed at once.
    draws : Draws, optional
        Lots and noise; by default from a new secret seed.
    """
    count = len(data[0])
    steps = max(1, math.ceil(count / budget.lot))
    parameters = [value for value in model.parameters() if value.requires_grad]
    trainer = PrivateTrainer(
        model,
        loss,
        torch.optim.Adam(parameters, lr=budget.learning_rate),
        data,
        PrivateSettings(
            lot_size=min(budget.lot, count),
            steps=steps * budget.epochs,
            clip=budget.clip,
            delta=budget.delta,
            epsilon=budget.epsilon,
            chunk=_CHUNK,
        ),
        collate=collate,
        draws=draws,
    )
    for epoch in range(1, budget.epochs + 1):
        trainer.train(steps=steps)
        check(epoch)
    return trainer.summary()


def privacy_finding(run: PrivateRun) -> PrivacyFinding | None:
    """Return what a run guarantees as results hold it; None if it added no noise.

    Parameters
    ----------
    run : PrivateRun
        A finished run.
    """
    if run.spent is None:
        return None
    return PrivacyFinding(
        epsilon=run.spent.rdp_epsilon,
        pld_epsilon=run.spent.pld_epsilon,
        delta=run.spent.delta,
        noise_multiplier=run.spent.noise_multiplier,
        guarantee=run.guarantee,
        reasons=run.reasons,
        unit="sentence" if run.unit == "record" else run.unit,
    )
