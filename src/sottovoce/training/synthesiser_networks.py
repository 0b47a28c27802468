"""The networks of the synthesisers in torch, for training; at run time their ONNX export is used.

All networks work on content frames (24 ms) and give three WORLD frames for each. Only training
imports this module, because it needs torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sottovoce.anonymise.voice.frames import ENVELOPE, SPLIT
from sottovoce.core.types import Features
from sottovoce.training.synthesiser_layers import Convolution, Stack, instance_norm

PROSODY = 3 * SPLIT
"""Prosody values of a content frame."""
TARGET = (ENVELOPE + 1) * SPLIT
"""Envelope and aperiodicity values of a content frame."""
DILATIONS = (1, 2, 4, 1, 2, 4, 1, 2)
"""Dilations of the convolutions of the acoustic network."""
DECODER_DILATIONS = (1, 2, 4, 1, 2, 1)
"""Dilations of the convolutions of the decoder of the disentangled network."""
CONTENT_NOISE = 0.1
"""Noise added to content in training, in units of its standard deviation."""
CODED_SHARE, TRUNCATED_SHARE = 0.1, 0.15
"""Shares of training segments with coded content, and with fewer directions of content."""
LEAST_DETAIL = 16
"""Fewest directions of content in training."""
SPEAKER_NOISE = 0.3
"""Noise added to normalised speaker vectors in training."""
LATENT, CODE = 24, 64
"""Dimensions of the content of a frame and of a voice in the disentangled network."""
KL_WEIGHT, KL_STEPS = 0.02, 2000
"""Final weight of the KL term, and the step at which it is reached."""


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

    def standard_prosody(self, prosody: Tensor) -> Tensor:
        """Scale prosody to mean 0 and variance 1.

        Parameters
        ----------
        prosody : Tensor, shape (batch, time, 9)
            Log F0, voicing and energy.
        """
        return (prosody - self.prosody_mean) / self.prosody_scale

    def standard_speaker(self, speaker: Tensor) -> Tensor:
        """Subtract the mean of speaker vectors and scale them to one length.

        Parameters
        ----------
        speaker : Tensor, shape (batch, d)
            Speaker vectors.
        """
        centred = speaker - self.speaker_mean
        return centred / (centred.square().mean(1, keepdim=True).sqrt() + 1e-6)

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
    width : int, default 384
        Number of inner channels.
    """

    inputs = ("content", "prosody", "speaker", "coded", "detail")

    def __init__(self, statistics: Mapping[str, Features], width: int = 384) -> None:
        super().__init__(statistics)
        size, condition = self.reduction.shape[1], 128
        self.voice = nn.Sequential(
            nn.Linear(len(self.speaker_mean), condition), nn.GELU(), nn.Linear(condition, condition)
        )
        self.stack = Stack(size + PROSODY, TARGET, condition, width, DILATIONS)

    def forward(
        self, content: Tensor, prosody: Tensor, speaker: Tensor, coded: Tensor, detail: Tensor
    ) -> Tensor:
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
        detail : Tensor, no dimensions
            Number of directions of content that are used.
        """
        reduced = self._truncated(content @ self.reduction, detail)
        reduced = torch.where(coded > 0, self._quantised(reduced), reduced)
        return self._envelopes(reduced, prosody, speaker)

    def predict(self, batch: Batch, step: int) -> tuple[Tensor, Tensor]:
        """Predict envelopes in training: content with noise, of some segments coded or truncated.

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
        with torch.autocast("cpu", enabled=False):  # the nearest code needs full precision
            reduced = self._varied(batch.content @ self.reduction)
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
        flag, detail = torch.tensor(float(coded)), torch.tensor(math.inf)
        return self(batch.content, batch.prosody, batch.speaker, flag, detail)

    def _varied(self, reduced: Tensor) -> Tensor:
        """Add noise to content; code some segments and truncate others."""
        share, size = torch.rand(len(reduced), 1, 1), reduced.shape[2]
        detail = LEAST_DETAIL * (size / LEAST_DETAIL) ** torch.rand(len(reduced), 1, 1)
        detail = torch.where(share < TRUNCATED_SHARE, detail, size)
        noisy = reduced + CONTENT_NOISE * self.content_scale * torch.randn_like(reduced)
        coded = share > 1 - CODED_SHARE
        return torch.where(coded, self._quantised(reduced), self._truncated(noisy, detail))

    def _truncated(self, reduced: Tensor, detail: Tensor) -> Tensor:
        """Set all but the first directions of content to 0."""
        return reduced * (torch.arange(reduced.shape[2]) < detail)

    def _quantised(self, reduced: Tensor) -> Tensor:
        """Replace each frame by the nearest entry of the codebook."""
        distance = self.codebook.square().sum(1) - 2 * reduced @ self.codebook.T
        return self.codebook[distance.argmin(-1)]

    def _envelopes(self, reduced: Tensor, prosody: Tensor, speaker: Tensor) -> Tensor:
        inputs = torch.cat([reduced / self.content_scale, self.standard_prosody(prosody)], -1)
        return self._restored(self.stack(inputs, self.voice(self._normalise(speaker))))

    def _normalise(self, speaker: Tensor) -> Tensor:
        """Normalise speaker vectors; noise in training."""
        noise = SPEAKER_NOISE * torch.randn_like(speaker) if self.training else 0.0
        return self.standard_speaker(speaker) + noise


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
        self.first = Convolution(TARGET, width)
        self.inner = nn.ModuleList(Convolution(width, width) for _ in range(4))
        self.bottleneck = nn.Linear(width, 2 * LATENT)
        self.listen = nn.ModuleList(Convolution(size, width) for size in (TARGET, width, width))
        self.code = nn.Linear(width, CODE)
        inputs = LATENT + PROSODY
        self.decoder = Stack(inputs, TARGET, CODE, width, DECODER_DILATIONS, instance_norm)

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
        x = self.standard(reference)
        for layer in self.listen:
            x = functional.gelu(layer(x))
        return self.code(x.mean(1))

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
        x = self.first(instance_norm(self.standard(heard)))
        for layer in self.inner:
            x = x + functional.gelu(instance_norm(layer(x)))
        mean, log_variance = self.bottleneck(x).chunk(2, dim=-1)
        return mean, log_variance.clamp(-8, 4)

    def _decoded(self, latent: Tensor, prosody: Tensor, code: Tensor) -> Tensor:
        inputs = torch.cat([latent, self.standard_prosody(prosody)], -1)
        return self._restored(self.decoder(inputs, code))
