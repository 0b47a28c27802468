"""Retraining the default encoder, CAM++, on speech as an attacker has it.

A stronger attacker does not only train a linkage function: it adapts the encoder to anonymised
speech. Several draws of the anonymiser are several corpora with the same speakers, so that the
encoder learns what remains of a speaker and not the pseudo-voice of one draw. The network starts
from the weights that ship with the package; held-out speakers decide when training stops, and the
starting point counts as one of the choices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.core.files import write_bytes
from sottovoce.core.records import Record, write_json
from sottovoce.core.types import Features, StageProgress, Vectors
from sottovoce.corpus.utterance import Corpus
from sottovoce.speaker.encoders import EncoderCard, OnnxEncoder, campplus
from sottovoce.training.checkpoints import Checkpoint, Stateful
from sottovoce.training.descent import (
    check_ranges,
    descend,
    mixed_precision,
    scheduled,
    training_device,
)
from sottovoce.training.encoder import check_extra, check_target, split_speakers
from sottovoce.training.encoder_data import CropSampler
from sottovoce.training.held_out_test import HeldOutSpeech, HeldOutTest

if TYPE_CHECKING:
    from torch import Tensor

    from sottovoce.training.campplus import Campplus
    from sottovoce.training.encoder_networks import MarginLoss

MARGIN = 0.2
"""Angular margin of the loss."""
CROPS_PER_CLASS = 4
"""Crops whose mean vector is the first guess of the weights of a class."""
TEST_CROPS = 2
"""Held-out speakers are tested with recordings of the length of so many crops."""
CLASS_RATE = 10.0
"""The weights of classes learn so many times faster than the network."""


@dataclass(frozen=True, slots=True)
class RetrainingSettings(Record):
    """Settings of a retraining; together with the speech they determine its result."""

    steps: int = 200
    """Most batches."""
    batch: int = 32
    """Crops per step."""
    seconds: float = 2.0
    """Length of a crop."""
    learning_rate: float = 1e-4
    """The highest one, of the network."""
    trained_blocks: int = 3
    """How many of the last of the three dense blocks are trained; what comes before keeps its
    weights."""
    test_every: int = 25
    """Steps between two tests on held-out speakers, after each of which a checkpoint is written."""
    patience: int = 4
    """Training stops after so many tests without improvement."""
    held_out: float = 0.2
    """Share of the speakers that are held out, to decide when to stop."""
    seed: int = 0

    def __post_init__(self) -> None:
        limits = {
            "steps": (1, math.inf),
            "batch": (2, math.inf),
            "seconds": (0.5, 60),
            "learning_rate": (1e-8, 1),
            "trained_blocks": (0, 3),
            "test_every": (1, math.inf),
            "patience": (1, math.inf),
            "held_out": (0.01, 0.9),
        }
        check_ranges(self, limits)


@dataclass(frozen=True, slots=True)
class LearningPoint(Record):
    """A test on held-out speakers during training."""

    step: int
    loss: float | None
    """Mean loss since the test before; None at the start."""
    eer: float
    """Equal error rate on held-out speakers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainedEncoderCard(EncoderCard):
    """Card of a retrained encoder, which is written beside its network as JSON."""

    data: tuple[str, ...]
    """Names of the corpora: the draws."""
    speakers: tuple[str, ...]
    """Speakers it was trained on."""
    held_out_speakers: tuple[str, ...]
    """Speakers that decided when to stop."""
    started_from: str
    """SHA-256 of the network that it was retrained from."""
    chosen_step: int
    """The step of the lowest error on held-out speakers; 0 is the network it started from."""
    held_out: HeldOutTest
    """Test on the held-out speakers at that step, which they chose: too good rather than too
    bad."""
    learning_curve: tuple[LearningPoint, ...]
    settings: RetrainingSettings


def retrain_encoder(
    draws: Sequence[Corpus],
    settings: RetrainingSettings,
    target: Path,
    *,
    licence: str = "as its data's",
    progress: StageProgress | None = None,
) -> RetrainedEncoderCard:
    """Retrain the default encoder and write network and card.

    Training uses a GPU where torch finds one. On a CPU the same speech, settings and number of
    threads give the same file. Checkpoints are written beside the target until it is complete; a
    run that was stopped continues from them, unless the speech or a setting has changed.

    Parameters
    ----------
    draws : sequence of Corpus
        Training speech, once per draw of the anonymiser; together at least 6 speakers.
    settings : RetrainingSettings
        Number of steps and the like.
    target : Path
        ``.onnx`` file to write, completely or not at all; the card is a ``.json`` file beside it.
    licence : str, default "as its data's"
        Licence of the speech, for the card.
    progress : StageProgress, optional
        Called after each step; the stage says the loss and the error on held-out speakers.

    Raises
    ------
    MissingExtraError
        Where torch or onnx is not installed.
    TooFewError
        For fewer than 6 speakers, or if held-out speakers have a single utterance.
    InputError
        ``diverged`` where the loss is not finite, ``damaged`` for a checkpoint.
    """
    check_extra()
    check_target(target)
    train, held_out = split_speakers(draws, held_out=settings.held_out, seed=settings.seed)
    run = _RetrainingRun(train, held_out, settings, target)
    run.resume()
    while not run.finished:
        run.advance()
        if progress:
            progress(run.stage, run.step, settings.steps)
    write_bytes(target, run.export())
    card = RetrainedEncoderCard(
        name=target.stem,
        dimension=run.base.card.dimension,
        licence=licence,
        origin=f"campplus retrained on {draws[0].name} ({len(draws)} draws) by sottovoce",
        sha256=OnnxEncoder(target).card.sha256,
        data=tuple(corpus.name for corpus in draws),
        speakers=_speakers(train),
        held_out_speakers=_speakers(held_out),
        started_from=run.base.card.sha256,
        chosen_step=run.progress.best_step,
        held_out=run.progress.best,
        learning_curve=run.progress.curve,
        settings=settings,
    )
    write_json(target.with_suffix(".json"), card)
    run.checkpoint.remove()
    return card


def _speakers(corpora: Sequence[Corpus]) -> tuple[str, ...]:
    return tuple(sorted({name for corpus in corpora for name in corpus.speakers}))


@dataclass(frozen=True, slots=True)
class _Progress(Record):
    """How far a run is, at a test on held-out speakers."""

    curve: tuple[LearningPoint, ...]
    best_step: int
    best: HeldOutTest

    def extended(self, step: int, loss: float, test: HeldOutTest) -> _Progress:
        curve = (*self.curve, LearningPoint(step, loss, test.eer))
        if test.eer < self.best.eer:
            return _Progress(curve, step, test)
        return _Progress(curve, self.best_step, self.best)

    @property
    def step(self) -> int:
        return self.curve[-1].step

    @property
    def tests_since_best(self) -> int:
        return sum(point.step > self.best_step for point in self.curve)


class _RetrainingRun:
    """The network, the best one so far, loss and optimiser."""

    def __init__(
        self,
        train: Sequence[Corpus],
        held_out: Sequence[Corpus],
        settings: RetrainingSettings,
        target: Path,
    ) -> None:
        import torch

        from sottovoce.training.campplus import load_campplus
        from sottovoce.training.encoder_networks import MarginLoss

        self.settings, self.base = settings, campplus()
        self.device = training_device()
        torch.manual_seed(settings.seed)
        self.sampler = CropSampler(train, settings)
        self.network: Campplus = load_campplus(self.base.path).to(self.device)
        self.best: Campplus = load_campplus(self.base.path).to(self.device)
        self.loss: MarginLoss = MarginLoss(192, self.sampler.classes).to(self.device)
        self.optimiser = torch.optim.AdamW(self._parameter_groups(), weight_decay=0.0)
        self.held_out = HeldOutSpeech(held_out, seconds=TEST_CROPS * settings.seconds)
        self.checkpoint = Checkpoint(target, _Progress, settings, [*train, *held_out])
        self.step, self.losses = 0, list[float]()

    @property
    def parts(self) -> dict[str, Stateful]:
        """Everything a checkpoint holds."""
        return {
            "network": self.network,
            "best": self.best,
            "loss": self.loss,
            "optimiser": self.optimiser,
        }

    @property
    def finished(self) -> bool:
        """Whether all steps are done, or held-out speakers have seen no improvement for long."""
        if self.step >= self.settings.steps:
            return True
        return (
            self.step == self.progress.step
            and self.progress.tests_since_best >= self.settings.patience
        )

    @property
    def stage(self) -> str:
        """Description of the work with the latest figures."""
        tested = self.progress.curve[-1]
        loss = self.losses[-1] if self.losses else tested.loss
        figures = f"loss {loss:.2f}, held-out EER {tested.eer:.1%}"
        return f"retraining the encoder · {figures}"

    def resume(self) -> None:
        """Continue from the checkpoint, or prepare a new run."""
        saved = self.checkpoint.load(self.parts)
        if saved is None:
            self._guess_class_weights()
            test = self.held_out.test(self._embed)
            saved = _Progress((LearningPoint(0, None, test.eer),), 0, test)
        self.progress, self.step = saved, saved.step

    def advance(self) -> None:
        """Take one step; test on held-out speakers and write a checkpoint from time to time."""
        import torch

        self._set_learning_rates()
        banks, classes = self.sampler.draw(self.step)
        with mixed_precision(self.device.type):
            vectors = self.network(torch.from_numpy(banks).to(self.device))
        loss = self.loss(vectors.float(), torch.from_numpy(classes).to(self.device), MARGIN)
        self.losses.append(descend(loss, self.network, self.optimiser))
        self.step += 1
        if self.step % self.settings.test_every == 0 or self.step == self.settings.steps:
            self._test()

    def export(self) -> bytes:
        """Return the best network in ONNX form."""
        from sottovoce.training.campplus import dump_campplus

        return dump_campplus(self.best, self.base.path)

    def _parameter_groups(self) -> list[dict[str, object]]:
        """Weights that are trained, and how fast relative to the learning rate."""
        stages = self.network.stages
        trained = [*stages[len(stages) - self.settings.trained_blocks :], self.network.project]
        self.network.requires_grad_(False)
        for module in trained:
            module.requires_grad_(True)
        body = [weight for weight in self.network.parameters() if weight.requires_grad]
        return [
            {"params": body, "speed": 1.0},
            {"params": list(self.loss.parameters()), "speed": CLASS_RATE},
        ]

    def _set_learning_rates(self) -> None:
        rate = self.settings.learning_rate * scheduled(self.step, self.settings.steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group["speed"]

    def _guess_class_weights(self) -> None:
        """Begin with the mean vector of some crops of each class, instead of random weights.

        These are not crops of the training steps, whose loss would look too good at first.
        """
        import torch

        batches = math.ceil(CROPS_PER_CLASS * self.sampler.classes / self.settings.batch)
        sums = torch.zeros_like(self.loss.weight)
        for batch in range(batches):
            banks, classes = self.sampler.draw(self.settings.steps + batch)
            vectors = torch.from_numpy(self._embed(banks)).to(self.device)
            sums.index_add_(0, torch.from_numpy(classes).to(self.device), vectors)
        with torch.no_grad():
            drawn = sums.abs().sum(1) > 0
            self.loss.weight[drawn] = torch.nn.functional.normalize(sums[drawn])

    def _embed(self, banks: Features) -> Vectors:
        import torch

        with torch.inference_mode():
            vectors: Tensor = self.network(torch.from_numpy(banks).to(self.device))
        array: Vectors = vectors.cpu().numpy()
        return array

    def _test(self) -> None:
        loss = float(np.mean(self.losses))
        self.progress = self.progress.extended(self.step, loss, self.held_out.test(self._embed))
        self.losses.clear()
        if self.progress.best_step == self.step:
            self.best.load_state_dict(self.network.state_dict())
        self.checkpoint.save(self.parts, self.progress)
