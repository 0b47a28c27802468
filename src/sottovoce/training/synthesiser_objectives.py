"""What the networks of the synthesisers are trained for: losses of a batch of segments."""

from __future__ import annotations

import math
from typing import Protocol

import torch
from torch import Tensor

from sottovoce.anonymise.voice.frames import ENVELOPE
from sottovoce.training.synthesiser_critics import Discriminator, Listener
from sottovoce.training.synthesiser_networks import Batch, SynthesisNetwork

LISTENER_WEIGHT = 1.0
"""Weight of the difference that the listener hears."""
ADVERSARIAL_START = 0.4
"""Share of the steps after which the discriminator joins."""
ADVERSARIAL_WEIGHT = 0.05
"""Weight of the adversarial loss."""
DISCRIMINATOR_RATE = 5e-4
"""Learning rate of the discriminator."""
CODED_WEIGHT, BAND_WEIGHT = 0.5, 1.5
"""Weights of the errors of coded envelopes and of their mel bands."""
QUIET_WEIGHT, QUIET_ENERGY = 0.3, -3.5
"""Weight of the errors of quiet frames, and the log energy around which it begins."""


class Objective(Protocol):
    """Losses of a network in training, with the state that a checkpoint has to contain."""

    one_voice: bool
    """Whether content and envelopes of a segment come from the same version."""

    def losses(self, batch: Batch, step: int, steps: int) -> dict[str, Tensor]:
        """Compute the losses of a batch by name; their sum is minimised.

        Parameters
        ----------
        batch : Batch
            Segments of utterances.
        step, steps : int
            Number of the training step, and of all steps.
        """

    def state(self) -> dict[str, dict[str, object]]:
        """Return everything that changes in training besides the network."""

    def restore(self, state: dict[str, dict[str, object]]) -> None:
        """Continue from a state.

        Parameters
        ----------
        state : dict
            Result of :meth:`state`.
        """


class Listening:
    """The listener learns to predict content from real envelopes.

    Parameters
    ----------
    listener : Listener
        The network in training.
    """

    one_voice = True

    def __init__(self, listener: Listener) -> None:
        self.listener = listener

    def losses(self, batch: Batch, step: int, steps: int) -> dict[str, Tensor]:
        """Compute the error of the predicted content.

        Parameters
        ----------
        batch : Batch
            Segments of one voice each.
        step, steps : int
            Not used.
        """
        return {"content": self.listener.loss(batch)}

    def state(self) -> dict[str, dict[str, object]]:
        """Return nothing: only the network changes."""
        return {}

    def restore(self, state: dict[str, dict[str, object]]) -> None:
        """Do nothing.

        Parameters
        ----------
        state : dict
            Empty.
        """


class Synthesis:
    """A synthesiser learns envelopes near the real ones, in which the listener hears the same.

    Parameters
    ----------
    network : SynthesisNetwork
        The network in training.
    listener : Listener
        A trained listener; it does not change.
    """

    one_voice = False

    def __init__(self, network: SynthesisNetwork, listener: Listener) -> None:
        self.network = network
        self.listener = listener.eval().requires_grad_(False)
        self.discriminator = Discriminator()
        self.optimiser = torch.optim.AdamW(
            self.discriminator.parameters(), DISCRIMINATOR_RATE, betas=(0.5, 0.9)
        )
        self.bands = band_matrix()

    def losses(self, batch: Batch, step: int, steps: int) -> dict[str, Tensor]:
        """Compute distance, difference heard, cost of the network, and the adversarial loss.

        Parameters
        ----------
        batch : Batch
            Segments in two voices.
        step, steps : int
            Number of the training step, and of all steps.
        """
        predicted, cost = self.network.predict(batch, step)
        losses = {
            "distance": self._distance(predicted, batch),
            "heard": LISTENER_WEIGHT * self.listener.difference(batch, predicted),
            "cost": cost,
        }
        if step >= ADVERSARIAL_START * steps:
            losses["adversarial"] = self._adversarial_loss(predicted, batch.target)
        return losses

    def state(self) -> dict[str, dict[str, object]]:
        """Return the discriminator and its optimiser."""
        return {
            "discriminator": self.discriminator.state_dict(),
            "optimiser": self.optimiser.state_dict(),
        }

    def restore(self, state: dict[str, dict[str, object]]) -> None:
        """Continue with a discriminator.

        Parameters
        ----------
        state : dict
            Result of :meth:`state`.
        """
        self.discriminator.load_state_dict(state["discriminator"])
        self.optimiser.load_state_dict(state["optimiser"])

    def _distance(self, predicted: Tensor, batch: Batch) -> Tensor:
        """Mean absolute error of coded envelopes and mel bands, and of their differences over time.

        Errors of loud frames count more.
        """
        error = predicted - batch.target
        energy = batch.prosody[:, :, 2::3].reshape(len(error), -1, 1)
        weight = QUIET_WEIGHT + (1 - QUIET_WEIGHT) * torch.sigmoid(energy - QUIET_ENERGY)
        weight = weight / weight.mean()
        coded = world_frames(error / self.network.loss_scale)
        bands = world_frames(error)[..., :ENVELOPE] @ self.bands / self._band_scale()
        return CODED_WEIGHT * (
            (weight * coded.abs()).mean() + coded.diff(dim=1).abs().mean()
        ) + BAND_WEIGHT * ((weight * bands.abs()).mean() + bands.diff(dim=1).abs().mean() / 2)

    def _band_scale(self) -> Tensor:
        """Root mean square of mel bands around their common mean."""
        spread, mean = self.network.target_scale[:ENVELOPE], self.network.target_mean[1:ENVELOPE]
        return ((spread.square().sum() + mean.square().sum()) / ENVELOPE).sqrt()

    def _adversarial_loss(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Train the discriminator one step and return the loss of the prediction.

        Least-squares loss with feature matching.
        """
        real, fake = (world_frames(self.network.standard(x)) for x in (target, predicted))
        real_score, fake_score = self.discriminator(real)[0], self.discriminator(fake.detach())[0]
        loss = (real_score - 1).square().mean() + fake_score.square().mean()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        score, activations = self.discriminator(fake)
        with torch.no_grad():
            expected = self.discriminator(real)[1]
        pairs = zip(activations, expected, strict=True)
        matching = torch.stack([(left - right).abs().mean() for left, right in pairs]).sum()
        total: Tensor = ADVERSARIAL_WEIGHT * ((score - 1).square().mean() + matching)
        return total


def world_frames(table: Tensor) -> Tensor:
    """Split rows of content frames into WORLD frames.

    Parameters
    ----------
    table : Tensor, shape (batch, content frames, 123)
        Coded envelopes.
    """
    return table.reshape(len(table), -1, ENVELOPE + 1)


def band_matrix() -> Tensor:
    """Return the matrix that turns coded envelopes into 40 mel bands: an orthonormal cosine basis.

    Returns
    -------
    Tensor, shape (40, 40)
        Coefficients × bands.
    """
    order = torch.arange(ENVELOPE)[:, None]
    basis = torch.cos(math.pi * order * (torch.arange(ENVELOPE) + 0.5) / ENVELOPE)
    return basis * torch.where(order == 0, math.sqrt(1 / ENVELOPE), math.sqrt(2 / ENVELOPE))
