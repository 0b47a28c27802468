"""By how much one record changes the sum of clipped gradients: what the noise has to hide.

The accountants assume that adding a record changes the sum by at most the clipping bound C. Here
the change is measured, for a record that somebody chose. A measurement cannot prove a guarantee,
but it can show that there is none.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sottovoce.learn.gradients import (
    Batch,
    Gradients,
    Loss,
    clipped_sum,
    norm,
    per_sample_gradients,
    select,
    trainable,
)
from sottovoce.learn.normalisation import Statistics, public_norms

MEASURED_LOT = 256
"""Records of the lot in which a sensitivity is measured after training."""
EXTREME = 1000.0
"""Standard deviation of the extreme record."""


def measured_sensitivity(
    model: nn.Module,
    loss: Loss,
    lot: Batch,
    record: Batch,
    *,
    clip: float,
    statistics: Statistics | None = None,
) -> float:
    """Measure how much a record changes the clipped sum of a lot, as a multiple of C.

    Parameters
    ----------
    model : nn.Module
        The model with its present weights.
    loss : callable
        As in training.
    lot : tuple of Tensor
        Records of the lot; the first tensor is the model's input.
    record : tuple of Tensor
        One further record, by the first dimension.
    clip : float
        C, the clipping bound.
    statistics : Statistics, optional
        Where the statistics of batch norm come from.

    Returns
    -------
    float
        ‖Σ clip(g)(lot + record) − Σ clip(g)(lot)‖ / C. A sound method never exceeds 1.
    """

    def total(batch: Batch) -> Gradients:
        if statistics is not None:
            statistics.refresh(model, batch[0])
        return clipped_sum(per_sample_gradients(model, loss, batch), clip)

    return _change(total(lot), total(_joined(lot, record)), clip)


def worst_measured_sensitivity(
    model: nn.Module, loss: Loss, data: Batch, *, clip: float, statistics: Statistics
) -> float:
    """Measure the change by two records, the last one and an extreme one, and return the larger.

    Parameters
    ----------
    model : nn.Module
        The model with its present weights.
    loss : callable
        As in training.
    data : tuple of Tensor
        Training data, of which a part is the lot.
    clip : float
        C, the clipping bound.
    statistics : Statistics
        Where the statistics of batch norm come from.
    """
    lot, last = select(data, slice(0, MEASURED_LOT)), select(data, slice(-1, None))
    noise = torch.randn(last[0].shape, generator=torch.Generator().manual_seed(0))
    extreme = (EXTREME * noise.to(last[0].dtype), *last[1:])
    return max(
        measured_sensitivity(model, loss, lot, record, clip=clip, statistics=statistics)
        for record in (last, extreme)
    )


def literal_sensitivity(
    model: nn.Module, loss: Loss, lot: Batch, record: Batch, public: Tensor, *, clip: float
) -> float:
    """Measure the same for batch norm over the lot with gradients through its statistics.

    Parameters
    ----------
    model : nn.Module
        A model with :class:`~sottovoce.learn.PublicBatchNorm`, which takes one tensor.
    loss : callable
        As in training.
    lot : tuple of Tensor
        Records of the lot.
    record : tuple of Tensor
        One further record.
    public : Tensor, samples × …
        Public samples, which are appended to the lot.
    clip : float
        C, the clipping bound.
    """
    before = clipped_sum(literal_gradients(model, loss, lot, public), clip)
    after = clipped_sum(literal_gradients(model, loss, _joined(lot, record), public), clip)
    return _change(before, after, clip)


def literal_gradients(model: nn.Module, loss: Loss, lot: Batch, public: Tensor) -> Gradients:
    """Compute each record's gradient as Algorithm 1 of D2.3 says: one backward pass a record.

    Batch norm uses the statistics of the lot and the public samples, and the gradient is taken
    through them.

    Parameters
    ----------
    model : nn.Module
        A model with :class:`~sottovoce.learn.PublicBatchNorm`, which takes one tensor.
    loss : callable
        As in training.
    lot : tuple of Tensor
        Records of the lot.
    public : Tensor, samples × …
        Public samples.
    """
    norms = list(public_norms(model))
    for module in norms:
        module.from_input = True
    try:
        outputs = model(torch.cat([lot[0], public]))[: len(lot[0])]
    finally:
        for module in norms:
            module.from_input = False
    parameters = {name: value for name, value in model.named_parameters() if value.requires_grad}
    rows = []
    for i in range(len(outputs)):
        output = outputs[i : i + 1]
        value = loss(lambda *_, output=output: output, *select(lot, [i]))
        rows.append(torch.autograd.grad(value, list(parameters.values()), retain_graph=True))
    return {
        name: torch.stack([row[place] for row in rows])
        for place, name in enumerate(trainable(model))
    }


def _joined(lot: Batch, record: Batch) -> Batch:
    return tuple(torch.cat(parts) for parts in zip(lot, record, strict=True))


def _change(before: Gradients, after: Gradients, clip: float) -> float:
    return norm({name: after[name] - before[name] for name in before}) / clip
