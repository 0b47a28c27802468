"""Whether normalisation keeps the promise: sensitivity of LeNet-5, and audits of single runs.

    python benchmarks/private_promises.py sensitivity DIGITS
    python benchmarks/private_promises.py audit

``sensitivity`` trains LeNet-5 with public batch norm for some steps and measures by how much one
added record changes the sum of clipped gradients, as a multiple of the clipping bound C. DIGITS is
the folder that ``private_digits.py`` reads. ``audit`` trains a linear classifier behind batch norm
once a row with 128 canaries, each extreme in one feature, and bounds ε from below (95 %).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from private_digits import CLIP, Digits, loss
from torch import Tensor, nn

from sottovoce.learn import (
    Draws,
    LotStatistics,
    PrivateSettings,
    PrivateTrainer,
    PublicBatchNorm,
    PublicStatistics,
    WithPublicSamples,
)
from sottovoce.learn.canary_audit import audit_training
from sottovoce.learn.networks import LeNet5
from sottovoce.learn.sensitivity import literal_sensitivity, measured_sensitivity

STEPS = 20
FEATURES, RECORDS, LOT = 128, 1024, 512


def trained(digits: Digits) -> nn.Module:
    torch.manual_seed(0)
    model = LeNet5("batch")
    trainer = PrivateTrainer(
        model,
        loss,
        torch.optim.SGD(model.parameters(), lr=4.0),
        digits.train,
        PrivateSettings(lot_size=512, steps=STEPS, clip=CLIP, delta=1e-5, noise_multiplier=1.0),
        statistics=PublicStatistics(digits.public),
        draws=Draws.reproducible(0),
    )
    trainer.train()
    return model


def sensitivity(digits: Digits) -> None:
    model = trained(digits)
    images, labels = digits.train
    noise = torch.randn(1, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    records = {
        "a further image": images[-1:],
        "20 deviations": 20 * noise,
        "1000 deviations": 1000 * noise,
    }
    print("| lot | added record | public | {x} ∪ 8 public | lot | lot, literal |")
    print("|---|---|---|---|---|---|")
    for size in (64, 512):
        lot = images[:size], labels[:size]
        for name, image in records.items():
            record = image, labels[-1:]
            cells = [
                measured_sensitivity(model, loss, lot, record, clip=CLIP, statistics=statistics)
                for statistics in (PublicStatistics(digits.public), LotStatistics(digits.public))
            ]
            small = size == 64
            literal = (
                literal_sensitivity(model, loss, lot, record, digits.public, clip=CLIP)
                if small
                else None
            )
            concat = concatenated(digits, model, lot, record) if small else None
            shown = [cells[0], concat, cells[1], literal]
            row = " | ".join("–" if value is None else f"{value:.5f}" for value in shown)
            print(f"| {size} | {name} | {row} |", flush=True)


def concatenated(
    digits: Digits, model: nn.Module, lot: tuple[Tensor, Tensor], record: tuple[Tensor, Tensor]
) -> float:
    copy = LeNet5("batch")
    copy.load_state_dict(model.state_dict())
    wrapped = WithPublicSamples(copy, digits.public[:8])
    return measured_sensitivity(wrapped, loss, lot, record, clip=CLIP)


def audit() -> None:
    print("| statistics | z | claimed ε (PLD) | guessed rightly | ε at least |")
    print("|---|---|---|---|---|")
    for kind, noise, size, count, lot in (
        (PublicStatistics, 4.0, 1000.0, RECORDS, LOT),
        (LotStatistics, 4.0, 1000.0, RECORDS, LOT),
        (PublicStatistics, 2.0, 10.0, 128, 120),
        (PublicStatistics, 0.5, 10.0, 128, 120),
    ):
        for seed in range(3):
            generator = torch.Generator().manual_seed(seed)
            labels = torch.randint(2, (count,), generator=generator)
            inputs = torch.randn(count, FEATURES, generator=generator)
            inputs += (labels - 0.5).unsqueeze(1)
            classes = torch.randint(2, (FEATURES,), generator=generator)
            statistics = kind(torch.randn(64, FEATURES, generator=generator))

            def build(
                data: tuple[Tensor, ...],
                noise: float = noise,
                lot: int = lot,
                seed: int = seed,
                statistics: PublicStatistics = statistics,
            ) -> PrivateTrainer:
                torch.manual_seed(seed)
                model = nn.Sequential(PublicBatchNorm(FEATURES), nn.Linear(FEATURES, 2))
                return PrivateTrainer(
                    model,
                    loss,
                    torch.optim.SGD(model.parameters(), lr=0.05),
                    data,
                    PrivateSettings(lot, 8, clip=1.0, delta=1e-5, noise_multiplier=noise),
                    statistics=statistics,
                    draws=Draws.reproducible(50 + seed),
                )

            found, _ = audit_training(
                build,
                (inputs, labels),
                (size * torch.eye(FEATURES), classes),
                draws=Draws.reproducible(seed),
            )
            print(
                f"| {kind.name} | {noise:g} | {found.claimed_epsilon:.2f} | {found.correct} of "
                f"{found.guesses} | {found.epsilon_lower:.2f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("sensitivity").add_argument("digits", type=Path)
    commands.add_parser("audit")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "audit":
        audit()
    else:
        sensitivity(Digits(arguments.digits))


if __name__ == "__main__":
    main()
