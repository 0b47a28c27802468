"""Training of the synthesisers: resumable, and reproducible from the same data."""

from __future__ import annotations

import math
import os
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import Tensor, nn

from sottovoce.anonymise.voice.frames import ENVELOPE, PERIOD, SPLIT
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.files import write_text
from sottovoce.core.types import Features, Progress
from sottovoce.training.descent import mixed_precision
from sottovoce.training.synthesiser_data import Version
from sottovoce.training.synthesiser_networks import (
    AcousticNetwork,
    Batch,
    DisentangledNetwork,
    SynthesisNetwork,
)
from sottovoce.training.synthesiser_objectives import Objective, world_frames

SEGMENT = 80
"""Content frames of a training segment: 1.9 s."""
BATCH = 12
"""Segments of a batch."""
RATE = 1e-3
"""Largest learning rate."""
WARM_UP = 200
"""Steps over which the learning rate rises."""
AVERAGE = 0.998
"""Decay of the averaged weights."""
LARGE_WEIGHT = 1000
"""Values from which a weight is stored in half precision."""
SAVE_EVERY = 250
"""Steps between two checkpoints."""
NETWORKS: dict[str, type[SynthesisNetwork]] = {
    "xvector": AcousticNetwork,
    "dar": DisentangledNetwork,
}
"""Network of each voice anonymiser."""


class Segments:
    """Random segments of utterances, each in two of its versions.

    Parameters
    ----------
    data : list of list of Version
        Training utterances; shorter ones than a segment are left out.

    Raises
    ------
    TooFewError
        If no utterance is long enough.
    """

    def __init__(self, data: list[list[Version]]) -> None:
        self.data = [versions for versions in data if len(versions[0].content) >= SEGMENT]
        if not self.data:
            seconds = SEGMENT * SPLIT * PERIOD / 1000
            raise TooFewError(f"no utterance has {seconds:.1f} s; training needs some")
        lengths = np.array([len(versions[0].content) for versions in self.data], np.float64)
        self.probabilities = lengths / lengths.sum()

    def draw(self, rng: np.random.Generator, *, one_voice: bool = False) -> Batch:
        """Draw a batch; the probability of an utterance is proportional to its length.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the draws.
        one_voice : bool, default False
            Whether content and envelopes come from the same version.
        """
        rows = []
        for number in rng.choice(len(self.data), BATCH, p=self.probabilities):
            versions = self.data[number]
            first, second = (versions[i] for i in rng.integers(len(versions), size=2))
            first = second if one_voice else first
            start, reference = rng.integers(len(first.content) - SEGMENT + 1, size=2)
            span = slice(start, start + SEGMENT)
            rows.append(training_row(first, second, span, slice(reference, reference + SEGMENT)))
        return stack_rows(rows)


def training_row(
    first: Version, second: Version, span: slice, reference: slice
) -> tuple[Features, ...]:
    """Combine two versions of an utterance to a row of a :class:`Batch`.

    Parameters
    ----------
    first : Version
        Gives content and energy.
    second : Version
        Gives all else.
    span : slice
        Frames of the segment.
    reference : slice
        Frames from which the voice of the second version is taken.
    """
    prosody = second.prosody[span].reshape(-1, SPLIT, 3).copy()
    prosody[:, :, 2] = first.prosody[span].reshape(-1, SPLIT, 3)[:, :, 2]
    return (
        first.content[span],
        first.target[span],
        prosody.reshape(-1, SPLIT * 3),
        second.speaker,
        second.target[reference],
        second.target[span],
    )


def stack_rows(rows: list[tuple[Features, ...]]) -> Batch:
    """Stack rows of equal length to a batch.

    Parameters
    ----------
    rows : list of tuple of ndarray
        Results of :func:`training_row`.
    """
    return Batch(*(torch.from_numpy(np.stack(column)) for column in zip(*rows, strict=True)))


class Trainer:
    """A network in training, with everything that a checkpoint has to contain.

    Parameters
    ----------
    network : SynthesisNetwork
        The network; it is changed.
    objective : Objective
        Gives the losses.
    steps : int
        Number of steps of the whole training.
    seed : int, default 0
        Seed of all draws.
    """

    def __init__(
        self, network: SynthesisNetwork, objective: Objective, steps: int, seed: int = 0
    ) -> None:
        self.network, self.objective, self.steps, self.seed = network, objective, steps, seed
        self.step, self.seconds = 0, 0.0
        self.curve: list[dict[str, float]] = []
        self.averaged = {name: value.clone() for name, value in network.state_dict().items()}
        self.optimiser = torch.optim.AdamW(
            network.parameters(), RATE, weight_decay=0.01, fused=True
        )
        self._recent: list[dict[str, float]] = []

    def save(self, path: Path) -> None:
        """Write a checkpoint and the learning curve (``.csv``) atomically.

        The checkpoint contains tensors, numbers and names only.

        Parameters
        ----------
        path : Path
            The file; an existing one is replaced.
        """
        self._extend_curve()
        state = {
            "step": self.step,
            "seconds": self.seconds,
            "curve": self.curve,
            "network": self.network.state_dict(),
            "averaged": self.averaged,
            "optimiser": self.optimiser.state_dict(),
            "objective": self.objective.state(),
        }
        temporary = path.with_suffix(".new")
        torch.save(state, temporary)
        os.replace(temporary, path)
        write_text(path.with_suffix(".csv"), self._curve_table())

    def restore(self, path: Path) -> None:
        """Continue from a checkpoint; code in the file is never executed.

        Parameters
        ----------
        path : Path
            A file that :meth:`save` wrote.

        Raises
        ------
        InputError
            If the file is not a checkpoint of this training (``damaged``).
        """
        try:
            state = torch.load(path, weights_only=True)
            self.network.load_state_dict(state["network"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.objective.restore(state["objective"])
            self.step, self.averaged = state["step"], state["averaged"]
            self.seconds, self.curve = state["seconds"], state["curve"]
        except Exception:
            raise InputError(
                f"{path}: not a checkpoint of this training; remove it to begin anew",
                code="damaged",
            ) from None

    def advance(self, segments: Segments) -> dict[str, float]:
        """Make one training step; its draws depend on the seed and the number of the step alone.

        Parameters
        ----------
        segments : Segments
            The training data.

        Returns
        -------
        dict of str to float
            The losses by name.
        """
        begin = time.process_time()
        rng = np.random.default_rng([self.seed, self.step])
        torch.manual_seed(int(rng.integers(2**31)))
        batch = segments.draw(rng, one_voice=self.objective.one_voice)
        self._set_learning_rate()
        self.network.train()
        with mixed_precision():
            losses = self.objective.losses(batch, self.step, self.steps)
        self.optimiser.zero_grad()
        torch.stack(list(losses.values())).sum().backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        self._average()
        self._recent.append({name: float(loss.detach()) for name, loss in losses.items()})
        self.seconds += time.process_time() - begin
        return self._recent[-1]

    def result(self) -> SynthesisNetwork:
        """Return the network with averaged weights, which are better than the last ones."""
        self.network.load_state_dict(self.averaged)
        self.network.eval()
        return self.network

    def _average(self) -> None:
        decay = min(AVERAGE, (1 + self.step) / (10 + self.step))
        for name, value in self.network.state_dict().items():
            self.averaged[name].lerp_(value, 1 - decay)

    def _extend_curve(self) -> None:
        """Add the mean losses since the last checkpoint to the learning curve."""
        if self._recent:
            means = {
                name: float(np.mean([row[name] for row in self._recent if name in row]))
                for name in self._recent[-1]
            }
            self.curve.append({"step": self.step, "cpu seconds": self.seconds, **means})
            self._recent = []

    def _curve_table(self) -> str:
        """Return the learning curve as CSV; a loss that had not begun is empty."""
        names = {name: None for row in self.curve for name in row}
        rows = [[f"{row[name]:.6g}" if name in row else "" for name in names] for row in self.curve]
        return "\n".join(",".join(row) for row in [list(names), *rows, []])

    def _set_learning_rate(self) -> None:
        cosine = 0.02 + 0.49 * (1 + math.cos(math.pi * self.step / self.steps))
        for group in self.optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (self.step + 1) / WARM_UP) * cosine


def mel_cepstral_distortion(
    network: SynthesisNetwork, held_out: list[list[Version]], *, coded: bool = False
) -> float:
    """Compute the mel-cepstral distortion of held-out utterances, without the level.

    Parameters
    ----------
    network : SynthesisNetwork
        The trained network.
    held_out : list of list of Version
        Utterances; content comes from a version in another voice.
    coded : bool, default False
        Whether content is replaced by the nearest code.

    Returns
    -------
    float
        Distortion in dB.
    """
    errors, count = 0.0, 0
    network.eval()
    with torch.no_grad():
        for versions in held_out:
            everything = slice(None)
            batch = stack_rows([training_row(versions[-1], versions[0], everything, everything)])
            difference = network.evaluate(batch, coded=coded) - batch.target
            cepstra = world_frames(difference)[0, :, 1:ENVELOPE]
            errors += float(cepstra.square().sum(1).sqrt().sum())
            count += len(cepstra)
    return 10 / math.log(10) * math.sqrt(2) * errors / count


def train(
    network: SynthesisNetwork,
    objective: Objective,
    segments: Segments,
    checkpoint: Path,
    steps: int,
    progress: Progress | None = None,
) -> SynthesisNetwork:
    """Train a network, continuing from a checkpoint if there is one.

    Parameters
    ----------
    network : SynthesisNetwork
        The network; it is changed.
    objective : Objective
        What it is trained for.
    segments : Segments
        The training data.
    checkpoint : Path
        File of the checkpoint, written every 250 steps and at the end.
    steps : int
        Number of steps.
    progress : callable, optional
        Called with the number of finished steps and their total.

    Returns
    -------
    SynthesisNetwork
        The network with averaged weights.
    """
    trainer = Trainer(network, objective, steps)
    if checkpoint.exists():
        trainer.restore(checkpoint)
    while trainer.step < steps:
        trainer.advance(segments)
        if trainer.step % SAVE_EVERY == 0 or trainer.step == steps:
            trainer.save(checkpoint)
        if progress:
            progress(trainer.step, steps)
    return trainer.result()


def export_onnx(
    network: SynthesisNetwork,
    path: Path,
    examples: dict[str, Tensor],
    time_axes: dict[str, int],
) -> None:
    """Write a network as ONNX file atomically; weights are stored in half precision.

    Parameters
    ----------
    network : SynthesisNetwork
        The trained network.
    path : Path
        The file; an existing one is replaced.
    examples : dict of str to Tensor
        Example inputs by name, in their order.
    time_axes : dict of str to int
        For inputs of variable length, the axis that varies.
    """
    temporary = path.with_suffix(".new")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter that needs no further package is deprecated
        torch.onnx.export(
            network.eval(),
            tuple(examples.values()),
            temporary,
            input_names=list(examples),
            output_names=["out"],
            dynamic_axes={name: {axis: "frames"} for name, axis in time_axes.items()},
            opset_version=17,
            dynamo=False,
        )
    store_in_half_precision(temporary)
    os.replace(temporary, path)


def store_in_half_precision(path: Path) -> None:
    """Halve the size of an ONNX file: large weights are stored as float16 and cast when loaded.

    Parameters
    ----------
    path : Path
        The file, which is changed. Whatever is computed stays in single precision.
    """
    model = onnx.load(path)
    graph, casts = model.graph, []
    for weight in graph.initializer:
        values = numpy_helper.to_array(weight)
        if values.dtype == np.float32 and values.size > LARGE_WEIGHT:
            half = numpy_helper.from_array(values.astype(np.float16), f"{weight.name}.half")
            casts.append(
                helper.make_node("Cast", [half.name], [weight.name], to=onnx.TensorProto.FLOAT)
            )
            weight.CopyFrom(half)
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.save(model, path)
