"""Tables 10 to 12: accuracy of privately trained networks over the privacy budget."""

from __future__ import annotations

from pathlib import Path

from sottovoce.learn.study import PrivateStudy
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Cell, Compared, ItemOutput, paper_table

Published = dict[str, tuple[float, ...]]

EPSILONS_10 = (7.0, 3.0, 1.0, 0.5, 0.1, 0.05)
TABLE_10: Published = {
    "none": (97.01, 96.34, 94.11, 91.10, 83.00, 78.96),
    "layer": (97.35, 97.05, 96.68, 94.81, 87.45, 75.76),
    "batch": (98.68, 98.18, 97.61, 96.83, 90.68, 88.15),
}
"""LeNet-5 on MNIST: accuracy in % by normalisation and ε."""
EPSILONS_11 = (8.0, 4.0, 2.0)
TABLE_11: Published = {
    "none": (73.0, 70.0, 67.0),
    "layer": (73.3, 70.6, 67.0),
    "batch": (74.1, 71.2, 69.8),
}
"""Linear layers over a pre-trained network on CIFAR-10."""
EPSILONS_12 = (7.0, 3.0, 1.0, 0.5, 0.1)
TABLE_12: Published = {
    "none": (83.86, 80.00, 81.14, 77.88, 37.49),
    "layer": (84.34, 82.51, 82.03, 79.16, 50.09),
}
"""A BiLSTM on AG News."""

DELTA = 1e-5
QUICK_BUDGETS = 2
"""Budgets of a quick run, the largest first."""


def _accuracies(
    data: PaperData, study: PrivateStudy, name: str, published: Published, why: str
) -> ItemOutput:
    """Run a study of private training, and put the published accuracies beside it."""
    from sottovoce.learn.study_run import run_study

    show = data.progress or (lambda stage, done, total: None)
    result = run_study(study, data.work / f"private-{name}", show=show)
    rows: list[tuple[Cell, ...]] = []
    compared = []
    for cell in result.cells:
        place = study.epsilon.index(cell.epsilon or 0.0)
        label = "plain" if cell.model == "none" else f"{cell.model} norm"
        before, ours = published[cell.model][place], 100 * cell.mean
        spent = None if cell.run.spent is None else cell.run.spent.pld_epsilon
        rows.append((label, f"{cell.epsilon:g}", before, ours, spent, cell.learning_rate))
        compared.append(
            Compared(f"accuracy in %, {label}, ε = {cell.epsilon:g}", before, ours, why)
        )
    headings = ("network", "ε", "published", "here", "ε by PLD", "learning rate")
    return ItemOutput(
        f"{name}: {result.train_records:,} training and {result.test_records:,} test records, "
        f"δ = {DELTA:g}, {study.epochs:g} epochs, {study.seeds} "
        f"seed{'s' if study.seeds > 1 else ''}",
        tables=[paper_table("Accuracy in % of private networks", headings, rows, decimals=2)],
        compared=compared,
        remarks=[
            "Noise is drawn from public seeds, as in any published study, so that ε is nominal: "
            "whoever releases a model draws secretly (docs/private-learning.md)."
        ],
    )


def _table_10(data: PaperData) -> ItemOutput:
    folder = data.digits or Path()
    study = PrivateStudy(
        task="images",
        train=folder / "mnist.npz",
        public=folder / "kmnist_public.npz",
        models=("none", "layer", "batch"),
        epsilon=EPSILONS_10[:QUICK_BUDGETS] if data.quick else EPSILONS_10,
        delta=DELTA,
        lot=512,
        epochs=0.25 if data.quick else 4.0,
        clip=0.5,
        optimiser="sgd",
        learning_rates=(4.0,) if data.quick else (2.0, 4.0, 8.0),
        seeds=1 if data.quick else 3,
        reproducible=True,
    )
    why = "fewer epochs and seeds; batch statistics from public images alone, which is sound"
    return _accuracies(data, study, "MNIST", TABLE_10, why)


def _table_11(data: PaperData) -> ItemOutput:
    folder = data.features or Path()
    study = PrivateStudy(
        task="vectors",
        train=folder / "train.npz",
        test=folder / "test.npz",
        public=folder / "public.npz",
        models=("none", "layer", "batch"),
        epsilon=EPSILONS_11[:QUICK_BUDGETS] if data.quick else EPSILONS_11,
        delta=DELTA,
        lot=512,
        epochs=1.0 if data.quick else 4.0,
        optimiser="sgd",
        learning_rates=(1.0,) if data.quick else (0.5, 1.0, 2.0),
        seeds=1 if data.quick else 3,
        reproducible=True,
    )
    return _accuracies(data, study, "CIFAR-10", TABLE_11, "another pre-trained network")


def _table_12(data: PaperData) -> ItemOutput:
    folder = data.news or Path()
    study = PrivateStudy(
        task="sentences",
        train=folder / "train.csv",
        test=folder / "test.csv",
        models=("none", "layer"),
        epsilon=EPSILONS_12[:QUICK_BUDGETS] if data.quick else EPSILONS_12,
        delta=DELTA,
        lot=512,
        epochs=0.25 if data.quick else 4.0,
        learning_rates=(0.02,) if data.quick else (0.01, 0.02, 0.05),
        seeds=1 if data.quick else 3,
        reproducible=True,
    )
    return _accuracies(data, study, "AG News", TABLE_12, "random word vectors, fewer epochs")


ITEMS = (
    PaperItem(
        "004-table-10",
        "Accuracy of private networks on MNIST",
        _table_10,
        ("digits", "torch", "accounting"),
    ),
    PaperItem(
        "004-table-11",
        "Accuracy of private networks on CIFAR-10",
        _table_11,
        ("features", "torch", "accounting"),
    ),
    PaperItem(
        "004-table-12",
        "Accuracy of private networks on AG News",
        _table_12,
        ("news", "torch", "accounting"),
    ),
)
