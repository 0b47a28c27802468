"""Accuracy of LeNet-5 on MNIST over ε: plain, layer norm and public batch norm (D2.3, Table 10).

    python benchmarks/private_digits.py run DIGITS results.jsonl --seed 0
    python benchmarks/private_digits.py table results.jsonl

DIGITS is a folder with ``mnist.npz`` (``train_images``, ``train_labels``, ``test_images``,
``test_labels``) and ``kmnist_public.npz`` (``images``). For each model and ε the learning rate is
chosen once, with one seed and a third of the steps, by accuracy on 10,000 training images that this
choice does not train on; then three seeds train on all training images, and the test images are
looked at once for each. Runs that are in the results file are not repeated.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from sottovoce.learn import (
    Draws,
    PrivateSettings,
    PrivateTrainer,
    PublicStatistics,
    calibrate_noise,
)
from sottovoce.learn.networks import LeNet5, Normalisation

MODELS: tuple[Normalisation, ...] = ("none", "layer", "batch")
NAMES = {"none": "LeNet-5", "layer": "LN-LeNet-5", "batch": "BN-LeNet-5"}
PUBLISHED = {
    "none": (97.01, 96.34, 94.11, 91.10, 83.00, 78.96),
    "layer": (97.35, 97.05, 96.68, 94.81, 87.45, 75.76),
    "batch": (98.68, 98.18, 97.61, 96.83, 90.68, 88.15),
}
"""D2.3, Table 10, for the ε of :data:`CELLS`."""
HELD_OUT = 10_000
SEEDS = (0, 1, 2)
EPOCHS = 1.0
PART = 3
"""A learning rate is tried for one over this of the steps."""
DELTA, CLIP = 1e-5, 0.5


@dataclass(frozen=True)
class Cell:
    lot_size: int
    rates: tuple[float, ...]


CELLS = {
    7.0: Cell(512, (2, 4, 8)),
    3.0: Cell(512, (2, 4, 8)),
    1.0: Cell(512, (2, 4, 8)),
    0.5: Cell(1024, (3, 6, 12)),
    0.1: Cell(2048, (3, 6, 12)),
    0.05: Cell(4096, (3, 6, 12)),
}


class Digits:
    def __init__(self, folder: Path) -> None:
        with np.load(folder / "mnist.npz") as file:
            self.train = _images(file["train_images"]), torch.tensor(file["train_labels"]).long()
            self.test = _images(file["test_images"]), torch.tensor(file["test_labels"]).long()
        with np.load(folder / "kmnist_public.npz") as file:
            self.public = _images(file["images"])


def _images(pixels: np.ndarray) -> torch.Tensor:
    return torch.tensor(pixels).float().div(255).unsqueeze(1)


def loss(model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return cross_entropy(model(images), labels)


def accuracy(model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    with torch.no_grad():
        guesses = torch.cat([model(part).argmax(1) for part in images.split(1000)])
    return float((guesses == labels).float().mean())


@cache
def noise_for(epsilon: float, sampling_rate: float, steps: int) -> float:
    return calibrate_noise(epsilon=epsilon, delta=DELTA, sampling_rate=sampling_rate, steps=steps)


def train(
    digits: Digits,
    normalisation: Normalisation,
    epsilon: float,
    rate: float,
    seed: int,
    *,
    choosing: bool,
) -> dict[str, object]:
    cell = CELLS[epsilon]
    images, labels = digits.train
    train_set, test_set = digits.train, digits.test
    if choosing:
        train_set = images[:-HELD_OUT], labels[:-HELD_OUT]
        test_set = images[-HELD_OUT:], labels[-HELD_OUT:]
    steps = round(EPOCHS * len(train_set[0]) / cell.lot_size)
    torch.manual_seed(seed)
    model = LeNet5(normalisation)
    trainer = PrivateTrainer(
        model,
        loss,
        torch.optim.SGD(model.parameters(), lr=rate),
        train_set,
        PrivateSettings(
            lot_size=cell.lot_size,
            steps=steps,
            clip=CLIP,
            delta=DELTA,
            noise_multiplier=noise_for(epsilon, cell.lot_size / len(train_set[0]), steps),
        ),
        statistics=PublicStatistics(digits.public) if normalisation == "batch" else None,
        draws=Draws.reproducible(seed),
    )
    start = time.process_time()
    run = trainer.train(steps=trainer.settings.steps // PART if choosing else None)
    assert run.spent is not None
    return {
        "model": normalisation,
        "epsilon": epsilon,
        "rate": rate,
        "seed": seed,
        "choosing": choosing,
        "accuracy": accuracy(model, *test_set),
        "noise_multiplier": trainer.noise_multiplier,
        "steps": run.spent.steps,
        "rdp_epsilon": run.spent.rdp_epsilon,
        "pld_epsilon": run.spent.pld_epsilon,
        "cpu_seconds": time.process_time() - start,
    }


class Results:
    """Lines of a JSONL file, one a run; a run that is there is not repeated."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = (
            [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        )

    def find(self, **values: object) -> list[dict[str, float]]:
        return [row for row in self.rows if all(row[key] == values[key] for key in values)]

    def add(self, row: dict[str, object]) -> None:
        self.rows.append(json.loads(json.dumps(row)))
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")


def run(digits: Digits, results: Results, seeds: Sequence[int]) -> None:
    """Choose all learning rates, then train seed by seed, so that a part is a whole table."""
    for epsilon, model in product(CELLS, MODELS):
        for rate in CELLS[epsilon].rates:
            if not results.find(model=model, epsilon=epsilon, rate=rate, choosing=True):
                results.add(train(digits, model, epsilon, rate, 0, choosing=True))
    for seed, epsilon, model in product(seeds, CELLS, MODELS):
        if not results.find(model=model, epsilon=epsilon, seed=seed, choosing=False):
            rate = best_rate(results, model, epsilon)
            results.add(train(digits, model, epsilon, rate, seed, choosing=False))


def best_rate(results: Results, model: str, epsilon: float) -> float:
    tried = results.find(model=model, epsilon=epsilon, choosing=True)
    return max(tried, key=lambda row: row["accuracy"])["rate"]


def table(results: Results) -> str:
    lines = [
        "| model | " + " | ".join(f"ε = {epsilon:g}" for epsilon in CELLS) + " |",
        "|---" * (len(CELLS) + 1) + "|",
    ]
    for model in MODELS:
        cells = []
        for epsilon, published in zip(CELLS, PUBLISHED[model], strict=True):
            runs = results.find(model=model, epsilon=epsilon, choosing=False)
            shares = [100 * row["accuracy"] for row in runs]
            ours = (
                f"{np.mean(shares):.2f} ({min(shares):.2f}–{max(shares):.2f}), rate "
                f"{runs[0]['rate']:g}"
                if shares
                else "–"
            )
            cells.append(f"{ours}; published {published:.2f}")
        lines.append(f"| {NAMES[model]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("digits", type=Path)
    running.add_argument("results", type=Path)
    running.add_argument("--seed", type=int, action="append", choices=SEEDS)
    showing = commands.add_parser("table")
    showing.add_argument("results", type=Path)
    arguments = parser.parse_args()
    results = Results(arguments.results)
    if arguments.command == "run":
        run(Digits(arguments.digits), results, arguments.seed or SEEDS)
    print(table(results))


if __name__ == "__main__":
    main()
