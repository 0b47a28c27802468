"""Layers of the synthesisers in torch: convolutions over time that a condition controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

DROPOUT = 0.05
"""Share of inner values that are set to 0 in training."""

Norm = Callable[[Tensor], Tensor]


class Convolution(nn.Module):  # type: ignore[misc]
    """A convolution of three frames over time, as one matrix product.

    On a processor with bfloat16 this is faster than ``Conv1d``, because channels come last.

    Parameters
    ----------
    inputs, outputs : int
        Numbers of channels.
    dilation : int, default 1
        Distance of the three frames.
    """

    def __init__(self, inputs: int, outputs: int, dilation: int = 1) -> None:
        super().__init__()
        self.dilation = dilation
        self.linear = nn.Linear(3 * inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the convolution; frames beyond both ends are 0.

        Parameters
        ----------
        x : Tensor, shape (batch, time, inputs)
            Channels over time.
        """
        padded = functional.pad(x, (0, 0, self.dilation, self.dilation))
        before, after = padded[:, : -2 * self.dilation], padded[:, 2 * self.dilation :]
        return self.linear(torch.cat([before, x, after], -1))


class Block(nn.Module):  # type: ignore[misc]
    """A residual convolution over time; a condition scales and shifts its normalised channels.

    Parameters
    ----------
    width, condition : int
        Numbers of channels, and of values of the condition.
    dilation : int
        Distance of the three frames of the convolution.
    norm : callable
        Normalisation of the channels.
    """

    def __init__(self, width: int, condition: int, dilation: int, norm: Norm) -> None:
        super().__init__()
        self.wide = Convolution(width, width, dilation)
        self.style = nn.Linear(condition, 2 * width)
        self.dropout = nn.Dropout(DROPOUT)
        self.norm = norm

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Apply the block.

        Parameters
        ----------
        x : Tensor, shape (batch, time, width)
            Channels over time; the result has the same shape.
        condition : Tensor, shape (batch, condition)
            The condition vector.
        """
        scale, shift = self.style(condition)[:, None].chunk(2, dim=-1)
        y = self.norm(x) * (1 + scale) + shift
        return x + self.dropout(functional.gelu(self.wide(y)))


def frame_norm(x: Tensor) -> Tensor:
    """Normalise the channels of each frame to mean 0 and variance 1, independent of length.

    Parameters
    ----------
    x : Tensor, shape (batch, time, channels)
        Channels over time.
    """
    return functional.layer_norm(x, (int(x.shape[-1]),))  # the exporter needs a number


def instance_norm(x: Tensor) -> Tensor:
    """Normalise each channel over time to mean 0 and variance 1, which removes the voice.

    Parameters
    ----------
    x : Tensor, shape (batch, time, channels)
        Channels over time.
    """
    centred = x - x.mean(1, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(1, keepdim=True) + 1e-5)


class Stack(nn.Module):  # type: ignore[misc]
    """A stack of conditioned convolutions.

    Parameters
    ----------
    inputs, outputs, condition, width : int
        Numbers of channels of the input, the output, the condition and between.
    dilations : sequence of int
        Dilations of the convolutions.
    norm : callable, optional
        Normalisation of the channels; that of each frame by default.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        condition: int,
        width: int,
        dilations: Sequence[int],
        norm: Norm = frame_norm,
    ) -> None:
        super().__init__()
        self.first = Convolution(inputs, width)
        self.blocks = nn.ModuleList(
            Block(width, condition, dilation, norm) for dilation in dilations
        )
        self.last = Convolution(width, outputs)
        self.level = nn.Linear(condition, outputs)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Apply all convolutions.

        Parameters
        ----------
        x : Tensor, shape (batch, time, inputs)
            The input; the result has ``outputs`` channels.
        condition : Tensor, shape (batch, condition)
            The condition vector.
        """
        return self.activations(x, condition)[-1]

    def activations(self, x: Tensor, condition: Tensor) -> list[Tensor]:
        """Return the output of every second block, and of the whole stack at last.

        Parameters
        ----------
        x : Tensor, shape (batch, time, inputs)
            The input.
        condition : Tensor, shape (batch, condition)
            The condition vector.
        """
        x, inner = self.first(x), []
        for block in self.blocks:
            x = block(x, condition)
            inner.append(x)
        return [*inner[1::2], self.last(frame_norm(x)) + self.level(condition)[:, None]]
