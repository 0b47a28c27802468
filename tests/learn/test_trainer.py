"""The private trainer is DPSGD by a slow definition, learns, and refuses what is unsafe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code

torch = pytest.importorskip("torch")
pytest.importorskip("dp_accounting")

from torch import Tensor, nn  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402

from sottovoce.learn import (  # noqa: E402
    Draws,
    NoisyStep,
    PrivateSettings,
    PrivateTrainer,
    PublicBatchNorm,
    PublicStatistics,
    RunningStatistics,
)
from sottovoce.learn.networks import SentenceClassifier, cut_padding  # noqa: E402


def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(model(x), y)


def records(count: int = 60, seed: int = 0) -> tuple[Tensor, Tensor]:
    x = torch.randn(count, 4, generator=torch.Generator().manual_seed(seed))
    return x, (x[:, 0] + x[:, 1] > 0).long()


def trainer(model: nn.Module, data: Any = None, **changes: Any) -> PrivateTrainer:
    settings = {"lot_size": 20, "steps": 6, "clip": 0.5, "delta": 1e-3, "noise_multiplier": 1.5}
    named = {name: changes.pop(name) for name in list(changes) if name in settings | EXTRA}
    return PrivateTrainer(
        model,
        loss,
        changes.pop("optimiser", None) or torch.optim.SGD(model.parameters(), lr=0.5),
        records() if data is None else data,
        PrivateSettings(**{**settings, **named}),
        draws=changes.pop("draws", Draws.reproducible(0)),
        **changes,
    )


EXTRA = {"epsilon": None, "chunk": None, "accountant": None}


def test_a_step_is_the_noisy_mean_of_clipped_gradients() -> None:
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    seen: list[NoisyStep] = []
    start = {name: value.detach().clone() for name, value in model.named_parameters()}
    private = trainer(model, steps=1, chunk=7)
    private.train(observe=seen.append)
    x, y = records()
    draws = Draws.reproducible(0)
    total = torch.zeros(10)
    for i in draws.lot(0, 60, 20 / 60):
        probability = torch.softmax(x[i] @ start["weight"].T + start["bias"], 0)
        error = probability - torch.eye(2)[y[i]]
        gradient = torch.cat([torch.outer(error, x[i]).flatten(), error])
        total += gradient * min(1, 0.5 / gradient.norm().item())
    expected = (total.double() + 0.5 * 1.5 * torch.tensor(draws.normal(0, 10))) / 20
    gradient = torch.cat([seen[0].gradient["weight"].flatten(), seen[0].gradient["bias"]])
    assert torch.allclose(gradient.double(), expected, atol=1e-6)
    moved = start["weight"] - 0.5 * seen[0].gradient["weight"]
    assert torch.allclose(model.weight.detach(), moved, atol=1e-7)


def test_chunks_change_nothing_but_rounding() -> None:
    weights = []
    for chunk in (3, 256):
        torch.manual_seed(0)
        model = nn.Linear(4, 2)
        trainer(model, chunk=chunk).train()
        weights.append(model.weight.detach())
    assert torch.allclose(*weights, atol=1e-6)


def test_an_empty_lot_still_adds_noise() -> None:
    data = records(3)
    draws = Draws.reproducible(2)
    step = next(step for step in range(50) if len(draws.lot(step, 3, 1 / 3)) == 0)
    seen: list[NoisyStep] = []
    private = trainer(nn.Linear(4, 2), data, lot_size=1, steps=step + 1, draws=draws)
    private.train(observe=seen.append)
    noise = torch.tensor(draws.normal(step, 10)[:8]).reshape(2, 4) * 0.75
    assert torch.allclose(seen[-1].gradient["weight"].double(), noise, atol=1e-6)


def test_the_budget_is_kept_and_reported() -> None:
    private = trainer(nn.Linear(4, 2), noise_multiplier=None, epsilon=2.0, draws=Draws.generate())
    run = private.train()
    assert run.spent is not None and run.spent.steps == 6
    assert run.spent.rdp_epsilon <= 2.0 and run.spent.pld_epsilon <= 2.0
    assert (run.guarantee, run.reasons, run.unit, run.units) == (
        "differential privacy",
        (),
        "record",
        60,
    )
    assert run.to_dict()["parameters"] == 10
    with raises_code("budget-spent"):
        private.train(steps=1)


def test_what_protects_nobody_is_said_to_guarantee_nothing() -> None:
    public = trainer(nn.Linear(4, 2)).train()
    assert public.guarantee == "none" and public.spent is not None
    silent = trainer(nn.Linear(4, 2), noise_multiplier=0.0, draws=Draws.generate()).train()
    assert silent.guarantee == "none" and silent.spent is None


def test_people_are_protected_as_a_whole() -> None:
    """A person with many records contributes one clipped gradient, and lots are of people."""
    x, y = records(40)
    people = np.repeat(np.arange(8), 5)
    seen: list[NoisyStep] = []
    private = trainer(
        nn.Linear(4, 2), (x, y), units=people, lot_size=8, noise_multiplier=0.0, chunk=11
    )
    run = private.train(observe=seen.append)
    assert (run.units, run.unit) == (8, "all records of one person")
    for step in seen:
        total = 8 * torch.cat([value.flatten() for value in step.gradient.values()])
        assert total.norm() <= 8 * 0.5 * (1 + 1e-5)
    one = trainer(nn.Linear(4, 2), (x, y), units=np.zeros(40), lot_size=1, noise_multiplier=0.0)
    one.train(observe=seen.append)
    last = torch.cat([value.flatten() for value in seen[-1].gradient.values()])
    assert last.norm() <= 0.5 * (1 + 1e-5)


def test_it_learns_text_of_any_length_with_adam_and_dropout() -> None:
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    lengths = torch.randint(1, 6, (300,), generator=generator)
    labels = torch.randint(2, (300,), generator=generator)
    tokens = 1 + 4 * labels.unsqueeze(1) + torch.randint(4, (300, 5), generator=generator)
    tokens[torch.arange(5) >= lengths.unsqueeze(1)] = 0
    model = SentenceClassifier(9, 2, dimension=8, hidden=8)
    model.norm = nn.Dropout(0.2)

    def text_loss(call: nn.Module, tokens: Tensor, lengths: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(call(tokens, lengths), labels)

    private = PrivateTrainer(
        model,
        text_loss,
        torch.optim.Adam(model.parameters(), lr=0.02),
        (tokens, lengths, labels),
        PrivateSettings(lot_size=100, steps=30, clip=1.0, delta=1e-3, epsilon=4.0, chunk=64),
        collate=cut_padding,
        draws=Draws.reproducible(0),
    )
    private.train()
    guesses = model(tokens, lengths).argmax(1)
    assert float((guesses == labels).float().mean()) > 0.9


def test_frozen_parts_stay_as_they_are() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    model[0].requires_grad_(False)
    model[1].eval().requires_grad_(False)  # pre-trained statistics, held constant
    before = {name: value.clone() for name, value in model.state_dict().items()}
    trainer(model).train()
    changed = {
        name for name, value in model.state_dict().items() if not torch.equal(value, before[name])
    }
    assert changed == {"2.weight", "2.bias"}


@pytest.mark.parametrize(
    ("module", "code"),
    [
        (nn.BatchNorm1d(4), "couples-samples"),
        (nn.BatchNorm1d(4, affine=False), "couples-samples"),
        (nn.BatchNorm1d(4, track_running_stats=False), "couples-samples"),
        (nn.BatchNorm1d(4, affine=False, track_running_stats=False).eval(), "couples-samples"),
        (nn.SyncBatchNorm(4), "couples-samples"),
        (nn.InstanceNorm1d(4, track_running_stats=True), "couples-samples"),
        (PublicBatchNorm(4), "needs-public"),
    ],
)
def test_modules_that_couple_samples_are_refused_by_name(module: nn.Module, code: str) -> None:
    with raises_code(code) as caught:
        trainer(nn.Sequential(nn.Linear(4, 4), module, nn.Linear(4, 2)))
    assert code == "needs-public" or "'1'" in str(caught.value)


class Centred(nn.Module):  # type: ignore[misc]
    """A batch norm that somebody wrote; its class says nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return x - x.mean(0)


class Remembering(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        self.total += x.detach().sum(0)
        return x


@pytest.mark.parametrize("module", [Centred(), Remembering()])
def test_unknown_modules_are_tried(module: nn.Module) -> None:
    with raises_code("couples-samples") as caught:
        trainer(nn.Sequential(nn.Linear(4, 4), module, nn.Linear(4, 2)))
    assert "'1" in str(caught.value)


def test_recurrent_modules_of_torch_are_refused_with_the_remedy() -> None:
    with raises_code("slow-module") as caught:
        trainer(nn.Sequential(nn.LSTM(4, 4)))
    assert "Lstm" in str(caught.value)


def test_shuffled_batches_are_refused() -> None:
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*records()), batch_size=8)
    with raises_code("not-poisson"):
        trainer(nn.Linear(4, 2), loader)


@pytest.mark.parametrize(
    ("data", "changes", "code"),
    [
        ((torch.zeros(3, 4), torch.zeros(2)), {}, "wrong-shape"),
        ((torch.zeros(0, 4), torch.zeros(0)), {}, "empty"),
        ([torch.zeros(3, 4)], {}, "wrong-type"),
        (None, {"lot_size": 61}, "out-of-range"),
        (None, {"lot_size": 0}, "out-of-range"),
        (None, {"clip": float("nan")}, "out-of-range"),
        (None, {"noise_multiplier": None}, "bad-usage"),
        (None, {"noise_multiplier": None, "epsilon": 1.0, "delta": 0.05}, "out-of-range"),
        (None, {"units": np.zeros(4)}, "wrong-shape"),
    ],
)
def test_bad_input(data: Any, changes: dict[str, Any], code: str) -> None:
    with raises_code(code):
        trainer(nn.Linear(4, 2), data, **changes)


def test_running_averages_have_no_guarantee_and_cannot_be_resumed(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4), PublicBatchNorm(4), nn.Linear(4, 2))
    private = trainer(model, statistics=RunningStatistics(), draws=Draws.generate())
    assert private.train().guarantee == "none"
    with raises_code("not-resumable"):
        trainer(model, statistics=RunningStatistics(), checkpoint=tmp_path / "run")


def test_public_batch_norm_uses_public_samples_alone() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), PublicBatchNorm(4), nn.Linear(4, 2))
    public, _ = records(30, seed=5)
    run = trainer(model, statistics=PublicStatistics(public)).train()
    assert run.normalisation == "public"
    with torch.no_grad():
        inside = model[0](public)
    mean, variance = model[1].statistics
    assert torch.allclose(mean, inside.mean(0), atol=1e-6)
    assert torch.allclose(variance, inside.var(0, unbiased=False), atol=1e-6)
