"""One run with canaries: sound training stays below its ε, statistics of the lot exceed it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("dp_accounting")

from torch import Tensor, nn  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402

from sottovoce.learn import (  # noqa: E402
    Draws,
    LotStatistics,
    PrivateRun,
    PrivateSettings,
    PrivateTrainer,
    PublicBatchNorm,
    PublicStatistics,
)
from sottovoce.learn.auditing import PrivacyAudit  # noqa: E402
from sottovoce.learn.canary_audit import audit_training, canary_influence  # noqa: E402
from sottovoce.learn.gradients import clipped_sum, per_sample_gradients  # noqa: E402

FEATURES = 96


def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(model(x), y)


def records(count: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(2, (count,), generator=generator)
    x = torch.randn(count, FEATURES, generator=generator) + (y - 0.5).unsqueeze(1)
    return x, y


def audited(
    kind: str, noise: float, *, count: int = 1024, lot_size: int = 512, size: float = 1000.0
) -> tuple[PrivacyAudit, PrivateRun]:
    """Canaries that are extreme in one feature each."""
    generator = torch.Generator().manual_seed(1)
    canaries = (
        size * torch.eye(FEATURES),
        torch.randint(2, (FEATURES,), generator=generator),
    )
    public = torch.randn(64, FEATURES, generator=generator)
    statistics = (PublicStatistics if kind == "public" else LotStatistics)(public)

    def build(data: tuple[Tensor, ...]) -> PrivateTrainer:
        torch.manual_seed(0)
        model = nn.Sequential(PublicBatchNorm(FEATURES), nn.Linear(FEATURES, 2))
        return PrivateTrainer(
            model,
            loss,
            torch.optim.SGD(model.parameters(), lr=0.05),
            data,
            PrivateSettings(
                lot_size=lot_size, steps=8, clip=1.0, delta=1e-5, noise_multiplier=noise
            ),
            statistics=statistics,
            draws=Draws.reproducible(3),
        )

    return audit_training(build, records(count), canaries, draws=Draws.reproducible(4))


def test_statistics_of_the_lot_disclose_more_than_their_nominal_epsilon() -> None:
    audit, run = audited("lot", noise=4.0)
    assert run.guarantee == "none" and run.spent is not None
    assert audit.claimed_epsilon == run.spent.pld_epsilon
    assert audit.refutes_claim and audit.epsilon_lower > run.spent.rdp_epsilon
    assert run.measured_sensitivity is not None and run.measured_sensitivity > 1


def test_public_statistics_stay_below_their_claim_with_the_same_canaries() -> None:
    audit, run = audited("public", noise=4.0)
    assert run.spent is not None
    assert audit.epsilon_lower <= run.spent.pld_epsilon and not audit.refutes_claim
    assert run.measured_sensitivity is None


def test_the_attack_finds_what_little_noise_leaves() -> None:
    """Otherwise a low bound would say nothing: with little noise it must be high."""
    audit, run = audited("public", noise=0.5, count=128, lot_size=120, size=10.0)
    assert run.spent is not None
    assert 0.5 < audit.epsilon_lower <= run.spent.pld_epsilon


def test_influence_of_a_canary_is_its_clipped_gradient_if_samples_are_not_coupled() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    lot = (torch.randn(8, 3), torch.randint(2, (8,)))
    canaries = (torch.randn(2, 3), torch.randint(2, (2,)))
    base, influence = canary_influence(model, loss, lot, canaries, clip=0.3, statistics=None)
    for i in range(2):
        joined = tuple(torch.cat([a, b[i : i + 1]]) for a, b in zip(lot, canaries, strict=True))
        total = clipped_sum(per_sample_gradients(model, loss, joined), 0.3)
        flat = torch.cat([part.flatten() for part in total.values()])
        assert torch.allclose(flat - base, influence[i], atol=1e-6)
