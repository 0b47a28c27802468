"""Features and texts that a recogniser is trained on, and batches of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.asr.content import FRAME_RATE
from sottovoce.asr.ctc import BLANK
from sottovoce.core.types import Features, IntArray

StoredFeatures = NDArray[np.float16]
"""Frames × values, in half precision: an hour takes 86 MB."""

NO_TARGET = -100
"""Marks frames that teach nothing, as torch expects it."""
BUCKET = 40
"""Frames by which lengths are shuffled before batches of similar length are made."""
MASKED_FRAMES, MASKED_VALUES = 15, 30
"""Longest masks over time and over values (Park et al. 2019)."""
FRAMES_PER_MASK = 100
"""A recording gets one mask over time for each so many frames."""


@dataclass(frozen=True, slots=True, eq=False)
class SpokenText:
    """A recording by its features, and what is said in it."""

    speaker: str
    features: StoredFeatures
    text: str
    """As :func:`~sottovoce.asr.ctc.spell` writes it."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Recordings of similar length, padded with zeros."""

    features: Features
    """Recordings × frames × values."""
    lengths: IntArray
    targets: IntArray
    """Characters of all texts one after the other, as columns of the network's output."""
    target_lengths: IntArray

    def flat_targets(self, frames: int) -> IntArray:
        """Return a character or blank for each frame as if all characters were equally long.

        Parameters
        ----------
        frames : int
            Frames of the output; those after the end of a recording get :data:`NO_TARGET`.

        Returns
        -------
        array of int64
            Recordings × frames: a character where its stretch begins, then blanks.
        """
        flat = np.full((len(self.lengths), frames), NO_TARGET, np.int64)
        texts = np.split(self.targets, np.cumsum(self.target_lengths)[:-1])
        for row, length, text in zip(flat, self.lengths, texts, strict=True):
            size = min(int(length), frames)
            place = np.arange(size) * len(text) // size
            begins = np.concatenate(([True], place[1:] != place[:-1]))
            row[:size] = np.where(begins, text[place], BLANK)
        return flat


class BatchSampler:
    """Draws batches with masks; the same batches for the same seed and epoch.

    Parameters
    ----------
    recordings : sequence of SpokenText
        Training speech.
    alphabet : str
        Characters of the texts.
    seconds : float
        Speech in a batch, about.
    seed : int
        Of order and masks.
    """

    def __init__(
        self, recordings: Sequence[SpokenText], alphabet: str, seconds: float, seed: int
    ) -> None:
        self.recordings, self.seed = recordings, seed
        self.lengths = np.array([len(recording.features) for recording in recordings])
        ends = np.cumsum(np.sort(self.lengths))
        batch = np.ceil(ends / (seconds * FRAME_RATE)).astype(np.int64)
        self.starts = np.flatnonzero(np.diff(batch, prepend=-1))
        self.columns = {char: column for column, char in enumerate(alphabet, start=1)}
        self.mean, self.deviation = _moments(recordings)

    @property
    def batches(self) -> int:
        """Number of batches in an epoch."""
        return len(self.starts)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Generate the batches of one epoch.

        Parameters
        ----------
        number : int
            Number of the epoch, from 0.
        """
        rng = np.random.default_rng([self.seed, number])
        order = np.argsort(self.lengths + rng.uniform(0, BUCKET, len(self.lengths)), kind="stable")
        members = np.split(order, self.starts[1:])
        for number_of_batch in rng.permutation(len(members)):
            yield self._batch([self.recordings[i] for i in members[number_of_batch]], rng)

    def _batch(self, recordings: Sequence[SpokenText], rng: np.random.Generator) -> Batch:
        features = padded(recordings)
        lengths = np.array([len(recording.features) for recording in recordings])
        for row, length in zip(features, lengths, strict=True):
            _mask(row[:length], self.mean, rng)
        targets = [self.columns[char] for recording in recordings for char in recording.text]
        return Batch(
            features,
            lengths,
            np.array(targets, np.int64),
            np.array([len(recording.text) for recording in recordings]),
        )


def padded(recordings: Sequence[SpokenText]) -> Features:
    """Put features of recordings into one array, with zeros after the shorter ones.

    Parameters
    ----------
    recordings : sequence of SpokenText
        At least one.

    Returns
    -------
    array of float32
        Recordings × frames of the longest × values.
    """
    longest = max(len(recording.features) for recording in recordings)
    values = recordings[0].features.shape[1]
    array = np.zeros((len(recordings), longest, values), np.float32)
    for row, recording in zip(array, recordings, strict=True):
        row[: len(recording.features)] = recording.features
    return array


def _moments(recordings: Sequence[SpokenText]) -> tuple[Features, Features]:
    """Mean and standard deviation of each value over all frames."""
    frames = sum(len(recording.features) for recording in recordings)
    values = recordings[0].features.shape[1]
    total, squares = np.zeros(values), np.zeros(values)
    for recording in recordings:
        features = recording.features.astype(np.float64)
        total += features.sum(0)
        squares += np.square(features).sum(0)
    mean = total / frames
    deviation = np.sqrt(np.maximum(squares / frames - mean**2, 1e-8))
    return mean.astype(np.float32), deviation.astype(np.float32)


def _mask(features: Features, mean: Features, rng: np.random.Generator) -> None:
    """Set stretches of time and a band of values to their mean, so that none is relied on."""
    frames, values = features.shape
    for _ in range(max(1, frames // FRAMES_PER_MASK)):
        start = int(rng.integers(frames))
        features[start : start + int(rng.integers(1, MASKED_FRAMES + 1))] = mean
    start = int(rng.integers(values - MASKED_VALUES)) if values > MASKED_VALUES else 0
    band = slice(start, start + int(rng.integers(1, MASKED_VALUES + 1)))
    features[:, band] = mean[band]
