"""What trainings share: ranges of settings, held-out speakers, schedule, step and precision."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.records import Record
from sottovoce.training.descent import (
    LARGEST_GRADIENT,
    check_ranges,
    descend,
    draw_held_out,
    mixed_precision,
    scheduled,
    training_device,
    warm_up,
)

torch = pytest.importorskip("torch")


@dataclass(frozen=True, slots=True)
class Steps(Record):
    """Settings with one number."""

    steps: int = 5


def test_settings_out_of_range_are_refused() -> None:
    check_ranges(Steps(5), {"steps": (5, 5)})
    for wrong in (4, 6):
        with raises_code("out-of-range", UsageError):
            check_ranges(Steps(wrong), {"steps": (5, 5)})


@pytest.mark.parametrize(("share", "expected"), [(0.01, 2), (0.3, 3), (0.99, 8)])
def test_some_speakers_are_held_out_and_two_remain(share: float, expected: int) -> None:
    names = [f"speaker {number}" for number in range(10)]
    drawn = draw_held_out(names, share=share, seed=1, least=2)
    assert len(drawn) == expected and drawn <= set(names)
    assert drawn == draw_held_out(names, share=share, seed=1, least=2)


def test_the_rate_rises_for_a_tenth_of_the_steps_and_falls_to_0() -> None:
    rates = [scheduled(step, 100) for step in range(101)]
    assert max(rates) == rates[9] and rates[100] == pytest.approx(0)
    assert rates[:10] == sorted(rates[:10]) and rates[10:] == sorted(rates[10:], reverse=True)
    assert warm_up(4, 100) == 0.5 and warm_up(50, 100) == 1


def test_a_step_follows_the_gradient_no_farther_than_allowed() -> None:
    weight = torch.nn.Linear(1, 1, bias=False)
    before = weight.weight.item()
    optimiser = torch.optim.SGD(weight.parameters(), lr=0.1)
    loss = 1000 * weight(torch.ones(1, 1)).sum()
    assert descend(loss, weight, optimiser) == pytest.approx(1000 * before)
    assert weight.weight.item() == pytest.approx(before - 0.1 * LARGEST_GRADIENT, abs=1e-4)
    with raises_code("diverged", InputError):
        descend(torch.tensor(float("nan")), weight, optimiser)


@pytest.mark.parametrize(("found", "device"), [(True, "cuda"), (False, "cpu")])
def test_a_gpu_is_used_where_there_is_one(
    found: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: found)
    assert training_device().type == device


@pytest.mark.parametrize("capable", [True, False])
def test_half_precision_where_the_processor_has_it(
    capable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": capable})
    with mixed_precision():
        product = torch.ones(2, 2) @ torch.ones(2, 2)
    assert product.dtype == (torch.bfloat16 if capable else torch.float32)
