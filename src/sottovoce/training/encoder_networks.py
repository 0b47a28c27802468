"""Speaker encoders as networks, for training; at run time their ONNX export is used instead.

Only training imports this module, for it needs torch. Input: recordings × frames × 80 filter banks,
their mean over time removed.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

BANKS = 80


class Layer(nn.Module):  # type: ignore[misc]
    """A convolution over time, rectified and normalised."""

    def __init__(self, inputs: int, outputs: int, size: int = 1, dilation: int = 1) -> None:
        super().__init__()
        reach = dilation * (size - 1) // 2
        self.convolution = nn.Conv1d(inputs, outputs, size, dilation=dilation, padding=reach)
        self.norm = nn.BatchNorm1d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Channels × time."""
        return self.norm(functional.relu(self.convolution(x)))


class Block(nn.Module):  # type: ignore[misc]
    """A residual block in which each part of the channels also hears the part before it (Res2),
    and the whole recording says how much each channel counts (squeeze and excitation)."""

    def __init__(self, width: int, dilation: int, parts: int = 4) -> None:
        super().__init__()
        self.parts = parts
        self.enter = Layer(width, width)
        own = width // parts
        self.inner = nn.ModuleList(Layer(own, own, 3, dilation) for _ in range(parts - 1))
        self.leave = Layer(width, width)
        self.squeeze = nn.Conv1d(width, max(8, width // 4), 1)
        self.excite = nn.Conv1d(max(8, width // 4), width, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Channels × time in, the same out."""
        first, *others = self.enter(x).chunk(self.parts, dim=1)
        heard = [first]
        for layer, part in zip(self.inner, others, strict=True):
            before = heard[-1] if len(heard) > 1 else torch.zeros_like(part)
            heard.append(layer(part + before))
        y = self.leave(torch.cat(heard, dim=1))
        gate = self.excite(functional.relu(self.squeeze(y.mean(2, keepdim=True))))
        return x + y * torch.sigmoid(gate)


class Pooling(nn.Module):  # type: ignore[misc]
    """Attentive statistics: mean and deviation over time, frames weighted channel by channel."""

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.enter = Layer(3 * channels, hidden)
        self.weigh = nn.Conv1d(hidden, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Channels × time in, twice the channels out."""
        mean, deviation = _statistics(x, torch.full_like(x, 1.0) / x.shape[2])
        context = torch.cat([x, mean.expand_as(x), deviation.expand_as(x)], dim=1)
        weights = torch.softmax(self.weigh(torch.tanh(self.enter(context))), dim=2)
        return torch.cat(_statistics(x, weights), dim=1).squeeze(2)


def _statistics(x: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    mean = (x * weights).sum(2, keepdim=True)
    variance = ((x - mean).square() * weights).sum(2, keepdim=True)
    return mean, (variance + 1e-5).sqrt()


class Ecapa(nn.Module):  # type: ignore[misc]
    """ECAPA-TDNN (Desplanques et al. 2020)."""

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
        """Recordings × frames × banks in, recordings × dimension out."""
        x = self.first(banks.transpose(1, 2))
        found = []
        for block in self.blocks:
            x = block(x)
            found.append(x)
        x = functional.relu(self.gather(torch.cat(found, dim=1)))
        return self.last(self.pool(x))


class Tdnn(nn.Module):  # type: ignore[misc]
    """The time-delay network of x-vectors (Snyder et al. 2018)."""

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
        """Recordings × frames × banks in, recordings × dimension out."""
        x = self.frames(banks.transpose(1, 2))
        statistics = _statistics(x, torch.full_like(x, 1.0) / x.shape[2])
        return self.last(torch.cat(statistics, dim=1).squeeze(2))


NETWORKS: dict[str, Any] = {"ecapa": Ecapa, "xvector": Tdnn}


class MarginLoss(nn.Module):  # type: ignore[misc]
    """Additive angular margin softmax (Deng et al. 2019): the right speaker must win by m."""

    def __init__(self, dimension: int, speakers: int, scale: float = 30.0) -> None:
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.empty(speakers, dimension))
        nn.init.xavier_normal_(self.weight)

    def forward(self, vectors: Tensor, who: Tensor, margin: float) -> Tensor:
        """Mean loss of a batch."""
        cosine = functional.linear(functional.normalize(vectors), functional.normalize(self.weight))
        cosine = cosine.clamp(-1 + 1e-6, 1 - 1e-6)
        sine = (1 - cosine.square()).sqrt()
        moved = cosine * math.cos(margin) - sine * math.sin(margin)
        # beyond π − m the angle would turn back: from there on a plain penalty
        moved = torch.where(cosine > -math.cos(margin), moved, cosine - margin * math.sin(margin))
        right = functional.one_hot(who, self.weight.shape[0]).bool()
        return functional.cross_entropy(self.scale * torch.where(right, moved, cosine), who)
