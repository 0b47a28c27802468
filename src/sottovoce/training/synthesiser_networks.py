"""The networks of the synthesisers, for training; at run time their ONNX export is used instead.

All work at the rate of content frames (24 ms) and give three WORLD frames each. Only training
imports this module, for it needs torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sottovoce.anonymise.voice.frames import ENVELOPE, SPLIT

PROSODY = 3 * SPLIT
TARGET = (ENVELOPE + 1) * SPLIT
DILATIONS = (1, 2, 4, 1, 2, 1)
CONTENT_NOISE = 0.3
"""Noise added to content in training, in units of its spread."""
SPEAKER_NOISE = 0.3
"""The same for speaker vectors."""
LATENT, CODE = 24, 64
"""Numbers of a content frame and of a voice in the disentangled network."""
KL, KL_FULL = 0.02, 2000
"""The weight of the cost of content, and the step at which it is full."""

Norm = Callable[[Tensor], Tensor]


class Batch(NamedTuple):
    """Segments of utterances in two voices: what is said comes from one, all else from another."""

    content: Tensor
    heard: Tensor
    """Coded envelopes of the voice that says it."""
    prosody: Tensor
    """Pitch and voicing of the other voice, energy of the first."""
    speaker: Tensor
    reference: Tensor
    """Coded envelopes of the other voice somewhere else in the utterance."""
    target: Tensor


class Block(nn.Module):  # type: ignore[misc]
    """A residual convolution over time whose normed channels a condition scales and shifts."""

    def __init__(self, width: int, condition: int, dilation: int, norm: Norm) -> None:
        super().__init__()
        self.wide = nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation)
        self.style = nn.Linear(condition, 2 * width)
        self.dropout = nn.Dropout(0.1)
        self.norm = norm

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Channels × time in, the same out."""
        scale, shift = self.style(condition)[:, :, None].chunk(2, dim=1)
        y = self.norm(x) * (1 + scale) + shift
        return x + self.dropout(functional.gelu(self.wide(y)))


def frame_norm(x: Tensor) -> Tensor:
    """Mean 0 and variance 1 over the channels of each frame, so that length does not matter."""
    return _normed(x, 1)


def instance_norm(x: Tensor) -> Tensor:
    """Mean 0 and variance 1 over time in each channel: what is constant, as a voice is, goes."""
    return _normed(x, 2)


def _normed(x: Tensor, over: int) -> Tensor:
    centred = x - x.mean(over, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(over, keepdim=True) + 1e-5)


class Stack(nn.Module):  # type: ignore[misc]
    """Convolutions under one condition, from input channels to output channels."""

    def __init__(
        self, inputs: int, outputs: int, condition: int, width: int, norm: Norm = frame_norm
    ) -> None:
        super().__init__()
        self.first = nn.Conv1d(inputs, width, 3, padding=1)
        self.blocks = nn.ModuleList(
            Block(width, condition, dilation, norm) for dilation in DILATIONS
        )
        self.last = nn.Conv1d(width, outputs, 3, padding=1)
        self.level = nn.Linear(condition, outputs)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Channels × time."""
        x = self.first(x)
        for block in self.blocks:
            x = block(x, condition)
        return self.last(frame_norm(x)) + self.level(condition)[:, :, None]


class Constants(nn.Module):  # type: ignore[misc]
    """What both networks know of their data before they learn."""

    def __init__(self, constants: dict[str, Any]) -> None:
        super().__init__()
        for name, value in constants.items():
            self.register_buffer(name, torch.as_tensor(value, dtype=torch.float32))

    def levelled(self, prosody: Tensor) -> Tensor:
        """Prosody of mean 0 and variance 1."""
        return (prosody - self.prosody_mean) / self.prosody_scale

    def standard(self, target: Tensor) -> Tensor:
        """Coded envelopes of mean 0 and variance 1."""
        return (target - self.target_mean) / self.target_scale

    def restored(self, standard: Tensor) -> Tensor:
        """The inverse of :meth:`standard`."""
        return standard * self.target_scale + self.target_mean


class Acoustic(Constants):
    """Content, prosody and a speaker vector to coded envelopes: the synthesiser of ``xvector``."""

    inputs = ("content", "prosody", "speaker", "coded")

    def __init__(self, constants: dict[str, Any], width: int = 192) -> None:
        super().__init__(constants)
        size, condition = self.reduction.shape[1], 128
        self.voice = nn.Sequential(
            nn.Linear(len(self.speaker_mean), condition), nn.GELU(), nn.Linear(condition, condition)
        )
        self.stack = Stack(size + PROSODY, TARGET, condition, width)

    def forward(self, content: Tensor, prosody: Tensor, speaker: Tensor, coded: Tensor) -> Tensor:
        """Batch × time × …; ``coded`` is 1 for content by its codebook, 0 for content as it is."""
        reduced = content @ self.reduction
        reduced = torch.where(coded > 0, self.quantised(reduced), reduced)
        return self._converted(reduced, prosody, speaker)

    def guess(self, batch: Batch, step: int) -> tuple[Tensor, Tensor]:
        """Envelopes of a training batch; every second step by the codebook, else with noise."""
        reduced = batch.content @ self.reduction
        if step % 2:
            reduced = self.quantised(reduced)
        else:
            reduced = reduced + CONTENT_NOISE * self.content_scale * torch.randn_like(reduced)
        return self._converted(reduced, batch.prosody, batch.speaker), torch.zeros(())

    def held_out(self, batch: Batch, *, coded: bool) -> Tensor:
        """Envelopes without noise."""
        flag = torch.tensor(float(coded))
        return self(batch.content, batch.prosody, batch.speaker, flag)

    def quantised(self, reduced: Tensor) -> Tensor:
        """The nearest entry of the codebook for each frame."""
        distance = self.codebook.square().sum(1) - 2 * reduced @ self.codebook.T
        return self.codebook[distance.argmin(-1)]

    def _converted(self, reduced: Tensor, prosody: Tensor, speaker: Tensor) -> Tensor:
        heard = torch.cat([reduced / self.content_scale, self.levelled(prosody)], -1)
        out = self.stack(heard.transpose(1, 2), self.voice(self._unit(speaker)))
        return self.restored(out.transpose(1, 2))

    def _unit(self, speaker: Tensor) -> Tensor:
        """Speaker vectors less their mean, of one length; in training with noise."""
        centred = speaker - self.speaker_mean
        length = centred.square().mean(1, keepdim=True).sqrt()
        noise = SPEAKER_NOISE * torch.randn_like(centred) if self.training else 0.0
        return centred / (length + 1e-6) + noise


class Disentangled(Constants):
    """One-shot conversion with instance normalisation: AdaIN-VC (Chou & Lee 2019), for ``dar``.

    A content encoder whose instance norms take the voice away, a speaker encoder that averages
    over time, and a decoder whose channels the speaker's code scales and shifts.
    """

    inputs = ("heard", "prosody", "code")

    def __init__(self, constants: dict[str, Any], width: int = 160) -> None:
        super().__init__(constants)
        self.first = nn.Conv1d(TARGET, width, 3, padding=1)
        self.inner = nn.ModuleList(nn.Conv1d(width, width, 3, padding=1) for _ in range(4))
        self.bottleneck = nn.Conv1d(width, 2 * LATENT, 1)
        self.listen = nn.ModuleList(
            nn.Conv1d(size, width, 3, padding=1) for size in (TARGET, width, width)
        )
        self.code = nn.Linear(width, CODE)
        self.decoder = Stack(LATENT + PROSODY, TARGET, CODE, width, instance_norm)

    def forward(self, heard: Tensor, prosody: Tensor, code: Tensor) -> Tensor:
        """Envelopes (batch × time × …) in the voice of a code."""
        mean, _ = self._content(heard)
        return self._decoded(mean, prosody, code)

    def speaker(self, reference: Tensor) -> Tensor:
        """The code of a voice, from coded envelopes of any length."""
        x = self.standard(reference).transpose(1, 2)
        for layer in self.listen:
            x = functional.gelu(layer(x))
        return self.code(x.mean(2))

    def guess(self, batch: Batch, step: int) -> tuple[Tensor, Tensor]:
        """Envelopes of a training batch, and how much the content costs (KL)."""
        mean, log_variance = self._content(batch.heard)
        latent = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        cost = (mean.square() + log_variance.exp() - 1 - log_variance).mean() / 2
        weight = KL * min(1.0, step / KL_FULL)
        return self._decoded(latent, batch.prosody, self.speaker(batch.reference)), weight * cost

    def held_out(self, batch: Batch, *, coded: bool) -> Tensor:
        """Envelopes without noise."""
        return self(batch.heard, batch.prosody, self.speaker(batch.reference))

    def _content(self, heard: Tensor) -> tuple[Tensor, Tensor]:
        x = self.first(instance_norm(self.standard(heard).transpose(1, 2)))
        for layer in self.inner:
            x = x + functional.gelu(instance_norm(layer(x)))
        mean, log_variance = self.bottleneck(x).chunk(2, dim=1)
        return mean, log_variance.clamp(-8, 4)

    def _decoded(self, latent: Tensor, prosody: Tensor, code: Tensor) -> Tensor:
        given = torch.cat([latent, self.levelled(prosody).transpose(1, 2)], 1)
        return self.restored(self.decoder(given, code).transpose(1, 2))


class Critic(nn.Module):  # type: ignore[misc]
    """Tells coded envelopes of real speech from a network's, so that those are not blurred."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [
                nn.Conv1d(ENVELOPE + 1, width, 5, stride=2, padding=2),
                nn.Conv1d(width, width, 5, stride=2, padding=2),
                nn.Conv1d(width, width, 5, stride=2, padding=2),
            ]
        )
        self.score = nn.Conv1d(width, 1, 3, padding=1)

    def forward(self, table: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Scores over time, and what each layer found."""
        x, inner = table.transpose(1, 2), []
        for layer in self.layers:
            x = functional.leaky_relu(layer(x), 0.2)
            inner.append(x)
        return self.score(x), inner
