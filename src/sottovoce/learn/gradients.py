"""Per-sample gradients by ``torch.func``, and their clipped sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from sottovoce.core.errors import InputError
from sottovoce.core.types import IntArray

Batch = tuple[Tensor, ...]
"""Tensors whose first dimension is the record, such as inputs and labels."""
Gradients = dict[str, Tensor]
"""By parameter; of many records if the first dimension is the record."""
Loss = Callable[..., Tensor]
"""Called with the model and the tensors of a batch; returns the mean loss of its records.

In private training the batch has one record. The model must be called as a function.
"""


def trainable(model: nn.Module) -> dict[str, Tensor]:
    """Return the parameters that are trained, by name.

    Parameters
    ----------
    model : nn.Module
        Parameters that do not require gradients are left out.
    """
    return {
        name: parameter.detach()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    }


def per_sample_gradients(model: nn.Module, loss: Loss, batch: Batch) -> Gradients:
    """Compute the gradient of each record's loss.

    Parameters
    ----------
    model : nn.Module
        The model; its trainable parameters count.
    loss : callable
        Called with the model and a batch of one record.
    batch : tuple of Tensor
        Records; at least one.

    Returns
    -------
    dict of str to Tensor
        By parameter, records × the parameter's shape.
    """

    def loss_of_record(parameters: Mapping[str, Tensor], *record: Tensor) -> Tensor:
        def call(*inputs: Tensor, **named: Tensor) -> Tensor:
            return functional_call(model, dict(parameters), inputs, named)

        return loss(call, *(part.unsqueeze(0) for part in record))

    in_dims = (None, *(0 for _ in batch))
    gradients = vmap(grad(loss_of_record), in_dims=in_dims, randomness="different")
    result: Gradients = gradients(trainable(model), *batch)
    return result


def records_by_unit(units: IntArray | Tensor, records: int) -> list[IntArray]:
    """Return the numbers of the records of each unit, units in ascending order.

    Parameters
    ----------
    units : array of int
        The unit of each record.
    records : int
        How many records there are.

    Raises
    ------
    InputError
        ``wrong-shape`` if there is not one unit for each record.
    """
    owners = np.asarray(units)
    if owners.shape != (records,):
        raise InputError(
            f"units have the shape {owners.shape}; there are {records} records, one number each",
            code="wrong-shape",
        )
    _, place = np.unique(owners, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(place.max() + 1))
    return [np.asarray(part) for part in np.split(order, starts[1:])]


def mean_by_unit(gradients: Gradients, units: Tensor, count: int) -> Gradients:
    """Average the gradients of the records of each unit, such as a person.

    Parameters
    ----------
    gradients : dict of str to Tensor
        Of records.
    units : Tensor of int
        The unit of each record, from 0.
    count : int
        How many units there are; each has a record.
    """
    records = torch.zeros(count, device=units.device).index_add_(
        0, units, torch.ones(len(units), device=units.device)
    )
    means = {}
    for name, gradient in gradients.items():
        total = torch.zeros(count, *gradient.shape[1:], dtype=gradient.dtype)
        total.index_add_(0, units, gradient)
        means[name] = total / records.reshape(-1, *(1 for _ in gradient.shape[1:]))
    return means


def clipped_sum(gradients: Gradients, clip: float) -> Gradients:
    """Clip each record's gradient to a norm over all parameters jointly, and add them up.

    A gradient that is not finite counts as zero: it must not spoil the sum, and its norm could
    not be bounded.

    Parameters
    ----------
    gradients : dict of str to Tensor
        Of records.
    clip : float
        C, the largest norm of a record's contribution.

    Returns
    -------
    dict of str to Tensor
        The sum over records, by parameter.
    """
    flat = {name: gradient.flatten(1) for name, gradient in gradients.items()}
    squares = torch.stack([part.square().sum(1) for part in flat.values()])
    norms = squares.sum(0).sqrt()
    finite = torch.isfinite(norms)
    factors = torch.where(finite, clip / norms.clamp(min=clip), torch.zeros_like(norms))
    sums = {}
    for name, part in flat.items():
        safe = part if bool(finite.all()) else torch.where(finite.unsqueeze(1), part, 0.0)
        sums[name] = (factors @ safe).reshape(gradients[name].shape[1:])
    return sums


def add(total: Gradients, part: Gradients) -> None:
    """Add gradients to others, in place.

    Parameters
    ----------
    total, part : dict of str to Tensor
        The first is changed.
    """
    for name, gradient in part.items():
        total[name] += gradient


def norm(gradients: Gradients) -> float:
    """Return the Euclidean norm over all parameters, in double precision.

    Parameters
    ----------
    gradients : dict of str to Tensor
        Such as a clipped sum, or the difference of two.
    """
    return float(sum(part.double().square().sum() for part in gradients.values()) ** 0.5)


def select(batch: Batch, rows: Tensor | Sequence[int] | slice) -> Batch:
    """Return some records of a batch.

    Parameters
    ----------
    batch : tuple of Tensor
        Records.
    rows : Tensor, sequence of int or slice
        Which ones.
    """
    return tuple(part[rows] for part in batch)
