"""Per-sample gradients against loops and Opacus; clipping and its sum."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402

from sottovoce.learn.gradients import (  # noqa: E402
    clipped_sum,
    mean_by_unit,
    norm,
    per_sample_gradients,
)
from sottovoce.learn.networks import LeNet5, SentenceClassifier, cut_padding  # noqa: E402


def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(model(x), y)


def text_loss(model: nn.Module, tokens: Tensor, lengths: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(model(tokens, lengths), y)


def images(count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return (
        torch.rand(count, 1, 28, 28, generator=generator),
        torch.randint(10, (count,), generator=generator),
    )


@pytest.mark.parametrize("normalisation", ["none", "layer", "group"])
def test_equal_to_a_loop_over_records(normalisation: str) -> None:
    torch.manual_seed(0)
    model = LeNet5(normalisation)  # type: ignore[arg-type]
    x, y = images(5)
    gradients = per_sample_gradients(model, loss, (x, y))
    for i in range(5):
        model.zero_grad()
        loss(model, x[i : i + 1], y[i : i + 1]).backward()
        for name, parameter in model.named_parameters():
            assert torch.allclose(gradients[name][i], parameter.grad, atol=1e-6)


def test_equal_to_those_of_opacus() -> None:
    opacus = pytest.importorskip("opacus")
    torch.manual_seed(0)
    model = LeNet5("layer")
    x, y = images(16)
    ours = per_sample_gradients(model, loss, (x, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = opacus.GradSampleModule(model, loss_reduction="mean")
        cross_entropy(theirs(x), y).backward()
    for name, parameter in model.named_parameters():
        assert float((ours[name] - parameter.grad_sample).abs().max()) < 1e-5


def test_other_members_of_the_lot_leave_a_gradient_bit_equal() -> None:
    torch.manual_seed(0)
    model = LeNet5("layer")
    x, y = images(12)
    before = per_sample_gradients(model, loss, (x, y))
    others, labels = images(12, seed=9)
    x[1:], y[1:] = 30 * others[1:], labels[1:]
    after = per_sample_gradients(model, loss, (x, y))
    for name in before:
        assert torch.equal(before[name][0], after[name][0])


def test_padding_of_text_changes_no_gradient() -> None:
    torch.manual_seed(0)
    model = SentenceClassifier(20, 3, "layer", dimension=6, hidden=5)
    tokens = torch.tensor([[3, 4, 5, 0, 0, 0], [7, 0, 0, 0, 0, 0]])
    lengths, labels = torch.tensor([3, 1]), torch.tensor([0, 2])
    padded = per_sample_gradients(model, text_loss, (tokens, lengths, labels))
    cut = cut_padding((tokens, lengths, labels))
    assert cut[0].shape == (2, 3)
    for name, gradient in per_sample_gradients(model, text_loss, cut).items():
        assert torch.allclose(gradient, padded[name], atol=1e-6)


def test_each_contribution_is_clipped_jointly() -> None:
    gradients = {"a": torch.tensor([[3.0], [0.3]]), "b": torch.tensor([[4.0], [0.4]])}
    total = clipped_sum(gradients, 1.0)
    assert total["a"].item() == pytest.approx(0.6 + 0.3)
    assert total["b"].item() == pytest.approx(0.8 + 0.4)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e30])
def test_a_gradient_that_is_not_finite_adds_nothing(bad: float) -> None:
    gradients = {"a": torch.tensor([[bad, 1.0], [0.3, 0.4]])}
    total = clipped_sum(gradients, 1.0)["a"]
    assert torch.isfinite(total).all()
    assert norm({"a": total - torch.tensor([0.3, 0.4])}) <= 1 + 1e-5


def test_units_contribute_the_mean_of_their_records() -> None:
    gradients = {"a": torch.tensor([[1.0, 0.0], [3.0, 0.0], [0.0, 5.0]])}
    means = mean_by_unit(gradients, torch.tensor([0, 0, 1]), 2)
    assert means["a"].tolist() == [[2.0, 0.0], [0.0, 5.0]]
