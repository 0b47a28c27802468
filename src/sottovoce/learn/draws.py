"""Random draws of private training: a function of a secret seed and the number of the step.

Lots and noise of a step always come out the same for one seed. So a run that was killed and is
resumed repeats the steps since its last checkpoint with the same lots and the same noise: nobody
learns more than from a run that was not killed. Bits come from SHAKE-256 keyed with the seed, a
cryptographic function, so whoever does not know the seed cannot predict them.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

from sottovoce.core.errors import UsageError
from sottovoce.core.types import FloatArray, IntArray

SIZE = 32
"""Length of a seed in bytes."""


class Draws:
    """Lots and noise of a training run.

    Parameters
    ----------
    seed : bytes
        32 secret bytes. Use :meth:`generate` or :meth:`reproducible` instead of choosing them.

    Raises
    ------
    UsageError
        ``out-of-range`` if the seed does not have 32 bytes.

    Examples
    --------
    >>> draws = Draws.reproducible(7)
    >>> bool((draws.normal(3, 5) == draws.normal(3, 5)).all())
    True
    >>> draws
    Draws(reproducible, seed 7)
    """

    __slots__ = ("public_seed", "seed")

    def __init__(self, seed: bytes) -> None:
        if len(seed) != SIZE:
            raise UsageError(
                f"the seed has {len(seed)} bytes; it must have {SIZE}", code="out-of-range"
            )
        self.seed = seed
        self.public_seed: int | None = None
        """The number it was made from; None for a secret seed."""

    @classmethod
    def generate(cls) -> Draws:
        """Make draws with a new secret seed of the operating system."""
        return cls(secrets.token_bytes(SIZE))

    @classmethod
    def reproducible(cls, seed: int) -> Draws:
        """Make draws from a public number, for tests and published studies.

        Whoever knows the number can subtract the noise, so such a run protects nobody.

        Parameters
        ----------
        seed : int
            0 or a positive number.
        """
        if seed < 0:
            raise UsageError(f"seed {seed}: use 0 or a positive number", code="out-of-range")
        draws = cls(hashlib.sha256(f"sottovoce private learning {seed}".encode()).digest())
        draws.public_seed = seed
        return draws

    def __repr__(self) -> str:
        """Say whether the seed is secret; never the seed itself."""
        if self.public_seed is None:
            return "Draws(secret)"
        return f"Draws(reproducible, seed {self.public_seed})"

    @property
    def description(self) -> str:
        """For results: where the draws came from."""
        if self.public_seed is None:
            return "SHAKE-256 with a secret seed"
        return f"reproducible from the public seed {self.public_seed}: for studies only"

    def lot(self, step: int, members: int, rate: float) -> IntArray:
        """Draw a Poisson lot: each member with the same probability, independently.

        Parameters
        ----------
        step : int
            Number of the step, from 0.
        members : int
            Number of members to draw from.
        rate : float
            q, the probability of each.

        Returns
        -------
        array of int
            Numbers of the members in the lot, ascending; often none if q is small.
        """
        return np.flatnonzero(self._uniform("lot", step, members) < rate)

    def normal(self, step: int, count: int) -> FloatArray:
        """Draw standard normal noise, in double precision (Box and Muller).

        Parameters
        ----------
        step : int
            Number of the step, from 0.
        count : int
            How many numbers.
        """
        half = (count + 1) // 2
        uniform = self._uniform("noise", step, 2 * half)
        radius = np.sqrt(-2 * np.log1p(-uniform[:half]))
        angle = 2 * np.pi * uniform[half:]
        return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]

    def coins(self, label: str, count: int) -> IntArray:
        """Draw fair coins, such as which canaries of an audit are inserted.

        Parameters
        ----------
        label : str
            What they are for; other labels have independent coins.
        count : int
            How many coins.
        """
        return (self._uniform(f"coins {label}", 0, count) < 0.5).astype(np.int64)

    def network_seed(self, step: int) -> int:
        """Draw a seed for the network's random layers, such as dropout, in one step.

        Parameters
        ----------
        step : int
            Number of the step, from 0.
        """
        return int.from_bytes(self._bytes("network", step, 8), "little") >> 1

    def _uniform(self, purpose: str, step: int, count: int) -> FloatArray:
        """Numbers from 0 to below 1 with 53 random bits each."""
        words = np.frombuffer(self._bytes(purpose, step, 8 * count), "<u8")
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def _bytes(self, purpose: str, step: int, count: int) -> bytes:
        label = f"{purpose}\n{step}\n".encode()
        return hashlib.shake_256(self.seed + label).digest(count)
