"""Running a study of private training: every model, budget and seed, resumable at any moment."""

from __future__ import annotations

import io
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import torch
from torch import nn

from sottovoce.core.files import write_bytes
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.core.types import IntArray, StageProgress
from sottovoce.learn.accounting import calibrate_noise
from sottovoce.learn.auditing import PrivacyAudit
from sottovoce.learn.canary_audit import audit_training
from sottovoce.learn.draws import Draws
from sottovoce.learn.gradients import Batch, select
from sottovoce.learn.networks import Normalisation
from sottovoce.learn.normalisation import (
    LotStatistics,
    PublicStatistics,
    Statistics,
    public_norms,
)
from sottovoce.learn.settings import PrivateSettings
from sottovoce.learn.study import PrivateStudy
from sottovoce.learn.study_results import (
    PrivateStudyResult,
    StudyCell,
    TrainedRun,
    make_cell,
)
from sottovoce.learn.tasks import Task, open_task
from sottovoce.learn.trainer import PrivateTrainer

CANARIES = 200
"""Canaries of an audit."""
_RUN = Step("runs", records_of(TrainedRun))
_AUDIT = Step("audit", records_of(PrivacyAudit))


def run_study(
    study: PrivateStudy, out: Path, *, audit: bool = False, show: StageProgress
) -> PrivateStudyResult:
    """Train all models of a study, test each once, and write the models.

    Parameters
    ----------
    study : PrivateStudy
        What is trained.
    out : Path
        Folder for finished runs, checkpoints and models (``models/``); a study that was stopped
        continues from it without spending budget twice.
    audit : bool, default False
        Also train once with canaries, the first model with its largest budget, and attack them.
    show : callable
        Shows progress.
    """
    runner = _Runner(study, open_task(study), out, show)
    cells = tuple(
        runner.cell(model, epsilon) for model, epsilon in product(study.models, study.budgets)
    )
    audited = runner.audit(cells) if audit else None
    with suppress(OSError):  # checkpoints of another study may still be there
        (out / "checkpoints").rmdir()
    task = runner.task
    return PrivateStudyResult(
        data=task.data,
        train_records=len(task.train[0]),
        test_records=len(task.test[0]),
        classes=task.classes,
        chance=task.chance,
        cells=cells,
        tuning_runs=runner.tuning_runs,
        audit=None if audited is None else audited[0],
        audited=None if audited is None else audited[1],
    )


@dataclass
class _Runner:
    study: PrivateStudy
    task: Task
    out: Path
    show: StageProgress
    tuning_runs: int = 0

    def __post_init__(self) -> None:
        self.cache = StepCache(self.out / "cache")
        self._digest = self.task.digest()
        self._noise: dict[tuple[float, int], float] = {}

    def cell(self, model: Normalisation, epsilon: float | None) -> StudyCell:
        rate = self._best_rate(model, epsilon)
        runs = [self._trained(model, epsilon, rate, seed) for seed in range(self.study.seeds)]
        return make_cell(model, epsilon, rate, runs)

    def _best_rate(self, model: Normalisation, epsilon: float | None) -> float:
        """Choose on held-out training units; the test data are not looked at."""
        rates = self.study.learning_rates
        if len(rates) == 1:
            return rates[0]
        self.tuning_runs += len(rates)
        tried = {
            rate: self._trained(model, epsilon, rate, 0, choosing=True).accuracy for rate in rates
        }
        return max(tried, key=lambda rate: tried[rate])

    def _trained(
        self,
        model: Normalisation,
        epsilon: float | None,
        rate: float,
        seed: int,
        *,
        choosing: bool = False,
    ) -> TrainedRun:
        varied = {"epsilon", "models", "seeds", "learning_rates"}
        settings = self.study.model_dump(mode="json", exclude=varied)
        inputs = [self._digest, settings, model, epsilon, rate, seed, choosing]
        name = f"{model}, ε = {'∞' if epsilon is None else f'{epsilon:g}'}, seed {seed + 1}"
        stage = f"{'choosing a learning rate' if choosing else 'training'} {name}"

        def compute() -> TrainedRun:
            train, units, test = self.task.train, self.task.units, self.task.test
            if choosing:
                train, units, test = self.task.held_out()
            checkpoint = self.out / "checkpoints" / self.cache.key(*inputs)
            trainer = self._trainer(model, epsilon, rate, seed, train, units, checkpoint)
            run = trainer.train(progress=lambda done, total: self.show(stage, done, total))
            result = TrainedRun(self.task.accuracy(trainer.model, test), run)
            if not choosing:
                ending = "inf" if epsilon is None else f"{epsilon:g}"
                self._save(trainer.model, f"{model}-epsilon-{ending}-seed-{seed + 1}")
            checkpoint.unlink(missing_ok=True)
            return result

        return self.cache.get(_RUN, inputs, compute)

    def _trainer(
        self,
        model: Normalisation,
        epsilon: float | None,
        rate: float,
        seed: int,
        train: Batch,
        units: IntArray | None,
        checkpoint: Path | None,
    ) -> PrivateTrainer:
        torch.manual_seed(seed)
        network = self.task.build(model)
        kind = torch.optim.Adam if self.study.optimiser == "adam" else torch.optim.SGD
        count = len(train[0]) if units is None else len(np.unique(units))
        return PrivateTrainer(
            network,
            self.task.loss,
            kind(network.parameters(), lr=rate),
            train,
            self._settings(epsilon, count),
            units=units,
            collate=self.task.collate,
            statistics=self._statistics(model),
            draws=Draws.reproducible(seed) if self.study.reproducible else None,
            checkpoint=checkpoint,
        )

    def _settings(self, epsilon: float | None, units: int) -> PrivateSettings:
        steps = max(1, round(self.study.epochs * units / self.study.lot))
        noise = 0.0
        if epsilon is not None:
            key = (epsilon, units)
            if key not in self._noise:
                self._noise[key] = calibrate_noise(
                    epsilon=epsilon,
                    delta=self.study.delta,
                    sampling_rate=min(1.0, self.study.lot / units),
                    steps=steps,
                )
            noise = self._noise[key]
        return PrivateSettings(
            lot_size=self.study.lot,
            steps=steps,
            clip=self.study.clip,
            delta=self.study.delta,
            noise_multiplier=noise,
            chunk=self.study.chunk,
        )

    def _statistics(self, model: Normalisation) -> Statistics | None:
        if model != "batch" or self.task.public is None:
            return None
        kind = PublicStatistics if self.study.statistics == "public" else LotStatistics
        return kind(self.task.public)

    def _save(self, model: nn.Module, name: str) -> None:
        buffer = io.BytesIO()
        constants = [module.statistics for module in public_norms(model)]
        torch.save({"weights": model.state_dict(), "statistics": constants}, buffer)
        write_bytes(self.out / "models" / f"{name}.pt", buffer.getvalue())

    def audit(self, cells: tuple[StudyCell, ...]) -> tuple[PrivacyAudit, str] | None:
        """Audit the first model with its largest budget: there an attacker sees most."""
        model = self.study.models[0]
        private = [cell for cell in cells if cell.model == model and cell.epsilon is not None]
        if not private:
            return None
        cell = max(private, key=lambda cell: cell.epsilon or 0)
        train, units, others = self.task.held_out()
        canaries = self._canaries(others)

        def build(data: Batch) -> PrivateTrainer:
            inserted = len(data[0]) - len(train[0])
            owners = units
            if units is not None:  # each canary is a further person with one record
                owners = np.concatenate([units, units.max() + 1 + np.arange(inserted)])
            return self._trainer(model, cell.epsilon, cell.learning_rate, 0, data, owners, None)

        def compute() -> PrivacyAudit:
            return audit_training(
                build,
                train,
                canaries,
                draws=Draws.reproducible(0) if self.study.reproducible else None,
                progress=lambda done, total: self.show("auditing", done, total),
            )[0]

        result = self.cache.get(_AUDIT, [self._digest, self.study.as_json()], compute)
        return result, f"model {model}, ε = {cell.epsilon:g}"

    def _canaries(self, records: Batch) -> Batch:
        """Held-out records with a wrong class each."""
        count = min(CANARIES, len(records[0]))
        chosen = select(records, torch.arange(count))
        shift = torch.randint(
            1, self.task.classes, (count,), generator=torch.Generator().manual_seed(0)
        )
        return (*chosen[:-1], (chosen[-1] + shift) % self.task.classes)
