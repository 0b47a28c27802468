"""Training a speaker encoder: resumable, deterministic given corpus and seed, exported to ONNX.

The network is trained on some speakers of a corpus and tested on the held-out ones.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sottovoce.core.errors import InputError, MissingExtraError, TooFewError
from sottovoce.core.files import write_bytes
from sottovoce.core.records import Record
from sottovoce.core.types import Features, StageProgress, Vectors
from sottovoce.corpus.utterance import Corpus
from sottovoce.speaker.encoders import EncoderCard
from sottovoce.training.checkpoints import Checkpoint
from sottovoce.training.descent import (
    descend,
    draw_held_out,
    scheduled,
    training_device,
    warm_up,
)
from sottovoce.training.encoder_data import CropSampler, TrainingSettings
from sottovoce.training.held_out_test import HeldOutSpeech, HeldOutTest

MIN_SPEAKERS = 6
"""Fewest speakers that can be divided into training and held-out speakers."""
SAVE_EVERY = 50
"""Steps between checkpoints, each after a test on held-out speakers; a run that is killed loses at
most so many."""
MARGIN = 0.2
"""Angular margin of the loss after the warm-up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedEncoderCard(EncoderCard):
    """Card of a trained encoder, which is written beside its network as JSON."""

    data: str
    """Name of the corpus."""
    speakers: tuple[str, ...]
    """Speakers it was trained on."""
    held_out_speakers: tuple[str, ...]
    held_out: HeldOutTest
    settings: TrainingSettings


def split_speakers(
    corpora: Sequence[Corpus], *, held_out: float, seed: int
) -> tuple[tuple[Corpus, ...], tuple[Corpus, ...]]:
    """Divide corpora into training and held-out speakers, drawn by the seed.

    Parameters
    ----------
    corpora : sequence of Corpus
        Together at least 6 speakers; the same speaker may be in several.
    held_out : float
        Share of the speakers that are held out.
    seed : int
        Seed of the draw.

    Returns
    -------
    train, held_out : tuple of Corpus
        As many corpora each, of at least 2 speakers, none in both.

    Raises
    ------
    TooFewError
        Where there are fewer than 6 speakers.
    """
    names = sorted({name for corpus in corpora for name in corpus.speakers})
    if len(names) < MIN_SPEAKERS:
        raise TooFewError(
            f"{corpora[0].name}: {len(names)} speakers; training an encoder needs {MIN_SPEAKERS} "
            "or more"
        )
    apart = draw_held_out(names, share=held_out, seed=seed, least=2)
    return (
        tuple(corpus.select(lambda spoken: spoken.speaker not in apart) for corpus in corpora),
        tuple(corpus.select(lambda spoken: spoken.speaker in apart) for corpus in corpora),
    )


def check_extra() -> None:
    """Refuse to train where torch or onnx is missing.

    Raises
    ------
    MissingExtraError
        With the command that installs them.
    """
    if find_spec("torch") is None or find_spec("onnx") is None:
        raise MissingExtraError("training", "train")


def check_target(target: Path) -> None:
    """Refuse a target that is not named as a network is.

    Parameters
    ----------
    target : Path
        File to write.

    Raises
    ------
    InputError
        With the code ``unsupported``.
    """
    if target.suffix != ".onnx":
        raise InputError(
            f"{target}: networks are written as .onnx; give a name that ends so",
            code="unsupported",
        )


def train_encoder(
    corpora: Sequence[Corpus],
    settings: TrainingSettings,
    target: Path,
    *,
    held_out: Sequence[Corpus] = (),
    progress: StageProgress | None = None,
) -> None:
    """Train a network from scratch on all speakers of some corpora and export it.

    Training uses a GPU where torch finds one. Checkpoints are written beside the target until it is
    complete. A run that was stopped continues from them, unless a corpus or a setting has changed.

    Parameters
    ----------
    corpora : sequence of Corpus
        Training speakers and their recordings; the same speaker may be in several corpora.
    settings : TrainingSettings
        Network, number of steps and the like.
    target : Path
        ``.onnx`` file to write, completely or not at all.
    held_out : sequence of Corpus, optional
        Speech of other speakers in as many corpora, which nothing is trained on: the progress says
        how well the network tells them apart.
    progress : StageProgress, optional
        Called after each step; the stage says the loss and the error on held-out speakers.

    Raises
    ------
    MissingExtraError
        Where torch or onnx is not installed.
    TooFewError
        If held-out speakers have a single utterance.
    InputError
        ``diverged`` where the loss is not finite, ``damaged`` for a checkpoint.
    """
    check_extra()
    check_target(target)
    run = _TrainingRun(corpora, settings, target, held_out)
    run.resume()
    while run.step < settings.steps:
        run.advance()
        if run.step % SAVE_EVERY == 0 or run.step == settings.steps:
            run.save()
        if progress:
            progress(run.stage, run.step, settings.steps)
    write_bytes(target, run.export())
    run.checkpoint.remove()


@dataclass(frozen=True, slots=True)
class _Progress(Record):
    step: int
    eer: float | None
    """On held-out speakers; None where there are none."""


class _TrainingRun:
    """Network, loss and optimiser, and the checkpoint that holds all three."""

    def __init__(
        self,
        corpora: Sequence[Corpus],
        settings: TrainingSettings,
        target: Path,
        held_out: Sequence[Corpus] = (),
    ) -> None:
        import torch

        from sottovoce.training.encoder_networks import NETWORKS, MarginLoss

        self.settings, self.step, self.device = settings, 0, training_device()
        self.latest_loss = math.nan
        self.eer: float | None = None
        self.sampler = CropSampler(corpora, settings)
        torch.manual_seed(settings.seed)
        network = NETWORKS[settings.network](settings.width, settings.dimension)
        self.network = network.to(self.device)
        self.loss = MarginLoss(settings.dimension, self.sampler.classes).to(self.device)
        weights = [*self.network.parameters(), *self.loss.parameters()]
        self.optimiser = torch.optim.AdamW(weights, settings.learning_rate, weight_decay=1e-3)
        self.parts = {"network": self.network, "loss": self.loss, "optimiser": self.optimiser}
        self.held_out = HeldOutSpeech(held_out, seconds=settings.seconds) if held_out else None
        self.checkpoint = Checkpoint(target, _Progress, settings, [*corpora, *held_out])

    @property
    def stage(self) -> str:
        """Description of the work with the latest figures."""
        figures = f"loss {self.latest_loss:.2f}"
        if self.eer is not None:
            figures += f", held-out EER {self.eer:.1%}"
        return f"training the encoder · {figures}"

    def advance(self) -> None:
        """Take one step: draw a batch, compute its loss and gradient, change the weights."""
        import torch

        banks, classes = self.sampler.draw(self.step)
        steps = self.settings.steps
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.learning_rate * scheduled(self.step, steps)
        self.network.train()
        vectors = self.network(torch.from_numpy(banks).to(self.device))
        right = torch.from_numpy(classes).to(self.device)
        loss = self.loss(vectors, right, MARGIN * warm_up(self.step, steps))
        self.latest_loss = descend(loss, self.network, self.optimiser)
        self.step += 1

    def save(self) -> None:
        """Test on held-out speakers and write the checkpoint, completely or not at all."""
        self.eer = self._test()
        self.checkpoint.save(self.parts, _Progress(self.step, self.eer))

    def resume(self) -> None:
        """Continue from the checkpoint, or test the network of a new run."""
        progress = self.checkpoint.load(self.parts) or _Progress(0, self._test())
        self.step, self.eer = progress.step, progress.eer

    def export(self) -> bytes:
        """Return the network in ONNX form, for recordings of any number and length."""
        import warnings

        import torch

        self.network.cpu().eval()
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

    def _test(self) -> float | None:
        self.network.eval()
        return None if self.held_out is None else self.held_out.test(self._embed).eer

    def _embed(self, banks: Features) -> Vectors:
        import torch

        with torch.inference_mode():
            vectors: Vectors = self.network(torch.from_numpy(banks).to(self.device)).cpu().numpy()
        return vectors
