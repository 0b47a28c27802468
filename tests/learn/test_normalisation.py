"""Normalisation: sound variants keep the sensitivity of C, the others do not."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402

from sottovoce.learn import (  # noqa: E402
    LotStatistics,
    PublicBatchNorm,
    PublicStatistics,
    RunningStatistics,
    WithPublicSamples,
)
from sottovoce.learn.gradients import per_sample_gradients  # noqa: E402
from sottovoce.learn.networks import LeNet5, normaliser  # noqa: E402
from sottovoce.learn.normalisation import (  # noqa: E402
    collect_statistics,
    mean_sensitivity,
    variance_sensitivity,
)
from sottovoce.learn.sensitivity import (  # noqa: E402
    literal_gradients,
    literal_sensitivity,
    measured_sensitivity,
)

CLIP = 0.5


def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(model(x), y)


def images(count: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(count, 1, 28, 28, generator=generator)
    return x, torch.randint(10, (count,), generator=generator)


def records() -> dict[str, tuple[Tensor, Tensor]]:
    """Records that somebody may add: ordinary, extreme, and made to break things."""
    x, y = images(1, 77)
    noise = torch.randn(1, 1, 28, 28, generator=torch.Generator().manual_seed(5))
    return {
        "ordinary": (x, y),
        "black": (torch.zeros_like(x), y),
        "20 deviations": (20 * noise, y),
        "1000 deviations": (1000 * noise, y),
        "not a number": (torch.full_like(x, float("nan")), y),
        "infinite": (torch.full_like(x, float("inf")), y),
    }


@pytest.fixture(scope="module")
def network() -> LeNet5:
    torch.manual_seed(0)
    return LeNet5("batch")


@pytest.fixture(scope="module")
def public() -> Tensor:
    return images(16, 3)[0]


@pytest.mark.parametrize("name", records())
def test_public_statistics_keep_the_sensitivity(network: LeNet5, public: Tensor, name: str) -> None:
    change = measured_sensitivity(
        network,
        loss,
        images(24, 1),
        records()[name],
        clip=CLIP,
        statistics=PublicStatistics(public),
    )
    assert change <= 1 + 1e-5


@given(seed=st.integers(0, 1000), scale=st.sampled_from([0.01, 1.0, 30.0, 1e4]))
@settings(max_examples=6, deadline=None)
def test_public_statistics_keep_it_for_random_records(seed: int, scale: float) -> None:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(5, 6), PublicBatchNorm(6), nn.Tanh(), nn.Linear(6, 3))
    x, labels = torch.randn(9, 5), torch.randint(3, (9,))
    record = (scale * torch.randn(1, 5), torch.randint(3, (1,)))
    change = measured_sensitivity(
        model, loss, (x, labels), record, clip=CLIP, statistics=PublicStatistics(torch.randn(8, 5))
    )
    assert change <= 1 + 1e-5


@pytest.mark.parametrize("name", ["ordinary", "1000 deviations", "not a number"])
def test_concatenated_public_samples_keep_the_sensitivity(public: Tensor, name: str) -> None:
    torch.manual_seed(0)
    model = WithPublicSamples(LeNet5("batch"), public[:4])
    change = measured_sensitivity(model, loss, images(6, 1), records()[name], clip=CLIP)
    assert change <= 1 + 1e-5


def test_statistics_of_the_lot_break_it(network: LeNet5, public: Tensor) -> None:
    lot = images(64, 1)
    changes = {
        name: measured_sensitivity(
            network, loss, lot, records()[name], clip=CLIP, statistics=LotStatistics(public)
        )
        for name in ("black", "20 deviations", "1000 deviations")
    }
    assert changes["black"] > 1 + 1e-3  # an image that is perfectly valid
    assert changes["1000 deviations"] > 3
    outlier = records()["20 deviations"]
    assert literal_sensitivity(network, loss, lot, outlier, public, clip=CLIP) > 1 + 1e-3


def test_literal_gradients_of_one_record_are_those_of_concatenation(public: Tensor) -> None:
    torch.manual_seed(0)
    model = LeNet5("batch").double()
    x, y = images(1, 2)
    record, samples = (x.double(), y), public[:5].double()
    literal = literal_gradients(model, loss, record, samples)
    alone = per_sample_gradients(WithPublicSamples(model, samples), loss, record)
    for name, gradient in literal.items():
        assert torch.allclose(gradient, alone[f"model.{name}"], atol=1e-10)


@pytest.mark.parametrize("kind", ["public", "concat"])
def test_other_members_of_the_lot_leave_a_gradient_bit_equal(public: Tensor, kind: str) -> None:
    torch.manual_seed(0)
    model: nn.Module = LeNet5("batch")
    statistics = PublicStatistics(public)
    if kind == "concat":
        model = WithPublicSamples(model, public[:4])

    def gradients(x: Tensor, y: Tensor) -> dict[str, Tensor]:
        if kind == "public":
            statistics.refresh(model, x)
        return per_sample_gradients(model, loss, (x, y))

    x, y = images(6, 1)
    before = gradients(x, y)
    others, labels = images(6, 2)
    after = gradients(torch.cat([x[:1], 100 * others[1:]]), torch.cat([y[:1], labels[1:]]))
    for name in before:
        assert torch.equal(before[name][0], after[name][0])


def test_statistics_are_those_of_torch(public: Tensor) -> None:
    torch.manual_seed(0)
    ours, theirs = PublicBatchNorm(3), nn.BatchNorm2d(3, track_running_stats=False)
    x = torch.randn(7, 3, 4, 5)
    collect_statistics(ours, x)
    assert torch.allclose(ours(x), theirs(x), atol=1e-6)


def test_running_averages_are_those_of_torch() -> None:
    torch.manual_seed(0)
    ours, theirs = PublicBatchNorm(3), nn.BatchNorm1d(3, momentum=0.1)
    running = RunningStatistics(0.1)
    lots = [torch.randn(40, 3) + shift for shift in range(5)]
    for lot in lots:
        running.refresh(ours, lot)
        theirs(lot)
    running.finish(ours)
    assert ours.statistics is not None
    mean, variance = ours.statistics
    assert torch.allclose(mean, theirs.running_mean, atol=1e-6)
    # torch averages variances that are divided by 39 instead of 40
    unbiased = 1 - (1 - 0.1) ** 5
    assert torch.allclose(
        variance - (1 - unbiased), (theirs.running_var - (1 - unbiased)) * 39 / 40, atol=1e-5
    )


def test_statistics_must_be_set_before_use() -> None:
    with raises_code("needs-public"):
        PublicBatchNorm(2)(torch.zeros(3, 2))


def test_every_kind_of_normalisation_can_be_built() -> None:
    for kind in ("none", "layer", "group"):
        assert normaliser(kind, 6, 4, 4)(torch.randn(2, 6, 4, 4)).shape == (2, 6, 4, 4)


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=12), st.floats(-2, 2))
def test_sensitivities_of_mean_and_variance_bound_a_record_that_becomes_zero(
    others: list[float], value: float
) -> None:
    with_value, with_zero = np.array([*others, value]), np.array([*others, 0.0])
    size = len(with_value)
    assert abs(with_value.mean() - with_zero.mean()) <= mean_sensitivity(2, size) + 1e-12
    assert abs(with_value.var() - with_zero.var()) <= variance_sensitivity(2, size) + 1e-12


def test_what_the_sensitivities_do_not_cover() -> None:
    """The worst case of zeroing nearly reaches the bound; that of replacing exceeds it."""
    others = np.full(99, -2.0)
    first, zero, last = (np.array([*others, value]) for value in (2.0, 0.0, -2.0))
    bound = variance_sensitivity(2, 100)
    assert 0.999 * bound < first.var() - zero.var() <= bound
    assert first.var() - last.var() == pytest.approx(4 * 2**2 * (1 / 100 - 1 / 100**2))
    assert first.var() - last.var() > bound
    assert first.mean() - last.mean() == pytest.approx(2 * mean_sensitivity(2, 100))
