"""What trainings of networks share: held-out speakers, schedule and step of the descent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.records import Record

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn, optim

WARM_UP = 0.1
"""Share of the steps in which the learning rate rises."""
LARGEST_GRADIENT = 5.0
"""Longer gradients are shortened to this length."""
BFLOAT16 = ("avx512_bf16", "amx_bf16", "bf16")
"""Capabilities of processors that compute with bfloat16; others only imitate it, slowly."""


def check_ranges(settings: Record, limits: Mapping[str, tuple[float, float]]) -> None:
    """Refuse settings that are out of range.

    Parameters
    ----------
    settings : Record
        The settings.
    limits : mapping of str to (float, float)
        Lowest and highest value by name.

    Raises
    ------
    UsageError
        With the code ``out-of-range``.
    """
    for name, (low, high) in limits.items():
        value = getattr(settings, name)
        if not low <= value <= high:
            raise UsageError(
                f"{name} {value:g}: must be between {low:g} and {high:g}", code="out-of-range"
            )


def draw_held_out(names: Sequence[str], *, share: float, seed: int, least: int) -> set[str]:
    """Draw the speakers that are held out; two at least remain.

    Parameters
    ----------
    names : sequence of str
        All speakers, in a fixed order.
    share : float
        Share of the speakers that are held out.
    seed : int
        Of the draw.
    least : int
        Speakers that are held out at least.
    """
    count = min(max(least, round(share * len(names))), len(names) - 2)
    return {names[i] for i in np.random.default_rng(seed).permutation(len(names))[:count]}


def warm_up(step: int, steps: int) -> float:
    """Return how far a training has warmed up, from 0 to 1.

    Parameters
    ----------
    step : int
        Steps that are done.
    steps : int
        All steps.
    """
    return min(1.0, (step + 1) / max(1, WARM_UP * steps))


def scheduled(step: int, steps: int) -> float:
    """Return the share of the highest learning rate: it rises, then falls as a cosine to 0.

    Parameters
    ----------
    step : int
        Steps that are done.
    steps : int
        All steps.
    """
    return warm_up(step, steps) * 0.5 * (1 + math.cos(math.pi * step / steps))


def training_device() -> torch.device:
    """Return the device that networks are trained on: a GPU where torch finds one."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def mixed_precision(device: str = "cpu") -> AbstractContextManager[None]:
    """Compute products of matrices in bfloat16 where the device can, which takes half the time.

    Weights, gradients and losses stay in single precision.

    Parameters
    ----------
    device : {"cpu", "cuda"}, default "cpu"
        What the network is on.
    """
    import torch

    able = torch.cpu.get_capabilities() if device == "cpu" else {}
    enabled = device != "cpu" or any(able.get(name) for name in BFLOAT16)
    context: AbstractContextManager[None] = torch.autocast(device, torch.bfloat16, enabled=enabled)
    return context


def descend(loss: Tensor, network: nn.Module, optimiser: optim.Optimizer) -> float:
    """Compute the gradient of a loss, change the weights and return the loss.

    Parameters
    ----------
    loss : Tensor
        Of one batch.
    network : nn.Module
        Whose gradient is limited.
    optimiser : optim.Optimizer
        Changes the weights.

    Raises
    ------
    InputError
        ``diverged`` where the loss is not finite.
    """
    import torch

    if not torch.isfinite(loss):
        raise InputError(
            "the loss is not finite; train with a lower learning rate", code="diverged"
        )
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), LARGEST_GRADIENT)
    optimiser.step()
    return float(loss.detach())
