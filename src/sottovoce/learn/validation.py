"""Refusing models whose per-sample gradients would depend on other samples.

All modules are looked at, trainable or not: batch norm without trainable weights also stores
running averages of private data. Then the model is tried on made-up records: a buffer that changes,
or an output that changes with the other record of a batch, is refused by the name of the module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from sottovoce.core.errors import InputError, UsageError
from sottovoce.learn.gradients import Batch, Loss

REMEDY = (
    "use sottovoce.learn.PublicBatchNorm, torch.nn.LayerNorm or torch.nn.GroupNorm, or hold "
    "pre-trained statistics constant with .eval() on this module"
)
_TOLERANCE = 1e-4


def check_data(data: object) -> None:
    """Refuse data that are not tensors of equally many records.

    Parameters
    ----------
    data : object
        What was given for training.

    Raises
    ------
    UsageError
        ``not-poisson`` for a data loader: its shuffled batches of fixed size are not what the
        accountant assumes; ``wrong-type`` for anything else that is not a tuple of tensors.
    InputError
        ``wrong-shape`` or ``empty``.
    """
    if isinstance(data, torch.utils.data.DataLoader):
        raise UsageError(
            "a data loader makes shuffled batches of fixed size, which the accountant does not "
            "cover; give the tensors, lots are drawn from them",
            code="not-poisson",
        )
    if not isinstance(data, tuple) or not all(isinstance(part, Tensor) for part in data):
        raise UsageError("training data must be a tuple of tensors", code="wrong-type")
    if len({len(part) for part in data}) > 1:
        sizes = ", ".join(str(len(part)) for part in data)
        raise InputError(
            f"the tensors hold {sizes} records; they must hold equally many", code="wrong-shape"
        )
    if not data or len(data[0]) == 0:
        raise InputError("there are no training records; add some", code="empty")


def check_modules(model: nn.Module) -> None:
    """Refuse modules that couple samples or store them.

    Parameters
    ----------
    model : nn.Module
        The model that is to be trained.

    Raises
    ------
    UsageError
        ``couples-samples``, ``slow-module`` or ``nothing-to-train``; the message names the module
        and the remedy.
    """
    for name, module in model.named_modules():
        where = f"module {name or 'itself'!r} ({type(module).__name__})"
        if _is_batch_norm(module) and (module.training or not module.track_running_stats):
            raise UsageError(
                f"{where} normalises by statistics of the lot and stores them; {REMEDY}",
                code="couples-samples",
            )
        if isinstance(module, nn.RNNBase):
            raise UsageError(
                f"{where} has no fast per-sample gradients; use sottovoce.learn.Lstm, which has "
                "the same parameters",
                code="slow-module",
            )
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise UsageError("no parameter of the model requires gradients", code="nothing-to-train")


def _is_batch_norm(module: nn.Module) -> bool:
    """Batch norm of any kind, and instance norm with running averages."""
    if isinstance(module, nn.modules.batchnorm._BatchNorm):
        return True
    instance = isinstance(module, nn.modules.instancenorm._InstanceNorm)
    return instance and module.track_running_stats


def check_coupling(model: nn.Module, loss: Loss, data: Batch) -> None:
    """Try the model on made-up records; refuse buffers that change and samples that are coupled.

    Parameters
    ----------
    model : nn.Module
        The model; its statistics, if it needs any, must be set.
    loss : callable
        As in training.
    data : tuple of Tensor
        Training data, of which only shapes and types are used.

    Raises
    ------
    UsageError
        ``couples-samples``, naming the module.
    """
    record, other = made_up_record(data, seed=0), made_up_record(data, seed=1)
    pair = tuple(torch.cat(parts) for parts in zip(record, other, strict=True))
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    with torch.no_grad(), _without_dropout(model), torch.random.fork_rng():
        alone = _outputs(model, lambda: loss(model, *record))
        again = _outputs(model, lambda: loss(model, *record))
        together = _outputs(model, lambda: loss(model, *pair))
    for name, buffer in model.named_buffers():
        if not torch.equal(buffer, before[name]):
            raise UsageError(
                f"buffer {name!r} changes with the records that pass, so it would hold private "
                f"data without noise; {REMEDY}",
                code="couples-samples",
            )
    if not all(_same(first, second) for (_, first), (_, second) in zip(alone, again, strict=True)):
        return  # random layers of unknown kind: outputs cannot be compared
    for (name, single), (_, double) in zip(alone, together, strict=False):
        if double.shape[:1] == (2,) and not _same(single[:1], double[:1]):
            raise UsageError(
                f"module {name or 'itself'!r} gives a record another output if the batch holds "
                f"another record; {REMEDY}",
                code="couples-samples",
            )


def made_up_record(data: Batch, *, seed: int) -> Batch:
    """Make a record of random numbers; whole numbers are 1: a token, a length and a label.

    Parameters
    ----------
    data : tuple of Tensor
        Training data, of which only shapes and types are used.
    seed : int
        Another seed makes another record.
    """
    generator = torch.Generator().manual_seed(seed)
    return tuple(
        torch.randn(1, *part.shape[1:], generator=generator).to(part.dtype)
        if part.dtype.is_floating_point
        else torch.ones(1, *part.shape[1:], dtype=part.dtype)
        for part in data
    )


def _outputs(model: nn.Module, run: Callable[[], object]) -> list[tuple[str, Tensor]]:
    """The output of each module, in the order in which they finish."""
    outputs: list[tuple[str, Tensor]] = []

    def hook_of(name: str) -> Callable[[nn.Module, object, object], None]:
        def hook(module: nn.Module, inputs: object, output: object) -> None:
            if isinstance(output, Tensor):
                outputs.append((name, output.clone()))

        return hook

    handles = [
        module.register_forward_hook(hook_of(name)) for name, module in model.named_modules()
    ]
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return outputs


def _same(first: Tensor, second: Tensor) -> bool:
    if first.shape != second.shape:
        return True
    return bool(torch.allclose(first, second, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True))


@contextmanager
def _without_dropout(model: nn.Module) -> Iterator[None]:
    active = [
        module
        for module in model.modules()
        if isinstance(module, nn.modules.dropout._DropoutNd) and module.training
    ]
    for module in active:
        module.eval()
    try:
        yield
    finally:
        for module in active:
            module.train()
