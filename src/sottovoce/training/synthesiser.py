"""Training of the synthesisers: resumable, and the same from the same data."""

from __future__ import annotations

import math
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sottovoce.anonymise.voice.frames import ENVELOPE, SPLIT
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.types import Features, Progress
from sottovoce.training.synthesiser_data import Version
from sottovoce.training.synthesiser_networks import Acoustic, Batch, Constants, Critic, Disentangled

SEGMENT = 80
"""Content frames of a training segment: 1.9 s."""
BATCH = 16
RATE = 1e-3
"""The learning rate at its highest."""
WARM_UP = 200
AVERAGE = 0.998
"""How much of the averaged weights stays at each step."""
CRITIC_FROM = 0.4
"""Share of the steps after which the critic joins."""
ADVERSARIAL = 0.1
SAVE_EVERY = 250
MODELS: dict[str, type[Constants]] = {"xvector": Acoustic, "dar": Disentangled}


class Segments:
    """Random segments of utterances, each in two of its versions."""

    def __init__(self, data: list[list[Version]]) -> None:
        self.data = [versions for versions in data if len(versions[0].content) >= SEGMENT]
        if not self.data:
            raise TooFewError(f"no utterance has {SEGMENT * 0.024:.1f} s; training needs some")
        lengths = np.array([len(versions[0].content) for versions in self.data], np.float64)
        self.share = lengths / lengths.sum()

    def draw(self, rng: np.random.Generator, count: int = BATCH) -> Batch:
        """A batch; an utterance comes as often as it is long."""
        rows = []
        for number in rng.choice(len(self.data), count, p=self.share):
            versions = self.data[number]
            said, voiced = (versions[i] for i in rng.integers(len(versions), size=2))
            here, there = rng.integers(len(said.content) - SEGMENT + 1, size=2)
            rows.append(
                pair(said, voiced, slice(here, here + SEGMENT), slice(there, there + SEGMENT))
            )
        return as_batch(rows)


def pair(said: Version, voiced: Version, span: slice, reference: slice) -> tuple[Features, ...]:
    """A row of a :class:`Batch`."""
    prosody = voiced.prosody[span].reshape(-1, SPLIT, 3).copy()
    prosody[:, :, 2] = said.prosody[span].reshape(-1, SPLIT, 3)[:, :, 2]
    return (
        said.content[span],
        said.target[span],
        prosody.reshape(-1, SPLIT * 3),
        voiced.speaker,
        voiced.target[reference],
        voiced.target[span],
    )


def as_batch(rows: list[tuple[Features, ...]]) -> Batch:
    """Rows of one length together."""
    return Batch(*(torch.from_numpy(np.stack(column)) for column in zip(*rows, strict=True)))


class Trainer:
    """The network, its critic and all that has to be kept to go on."""

    def __init__(self, model: Constants, steps: int, seed: int = 0) -> None:
        self.model, self.steps, self.seed, self.step = model, steps, seed, 0
        self.averaged = {name: value.clone() for name, value in model.state_dict().items()}
        self.optimiser = torch.optim.AdamW(model.parameters(), RATE, weight_decay=0.01)
        self.critic = Critic()
        self.critic_optimiser = torch.optim.AdamW(
            self.critic.parameters(), RATE / 2, betas=(0.5, 0.9)
        )

    def save(self, path: Path) -> None:
        """Write tensors and numbers only, whole or not at all."""
        state = {
            "step": self.step,
            "model": self.model.state_dict(),
            "averaged": self.averaged,
            "optimiser": self.optimiser.state_dict(),
            "critic": self.critic.state_dict(),
            "critic_optimiser": self.critic_optimiser.state_dict(),
        }
        temporary = path.with_suffix(".new")
        torch.save(state, temporary)
        os.replace(temporary, path)

    def restore(self, path: Path) -> None:
        """Go on from what :meth:`save` wrote; code in a file is never run."""
        try:
            state = torch.load(path, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.critic.load_state_dict(state["critic"])
            self.critic_optimiser.load_state_dict(state["critic_optimiser"])
            self.step, self.averaged = state["step"], state["averaged"]
        except Exception:
            raise InputError(
                f"{path}: not a checkpoint of this training; remove it to begin anew"
            ) from None

    def advance(self, segments: Segments) -> dict[str, float]:
        """One step; what it draws depends on the seed and its number alone."""
        rng = np.random.default_rng([self.seed, self.step])
        torch.manual_seed(int(rng.integers(2**31)))
        batch = segments.draw(rng)
        self._set_rate()
        self.model.train()
        guess, cost = self.model.guess(batch, self.step)
        losses = {"distance": distance(self.model, guess, batch.target), "cost": cost}
        if self.step >= CRITIC_FROM * self.steps:
            losses["adversarial"] = self._adversarial(guess, batch.target)
        self.optimiser.zero_grad()
        torch.stack(list(losses.values())).sum().backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        keep = min(AVERAGE, (1 + self.step) / (10 + self.step))
        for name, value in self.model.state_dict().items():
            self.averaged[name].lerp_(value, 1 - keep)
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def result(self) -> Constants:
        """The network with averaged weights, which are better than the last ones."""
        self.model.load_state_dict(self.averaged)
        self.model.eval()
        return self.model

    def _set_rate(self) -> None:
        falling = 0.02 + 0.49 * (1 + math.cos(math.pi * self.step / self.steps))
        for group in self.optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (self.step + 1) / WARM_UP) * falling

    def _adversarial(self, guess: Tensor, target: Tensor) -> Tensor:
        """Teach the critic one step; how well the guess convinces it (least squares)."""
        real, fake = (fine_frames(self.model.standard(one)) for one in (target, guess))
        truth, lie = self.critic(real)[0], self.critic(fake.detach())[0]
        loss = (truth - 1).square().mean() + lie.square().mean()
        self.critic_optimiser.zero_grad()
        loss.backward()
        self.critic_optimiser.step()
        score, inner = self.critic(fake)
        with torch.no_grad():
            wanted = self.critic(real)[1]
        matched = [(one - other).abs().mean() for one, other in zip(inner, wanted, strict=True)]
        total: Tensor = ADVERSARIAL * ((score - 1).square().mean() + torch.stack(matched).sum())
        return total


def fine_frames(table: Tensor) -> Tensor:
    """Rows of content frames as WORLD frames."""
    return table.reshape(len(table), -1, ENVELOPE + 1)


def distance(model: Constants, guess: Tensor, target: Tensor) -> Tensor:
    """Mean absolute error of the coded envelope and of its differences over time."""
    apart = fine_frames((guess - target) / model.loss_scale)
    total: Tensor = apart.abs().mean() + apart.diff(dim=1).abs().mean()
    return total


def distortion(model: Constants, held_out: list[list[Version]], *, coded: bool = False) -> float:
    """Mel-cepstral distortion in dB over held-out utterances, level left out.

    What is said comes from a version in another voice.
    """
    errors, count = 0.0, 0
    model.eval()
    with torch.no_grad():
        for versions in held_out:
            whole = slice(None)
            batch = as_batch([pair(versions[-1], versions[0], whole, whole)])
            apart = fine_frames(model.held_out(batch, coded=coded) - batch.target)[0, :, 1:ENVELOPE]
            errors += float(apart.square().sum(1).sqrt().sum())
            count += len(apart)
    return 10 / math.log(10) * math.sqrt(2) * errors / count


def train(
    model: Constants,
    segments: Segments,
    checkpoint: Path,
    steps: int,
    progress: Progress | None = None,
) -> Constants:
    """Train to the number of steps, from the checkpoint if there is one."""
    trainer = Trainer(model, steps)
    if checkpoint.exists():
        trainer.restore(checkpoint)
    while trainer.step < steps:
        trainer.advance(segments)
        if trainer.step % SAVE_EVERY == 0 or trainer.step == steps:
            trainer.save(checkpoint)
        if progress:
            progress(trainer.step, steps)
    return trainer.result()


def export(model: Any, path: Path, examples: dict[str, Tensor], moving: dict[str, int]) -> None:
    """Write a network as ONNX; ``moving`` names inputs whose given dimension may vary."""
    temporary = path.with_suffix(".new")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter that needs no further package is called old
        torch.onnx.export(
            model.eval(),
            tuple(examples.values()),
            temporary,
            input_names=list(examples),
            output_names=["out"],
            dynamic_axes={name: {axis: "frames"} for name, axis in moving.items()},
            opset_version=17,
            dynamo=False,
        )
    os.replace(temporary, path)
