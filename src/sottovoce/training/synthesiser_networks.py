"""The networks of the synthesisers in torch, for training; at run time their ONNX export is used.

All networks work on content frames (24 ms) and give three WORLD frames for each. Only training
imports this module, because it needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sottovoce.anonymise.voice.frames import ENVELOPE, SPLIT
from sottovoce.core.types import Features

PROSODY = 3 * SPLIT
"""Prosody values of a content frame."""
TARGET = (ENVELOPE + 1) * SPLIT
"""Envelope and aperiodicity values of a content frame."""
DILATIONS = (1, 2, 4, 1, 2, 1)
"""Dilations of the convolutions of a stack."""
CONTENT_NOISE = 0.3
"""Noise added to content in training, in units of its standard deviation."""
SPEAKER_NOISE = 0.3
"""Noise added to normalised speaker vectors in training."""
LATENT, CODE = 24, 64
"""Dimensions of the content of a frame and of a voice in the disentangled network."""
KL_WEIGHT, KL_STEPS = 0.02, 2000
"""Final weight of the KL term, and the step at which it is reached."""

Norm = Callable[[Tensor], Tensor]


class Batch(NamedTuple):
    """Segments of utterances in two voices: content from the first, all else from the second."""

    content: Tensor
    """Content features of the first voice."""
    heard: Tensor
    """Coded envelopes of the first voice."""
    prosody: Tensor
    """F0 and voicing of the second voice, energy of the first."""
    speaker: Tensor
    """Speaker vector of the second voice."""
    reference: Tensor
    """Coded envelopes of the second voice from another place of the utterance."""
    target: Tensor
    """Coded envelopes of the second voice, which the network has to predict."""


class _Block(nn.Module):  # type: ignore[misc]
    """A residual convolution over time; a condition scales and shifts its normalised channels."""

    def __init__(self, width: int, condition: int, dilation: int, norm: Norm) -> None:
        super().__init__()
        self.wide = nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation)
        self.style = nn.Linear(condition, 2 * width)
        self.dropout = nn.Dropout(0.1)
        self.norm = norm

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Apply the block.

        Parameters
        ----------
        x : Tensor, shape (batch, width, time)
            Channels over time; the result has the same shape.
        condition : Tensor, shape (batch, condition)
            The condition vector.
        """
        scale, shift = self.style(condition)[:, :, None].chunk(2, dim=1)
        y = self.norm(x) * (1 + scale) + shift
        return x + self.dropout(functional.gelu(self.wide(y)))


def _frame_norm(x: Tensor) -> Tensor:
    """Normalise the channels of each frame to mean 0 and variance 1, independent of length."""
    return _normalised(x, 1)


def _instance_norm(x: Tensor) -> Tensor:
    """Normalise each channel over time to mean 0 and variance 1, which removes the voice."""
    return _normalised(x, 2)


def _normalised(x: Tensor, axis: int) -> Tensor:
    centred = x - x.mean(axis, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(axis, keepdim=True) + 1e-5)


class _Stack(nn.Module):  # type: ignore[misc]
    """A stack of conditioned convolutions."""

    def __init__(
        self, inputs: int, outputs: int, condition: int, width: int, norm: Norm = _frame_norm
    ) -> None:
        super().__init__()
        self.first = nn.Conv1d(inputs, width, 3, padding=1)
        self.blocks = nn.ModuleList(
            _Block(width, condition, dilation, norm) for dilation in DILATIONS
        )
        self.last = nn.Conv1d(width, outputs, 3, padding=1)
        self.level = nn.Linear(condition, outputs)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Apply all convolutions.

        Parameters
        ----------
        x : Tensor, shape (batch, inputs, time)
            The input; the result has ``outputs`` channels.
        condition : Tensor, shape (batch, condition)
            The condition vector.
        """
        x = self.first(x)
        for block in self.blocks:
            x = block(x, condition)
        return self.last(_frame_norm(x)) + self.level(condition)[:, :, None]


class SynthesisNetwork(nn.Module):  # type: ignore[misc]
    """Base of both networks: holds statistics of the training data as buffers.

    Parameters
    ----------
    statistics : mapping of str to ndarray
        Result of :func:`~sottovoce.training.synthesiser_data.data_statistics`.
    """

    def __init__(self, statistics: Mapping[str, Features]) -> None:
        super().__init__()
        for name, value in statistics.items():
            self.register_buffer(name, torch.as_tensor(value, dtype=torch.float32))

    def _standard_prosody(self, prosody: Tensor) -> Tensor:
        """Scale prosody to mean 0 and variance 1."""
        return (prosody - self.prosody_mean) / self.prosody_scale

    def standard(self, target: Tensor) -> Tensor:
        """Scale coded envelopes to mean 0 and variance 1.

        Parameters
        ----------
        target : Tensor, shape (batch, time, 123)
            Coded envelopes.
        """
        return (target - self.target_mean) / self.target_scale

    def _restored(self, standard: Tensor) -> Tensor:
        """Undo :meth:`standard`."""
        return standard * self.target_scale + self.target_mean


class AcousticNetwork(SynthesisNetwork):
    """The synthesiser of ``xvector``: content, prosody and speaker vector to coded envelopes.

    Parameters
    ----------
    statistics : mapping of str to ndarray
        Statistics of the training data.
    width : int, default 192
        Number of inner channels.
    """

    inputs = ("content", "prosody", "speaker", "coded")

    def __init__(self, statistics: Mapping[str, Features], width: int = 192) -> None:
        super().__init__(statistics)
        size, condition = self.reduction.shape[1], 128
        self.voice = nn.Sequential(
            nn.Linear(len(self.speaker_mean), condition), nn.GELU(), nn.Linear(condition, condition)
        )
        self.stack = _Stack(size + PROSODY, TARGET, condition, width)

    def forward(self, content: Tensor, prosody: Tensor, speaker: Tensor, coded: Tensor) -> Tensor:
        """Compute coded envelopes.

        Parameters
        ----------
        content : Tensor, shape (batch, time, 288)
            Content features.
        prosody : Tensor, shape (batch, time, 9)
            Log F0, voicing and energy.
        speaker : Tensor, shape (batch, d)
            Speaker vectors.
        coded : Tensor, no dimensions
            1 to replace content by the nearest code, 0 to use it unchanged.
        """
        reduced = content @ self.reduction
        reduced = torch.where(coded > 0, self._quantised(reduced), reduced)
        return self._envelopes(reduced, prosody, speaker)

    def predict(self, batch: Batch, step: int) -> tuple[Tensor, Tensor]:
        """Predict envelopes in training: with codes at every second step, otherwise with noise.

        Parameters
        ----------
        batch : Batch
            Segments in two voices.
        step : int
            Number of the training step.

        Returns
        -------
        envelopes : Tensor, shape (batch, time, 123)
            Predicted envelopes of the second voice.
        cost : Tensor
            Always 0.
        """
        reduced = batch.content @ self.reduction
        if step % 2:
            reduced = self._quantised(reduced)
        else:
            reduced = reduced + CONTENT_NOISE * self.content_scale * torch.randn_like(reduced)
        return self._envelopes(reduced, batch.prosody, batch.speaker), torch.zeros(())

    def evaluate(self, batch: Batch, *, coded: bool) -> Tensor:
        """Predict envelopes without noise.

        Parameters
        ----------
        batch : Batch
            Utterances in two voices.
        coded : bool
            Whether content is replaced by the nearest code.
        """
        flag = torch.tensor(float(coded))
        return self(batch.content, batch.prosody, batch.speaker, flag)

    def _quantised(self, reduced: Tensor) -> Tensor:
        """Replace each frame by the nearest entry of the codebook."""
        distance = self.codebook.square().sum(1) - 2 * reduced @ self.codebook.T
        return self.codebook[distance.argmin(-1)]

    def _envelopes(self, reduced: Tensor, prosody: Tensor, speaker: Tensor) -> Tensor:
        inputs = torch.cat([reduced / self.content_scale, self._standard_prosody(prosody)], -1)
        outputs = self.stack(inputs.transpose(1, 2), self.voice(self._normalise(speaker)))
        return self._restored(outputs.transpose(1, 2))

    def _normalise(self, speaker: Tensor) -> Tensor:
        """Subtract the mean of speaker vectors and scale them to one length; noise in training."""
        centred = speaker - self.speaker_mean
        length = centred.square().mean(1, keepdim=True).sqrt()
        noise = SPEAKER_NOISE * torch.randn_like(centred) if self.training else 0.0
        return centred / (length + 1e-6) + noise


class DisentangledNetwork(SynthesisNetwork):
    """The synthesiser of ``dar``: conversion with instance normalisation (Chou & Lee 2019).

    A content encoder removes the voice by instance normalisation, a speaker encoder averages over
    time, and the speaker's code scales and shifts the channels of the decoder.

    Parameters
    ----------
    statistics : mapping of str to ndarray
        Statistics of the training data.
    width : int, default 160
        Number of inner channels.
    """

    inputs = ("heard", "prosody", "code")

    def __init__(self, statistics: Mapping[str, Features], width: int = 160) -> None:
        super().__init__(statistics)
        self.first = nn.Conv1d(TARGET, width, 3, padding=1)
        self.inner = nn.ModuleList(nn.Conv1d(width, width, 3, padding=1) for _ in range(4))
        self.bottleneck = nn.Conv1d(width, 2 * LATENT, 1)
        self.listen = nn.ModuleList(
            nn.Conv1d(size, width, 3, padding=1) for size in (TARGET, width, width)
        )
        self.code = nn.Linear(width, CODE)
        self.decoder = _Stack(LATENT + PROSODY, TARGET, CODE, width, _instance_norm)

    def forward(self, heard: Tensor, prosody: Tensor, code: Tensor) -> Tensor:
        """Compute coded envelopes in another voice.

        Parameters
        ----------
        heard : Tensor, shape (batch, time, 123)
            Coded envelopes of the recording.
        prosody : Tensor, shape (batch, time, 9)
            Log F0, voicing and energy.
        code : Tensor, shape (batch, 64)
            Code of the target voice.
        """
        mean, _ = self._content(heard)
        return self._decoded(mean, prosody, code)

    def speaker(self, reference: Tensor) -> Tensor:
        """Compute the code of a voice.

        Parameters
        ----------
        reference : Tensor, shape (batch, time, 123)
            Coded envelopes of the voice, of any length.
        """
        x = self.standard(reference).transpose(1, 2)
        for layer in self.listen:
            x = functional.gelu(layer(x))
        return self.code(x.mean(2))

    def predict(self, batch: Batch, step: int) -> tuple[Tensor, Tensor]:
        """Predict envelopes in training.

        Parameters
        ----------
        batch : Batch
            Segments in two voices.
        step : int
            Number of the training step.

        Returns
        -------
        envelopes : Tensor, shape (batch, time, 123)
            Predicted envelopes of the second voice.
        cost : Tensor
            Weighted KL divergence of the content from a standard normal distribution.
        """
        mean, log_variance = self._content(batch.heard)
        latent = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        cost = (mean.square() + log_variance.exp() - 1 - log_variance).mean() / 2
        weight = KL_WEIGHT * min(1.0, step / KL_STEPS)
        return self._decoded(latent, batch.prosody, self.speaker(batch.reference)), weight * cost

    def evaluate(self, batch: Batch, *, coded: bool) -> Tensor:
        """Predict envelopes without noise.

        Parameters
        ----------
        batch : Batch
            Utterances in two voices.
        coded : bool
            Ignored: this network has no codebook.
        """
        return self(batch.heard, batch.prosody, self.speaker(batch.reference))

    def _content(self, heard: Tensor) -> tuple[Tensor, Tensor]:
        x = self.first(_instance_norm(self.standard(heard).transpose(1, 2)))
        for layer in self.inner:
            x = x + functional.gelu(_instance_norm(layer(x)))
        mean, log_variance = self.bottleneck(x).chunk(2, dim=1)
        return mean, log_variance.clamp(-8, 4)

    def _decoded(self, latent: Tensor, prosody: Tensor, code: Tensor) -> Tensor:
        inputs = torch.cat([latent, self._standard_prosody(prosody).transpose(1, 2)], 1)
        return self._restored(self.decoder(inputs, code).transpose(1, 2))


class Discriminator(nn.Module):  # type: ignore[misc]
    """Tells coded envelopes of real speech from predicted ones, so that these are not blurred.

    Parameters
    ----------
    width : int, default 128
        Number of inner channels.
    """

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
        """Score envelopes.

        Parameters
        ----------
        table : Tensor, shape (batch, frames, 41)
            Scaled coded envelopes.

        Returns
        -------
        scores : Tensor, shape (batch, 1, time)
            Near 1 for real speech, near 0 for predictions.
        activations : list of Tensor
            Output of each layer.
        """
        x, activations = table.transpose(1, 2), []
        for layer in self.layers:
            x = functional.leaky_relu(layer(x), 0.2)
            activations.append(x)
        return self.score(x), activations
