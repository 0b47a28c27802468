"""Training a small recogniser on frozen features of content: resumable, deterministic by seed.

The encoder of the content (:mod:`sottovoce.asr.content`) stays as it is; what is trained turns its
features into characters with CTC. Held-out speakers decide which epoch is kept. It takes minutes
on a CPU, so that recognisers trained on original and on anonymised speech can be compared.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.asr.ctc import alphabet_of, best_path
from sottovoce.asr.trained import RecogniserCard
from sottovoce.core.errors import TooFewError
from sottovoce.core.files import write_bytes
from sottovoce.core.onnx_networks import checked_sha256
from sottovoce.core.records import Record, write_json
from sottovoce.core.types import StageProgress
from sottovoce.measure.utility import WordErrors, word_errors
from sottovoce.training.checkpoints import Checkpoint, Stateful
from sottovoce.training.descent import check_ranges, descend, draw_held_out, scheduled
from sottovoce.training.encoder import check_extra, check_target
from sottovoce.training.recogniser_data import NO_TARGET, Batch, BatchSampler, SpokenText

if TYPE_CHECKING:
    from sottovoce.training.recogniser_networks import CtcHead

MIN_SPEAKERS = 4
"""Fewest speakers that can be divided into training and held-out speakers."""
MIN_MINUTES = 1.0
"""Least speech to train on; with less nothing is learnt."""
FRAMES_PER_MINUTE = 2500
FLAT_EPOCHS = 2
"""First epochs, in which characters are taken as equally long; CTC alone begins slowly."""


@dataclass(frozen=True, slots=True)
class RecogniserSettings(Record):
    """Settings of a training; together with the speech they determine its result."""

    epochs: int = 12
    """How often each recording is heard."""
    seconds: float = 16.0
    """Speech per step, about; recordings of similar length go together."""
    width: int = 192
    """Channels of the network."""
    blocks: int = 3
    """Convolutional blocks of the network."""
    dropout: float = 0.2
    learning_rate: float = 3e-3
    """The highest one."""
    held_out: float = 0.15
    """Share of the speakers that are held out, to choose the epoch."""
    seed: int = 0

    def __post_init__(self) -> None:
        limits = {
            "epochs": (1, 1000),
            "seconds": (1, 3600),
            "width": (8, 4096),
            "blocks": (1, 64),
            "dropout": (0, 0.9),
            "learning_rate": (1e-8, 1),
            "held_out": (0.01, 0.9),
        }
        check_ranges(self, limits)


@dataclass(frozen=True, slots=True)
class EpochPoint(Record):
    """Loss and errors after an epoch."""

    epoch: int
    """From 1."""
    loss: float
    held_out_wer: float
    """Without a language model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedRecogniserCard(RecogniserCard):
    """Card of a trained recogniser, which is written beside its network as JSON."""

    data: str
    """Name of the corpus."""
    speakers: tuple[str, ...]
    """Speakers it was trained on."""
    held_out_speakers: tuple[str, ...]
    recordings: int
    hours: float
    chosen_epoch: int
    held_out_wer: float
    """At the chosen epoch, without a language model: too good rather than too bad."""
    learning_curve: tuple[EpochPoint, ...]
    settings: RecogniserSettings


def split_held_out(
    recordings: Sequence[SpokenText], *, share: float, seed: int, source: str
) -> tuple[list[SpokenText], list[SpokenText]]:
    """Divide recordings into those of training and of held-out speakers, drawn by the seed.

    Parameters
    ----------
    recordings : sequence of SpokenText
        Speech of at least 4 speakers.
    share : float
        Share of the speakers that are held out.
    seed : int
        Of the draw.
    source : str
        Name of the corpus, for errors.

    Raises
    ------
    TooFewError
        For fewer than 4 speakers, or less than a minute of speech to train on.
    """
    names = sorted({recording.speaker for recording in recordings})
    if len(names) < MIN_SPEAKERS:
        raise TooFewError(
            f"{source}: {len(names)} speakers with transcripts; training a recogniser needs "
            f"{MIN_SPEAKERS} or more"
        )
    apart = draw_held_out(names, share=share, seed=seed, least=1)
    train = [recording for recording in recordings if recording.speaker not in apart]
    held_out = [recording for recording in recordings if recording.speaker in apart]
    minutes = sum(len(recording.features) for recording in train) / FRAMES_PER_MINUTE
    if minutes < MIN_MINUTES:
        raise TooFewError(
            f"{source}: {minutes:.1f} minutes of speech with transcripts; training a recogniser "
            f"needs {MIN_MINUTES:g}, and an hour for a good one"
        )
    return train, held_out


def train_recogniser(
    recordings: Sequence[SpokenText],
    settings: RecogniserSettings,
    target: Path,
    *,
    source: str,
    key: str,
    label: str = "training",
    progress: StageProgress | None = None,
) -> TrainedRecogniserCard:
    """Train a network on recordings with transcripts and write it with its card.

    On a CPU the same features, settings and number of threads give the same file. A checkpoint is
    written beside the target after each epoch; a run that was stopped continues from it.

    Parameters
    ----------
    recordings : sequence of SpokenText
        Speech of at least 4 speakers.
    settings : RecogniserSettings
        Number of epochs and the like.
    target : Path
        ``.onnx`` file to write, completely or not at all; the card is a ``.json`` file beside it.
    source : str
        Name of the corpus, for the card and errors.
    key : str
        Of everything the features depend on; a checkpoint with another key is not used.
    label : str, default "training"
        Name of the stage in the progress.
    progress : StageProgress, optional
        Called after each step; the stage says the loss and the error on held-out speakers.

    Raises
    ------
    MissingExtraError
        Where torch or onnx is not installed.
    TooFewError
        For too little speech.
    InputError
        ``diverged`` where the loss is not finite, ``damaged`` for a checkpoint.
    """
    check_extra()
    check_target(target)
    train, held_out = split_held_out(
        recordings, share=settings.held_out, seed=settings.seed, source=source
    )
    run = _Run(train, held_out, settings, target, key)
    run.resume()
    total = settings.epochs * run.sampler.batches
    while run.epoch < settings.epochs:
        for done in run.train_epoch():
            if progress:
                progress(f"{label} · {run.figures}", done, total)
    write_bytes(target, run.export())
    best = run.best_point
    card = TrainedRecogniserCard(
        alphabet=run.alphabet,
        sha256=checked_sha256(target),
        data=source,
        speakers=tuple(sorted({recording.speaker for recording in train})),
        held_out_speakers=tuple(sorted({recording.speaker for recording in held_out})),
        recordings=len(train),
        hours=sum(len(r.features) for r in train) / FRAMES_PER_MINUTE / 60,
        chosen_epoch=best.epoch,
        held_out_wer=best.held_out_wer,
        learning_curve=run.curve,
        settings=settings,
    )
    write_json(target.with_suffix(".json"), card)
    run.checkpoint.remove()
    return card


@dataclass(frozen=True, slots=True)
class _Inputs(Record):
    """Everything that a checkpoint depends on."""

    settings: RecogniserSettings
    key: str


@dataclass(frozen=True, slots=True)
class _Progress(Record):
    curve: tuple[EpochPoint, ...]


class _Run:
    """The network, the best one so far, and the optimiser."""

    def __init__(
        self,
        train: Sequence[SpokenText],
        held_out: Sequence[SpokenText],
        settings: RecogniserSettings,
        target: Path,
        key: str,
    ) -> None:
        import torch

        self.settings, self.held_out = settings, held_out
        self.alphabet = alphabet_of(recording.text for recording in train)
        self.sampler = BatchSampler(train, self.alphabet, settings.seconds, settings.seed)
        self.network, self.best = self._network(), self._network()
        self.optimiser = torch.optim.AdamW(
            self.network.parameters(), settings.learning_rate, weight_decay=1e-2
        )
        self.checkpoint = Checkpoint(target, _Progress, _Inputs(settings, key), ())
        self.curve: tuple[EpochPoint, ...] = ()
        self.loss = math.nan

    def _network(self) -> CtcHead:
        import torch

        from sottovoce.training.recogniser_networks import CtcHead

        torch.manual_seed(self.settings.seed)
        return CtcHead(
            self.sampler.mean,
            self.sampler.deviation,
            len(self.alphabet),
            width=self.settings.width,
            blocks=self.settings.blocks,
            dropout=self.settings.dropout,
        )

    @property
    def parts(self) -> dict[str, Stateful]:
        """Everything a checkpoint holds."""
        return {"network": self.network, "best": self.best, "optimiser": self.optimiser}

    @property
    def epoch(self) -> int:
        """Epochs that are done."""
        return len(self.curve)

    @property
    def best_point(self) -> EpochPoint:
        """The first epoch with the fewest errors on held-out speakers."""
        return min(self.curve, key=lambda point: point.held_out_wer)

    @property
    def figures(self) -> str:
        """Loss and error rate as the progress shows them."""
        tested = f", held-out WER {self.curve[-1].held_out_wer:.1%}" if self.curve else ""
        return f"epoch {self.epoch + 1}, loss {self.loss:.2f}{tested}"

    def resume(self) -> None:
        """Continue from the checkpoint, if there is one."""
        saved = self.checkpoint.load(self.parts)
        self.curve = () if saved is None else saved.curve

    def train_epoch(self) -> Iterator[int]:
        """Hear each recording once, test on held-out speakers and write a checkpoint.

        Yields
        ------
        int
            Steps that are done.
        """
        import torch

        # dropout continues the same sequence after an interruption
        torch.manual_seed(self.settings.seed * 100_003 + self.epoch)
        self.network.train()
        losses = []
        first = self.epoch * self.sampler.batches
        for step, batch in enumerate(self.sampler.epoch(self.epoch), start=first):
            self.loss = self._step(batch, step)
            losses.append(self.loss)
            yield step + 1
        wer = self._held_out_wer()
        self.curve = (*self.curve, EpochPoint(self.epoch + 1, float(np.mean(losses)), wer))
        if self.best_point.epoch == self.epoch:
            self.best.load_state_dict(self.network.state_dict())
        self.checkpoint.save(self.parts, _Progress(self.curve))

    def _step(self, batch: Batch, step: int) -> float:
        """Compute the loss of a batch and its gradient, and change the weights."""
        import torch
        from torch.nn.functional import ctc_loss, nll_loss

        from sottovoce.training.recogniser_networks import STRIDE

        self._set_learning_rate(step)
        lengths = torch.from_numpy(batch.lengths)
        logarithms = self.network(torch.from_numpy(batch.features), lengths)
        if self.epoch < FLAT_EPOCHS:
            flat = torch.from_numpy(batch.flat_targets(logarithms.shape[1]))
            loss = nll_loss(logarithms.flatten(0, 1), flat.flatten(), ignore_index=NO_TARGET)
        else:
            loss = ctc_loss(
                logarithms.transpose(0, 1),
                torch.from_numpy(batch.targets),
                lengths // STRIDE * STRIDE,
                torch.from_numpy(batch.target_lengths),
                zero_infinity=True,  # a text with more characters than frames teaches nothing
            )
        return descend(loss, self.network, self.optimiser)

    def _set_learning_rate(self, step: int) -> None:
        steps = self.settings.epochs * self.sampler.batches
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.learning_rate * scheduled(step, steps)

    def _held_out_wer(self) -> float:
        """Word error rate of held-out speakers without a language model."""
        import torch

        self.network.eval()
        errors = WordErrors(0, 0, 0, 0)
        with torch.inference_mode():
            for recording in self.held_out:
                features = torch.from_numpy(recording.features.astype(np.float32))[None]
                recognised = best_path(self.network(features)[0].numpy(), self.alphabet)
                errors += word_errors(recording.text, recognised)
        return errors.total / max(1, errors.words)

    def export(self) -> bytes:
        """Return the best network in ONNX form, for a recording of any length."""
        import torch

        self.best.eval()
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the exporter that needs no package is deprecated
            torch.onnx.export(
                self.best,
                (torch.zeros(1, 200, len(self.sampler.mean)),),
                buffer,
                input_names=["features"],
                output_names=["log_probabilities"],
                dynamic_axes={"features": {1: "frames"}, "log_probabilities": {1: "frames"}},
                opset_version=17,
                dynamo=False,
            )
        return buffer.getvalue()
