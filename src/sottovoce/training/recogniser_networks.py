"""The part of a recogniser that is trained: from features of content to characters."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sottovoce.core.types import Features

KERNEL = 7
"""Steps that one convolution sees, of two frames each: 340 ms."""
STRIDE = 2
"""Frames of a step; blocks work on steps, and each step gives so many frames of output."""


class CtcHead(nn.Module):  # type: ignore[misc]
    """Residual blocks of depthwise and gated pointwise convolutions, then characters.

    The normalisation of the features is part of the network, so that its file is complete.

    Parameters
    ----------
    mean, deviation : array of float32
        Of each value of the features, over all training frames.
    characters : int
        Number of characters; the output has one more column, the first, for the blank.
    width : int
        Channels of the blocks.
    blocks : int
        Number of blocks.
    dropout : float
        Share of activations that are dropped in training.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        mean: Features,
        deviation: Features,
        characters: int,
        *,
        width: int,
        blocks: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.register_buffer("mean", torch.from_numpy(mean))
        self.register_buffer("deviation", torch.from_numpy(deviation))
        self.columns = 1 + characters
        self.input = nn.Linear(STRIDE * len(mean), width)
        self.blocks = nn.ModuleList(_Block(width, dropout) for _ in range(blocks))
        self.output = nn.Linear(width, STRIDE * self.columns)

    def forward(self, features: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Return the natural logarithms of the probabilities of blank and characters.

        Parameters
        ----------
        features : Tensor
            Recordings × frames × values, not normalised; an odd last frame is ignored.
        lengths : Tensor, optional
            Frames of each recording; what follows is padding, which then changes no result.
        """
        normal = (features - self.mean) / self.deviation
        steps = features.shape[1] // STRIDE
        hidden = self.input(normal[:, : steps * STRIDE].reshape(features.shape[0], steps, -1))
        mask = None
        if lengths is not None:
            inside = torch.arange(steps) < (lengths // STRIDE)[:, None]
            mask = inside.to(hidden.dtype)[:, :, None]
        for block in self.blocks:
            hidden = block(hidden, mask)
        columns = self.output(hidden).reshape(features.shape[0], steps * STRIDE, self.columns)
        logarithms: Tensor = columns.log_softmax(-1)
        return logarithms


class _Block(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.across_time = nn.Conv1d(width, width, KERNEL, padding=KERNEL // 2, groups=width)
        self.across_channels = nn.Linear(width, 2 * width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        normed = self.norm(hidden)
        if mask is not None:
            normed = normed * mask
        mixed = self.across_time(normed.transpose(1, 2)).transpose(1, 2)
        gated: Tensor = nn.functional.glu(self.across_channels(mixed), -1)
        return hidden + self.dropout(gated)
