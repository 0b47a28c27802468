"""Features and texts that a recogniser is trained on, and batches of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import Features, IntArray

StoredFeatures = NDArray[np.float16]
"""Frames × values, in half precision: an hour takes 86 MB."""

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


class BatchSampler:
    """Draws batches with masks; the same batches for the same seed and epoch.

    Parameters
    ----------
    recordings : sequence of SpokenText
        Training speech.
    alphabet : str
        Characters of the texts.
    batch : int
        Recordings per batch.
    seed : int
        Of order and masks.
    """

    def __init__(
        self, recordings: Sequence[SpokenText], alphabet: str, batch: int, seed: int
    ) -> None:
        self.recordings, self.batch, self.seed = recordings, batch, seed
        self.columns = {char: column for column, char in enumerate(alphabet, start=1)}
        self.mean, self.deviation = _moments(recordings)

    @property
    def batches(self) -> int:
        """Number of batches in an epoch."""
        return -(-len(self.recordings) // self.batch)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Generate the batches of one epoch.

        Parameters
        ----------
        number : int
            Number of the epoch, from 0.
        """
        rng = np.random.default_rng([self.seed, number])
        lengths = np.array([len(recording.features) for recording in self.recordings])
        order = np.argsort(lengths + rng.uniform(0, BUCKET, len(lengths)), kind="stable")
        starts = rng.permutation(np.arange(0, len(order), self.batch))
        for start in starts:
            chosen = [self.recordings[i] for i in order[start : start + self.batch]]
            yield self._batch(chosen, rng)

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
