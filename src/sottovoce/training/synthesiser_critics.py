"""Networks that judge predicted envelopes in training, and are not needed afterwards.

The distance of two envelopes says little about the words that are understood. So a listener learns
first what a speech recogniser hears in real envelopes; then the synthesiser learns envelopes in
which the listener hears the same. A discriminator tells blurred envelopes from real ones.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from sottovoce.anonymise.voice.frames import ENVELOPE
from sottovoce.core.types import Features
from sottovoce.training.synthesiser_layers import Stack
from sottovoce.training.synthesiser_networks import PROSODY, TARGET, Batch, SynthesisNetwork

LISTENER_DILATIONS = (1, 2, 4, 8, 1, 2, 4, 8)
"""Dilations of the convolutions of the listener: 1.5 s of context."""
HEARD_DIRECTIONS = 128
"""Directions of content that the listener predicts."""


class Listener(SynthesisNetwork):
    """Predicts the content of speech from its envelopes, as a recogniser would hear it.

    Parameters
    ----------
    statistics : mapping of str to ndarray
        Statistics of the training data.
    width : int, default 224
        Number of inner channels.
    """

    def __init__(self, statistics: Mapping[str, Features], width: int = 224) -> None:
        super().__init__(statistics)
        outputs = min(HEARD_DIRECTIONS, self.reduction.shape[1])
        self.voice = nn.Linear(len(self.speaker_mean), 64)
        self.stack = Stack(TARGET + PROSODY, outputs, 64, width, LISTENER_DILATIONS)

    def forward(self, batch: Batch, envelopes: Tensor) -> list[Tensor]:
        """Listen to envelopes; the last of the activations is the predicted content.

        Parameters
        ----------
        batch : Batch
            Gives prosody and speaker of the envelopes.
        envelopes : Tensor, shape (batch, time, 123)
            Coded envelopes.
        """
        inputs = [self.standard(envelopes), self.standard_prosody(batch.prosody)]
        voice = self.voice(self.standard_speaker(batch.speaker))
        return self.stack.activations(torch.cat(inputs, -1), voice)

    def loss(self, batch: Batch) -> Tensor:
        """Compute the mean squared error of the predicted content, whose variance is 1.

        Parameters
        ----------
        batch : Batch
            Segments whose content and envelopes are of one voice.
        """
        content = (batch.content @ self.reduction / self.content_scale)[..., :HEARD_DIRECTIONS]
        total: Tensor = (self(batch, batch.target)[-1] - content).square().mean()
        return total

    def difference(self, batch: Batch, predicted: Tensor) -> Tensor:
        """Compute how differently predicted and real envelopes are heard.

        Mean absolute difference of the activations in units of their mean absolute value: that of
        the predicted content plus the mean over the inner ones.

        Parameters
        ----------
        batch : Batch
            Segments with the real envelopes.
        predicted : Tensor, shape (batch, time, 123)
            Predicted envelopes.
        """
        with torch.no_grad():
            expected = self(batch, batch.target)
        pairs = zip(self(batch, predicted), expected, strict=True)
        *inner, content = [functional.l1_loss(*pair) / pair[1].abs().mean() for pair in pairs]
        total: Tensor = content + torch.stack(inner).mean()
        return total


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
