"""Differentially private stochastic gradient descent (Abadi et al. 2016) for any model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.types import IntArray
from sottovoce.core.types import Progress as ShowProgress
from sottovoce.learn.accounting import account, calibrate_noise
from sottovoce.learn.checkpoint import Progress, RunCheckpoint, run_digest
from sottovoce.learn.draws import Draws
from sottovoce.learn.gradients import (
    Batch,
    Gradients,
    Loss,
    add,
    clipped_sum,
    mean_by_unit,
    per_sample_gradients,
    records_by_unit,
    select,
    trainable,
)
from sottovoce.learn.normalisation import Statistics, collect_statistics, public_norms
from sottovoce.learn.sensitivity import worst_measured_sensitivity
from sottovoce.learn.settings import PrivateRun, PrivateSettings
from sottovoce.learn.validation import (
    check_coupling,
    check_data,
    check_modules,
    made_up_record,
)

Collate = Callable[[Batch], Batch]
"""Prepares the records of a chunk, such as cutting padding that none of them needs."""


@dataclass(frozen=True, slots=True, eq=False)
class NoisyStep:
    """What an observer of training sees of one step: all that the guarantee covers."""

    step: int
    gradient: Gradients
    """The noisy sum of clipped gradients, divided by the lot size."""


Observer = Callable[[NoisyStep], None]


class PrivateTrainer:
    """Trains a model so that it hardly depends on any single record, or person.

    In each step a lot is drawn (each unit with probability q = lot size / units), the gradient of
    each unit is clipped, noise is added to their sum, and the optimiser takes the result. Weights
    and noisy gradients may be shown to anybody; losses of training records may not, so none are
    reported.

    Parameters
    ----------
    model : nn.Module
        The model; it is trained in place. Parameters that require no gradients stay as they are.
    loss : callable
        ``loss(model, *batch)`` returns the mean loss of a batch. It gets batches of one record, and
        must call the model as a function.
    optimiser : torch.optim.Optimizer
        Any optimiser of the model's parameters.
    data : tuple of Tensor
        Training records, by the first dimension; the first tensor is the model's input.
    settings : PrivateSettings
        Lots, steps, clipping and budget.
    units : array of int, optional
        Whom each record belongs to, such as the number of its speaker. Then people are protected
        instead of records: lots are drawn of people, and the mean gradient of a person's records
        is clipped.
    collate : callable, optional
        Prepares the records of a chunk. What a record contributes must not depend on the others.
    statistics : Statistics, optional
        Where the statistics of :class:`~sottovoce.learn.PublicBatchNorm` come from.
    draws : Draws, optional
        Lots and noise; by default from a new secret seed.
    checkpoint : Path, optional
        File with the state of the run, written before the first step and then now and then. If it
        exists, the run continues from it with the same draws. It holds the secret seed: delete it
        when the run is finished.

    Raises
    ------
    UsageError
        ``couples-samples``, ``slow-module``, ``not-poisson``, ``needs-public`` or
        ``out-of-range``.
    InputError
        ``wrong-shape``, ``empty``, ``damaged`` or ``other-run``.

    Examples
    --------
    >>> import torch
    >>> inputs = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    >>> labels = (inputs.sum(1) > 0).long()
    >>> model = torch.nn.Linear(3, 2)
    >>> def loss(model, x, y):
    ...     return torch.nn.functional.cross_entropy(model(x), y)
    >>> trainer = PrivateTrainer(
    ...     model,
    ...     loss,
    ...     torch.optim.SGD(model.parameters(), lr=1.0),
    ...     (inputs, labels),
    ...     PrivateSettings(lot_size=50, steps=10, clip=1.0, delta=1e-4, noise_multiplier=2.0),
    ... )
    >>> run = trainer.train()
    >>> run.guarantee, round(run.spent.rdp_epsilon, 1), run.unit
    ('differential privacy', 1.9, 'record')
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        optimiser: torch.optim.Optimizer,
        data: Batch,
        settings: PrivateSettings,
        *,
        units: IntArray | Tensor | None = None,
        collate: Collate | None = None,
        statistics: Statistics | None = None,
        draws: Draws | None = None,
        checkpoint: Path | None = None,
    ) -> None:
        check_data(data)
        check_modules(model)
        self.model, self.loss, self.optimiser = model, loss, optimiser
        self.data, self.settings = data, settings
        self._collate = collate or (lambda batch: batch)
        self.statistics = statistics
        self._records_of = None if units is None else records_by_unit(units, len(data[0]))
        self.units = len(data[0]) if self._records_of is None else len(self._records_of)
        if settings.lot_size > self.units:
            raise UsageError(
                f"lots of {settings.lot_size} of {self.units} units; take smaller lots",
                code="out-of-range",
            )
        self._refuse_missing_statistics()
        if checkpoint is not None and statistics is not None and not statistics.resumable:
            raise UsageError(
                f"statistics {statistics.name!r} are not in a checkpoint; train without one",
                code="not-resumable",
            )
        self._given_draws = draws
        self._checkpoint = None if checkpoint is None else RunCheckpoint(checkpoint)
        self.noise_multiplier = self._noise_multiplier()
        self._units_tensor = None if units is None else torch.as_tensor(np.asarray(units))
        self._resume()
        if statistics is not None:  # of a made-up record, for the check
            collect_statistics(model, made_up_record(data, seed=2)[0])
        check_coupling(model, loss, data)

    @property
    def sampling_rate(self) -> float:
        """q, the probability with which a unit is in a lot."""
        return self.settings.lot_size / self.units

    @property
    def _normalisation(self) -> str:
        return "none" if self.statistics is None else self.statistics.name

    def train(
        self,
        *,
        steps: int | None = None,
        progress: ShowProgress | None = None,
        observe: Observer | None = None,
        checkpoint_every: int = 20,
    ) -> PrivateRun:
        """Take steps and return what all steps so far have spent.

        Parameters
        ----------
        steps : int, optional
            How many steps to take now; by default all that the settings plan. Together never
            more than planned, since the noise was calibrated for these.
        progress : callable, optional
            Called with the steps that are done and of all.
        observe : callable, optional
            Called after each step with what an observer of training may see.
        checkpoint_every : int, default 20
            Steps between two checkpoints.

        Raises
        ------
        UsageError
            ``budget-spent`` if more steps are asked for than planned.
        """
        left = self.settings.steps - self.steps_taken
        wanted = left if steps is None else steps
        if wanted > left:
            raise UsageError(
                f"{wanted} more steps, but {left} of {self.settings.steps} are left; plan more "
                "steps from the beginning",
                code="budget-spent",
            )
        if self._checkpoint is not None and self.steps_taken == 0:
            self._save()  # the seed must be on the disk before its noise is used
        for taken in range(1, wanted + 1):
            gradient = self._noisy_gradient(self.steps_taken)
            if observe is not None:
                observe(NoisyStep(self.steps_taken, gradient))
            self._update(gradient)
            self.steps_taken += 1
            if self._checkpoint is not None and (taken % checkpoint_every == 0 or taken == wanted):
                self._save()
            if progress is not None:
                progress(self.steps_taken, self.settings.steps)
        if self.statistics is not None:
            self.statistics.finish(self.model)
        return self.summary()

    def summary(self) -> PrivateRun:
        """Return what the steps so far have spent, and whether that is guaranteed."""
        reasons = []
        if self.noise_multiplier == 0:
            reasons.append("no noise was added")
        if self.statistics is not None and not self.statistics.sound:
            reasons.append(
                f"statistics of batch norm ({self.statistics.name}) depend on the whole lot, so "
                "one record changes more than its own clipped gradient"
            )
        if self.draws.public_seed is not None:
            reasons.append("the seed of the noise is public")
        return PrivateRun(
            guarantee="none" if reasons else "differential privacy",
            reasons=tuple(reasons),
            spent=None
            if self.noise_multiplier == 0
            else account(
                sampling_rate=self.sampling_rate,
                noise_multiplier=self.noise_multiplier,
                steps=self.steps_taken,
                delta=self.settings.delta,
            ),
            clip=self.settings.clip,
            lot_size=self.settings.lot_size,
            units=self.units,
            unit="record" if self._records_of is None else "all records of one person",
            normalisation=self._normalisation,
            draws=self.draws.description,
            parameters=sum(value.numel() for value in trainable(self.model).values()),
            torch=str(torch.__version__),
            measured_sensitivity=self._measured_sensitivity(),
        )

    def _measured_sensitivity(self) -> float | None:
        if self.statistics is None or self.statistics.sound or not self.statistics.resumable:
            return None  # running averages would be changed by measuring
        change = worst_measured_sensitivity(
            self.model, self.loss, self.data, clip=self.settings.clip, statistics=self.statistics
        )
        self.statistics.finish(self.model)
        return change

    def _noise_multiplier(self) -> float:
        if self.settings.delta >= 1 / self.units and self.settings.noise_multiplier != 0:
            raise UsageError(
                f"δ = {self.settings.delta:g} for {self.units} units; take less than one over "
                "their number, otherwise revealing one of them at random would be allowed",
                code="out-of-range",
            )
        if self.settings.noise_multiplier is not None:
            return self.settings.noise_multiplier
        assert self.settings.epsilon is not None  # noqa: S101 - checked by the settings
        return calibrate_noise(
            epsilon=self.settings.epsilon,
            delta=self.settings.delta,
            sampling_rate=self.sampling_rate,
            steps=self.settings.steps,
            accountant=self.settings.accountant,
        )

    def _refuse_missing_statistics(self) -> None:
        needy = any(not module.from_input for module in public_norms(self.model))
        if needy and self.statistics is None:
            raise UsageError(
                "the model has public batch norm; give statistics=PublicStatistics(samples)",
                code="needs-public",
            )

    def _resume(self) -> None:
        self.steps_taken = 0
        self._run = run_digest(
            self.data,
            self._units_tensor,
            self.model,
            self.optimiser,
            self.settings,
            f"{getattr(self.loss, '__qualname__', '')} {self._normalisation}",
        )
        saved = None
        if self._checkpoint is not None:
            saved = self._checkpoint.load(self.model, self.optimiser, self._run)
        if saved is None:
            self.draws = self._given_draws or Draws.generate()
            return
        seed = bytes.fromhex(saved.seed)
        if self._given_draws is not None and self._given_draws.seed != seed:
            raise InputError(
                "the checkpoint was made with other draws; leave the draws out to continue it",
                code="other-run",
            )
        self.draws = self._given_draws or Draws(seed)
        self.steps_taken, self.noise_multiplier = saved.steps, saved.noise_multiplier

    def _save(self) -> None:
        assert self._checkpoint is not None  # noqa: S101 - callers have checked
        progress = Progress(
            steps=self.steps_taken,
            sampling_rate=self.sampling_rate,
            noise_multiplier=self.noise_multiplier,
            delta=self.settings.delta,
            run=self._run,
            seed=self.draws.seed.hex(),
        )
        self._checkpoint.save(self.model, self.optimiser, progress)

    def _noisy_gradient(self, step: int) -> Gradients:
        members = self.draws.lot(step, self.units, self.sampling_rate)
        with torch.random.fork_rng():
            torch.manual_seed(self.draws.network_seed(step))
            total = self._clipped_sum(members)
        self._add_noise(total, step)
        return {name: value / self.settings.lot_size for name, value in total.items()}

    def _clipped_sum(self, members: IntArray) -> Gradients:
        if self.statistics is not None:
            records = self._records(members)
            self.statistics.refresh(self.model, self.data[0][records])
        total = {name: torch.zeros_like(value) for name, value in trainable(self.model).items()}
        for part in self._chunks(members):
            records = self._records(part)
            batch = self._collate(select(self.data, records))
            gradients = per_sample_gradients(self.model, self.loss, batch)
            if self._records_of is not None:
                owners = np.repeat(
                    np.arange(len(part)), [len(self._records_of[unit]) for unit in part]
                )
                gradients = mean_by_unit(gradients, torch.as_tensor(owners), len(part))
            add(total, clipped_sum(gradients, self.settings.clip))
        return total

    def _records(self, members: IntArray) -> Tensor:
        if self._records_of is None or len(members) == 0:
            return torch.as_tensor(members, dtype=torch.long)
        return torch.as_tensor(np.concatenate([self._records_of[unit] for unit in members]))

    def _chunks(self, members: IntArray) -> Iterator[IntArray]:
        """Split a lot so that few gradients are in memory; a unit is never divided."""
        if self._records_of is None:
            for start in range(0, len(members), self.settings.chunk):
                yield members[start : start + self.settings.chunk]
            return
        sizes = [len(self._records_of[unit]) for unit in members]
        start = held = 0
        for place, size in enumerate(sizes):
            if held and held + size > self.settings.chunk:
                yield members[start:place]
                start, held = place, 0
            held += size
        if len(members):
            yield members[start:]

    def _add_noise(self, total: Gradients, step: int) -> None:
        """Add noise once to the sum, also if the lot is empty."""
        if self.noise_multiplier == 0:
            return
        deviation = self.settings.clip * self.noise_multiplier
        noise = self.draws.normal(step, sum(value.numel() for value in total.values()))
        start = 0
        for value in total.values():
            part = noise[start : start + value.numel()].reshape(tuple(value.shape))
            value += torch.as_tensor(deviation * part, dtype=value.dtype)
            start += value.numel()

    def _update(self, gradient: Gradients) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        for name, parameter in self.model.named_parameters():
            if name in gradient:
                parameter.grad = gradient[name]
        self.optimiser.step()
