"""Training a speaker encoder: resumable, deterministic from corpus and seed, exported to ONNX.

Only speakers that train are seen; some are held out to see what was learnt about voices as such.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, MissingExtraError, TooFewError, UsageError
from sottovoce.core.files import write_bytes
from sottovoce.core.types import Audio, Progress
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import features, prepare
from sottovoce.training.audio_augmentation import SPEEDS, at_speed, augmented, masked

FEWEST = 6
"""Speakers below which there is nothing to train on and to hold out."""
SAVE_EVERY = 50
"""Steps after which a checkpoint is written; a run that is killed loses no more."""
CACHE = 1 << 30
"""Bytes of decoded audio that are kept; the rest is decoded again when it is drawn."""
MARGIN = 0.2
WARM_UP = 0.1
"""Share of the steps in which learning rate and margin rise."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """What a training run depends on, besides its corpus."""

    network: str = "ecapa"
    width: int = 128
    dimension: int = 192
    steps: int = 2000
    batch: int = 32
    seconds: float = 3.0
    learning_rate: float = 2e-3
    held_out: float = 0.15
    """Share of the speakers that are held out."""
    seed: int = 0

    def __post_init__(self) -> None:
        limits = {"width": 16, "dimension": 8, "steps": 1, "batch": 2, "seconds": 0.5}
        for name, least in limits.items():
            if getattr(self, name) < least:
                raise UsageError(f"{name} {getattr(self, name)}: must be at least {least}")
        if self.network not in ("ecapa", "xvector"):
            raise UsageError(f"network {self.network!r}: must be ecapa or xvector")
        if self.width % 4:
            raise UsageError(f"width {self.width}: must be a multiple of 4")
        if not 0 < self.held_out < 1:
            raise UsageError(f"held-out share {self.held_out:g}: must be between 0 and 1")

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        return asdict(self)


def split_speakers(corpus: Corpus, settings: TrainingSettings) -> tuple[Corpus, Corpus]:
    """Utterances of the speakers to train on and of those held out, drawn by the seed."""
    names = list(corpus.speakers)
    if len(names) < FEWEST:
        raise TooFewError(
            f"{corpus.name}: {len(names)} speakers; training an encoder needs {FEWEST} or more"
        )
    count = min(max(2, round(settings.held_out * len(names))), len(names) - 2)
    drawn = np.random.default_rng(settings.seed).permutation(len(names))[:count]
    held = {names[i] for i in drawn}
    train = [name for name in names if name not in held]
    return corpus.select(speakers=train), corpus.select(speakers=held)


def train_encoder(
    corpus: Corpus,
    settings: TrainingSettings,
    target: Path,
    *,
    progress: Progress | None = None,
) -> None:
    """Train on all speakers of ``corpus`` and write the network to ``target`` (.onnx).

    Checkpoints lie beside the target until it is whole; a run that was stopped goes on from them,
    unless the corpus or a setting has changed.
    """
    if find_spec("torch") is None or find_spec("onnx") is None:
        raise MissingExtraError("training", "train")
    if target.suffix != ".onnx":
        raise InputError(f"{target}: networks are written as .onnx; name it so")
    run = _Run(corpus, settings, target)
    run.resume()
    while run.step < settings.steps:
        run.advance()
        if run.step % SAVE_EVERY == 0 or run.step == settings.steps:
            run.save()
        if progress:
            progress(run.step, settings.steps)
    write_bytes(target, run.exported())
    run.forget()


class Crops:
    """Batches of random crops; the batch of a step depends on the seed and the step alone."""

    def __init__(self, corpus: Corpus, settings: TrainingSettings) -> None:
        self.settings = settings
        self.by_speaker = list(corpus.by_speaker().values())
        self.classes = len(self.by_speaker) * len(SPEEDS)
        self._kept: dict[str, NDArray[np.int16]] = {}
        self._room = CACHE

    def draw(self, step: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Filter banks (crops × frames × 80) and whose they are; a speaker at a speed is a class.

        Speakers come equally often, however much there is of each.
        """
        rng = np.random.default_rng((self.settings.seed, step))
        speakers = rng.integers(len(self.by_speaker), size=self.settings.batch)
        banks, classes = [], []
        for speaker in speakers:
            own = self.by_speaker[speaker]
            speed = int(rng.integers(len(SPEEDS)))
            audio = self._crop(own[rng.integers(len(own))], SPEEDS[speed], rng)
            banks.append(masked(features(prepare(augmented(audio, rng), RATE)), rng))
            classes.append(speaker * len(SPEEDS) + speed)
        return np.stack(banks), np.array(classes, np.int64)

    def _crop(self, utterance: Utterance, speed: float, rng: np.random.Generator) -> Audio:
        audio = self._load(utterance)
        length = int(self.settings.seconds * RATE)
        need = int(length * speed) + RATE // 50  # what the resampler leaves at least `length` of
        audio = np.resize(audio, max(len(audio), need))
        start = int(rng.integers(len(audio) - need + 1))
        return at_speed(audio[start : start + need], speed)[:length]

    def _load(self, utterance: Utterance) -> Audio:
        if utterance.id not in self._kept:
            audio = load_audio(utterance, RATE)
            if audio.nbytes // 2 > self._room:
                return audio
            self._kept[utterance.id] = np.rint(audio * 32767).astype(np.int16)
            self._room -= audio.nbytes // 2
        return self._kept[utterance.id].astype(np.float32) / np.float32(32767)


class _Run:
    """Network, loss and optimiser, and the checkpoint that holds all three."""

    def __init__(self, corpus: Corpus, settings: TrainingSettings, target: Path) -> None:
        import torch

        from sottovoce.training.encoder_networks import NETWORKS, MarginLoss

        self.settings, self.step = settings, 0
        self.crops = Crops(corpus, settings)
        torch.manual_seed(settings.seed)
        self.network = NETWORKS[settings.network](settings.width, settings.dimension)
        self.loss = MarginLoss(settings.dimension, self.crops.classes)
        weights = [*self.network.parameters(), *self.loss.parameters()]
        self.optimiser = torch.optim.AdamW(weights, settings.learning_rate, weight_decay=1e-3)
        what = json.dumps([settings.to_dict(), [(one.id, one.speaker) for one in corpus]])
        digest = hashlib.sha256(what.encode()).hexdigest()[:12]
        self.checkpoint = target.with_name(f".{target.name}.{digest}.unfinished")

    def advance(self) -> None:
        """One step: a batch, its loss, its gradient."""
        import torch

        banks, who = self.crops.draw(self.step)
        rise = min(1.0, (self.step + 1) / max(1, WARM_UP * self.settings.steps))
        fall = 0.5 * (1 + math.cos(math.pi * self.step / self.settings.steps))
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.learning_rate * rise * fall
        self.network.train()
        vectors = self.network(torch.from_numpy(banks))
        loss = self.loss(vectors, torch.from_numpy(who), MARGIN * rise)
        if not torch.isfinite(loss):
            raise InputError("the loss is not finite; train with a lower --learning-rate")
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimiser.step()
        self.step += 1

    def save(self) -> None:
        """Write all that is needed to go on, whole or not at all."""
        import torch

        parts = {"network": self.network, "loss": self.loss, "optimiser": self.optimiser}
        state: dict[str, Any] = {name: part.state_dict() for name, part in parts.items()}
        buffer = io.BytesIO()
        torch.save({**state, "step": self.step}, buffer)
        write_bytes(self.checkpoint, buffer.getvalue())

    def resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
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
                f"{self.checkpoint}: a damaged checkpoint; delete it to begin anew"
            ) from None

    def forget(self) -> None:
        """The target is whole: remove the checkpoint."""
        self.checkpoint.unlink(missing_ok=True)

    def exported(self) -> bytes:
        """The network in ONNX form, for recordings of any number and length."""
        import warnings

        import torch

        self.network.eval()
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the exporter without further packages is called old
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
