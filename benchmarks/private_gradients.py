"""Per-sample gradients of LeNet-5: ours (vmap) against Opacus and plain training, in one run.

    python benchmarks/private_gradients.py

One thread; images a second of CPU time, the best of several rounds that alternate, with the best
number of images at once for each. Opacus must be
installed (``pip install opacus==1.6.0``); without it, its column is empty.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import torch
from torch.nn.functional import cross_entropy

from sottovoce.learn import PublicStatistics
from sottovoce.learn.gradients import clipped_sum, per_sample_gradients
from sottovoce.learn.networks import LeNet5

LOT, ROUNDS = 512, 3
CHUNKS = (64, 128, 256, 512)
"""Images at once; each method is reported with its best."""


def loss(model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return cross_entropy(model(images), labels)


def plain(model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> None:
    model.zero_grad()
    loss(model, images, labels).backward()


def ours(model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> None:
    clipped_sum(per_sample_gradients(model, loss, (images, labels)), 0.5)


def opacus_step() -> Callable[[torch.Tensor, torch.Tensor], None] | None:
    try:
        from opacus import GradSampleModule
    except ImportError:
        return None
    model = GradSampleModule(LeNet5("none"), loss_reduction="mean")

    def step(images: torch.Tensor, labels: torch.Tensor) -> None:
        model.zero_grad()
        cross_entropy(model(images), labels).backward()
        gradients = {name: part.grad_sample for name, part in model.named_parameters()}
        clipped_sum(gradients, 0.5)

    return step


def images_a_second(
    step: Callable[[torch.Tensor, torch.Tensor], None],
    batch: tuple[torch.Tensor, torch.Tensor],
    chunk: int,
) -> float:
    begin = time.process_time()
    for start in range(0, LOT, chunk):
        step(batch[0][start : start + chunk], batch[1][start : start + chunk])
    return LOT / (time.process_time() - begin)


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    batch = torch.rand(LOT, 1, 28, 28), torch.randint(10, (LOT,))
    network, normalised = LeNet5("none"), LeNet5("batch")
    statistics = PublicStatistics(torch.rand(128, 1, 28, 28))

    def public_batch_norm(images: torch.Tensor, labels: torch.Tensor) -> None:
        if images.data_ptr() == batch[0].data_ptr():  # once a lot
            statistics.refresh(normalised, images)
        ours(normalised, images, labels)

    public_batch_norm(*(part[:64] for part in batch))
    steps: dict[str, Callable[[torch.Tensor, torch.Tensor], None] | None] = {
        "plain training": lambda images, labels: plain(network, images, labels),
        "ours (vmap)": lambda images, labels: ours(network, images, labels),
        "ours, public batch norm (M = 128)": public_batch_norm,
        "Opacus (hooks)": opacus_step(),
    }
    best = dict.fromkeys(steps, (0.0, 0))
    for chunk in CHUNKS * ROUNDS:
        for name, step in steps.items():
            if step is not None:
                best[name] = max(best[name], (images_a_second(step, batch, chunk), chunk))
    peer = best["Opacus (hooks)"][0]
    print("| gradients of LeNet-5 | images a CPU second | images at once | against Opacus |")
    print("|---|---|---|---|")
    for name, (speed, chunk) in best.items():
        ratio = f"{speed / peer:.2f}" if peer else "–"
        print(f"| {name} | {speed:,.0f} | {chunk} | {ratio} |")


if __name__ == "__main__":
    main()
