"""Networks of speaker encoders, for training; they are used through their ONNX export.

Only training imports this module, since it needs torch. The input is recordings × frames × 80
filter banks, with their mean over time removed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

BANKS = 80


class Layer(nn.Module):  # type: ignore[misc]
    """A convolution over time, rectified and normalised.

    Parameters
    ----------
    inputs, outputs : int
        Channels.
    size : int, default 1
        Frames per output.
    dilation : int, default 1
        Distance between these frames.
    """

    def __init__(self, inputs: int, outputs: int, size: int = 1, dilation: int = 1) -> None:
        super().__init__()
        padding = dilation * (size - 1) // 2
        self.convolution = nn.Conv1d(inputs, outputs, size, dilation=dilation, padding=padding)
        self.norm = nn.BatchNorm1d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer.

        Parameters
        ----------
        x : Tensor, recordings × inputs × frames
            Its output has the shape recordings × outputs × frames.
        """
        return self.norm(functional.relu(self.convolution(x)))


class Block(nn.Module):  # type: ignore[misc]
    """A residual block with Res2 groups and squeeze-and-excitation.

    Each group of channels also receives the output of the group before it; the mean over the
    recording determines the weight of each channel.

    Parameters
    ----------
    width : int
        Channels.
    dilation : int
        Distance between the frames of a convolution.
    groups : int, default 4
        Number of groups of channels.
    """

    def __init__(self, width: int, dilation: int, groups: int = 4) -> None:
        super().__init__()
        self.groups = groups
        self.enter = Layer(width, width)
        channels = width // groups
        self.inner = nn.ModuleList(
            Layer(channels, channels, 3, dilation) for _ in range(groups - 1)
        )
        self.leave = Layer(width, width)
        self.squeeze = nn.Conv1d(width, max(8, width // 4), 1)
        self.excite = nn.Conv1d(max(8, width // 4), width, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block.

        Parameters
        ----------
        x : Tensor, recordings × width × frames
            Its output has the same shape.
        """
        first, *groups = self.enter(x).chunk(self.groups, dim=1)
        outputs = [first]
        for layer, group in zip(self.inner, groups, strict=True):
            previous = outputs[-1] if len(outputs) > 1 else torch.zeros_like(group)
            outputs.append(layer(group + previous))
        y = self.leave(torch.cat(outputs, dim=1))
        gate = self.excite(functional.relu(self.squeeze(y.mean(2, keepdim=True))))
        return x + y * torch.sigmoid(gate)


class Pooling(nn.Module):  # type: ignore[misc]
    """Attentive statistics: mean and deviation over time, with weights per frame and channel.

    Parameters
    ----------
    channels : int
        Channels of the input.
    hidden : int
        Channels of the layer that computes the weights.
    """

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.enter = Layer(3 * channels, hidden)
        self.weigh = nn.Conv1d(hidden, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Pool over time.

        Parameters
        ----------
        x : Tensor, recordings × channels × frames
            Its output has the shape recordings × (2 · channels).
        """
        mean, deviation = _statistics(x, torch.full_like(x, 1.0) / x.shape[2])
        context = torch.cat([x, mean.expand_as(x), deviation.expand_as(x)], dim=1)
        weights = torch.softmax(self.weigh(torch.tanh(self.enter(context))), dim=2)
        return torch.cat(_statistics(x, weights), dim=1).squeeze(2)


def _statistics(x: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    mean = (x * weights).sum(2, keepdim=True)
    variance = ((x - mean).square() * weights).sum(2, keepdim=True)
    return mean, (variance + 1e-5).sqrt()


class Ecapa(nn.Module):  # type: ignore[misc]
    """ECAPA-TDNN (Desplanques et al. 2020).

    Parameters
    ----------
    width : int
        Channels, a multiple of 4.
    dimension : int
        Values in an embedding.
    """

    def __init__(self, width: int, dimension: int) -> None:
        super().__init__()
        self.first = Layer(BANKS, width, 5)
        self.blocks = nn.ModuleList(Block(width, dilation) for dilation in (2, 3, 4))
        self.gather = nn.Conv1d(3 * width, 3 * width, 1)
        self.pool = Pooling(3 * width, 128)
        self.last = nn.Sequential(
            nn.BatchNorm1d(6 * width), nn.Linear(6 * width, dimension), nn.BatchNorm1d(dimension)
        )

    def forward(self, banks: Tensor) -> Tensor:
        """Embed recordings.

        Parameters
        ----------
        banks : Tensor, recordings × frames × 80
            Filter banks; the output has the shape recordings × dimension.
        """
        x = self.first(banks.transpose(1, 2))
        outputs = []
        for block in self.blocks:
            x = block(x)
            outputs.append(x)
        x = functional.relu(self.gather(torch.cat(outputs, dim=1)))
        return self.last(self.pool(x))


class Tdnn(nn.Module):  # type: ignore[misc]
    """The time-delay network of x-vectors (Snyder et al. 2018).

    Parameters
    ----------
    width : int
        Channels.
    dimension : int
        Values in an embedding.
    """

    def __init__(self, width: int, dimension: int) -> None:
        super().__init__()
        wide = 3 * width
        self.frames = nn.Sequential(
            Layer(BANKS, width, 5),
            Layer(width, width, 3, 2),
            Layer(width, width, 3, 3),
            Layer(width, width),
            Layer(width, wide),
        )
        self.last = nn.Sequential(nn.Linear(2 * wide, dimension), nn.BatchNorm1d(dimension))

    def forward(self, banks: Tensor) -> Tensor:
        """Embed recordings.

        Parameters
        ----------
        banks : Tensor, recordings × frames × 80
            Filter banks; the output has the shape recordings × dimension.
        """
        x = self.frames(banks.transpose(1, 2))
        statistics = _statistics(x, torch.full_like(x, 1.0) / x.shape[2])
        return self.last(torch.cat(statistics, dim=1).squeeze(2))


NETWORKS: dict[str, Callable[[int, int], nn.Module]] = {"ecapa": Ecapa, "xvector": Tdnn}
"""By name: called with width and dimension."""


class MarginLoss(nn.Module):  # type: ignore[misc]
    """Additive angular margin softmax (Deng et al. 2019): the right class must win by a margin.

    Parameters
    ----------
    dimension : int
        Values in an embedding.
    classes : int
        Number of classes.
    scale : float, default 30.0
        Factor that turns a cosine into log odds.
    """

    def __init__(self, dimension: int, classes: int, scale: float = 30.0) -> None:
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.empty(classes, dimension))
        nn.init.xavier_normal_(self.weight)

    def forward(self, vectors: Tensor, classes: Tensor, margin: float) -> Tensor:
        """Compute the mean loss of a batch.

        Parameters
        ----------
        vectors : Tensor, crops × dimension
            Embeddings.
        classes : Tensor of int, crops
            The right class of each.
        margin : float
            The margin m, in radians.
        """
        cosine = functional.linear(functional.normalize(vectors), functional.normalize(self.weight))
        cosine = cosine.clamp(-1 + 1e-6, 1 - 1e-6)
        sine = (1 - cosine.square()).sqrt()
        shifted = cosine * math.cos(margin) - sine * math.sin(margin)
        # beyond π − m the shifted cosine would rise again: from there on a linear penalty
        linear = cosine - margin * math.sin(margin)
        shifted = torch.where(cosine > -math.cos(margin), shifted, linear)
        right = functional.one_hot(classes, self.weight.shape[0]).bool()
        return functional.cross_entropy(self.scale * torch.where(right, shifted, cosine), classes)
