"""Recognisers that ``sottovoce train recogniser`` has trained, for use without PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.asr.content import RATE, ContentEncoder
from sottovoce.asr.ctc import best_path
from sottovoce.core.onnx_networks import OnnxNetwork, checked_sha256, load_network
from sottovoce.core.records import Record
from sottovoce.core.types import Audio, Features


@dataclass(frozen=True, slots=True, kw_only=True)
class RecogniserCard(Record):
    """What is needed to use a trained recogniser."""

    alphabet: str
    """Characters of the outputs after the first, which is the blank."""
    sha256: str
    """Of the network's file."""


class TrainedHead:
    """Turns features of content into characters.

    Parameters
    ----------
    path : Path
        ``.onnx`` file; its card is not needed to compute.
    alphabet : str
        Characters of the outputs.
    sha256 : str, optional
        The SHA-256 that the file must have.
    """

    def __init__(self, path: Path, alphabet: str, sha256: str | None = None) -> None:
        checked_sha256(path, sha256)
        self.path, self.alphabet = path, alphabet

    @cached_property
    def network(self) -> OnnxNetwork:
        """The network, loaded when first used."""
        return load_network(self.path)

    def log_probabilities(self, features: NDArray[np.floating]) -> Features:
        """Return natural logarithms of the probabilities of blank and characters.

        Parameters
        ----------
        features : array of float, shape (frames, 288)
            Output of :class:`~sottovoce.asr.content.ContentEncoder`.
        """
        inputs: dict[str, NDArray[np.generic]] = {"features": features[None].astype(np.float32)}
        return np.asarray(self.network.run(None, inputs)[0][0], np.float32)

    def transcribe(self, audio: Audio, rate: int = RATE) -> str:
        """Return the words of a recording, without a language model.

        Parameters
        ----------
        audio : Audio
            Samples of one channel, of any length.
        rate : int, default 16000
            Sampling rate in Hz.
        """
        features = ContentEncoder().features(audio, rate)
        return best_path(self.log_probabilities(features), self.alphabet)
