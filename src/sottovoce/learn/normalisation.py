"""Normalisation in private training: what is sound, and what is kept to be compared with.

Layer and group normalisation use one record at a time and need nothing from here. Batch
normalisation uses statistics of many records, which makes the gradient of each depend on all of
them. Here the statistics come from elsewhere (:class:`PublicBatchNorm`), and these say from where:

- :class:`PublicStatistics`: public samples alone, under the present weights. Sound.
- :class:`WithPublicSamples`: {x} ∪ public samples, for each record x alone. Sound.
- :class:`LotStatistics`: the lot ∪ public samples. No guarantee.
- :class:`RunningStatistics`: running averages over lots. No guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Protocol

import torch
from torch import Tensor, nn

from sottovoce.core.errors import UsageError

EPSILON = 1e-5
"""Added to variances."""


class PublicBatchNorm(nn.Module):  # type: ignore[misc]
    """Batch normalisation whose statistics are constants that come from outside the lot.

    It has no buffers. Before use, :func:`collect_statistics` sets the constants.

    Parameters
    ----------
    channels : int
        Size of the second dimension of its input.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.statistics: tuple[Tensor, Tensor] | None = None
        """Mean and variance of each channel."""
        self.collecting = False
        """Whether the statistics of the next input become the constants."""
        self.from_input = False
        """Whether each input is normalised by its own statistics, as in
        :class:`WithPublicSamples`."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalise.

        Parameters
        ----------
        x : Tensor, records × channels × …
            Its output has the same shape.
        """
        shape = (1, -1, *(1 for _ in x.shape[2:]))
        if self.collecting or self.from_input:
            mean, variance = batch_statistics(x)
            if self.collecting:
                self.statistics = (mean.detach(), variance.detach())
        elif self.statistics is None:
            raise UsageError(
                "public batch norm has no statistics yet; call collect_statistics(model, public) "
                "with public samples",
                code="needs-public",
            )
        else:
            mean, variance = self.statistics
        scale = self.weight / (variance + EPSILON).sqrt()
        return (x - mean.reshape(shape)) * scale.reshape(shape) + self.bias.reshape(shape)


def batch_statistics(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean and the variance of each channel over all other dimensions.

    Parameters
    ----------
    x : Tensor, records × channels × …
        Activations.
    """
    others = [dimension for dimension in range(x.dim()) if dimension != 1]
    return x.mean(others), x.var(others, unbiased=False)


def public_norms(model: nn.Module) -> Iterator[PublicBatchNorm]:
    """Yield the modules of a model that need statistics.

    Parameters
    ----------
    model : nn.Module
        Any model.
    """
    for module in model.modules():
        if isinstance(module, PublicBatchNorm):
            yield module


def collect_statistics(model: nn.Module, samples: Tensor) -> None:
    """Set the statistics of all :class:`PublicBatchNorm`, layer by layer, in one forward pass.

    Parameters
    ----------
    model : nn.Module
        The model with its present weights.
    samples : Tensor, records × …
        What the statistics are computed from.
    """
    norms = list(public_norms(model))
    for module in norms:
        module.collecting = True
    try:
        with torch.no_grad():
            model(samples)
    finally:
        for module in norms:
            module.collecting = False


class Statistics(Protocol):
    """Where the statistics of :class:`PublicBatchNorm` come from."""

    name: ClassVar[str]
    sound: ClassVar[bool]
    """Whether a record's gradient depends on no other private record."""
    resumable: ClassVar[bool]
    """Whether a run can continue from a checkpoint, which holds weights only."""

    def refresh(self, model: nn.Module, lot: Tensor) -> None:
        """Set the statistics for the next step.

        Parameters
        ----------
        model : nn.Module
            The model with its present weights.
        lot : Tensor, records × …
            Inputs of the records of the next step.
        """

    def finish(self, model: nn.Module) -> None:
        """Set the statistics that the trained model is used with.

        Parameters
        ----------
        model : nn.Module
            The trained model.
        """


class PublicStatistics:
    """Statistics of public samples alone: the gradient of a record depends on no other record.

    Parameters
    ----------
    public : Tensor, samples × …
        Samples that are not in the training data; they are released with the model.
    """

    name: ClassVar[str] = "public"
    sound: ClassVar[bool] = True
    resumable: ClassVar[bool] = True

    def __init__(self, public: Tensor) -> None:
        self.public = public

    def refresh(self, model: nn.Module, lot: Tensor) -> None:
        """Compute the statistics under the present weights; the lot is not used.

        Parameters
        ----------
        model : nn.Module
            The model.
        lot : Tensor
            Inputs of the next lot.
        """
        collect_statistics(model, self.public)

    def finish(self, model: nn.Module) -> None:
        """Compute the statistics under the final weights.

        Parameters
        ----------
        model : nn.Module
            The trained model.
        """
        collect_statistics(model, self.public)


class LotStatistics(PublicStatistics):
    """Statistics of the lot and public samples together, as Algorithm 1 of D2.3 says literally.

    Adding a record changes the gradients of all others, so the noise does not give the ε that is
    computed for it. To be compared with; results carry no guarantee. The gradient is not taken
    through the statistics; :func:`sottovoce.learn.sensitivity.literal_gradients` does.
    """

    name: ClassVar[str] = "lot"
    sound: ClassVar[bool] = False

    def refresh(self, model: nn.Module, lot: Tensor) -> None:
        """Compute the statistics of the lot and the public samples.

        Parameters
        ----------
        model : nn.Module
            The model.
        lot : Tensor
            Inputs of the next lot.
        """
        collect_statistics(model, torch.cat([lot, self.public]))


class RunningStatistics:
    r"""Running averages of the statistics of lots, the usual batch norm. No guarantee.

    .. math:: \mu \leftarrow (1 - \alpha)\,\mu + \alpha\,\mu_t, \qquad
              \sigma^2 \leftarrow (1 - \alpha)\,\sigma^2 + \alpha\,\sigma_t^2

    The averages are part of the model and hold private data without noise.

    Parameters
    ----------
    momentum : float, default 0.1
        α, the weight of the newest lot.
    """

    name: ClassVar[str] = "running"
    sound: ClassVar[bool] = False
    resumable: ClassVar[bool] = False

    def __init__(self, momentum: float = 0.1) -> None:
        self.momentum = momentum
        self._averages: list[tuple[Tensor, Tensor]] = []

    def refresh(self, model: nn.Module, lot: Tensor) -> None:
        """Compute the statistics of the lot and update the averages.

        Parameters
        ----------
        model : nn.Module
            The model.
        lot : Tensor
            Inputs of the next lot.
        """
        if len(lot) == 0:
            return
        collect_statistics(model, lot)
        present = [module.statistics for module in public_norms(model) if module.statistics]
        if not self._averages:
            self._averages = [
                (torch.zeros_like(mean), torch.ones_like(mean)) for mean, _ in present
            ]
        self._averages = [
            (_moved(old[0], new[0], self.momentum), _moved(old[1], new[1], self.momentum))
            for old, new in zip(self._averages, present, strict=True)
        ]

    def finish(self, model: nn.Module) -> None:
        """Use the averages.

        Parameters
        ----------
        model : nn.Module
            The trained model.
        """
        for module, averages in zip(public_norms(model), self._averages, strict=True):
            module.statistics = averages


def _moved(average: Tensor, value: Tensor, momentum: float) -> Tensor:
    return (1 - momentum) * average + momentum * value


class WithPublicSamples(nn.Module):  # type: ignore[misc]
    """A model in which batch norm sees each record together with public samples, and no other.

    f(x ∪ X̂)[0], in training and in use. Sound, but each record costs as much as 1 + M.

    Parameters
    ----------
    model : nn.Module
        A model with :class:`PublicBatchNorm`.
    public : Tensor, M × …
        Public samples; they are released with the model.
    """

    def __init__(self, model: nn.Module, public: Tensor) -> None:
        super().__init__()
        self.model = model
        self.public = public
        for module in public_norms(model):
            module.from_input = True

    def forward(self, x: Tensor) -> Tensor:
        """Apply the model to each record with the public samples.

        Parameters
        ----------
        x : Tensor, records × …
            Each record is treated alone.
        """
        outputs = [self.model(torch.cat([x[i : i + 1], self.public]))[:1] for i in range(len(x))]
        return torch.cat(outputs)


def mean_sensitivity(bound: float, lot_size: int) -> float:
    """Return by how much the mean of a lot changes if one activation becomes zero: C′/L.

    If an activation may be *replaced* by any other it is twice as much.

    Parameters
    ----------
    bound : float
        C′, the largest absolute value of an activation.
    lot_size : int
        L, at least 1.
    """
    return bound / lot_size


def variance_sensitivity(bound: float, lot_size: int) -> float:
    r"""Return a bound of how much the variance of a lot changes if one activation becomes zero.

    .. math:: C'^2 \left(\frac{3}{L} - \frac{3}{L^2} + \frac{1}{L^3}\right)

    Swanberg et al. 2019; the largest change is :math:`C'^2 (3/L - 3/L^2)`. If an activation may be
    *replaced* by any other of the range, the change can be :math:`4 C'^2 (1/L - 1/L^2)`, which this
    does not cover.

    Parameters
    ----------
    bound : float
        C′, the largest absolute value of an activation.
    lot_size : int
        L, at least 1.
    """
    return bound**2 * (3 / lot_size - 3 / lot_size**2 + 1 / lot_size**3)
