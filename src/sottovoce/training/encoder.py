"""Training a speaker encoder: resumable, deterministic given corpus and seed, exported to ONNX.

The network is trained on some speakers of a corpus and tested on the held-out ones.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from sottovoce.core.errors import InputError, MissingExtraError, TooFewError
from sottovoce.core.files import write_bytes
from sottovoce.core.records import Record
from sottovoce.core.types import Progress
from sottovoce.corpus.utterance import Corpus
from sottovoce.speaker.encoders import EncoderCard
from sottovoce.training.encoder_data import CropSampler, TrainingSettings

MIN_SPEAKERS = 6
"""Fewest speakers that can be divided into training and held-out speakers."""
SAVE_EVERY = 50
"""Steps between checkpoints; a run that is killed loses at most so many."""
MARGIN = 0.2
"""Angular margin of the loss after the warm-up."""
WARM_UP = 0.1
"""Share of the steps in which learning rate and margin rise."""


@dataclass(frozen=True, slots=True)
class HeldOutTest(Record):
    """Test of an encoder on speakers it was not trained on."""

    eer: float
    """Equal error rate of the cosine over all pairs of utterances."""
    n_mated: int
    n_nonmated: int


@dataclass(frozen=True, slots=True)
class TrainedEncoderCard(EncoderCard):
    """Card of a trained encoder, which is written beside its network as JSON."""

    data: str
    """Name of the corpus."""
    speakers: tuple[str, ...]
    """Speakers it was trained on."""
    held_out_speakers: tuple[str, ...]
    held_out: HeldOutTest
    settings: TrainingSettings


def split_speakers(corpus: Corpus, settings: TrainingSettings) -> tuple[Corpus, Corpus]:
    """Divide a corpus into training and held-out speakers, drawn by the seed.

    Parameters
    ----------
    corpus : Corpus
        At least 6 speakers.
    settings : TrainingSettings
        ``held_out`` and ``seed`` are used.

    Returns
    -------
    train, held_out : Corpus
        At least 2 speakers each, none in both.

    Raises
    ------
    TooFewError
        Where the corpus has fewer than 6 speakers.
    """
    names = list(corpus.speakers)
    if len(names) < MIN_SPEAKERS:
        raise TooFewError(
            f"{corpus.name}: {len(names)} speakers; training an encoder needs {MIN_SPEAKERS} or "
            "more"
        )
    count = min(max(2, round(settings.held_out * len(names))), len(names) - 2)
    drawn = np.random.default_rng(settings.seed).permutation(len(names))[:count]
    held_out = {names[i] for i in drawn}
    train = [name for name in names if name not in held_out]
    return corpus.select(speakers=train), corpus.select(speakers=held_out)


def train_encoder(
    corpus: Corpus,
    settings: TrainingSettings,
    target: Path,
    *,
    progress: Progress | None = None,
) -> None:
    """Train a network on all speakers of a corpus and export it.

    Checkpoints are written beside the target until it is complete. A run that was stopped continues
    from them, unless the corpus or a setting has changed.

    Parameters
    ----------
    corpus : Corpus
        Training speakers and their recordings.
    settings : TrainingSettings
        Network, number of steps and the like.
    target : Path
        ``.onnx`` file to write, completely or not at all.
    progress : callable, optional
        Called with the number of steps done and their total.

    Raises
    ------
    MissingExtraError
        Where torch or onnx is not installed.
    InputError
        ``diverged`` where the loss is not finite, ``damaged`` for a checkpoint.
    """
    if find_spec("torch") is None or find_spec("onnx") is None:
        raise MissingExtraError("training", "train")
    if target.suffix != ".onnx":
        raise InputError(
            f"{target}: networks are written as .onnx; give a name that ends so",
            code="unsupported",
        )
    run = _TrainingRun(corpus, settings, target)
    run.resume()
    while run.step < settings.steps:
        run.advance()
        if run.step % SAVE_EVERY == 0 or run.step == settings.steps:
            run.save()
        if progress:
            progress(run.step, settings.steps)
    write_bytes(target, run.export())
    run.remove_checkpoint()


class _TrainingRun:
    """Network, loss and optimiser, and the checkpoint that holds all three."""

    def __init__(self, corpus: Corpus, settings: TrainingSettings, target: Path) -> None:
        import torch

        from sottovoce.training.encoder_networks import NETWORKS, MarginLoss

        self.settings, self.step = settings, 0
        self.sampler = CropSampler(corpus, settings)
        torch.manual_seed(settings.seed)
        self.network = NETWORKS[settings.network](settings.width, settings.dimension)
        self.loss = MarginLoss(settings.dimension, self.sampler.classes)
        weights = [*self.network.parameters(), *self.loss.parameters()]
        self.optimiser = torch.optim.AdamW(weights, settings.learning_rate, weight_decay=1e-3)
        utterances = [(utterance.id, utterance.speaker) for utterance in corpus]
        inputs = json.dumps([settings.to_dict(), utterances])
        digest = hashlib.sha256(inputs.encode()).hexdigest()[:12]
        self.checkpoint = target.with_name(f".{target.name}.{digest}.unfinished")

    def advance(self) -> None:
        """Take one step: draw a batch, compute its loss and gradient, change the weights."""
        import torch

        banks, classes = self.sampler.draw(self.step)
        rise = min(1.0, (self.step + 1) / max(1, WARM_UP * self.settings.steps))
        fall = 0.5 * (1 + math.cos(math.pi * self.step / self.settings.steps))
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.learning_rate * rise * fall
        self.network.train()
        vectors = self.network(torch.from_numpy(banks))
        loss = self.loss(vectors, torch.from_numpy(classes), MARGIN * rise)
        if not torch.isfinite(loss):
            raise InputError(
                "the loss is not finite; train with a lower --learning-rate", code="diverged"
            )
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimiser.step()
        self.step += 1

    def save(self) -> None:
        """Write the checkpoint, completely or not at all."""
        import torch

        parts = {"network": self.network, "loss": self.loss, "optimiser": self.optimiser}
        states = {name: part.state_dict() for name, part in parts.items()}
        buffer = io.BytesIO()
        torch.save({**states, "step": self.step}, buffer)
        write_bytes(self.checkpoint, buffer.getvalue())

    def resume(self) -> None:
        """Continue from the checkpoint, if there is one."""
        import torch

        if not self.checkpoint.is_file():
            return
        try:
            state = torch.load(self.checkpoint, weights_only=True)
            self.network.load_state_dict(state["network"])
            self.loss.load_state_dict(state["loss"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.step = int(state["step"])
        except Exception:
            raise InputError(
                f"{self.checkpoint}: a damaged checkpoint; delete it to start again",
                code="damaged",
            ) from None

    def remove_checkpoint(self) -> None:
        self.checkpoint.unlink(missing_ok=True)

    def export(self) -> bytes:
        """Return the network in ONNX form, for recordings of any number and length."""
        import warnings

        import torch

        self.network.eval()
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the exporter that needs no package is deprecated
            torch.onnx.export(
                self.network,
                (torch.zeros(2, 200, 80),),
                buffer,
                input_names=["banks"],
                output_names=["vectors"],
                dynamic_axes={
                    "banks": {0: "recordings", 1: "frames"},
                    "vectors": {0: "recordings"},
                },
                opset_version=17,
                dynamo=False,
            )
        return buffer.getvalue()
