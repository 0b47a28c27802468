"""What all evidence encoders share: their card, and how audio reaches them."""

from __future__ import annotations

import hashlib
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import Audio, FloatArray, Vector
from sottovoce.signal.fbank import RATE
from sottovoce.signal.level import prepared
from sottovoce.speaker.encoders import EncoderCard


class Describer(Protocol):
    """Describes one aspect of a recording by a fixed number of values."""

    @property
    def name(self) -> str:
        """Name of the evidence, such as ``pitch``."""

    @property
    def dimension(self) -> int:
        """Number of values."""

    @property
    def version(self) -> str:
        """Changes with the definition of the values, so that stored ones are not mixed."""

    def describe(self, samples: FloatArray) -> FloatArray:
        """Describe a recording.

        Parameters
        ----------
        samples : array of float64, n
            One channel at 16 kHz, of fixed loudness.

        Returns
        -------
        array of float64, dimension
            Finite values; typical ones where the recording does not have what is described.
        """


class EvidenceEncoder:
    """An encoder whose vectors describe one aspect of speech instead of the whole voice.

    Parameters
    ----------
    describer : Describer
        Computes the values.
    """

    trained_on: frozenset[str] = frozenset()
    """Nobody: the values are defined, not learnt."""

    def __init__(self, describer: Describer) -> None:
        self.describer = describer
        definition = f"sottovoce evidence {describer.name} {describer.version}"
        self.card = EncoderCard(
            name=describer.name,
            dimension=describer.dimension,
            licence="as sottovoce's",
            origin=f"sottovoce.attack.evidence, {describer.name}",
            sha256=hashlib.sha256(definition.encode()).hexdigest(),
        )

    def embed(self, audio: Audio, rate: int = RATE) -> Vector:
        """Describe a recording.

        Parameters
        ----------
        audio : array of float32
            Samples of one channel, at least 0.1 s and not silent.
        rate : int, default 16000
            Samples per second.
        """
        samples = prepared(audio, rate, RATE).astype(np.float64)
        return np.asarray(self.describer.describe(samples), np.float32)


def quantiles(values: FloatArray, shares: tuple[float, ...], typical: float) -> FloatArray:
    """Return quantiles, or a typical value in their place where there is nothing to sort.

    Parameters
    ----------
    values : array of float64
        Any number of values.
    shares : tuple of float
        Which quantiles, from 0 to 1.
    typical : float
        Taken if there are no values.
    """
    return np.quantile(values, shares) if len(values) else np.full(len(shares), typical)


def mean_and_spread(values: FloatArray, typical: float) -> FloatArray:
    """Return mean and standard deviation; a typical value and 0 where there are no values.

    Parameters
    ----------
    values : array of float64
        Any number of values.
    typical : float
        Taken as the mean if there are no values.
    """
    return np.array([values.mean(), values.std()] if len(values) else [typical, 0.0])


def runs_of(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first index and index after the last of each run of true values.

    Parameters
    ----------
    mask : array of bool, n
        Such as which frames are voiced.

    Examples
    --------
    >>> runs_of(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(mask, np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
