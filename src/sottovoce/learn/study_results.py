"""What a study of private training found. Nothing here needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from sottovoce.core.records import Record, optional
from sottovoce.learn.auditing import PrivacyAudit
from sottovoce.learn.settings import PrivateRun


@dataclass(frozen=True, slots=True)
class TrainedRun(Record):
    """One training run of a study."""

    accuracy: float
    """Share of test records that are classified rightly."""
    run: PrivateRun


@dataclass(frozen=True, slots=True)
class StudyCell(Record):
    """A model with a budget, trained with several seeds."""

    model: str
    """Its normalisation."""
    epsilon: float | None
    """The budget; None for training without noise."""
    learning_rate: float
    accuracies: tuple[float, ...]
    """One a seed."""
    mean: float
    low: float | None
    """Ends of the 95 % interval of the mean over seeds (Student's t); None for a single seed."""
    high: float | None
    run: PrivateRun
    """What the first seed's run guarantees; those of the others differ in their draws only."""


@dataclass(frozen=True, slots=True)
class PrivateStudyResult(Record):
    """Accuracy over ε, and what is guaranteed."""

    data: str
    """Where the data came from."""
    train_records: int
    test_records: int
    classes: int
    chance: float
    """Share of the most frequent class in the test data."""
    cells: tuple[StudyCell, ...]
    tuning_runs: int
    """Runs for the choice of learning rates; what they disclose is not in any ε."""
    audit: PrivacyAudit | None = optional()
    audited: str | None = optional()
    """Which cell was audited."""


def make_cell(
    model: str, epsilon: float | None, learning_rate: float, runs: Sequence[TrainedRun]
) -> StudyCell:
    """Summarise the runs of one cell.

    Parameters
    ----------
    model : str
        Its normalisation.
    epsilon : float or None
        Its budget.
    learning_rate : float
        The rate that was used.
    runs : sequence of TrainedRun
        One a seed.
    """
    accuracies = np.array([run.accuracy for run in runs])
    low = high = None
    if len(runs) > 1:
        quantile = float(scipy.special.stdtrit(len(runs) - 1, 0.975))
        half = quantile * float(accuracies.std(ddof=1)) / len(runs) ** 0.5
        low, high = max(0.0, accuracies.mean() - half), min(1.0, accuracies.mean() + half)
    return StudyCell(
        model=model,
        epsilon=epsilon,
        learning_rate=learning_rate,
        accuracies=tuple(accuracies.tolist()),
        mean=float(accuracies.mean()),
        low=None if low is None else float(low),
        high=None if high is None else float(high),
        run=runs[0].run,
    )
